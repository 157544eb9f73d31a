/*
 * Directories that a program running as root may write into: nobody else can lead it to another place. Every component
 * of the path is opened relative to the one before.
 */
#ifndef WICK_BASE_DIRECTORY_H
#define WICK_BASE_DIRECTORY_H

#include <stdbool.h>

/*
 * Opens an absolute path, without O_PATH; components that are missing are created with mode 0700. Each of them must
 * belong to root or to the effective user, and not be writable by others unless it is sticky (/tmp). Symbolic links
 * are followed if they belong to one of the two. The last one must belong to the effective user and be writable by
 * nobody else. Returns a descriptor or -errno; -EPERM: it is not safe.
 */
int directory_open_private(const char *path);
/* Whether the directory exists and belongs to the effective user. */
bool directory_is_own(const char *path);

#endif
