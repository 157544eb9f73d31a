/* The process in the sandbox as the broker sees it: its descriptors and its memory. */
#ifndef WICK_SANDBOX_PEER_H
#define WICK_SANDBOX_PEER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct peer {
	pid_t pid;
	int pid_fd;
};

/* A copy of one of its descriptors (AT_FDCWD: the current directory, which both have), or -errno. */
int peer_take_fd(const struct peer *peer, int number);
bool peer_read(const struct peer *peer, uint64_t address, void *bytes, size_t size);
/* 0 or -errno. */
int peer_read_path(const struct peer *peer, uint64_t address, char path[PATH_MAX]);

#endif
