/* Lists the cgroup hierarchy for the ids that samples carry. */
#include "capture/cgroups.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/index_map.h"
#include "base/strpool.h"

#include <dirent.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_MAX 65536u
#define DEPTH_MAX 32u
#define LISTING_SHARE 20u /* of the time at most goes into listing folders */

struct cgroup {
	uint64_t id;
	str_id path;
	bool emitted;
};

struct cgroups {
	struct buf root; /* where the hierarchy is mounted; empty: nowhere */
	struct cgroup *items;
	size_t count, capacity;
	struct index_map map; /* by id */
	struct strpool paths;
	uint64_t list_at; /* not before that time */
};

/* The controller of perf events may be in a hierarchy of its own, of the older kind. */
static void find_root(struct cgroups *cgroups, bool by_perf)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	bool best = false;
	for (struct mntent *mount; mounts && !best && (mount = getmntent(mounts));) {
		bool own = by_perf && !strcmp(mount->mnt_type, "cgroup") && hasmntopt(mount, "perf_event");
		if (!own && (cgroups->root.size || strcmp(mount->mnt_type, "cgroup2") != 0))
			continue;
		buf_clear(&cgroups->root);
		buf_str(&cgroups->root, mount->mnt_dir);
		best = own || !by_perf;
	}
	if (mounts)
		endmntent(mounts);
}

struct cgroups *cgroups_new(bool by_perf)
{
	struct cgroups *cgroups = mem_zalloc(1, sizeof *cgroups);
	strpool_init(&cgroups->paths);
	find_root(cgroups, by_perf);
	return cgroups;
}

void cgroups_free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	buf_release(&cgroups->root);
	strpool_release(&cgroups->paths);
	index_map_release(&cgroups->map);
	free(cgroups->items);
	free(cgroups);
}

static struct cgroup *find(const struct cgroups *cgroups, uint64_t id)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&cgroups->map, hash_u64(id), &probe); i != INDEX_NONE;
	     i = index_map_next(&cgroups->map, &probe))
		if (cgroups->items[i].id == id)
			return &cgroups->items[i];
	return NULL;
}

/* The number of its folder is the id of a cgroup. */
static void add(struct cgroups *cgroups, int folder, const struct buf *path)
{
	struct stat status;
	if (cgroups->count >= FOLDERS_MAX || fstat(folder, &status) || find(cgroups, status.st_ino))
		return;
	index_map_insert(&cgroups->map, hash_u64(status.st_ino), (uint32_t)cgroups->count);
	MEM_ROOM(cgroups->items, cgroups->count, cgroups->capacity);
	cgroups->items[cgroups->count++] = (struct cgroup){
		.id = status.st_ino,
		.path = path->size ? strpool_add(&cgroups->paths, path->data, path->size) :
				     strpool_add(&cgroups->paths, "/", 1),
	};
}

/* `folder` is closed. */
static void list(struct cgroups *cgroups, int folder, struct buf *path, unsigned depth)
{
	size_t length = path->size;
	add(cgroups, folder, path);
	DIR *entries = fdopendir(folder);
	if (!entries)
		close(folder);
	for (struct dirent *entry; entries && depth < DEPTH_MAX && (entry = readdir(entries));) {
		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		int child = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		buf_printf(path, "/%s", entry->d_name);
		if (child >= 0)
			list(cgroups, child, path, depth + 1);
		path->size = length;
	}
	if (entries)
		closedir(entries);
}

static void list_all(struct cgroups *cgroups)
{
	struct buf path CLEANUP_BUF = {0};
	uint64_t began = clock_now();
	int root = cgroups->root.size ? open(cgroups->root.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (root >= 0)
		list(cgroups, root, &path, 0);
	uint64_t ended = clock_now(), pause = (ended - began) * LISTING_SHARE;
	cgroups->list_at = ended + (pause > CLOCK_SECOND ? pause : CLOCK_SECOND);
}

const char *cgroups_news(struct cgroups *cgroups, uint64_t id)
{
	struct cgroup *cgroup = find(cgroups, id);
	if (!cgroup && clock_now() >= cgroups->list_at) {
		list_all(cgroups);
		cgroup = find(cgroups, id);
	}
	if (!cgroup || cgroup->emitted)
		return NULL;
	cgroup->emitted = true;
	return strpool_text(&cgroups->paths, cgroup->path);
}

uint64_t cgroups_of_process(struct cgroups *cgroups, int32_t pid)
{
	char path[64], line[4096];
	struct buf folder CLEANUP_BUF = {0};
	struct stat status;
	snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
	FILE *file = cgroups->root.size ? fopen(path, "re") : NULL;
	while (file && !folder.size && fgets(line, sizeof line, file))
		if (!strncmp(line, "0::/", 4)) /* cgroup v2 */
			buf_printf(&folder, "%s%.*s", cgroups->root.data, (int)strcspn(line + 3, "\n"), line + 3);
	if (file)
		fclose(file);
	return folder.size && stat(folder.data, &status) == 0 ? status.st_ino : 0;
}
