/* Notes and removes perf maps. */
#include "runtime/noted_maps.h"

#include "runtime/java/attach.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void noted_maps_init(struct noted_maps *maps)
{
	maps->count = 0;
	/* The clock of files: it is a little behind. */
	clock_gettime(CLOCK_REALTIME_COARSE, &maps->since);
}

/* Links do not lead out of the root of the process. */
static int open_tmp(const char *root)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int tmp = directory < 0 ? -1 : (int)syscall(SYS_openat2, directory, "tmp", &how, sizeof how);
	if (directory >= 0)
		close(directory);
	return tmp;
}

static void describe(struct noted_map *map, int32_t pid)
{
	char path[32];
	struct attach_target target;
	snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
	bool runs = attach_read_status(pid, &target);
	*map = (struct noted_map){.pid = pid,
				  .inner_pid = runs ? target.inner_pid : pid,
				  .user = runs ? target.user : geteuid(),
				  .directory = open_tmp(runs ? path : "/")};
}

/* False: there is none that its process could have written. */
static bool find_file(const struct noted_map *map, char name[32], struct stat *ret_status)
{
	snprintf(name, 32, "perf-%d.map", (int)map->inner_pid);
	return !fstatat(map->directory, name, ret_status, AT_SYMLINK_NOFOLLOW) && S_ISREG(ret_status->st_mode) &&
	       ret_status->st_uid == map->user;
}

static bool is_new(const struct noted_maps *maps, const struct stat *status)
{
	return status->st_mtim.tv_sec > maps->since.tv_sec ||
	       (status->st_mtim.tv_sec == maps->since.tv_sec && status->st_mtim.tv_nsec >= maps->since.tv_nsec);
}

void noted_maps_add(struct noted_maps *maps, int32_t pid)
{
	char name[32];
	struct stat status;
	for (size_t i = 0; i < maps->count; i++)
		if (maps->items[i].pid == pid)
			return;
	if (maps->count == NOTED_MAPS_MAX)
		return;
	struct noted_map *map = &maps->items[maps->count];
	describe(map, pid);
	/* Somebody else wanted it. */
	if (map->directory < 0 || (find_file(map, name, &status) && !is_new(maps, &status))) {
		if (map->directory >= 0)
			close(map->directory);
		map->directory = -1;
	}
	maps->count++;
}

void noted_maps_remove_files(struct noted_maps *maps)
{
	uid_t own = geteuid();
	for (size_t i = 0; i < maps->count; i++) {
		struct noted_map *map = &maps->items[i];
		struct stat status;
		char name[32];
		if (map->directory < 0)
			continue;
		if ((map->user == own || !seteuid(map->user)) && find_file(map, name, &status) && is_new(maps, &status))
			unlinkat(map->directory, name, 0);
		close(map->directory);
		if (geteuid() != own && seteuid(own))
			break;
	}
	maps->count = 0;
}
