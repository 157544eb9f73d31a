/* Identity and writer of a file, from its stat. */
#include "object/file_identity.h"

#include "base/buf.h"

#include <unistd.h>

struct file_identity file_identity_of(const struct stat *status)
{
	return (struct file_identity){
		.device = status->st_dev,
		.inode = status->st_ino,
		.size = (uint64_t)status->st_size,
		.modified = status->st_mtim.tv_sec,
		.modified_ns = status->st_mtim.tv_nsec,
		.changed = status->st_ctim.tv_sec,
		.changed_ns = status->st_ctim.tv_nsec,
	};
}

int64_t file_writer_of(const struct stat *status)
{
	bool own = status->st_uid == 0 || status->st_uid == geteuid();
	/* One's own file in a group of one's own is usual. Root's is not, and root is who must be careful. */
	mode_t others = status->st_uid && status->st_uid == geteuid() ? S_IWOTH : S_IWGRP | S_IWOTH;
	if (status->st_mode & others)
		return FILE_ANYBODY;
	return own ? FILE_TRUSTED : (int64_t)status->st_uid;
}

int64_t file_writer_at(const char *path)
{
	CLEANUP_BUF struct buf name = {0};
	struct stat status;
	buf_str(&name, path);
	while (stat(name.data, &status)) {
		char *slash = strrchr(name.data, '/');
		if (!slash || slash == name.data)
			return FILE_TRUSTED; /* only root can create it */
		*slash = '\0';
	}
	return file_writer_of(&status);
}
