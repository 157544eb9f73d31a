/*
 * tracefs, where the kernel describes its tracepoints. It need not be mounted: root gets a mount of his own, which no
 * other process sees and which ends with the descriptor.
 */
#ifndef WICK_SYSTEM_TRACEFS_H
#define WICK_SYSTEM_TRACEFS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

/* How it was reached, in the order in which the ways are tried. */
enum tracefs_way {
	TRACEFS_MOUNTED, /* at `place` */
	TRACEFS_DETACHED, /* by a mount that has no place */
	TRACEFS_MOUNTED_NOW, /* at `place`, by this call: as perf does it, for kernels and filters without fsopen() */
	TRACEFS_UNREACHABLE,
};

struct tracefs {
	int fd; /* of its top folder; -1 when unreachable */
	enum tracefs_way way;
	const char *place; /* where users find it; NULL when it has no place */
	int error; /* when unreachable: errno of fsopen(), or of mount() where that is not known */
};

/* Opens it. Close it in any case. `may_mount` allows TRACEFS_MOUNTED_NOW, which leaves something behind. */
struct tracefs tracefs_open(bool may_mount);
void tracefs_close(struct tracefs *tracefs);

/* A system, a tracepoint: one name of a folder, nothing that leads elsewhere. */
bool tracefs_is_name(const char *name);

/*
 * Reads "id" or "format" of a tracepoint, up to 256 KiB. 0 or an errno: ENOENT also for names that cannot be
 * tracepoints.
 */
int tracefs_read(const struct tracefs *tracefs, const char *system, const char *name, const char *file,
		 struct buf *out);

#endif
