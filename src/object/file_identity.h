/*
 * Which file something was computed from. A build-id does not say it: it is a few bytes in the file, which anybody can
 * write into a file of theirs.
 */
#ifndef WICK_OBJECT_FILE_IDENTITY_H
#define WICK_OBJECT_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Compared as bytes. Nobody but the kernel sets device, inode and time of change. */
struct file_identity {
	uint64_t device, inode, size;
	int64_t modified, modified_ns, changed, changed_ns;
};

struct file_identity file_identity_of(const struct stat *status);

/*
 * Who can write the file: FILE_TRUSTED for root and the effective user only, else the user who owns it, or
 * FILE_ANYBODY if others can write it.
 */
#define FILE_TRUSTED (-1ll)
#define FILE_ANYBODY (-2ll)
int64_t file_writer_of(const struct stat *status);
/* The same for a file that may be gone: then that of the nearest directory that still exists. */
int64_t file_writer_at(const char *path);

#endif
