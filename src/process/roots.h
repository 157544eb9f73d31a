/*
 * The root folders of live processes: in a container or a chroot a path means another file than here. A root is held
 * open, so that its files can be read after the process has ended.
 */
#ifndef WICK_PROCESS_ROOTS_H
#define WICK_PROCESS_ROOTS_H

#include <stddef.h>
#include <stdint.h>

struct root;

struct roots {
	struct root *items;
	size_t count, capacity;
	uint64_t own_device, own_inode, own_namespace;
};

void roots_init(struct roots *roots);
void roots_release(struct roots *roots);
/* What to put before a path of the process: "" when it sees the same files as we, or is gone. Stays until release. */
const char *roots_of(struct roots *roots, int32_t pid);

#endif
