/* Enters the sandbox when wick has privileges, at the point of a command where it does not need them any more. */
#ifndef WICK_CMD_CONFINE_H
#define WICK_CMD_CONFINE_H

#include "base/buf.h"
#include "base/outfile.h"

#include <sys/types.h>

struct confine_options {
	const struct outfile_place *place; /* where files are written; NULL: nowhere but to `output` */
	const char *output; /* a file; NULL: none */
	const char *also; /* another one */
	bool cache; /* the cache on disk is used */
	pid_t command; /* that gets signals; 0: none */
	bool own_directory; /* the place was created by this run */
	bool recording;
	bool kernel_stacks; /* of sleeping threads are read */
};

struct sandbox;

/*
 * NULL when wick has no privileges, or cannot give them up for the `reason`. Before there are threads, and after
 * everything was opened that needs more than to read files. sandbox_leave() when all files are written.
 */
struct sandbox *confine(const struct confine_options *options, struct buf *reason);

#endif
