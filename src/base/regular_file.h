/*
 * Opening files that others name: by a mapping, a debug link, a DWARF section. Whatever is there is looked at first,
 * since a device may act on being opened, and a FIFO waits.
 */
#ifndef WICK_BASE_REGULAR_FILE_H
#define WICK_BASE_REGULAR_FILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Opens a regular file for reading. Returns a descriptor or -errno; -ENOTSUP: it is no regular file, -ELOOP: it is a
 * symbolic link and `links` is false. Below "/proc/self/fd/N/", where N is the root of another process, links do not
 * lead out of that root.
 */
int regular_file_open(const char *path, bool links, struct stat *ret_status);
/*
 * For what a process writes about itself: it must not be a link, and belong to root or to `user`, who runs the process.
 * -EPERM: it belongs to someone else.
 */
int regular_file_open_of(const char *path, uid_t user, struct stat *ret_status);
/* ERR_OPEN, and in words why a file was not opened; `error` is what these functions returned. */
int regular_file_refused(const char *path, int error, struct err *err);
/* Reads all of the bytes at an offset; false when there are fewer, or with errno. */
bool regular_file_read(int fd, uint64_t offset, void *out, size_t size);

#endif
