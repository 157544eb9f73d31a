/*
 * What wick can still do when everything is open that needs privileges: from then on it reads files of other users, and
 * whoever finds a fault in a parser must not get more than the recording.
 *
 * The process keeps the capabilities to observe (read files, memory of processes, kernel symbols) and gives up all
 * others. A seccomp filter allows the system calls that it needs. Files can be opened for reading only. What changes
 * the file system is passed to a broker, a child with one thread that parses nothing and does it for some names in some
 * directories only. There is no network, no exec, no fork, and no signal but to the recorded command.
 */
#ifndef WICK_SANDBOX_SANDBOX_H
#define WICK_SANDBOX_SANDBOX_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SANDBOX_PLACES_MAX = 16, SANDBOX_FILES_MAX = 2, SANDBOX_NAME_MAX = 255 };

/*
 * A directory in which files are created, replaced and removed: those whose names begin and end like this, also with
 * what base/outfile adds to names of files that are not complete. Both empty: all.
 */
struct sandbox_place {
	int directory; /* not taken over */
	char stem[SANDBOX_NAME_MAX + 1], ending[SANDBOX_NAME_MAX + 1];
};

/* A pipe or a terminal that is written to in place. */
struct sandbox_file {
	dev_t device;
	ino_t inode;
};

struct sandbox_options {
	struct sandbox_place places[SANDBOX_PLACES_MAX];
	size_t place_count;
	struct sandbox_file files[SANDBOX_FILES_MAX];
	size_t file_count;
	bool recording; /* events, BPF maps and memory of processes are used */
	bool kernel_stacks; /* stacks of sleeping threads are read in /proc, which needs CAP_SYS_ADMIN */
	pid_t command; /* that gets signals; 0: none */
	uid_t owner; /* who files may be given to; -1: nobody */
	gid_t group;
};

/* Adds files of a directory by stem and ending; -1 and what does not fit is skipped. */
void sandbox_add_place(struct sandbox_options *options, int directory, const char *stem, const char *ending);
/*
 * Adds an output file: its name in its directory, which is opened and belongs to the caller, or the file itself where
 * it is written to in place. False: nothing was opened.
 */
bool sandbox_add_output(struct sandbox_options *options, const char *path);

/* Whether the process has privileges to give up. */
bool sandbox_is_needed(void);
struct sandbox;

/*
 * Before the process has threads. On failure it keeps its privileges, as far as files of root are concerned, and `err`
 * has the reason. Umask and current directory must not change later.
 */
int sandbox_enter(struct sandbox **ret_sandbox, const struct sandbox_options *options, struct err *err);
/* Ends the broker: nothing is written any more. The process stays confined. NULL is allowed. */
void sandbox_leave(struct sandbox *sandbox);

#endif
