/*
 * Output that is either whole or absent: bytes for a path go to a temporary file beside it, which takes the final name
 * only on outfile_commit(). "-" or NULL is standard output. Devices and pipes (/dev/null, /dev/full, a FIFO) are
 * written in place, since a rename would replace them.
 */
#ifndef WICK_BASE_OUTFILE_H
#define WICK_BASE_OUTFILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

/* Where files are created, and for whom. */
struct outfile_place {
	int directory; /* that names are relative to; AT_FDCWD: the current one. Stays open as long as the files are */
	const char *prefix; /* before the name in messages: "out/" */
	mode_t mode; /* of new files, without the bits of the umask */
	uid_t owner; /* who gets the files, or OUTFILE_OWN */
	gid_t group;
	bool replace; /* what has the name already is replaced, also a symbolic link, instead of followed */
};
#define OUTFILE_OWN ((uid_t)-1)

struct outfile {
	int fd;
	struct outfile_place place;
	char *path; /* final name; NULL for standard output */
	char *temporary; /* NULL for standard output and for what is written in place */
	struct outfile_listed *listed; /* its entry among the temporaries to remove; NULL when it stays */
	bool keeps; /* the temporary stays when not everything can be written */
	char *shown; /* name for messages */
	struct buf pending;
	struct err failed; /* the first failure; later writes are dropped */
};

/* The current directory, for files that anybody may read, as the umask says. */
struct outfile_place outfile_usual_place(void);
/*
 * On failure nothing needs to be released. A file that is replaced keeps its permissions, as far as the place allows
 * them. A symbolic link stays one, and its target is replaced, unless it belongs to another user.
 */
int outfile_open(struct outfile *out, const char *path, struct err *err);
int outfile_open_at(struct outfile *out, const struct outfile_place *place, const char *name, struct err *err);
/*
 * For what is of use without its end too: the temporary is called NAME.part, and stays when a write fails or the
 * program dies. Of a file that was not finished the earlier one is replaced.
 */
int outfile_open_part(struct outfile *out, const struct outfile_place *place, const char *name, struct err *err);
/* For what people read while standard output belongs to someone else. */
void outfile_open_stderr(struct outfile *out);
/* Do not fail: a failure is kept and reported by outfile_commit(). */
void outfile_add(struct outfile *out, const void *bytes, size_t count);
/* Adds the text and clears it. */
void outfile_move(struct outfile *out, struct buf *text);
void outfile_printf(struct outfile *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void outfile_str(struct outfile *out, const char *text)
{
	outfile_add(out, text, strlen(text));
}
/* Replaces bytes that were added before; what is added later still goes to the end. Not on a pipe or a terminal. */
void outfile_rewrite(struct outfile *out, uint64_t offset, const void *bytes, size_t count);
/* Flushes, gives the file its final name, releases. On failure the temporary is removed, unless it is a part. */
int outfile_commit(struct outfile *out, struct err *err);
/* Removes what was written and releases. */
void outfile_abandon(struct outfile *out);
/* Unlinks every temporary that is still open: async-signal-safe, for signal handlers and the out-of-memory handler. */
void outfile_remove_temporaries(void);

#endif
