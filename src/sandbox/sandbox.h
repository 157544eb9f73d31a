/*
 * What wick can still do when everything is open that needs privileges: from then on it reads files of other users, and
 * whoever finds a fault in a parser must not get more than the recording.
 *
 * The process keeps the capabilities to observe (read files, memory of processes, kernel symbols) and gives up all
 * others. A seccomp filter allows the system calls that it needs. Files can be opened for reading only. What changes
 * the file system is passed to a broker, a child with one thread that parses nothing and does it in some directories
 * only. There is no network, no exec, no fork, and no signal but to the recorded command.
 */
#ifndef WICK_SANDBOX_SANDBOX_H
#define WICK_SANDBOX_SANDBOX_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SANDBOX_DIRECTORIES_MAX = 8 };

struct sandbox_options {
	/* Where files are created, replaced and removed; descriptors, which are not taken over. */
	int directories[SANDBOX_DIRECTORIES_MAX];
	size_t directory_count;
	pid_t command; /* that gets signals; 0: none */
	bool kernel_stacks; /* stacks of sleeping threads are read in /proc, which needs CAP_SYS_ADMIN */
	uid_t owner; /* who files may be given to; -1: nobody */
	gid_t group;
};

/* Adds the directory that a path is in; one that does not exist is left out. */
void sandbox_add_parent(struct sandbox_options *options, const char *path);
/* Takes a descriptor; -1 is left out. */
void sandbox_add_directory(struct sandbox_options *options, int directory);

/* Whether the process has privileges to give up. */
bool sandbox_is_needed(void);
struct sandbox;

/*
 * Before the process has threads. On failure nothing has changed, and `err` has the reason. Umask and current directory
 * must not change later.
 */
int sandbox_enter(struct sandbox **ret_sandbox, const struct sandbox_options *options, struct err *err);
/* Ends the broker: nothing is written any more. The process stays confined. NULL is allowed. */
void sandbox_leave(struct sandbox *sandbox);

#endif
