/* What the broker does with files for the process in the sandbox. All of these return -errno on failure. */
#ifndef WICK_SANDBOX_FILES_H
#define WICK_SANDBOX_FILES_H

#include "sandbox/peer.h"
#include "sandbox/sandbox.h"

/* The options, with directories that stay open: another one cannot get their number. */
struct files {
	struct peer peer;
	struct sandbox_options options;
};

/* Descriptors. Paths are addresses in the other process. */
int files_open_to_write(const struct files *files, int directory, uint64_t path, int flags, mode_t mode);
/* With the flags at `how`, which must be for reading, and stay below the directory. */
int files_open_below(const struct files *files, int directory, uint64_t path, uint64_t how, uint64_t size);

int files_remove(const struct files *files, int directory, uint64_t path);
/* Only one of the options in which all names are allowed, and which is empty. */
int files_remove_directory(struct files *files, int directory, uint64_t path);
int files_rename(const struct files *files, int from, uint64_t old, int to, uint64_t new);
int files_change_mode(const struct files *files, int number, mode_t mode);
int files_change_owner(const struct files *files, int number, uid_t owner, gid_t group);

#endif
