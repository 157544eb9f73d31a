/*
 * Memory of other processes. To read it may take forever: a page can be that of a file whose file system, a program of
 * the same user (FUSE), does not answer, and then even SIGKILL does not end who reads. So the memory of processes that
 * belong to others is read by processes that do nothing else, and that can be given up.
 */
#ifndef WICK_BASE_REMOTE_MEMORY_H
#define WICK_BASE_REMOTE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define REMOTE_MEMORY_MAX ((size_t)2 << 20) /* bytes of one read */

/*
 * Starts these processes, which end with the calling thread. Each of them calls `give_up`, to lose privileges that it
 * does not need. Before, and if they cannot be started, all memory is read by the caller.
 */
void remote_memory_begin(void (*give_up)(void));
/* Ends them, except those that are lost. No other thread reads. */
void remote_memory_end(void);

/*
 * Returns the number of bytes up to the first page that is missing, or -errno. -ETIMEDOUT: the process is not read any
 * more, because it was too slow. From any thread.
 */
long remote_memory_read(int32_t pid, uint64_t address, void *bytes, size_t size);

#endif
