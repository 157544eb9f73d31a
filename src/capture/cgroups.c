/* Lists the cgroup hierarchy for the ids that samples carry. */
#include "capture/cgroups.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/index_map.h"
#include "base/strpool.h"
#include "container/hierarchy.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDERS_MAX 65536u
#define PAUSE_MIN (CLOCK_SECOND / 10)
#define LISTING_SHARE 20u /* of the time at most goes into listing folders */

struct cgroup {
	uint64_t id;
	str_id path;
	bool emitted;
};

struct cgroups {
	struct hierarchies hierarchies;
	const struct hierarchy *hierarchy; /* of the ids; NULL: not mounted */
	struct cgroup *items;
	size_t count, capacity;
	struct index_map map; /* by id */
	struct strpool paths;
	uint64_t list_at; /* not before that time */
};

struct cgroups *cgroups_new(bool by_perf)
{
	struct cgroups *cgroups = mem_zalloc(1, sizeof *cgroups);
	strpool_init(&cgroups->paths);
	hierarchies_read(&cgroups->hierarchies, "");
	/* The controller of perf events may be in a hierarchy of its own, of the older kind. */
	cgroups->hierarchy = by_perf ? hierarchies_find(&cgroups->hierarchies, "perf_event") : NULL;
	if (!cgroups->hierarchy)
		cgroups->hierarchy = hierarchies_find(&cgroups->hierarchies, "");
	return cgroups;
}

void cgroups_free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	hierarchies_release(&cgroups->hierarchies);
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
static bool take(void *context, const char *path, int folder)
{
	struct cgroups *cgroups = context;
	struct stat status;
	if (fstat(folder, &status) || find(cgroups, status.st_ino))
		return true;
	if (cgroups->count >= FOLDERS_MAX)
		return false;
	index_map_insert(&cgroups->map, hash_u64(status.st_ino), (uint32_t)cgroups->count);
	MEM_ROOM(cgroups->items, cgroups->count, cgroups->capacity);
	cgroups->items[cgroups->count++] = (struct cgroup){
		.id = status.st_ino,
		.path = strpool_add(&cgroups->paths, path, strlen(path)),
	};
	return true;
}

static void list_all(struct cgroups *cgroups)
{
	uint64_t began = clock_now();
	if (cgroups->hierarchy)
		hierarchy_walk(cgroups->hierarchy, take, cgroups);
	uint64_t ended = clock_now(), pause = (ended - began) * LISTING_SHARE;
	cgroups->list_at = ended + (pause > PAUSE_MIN ? pause : PAUSE_MIN);
}

static struct cgroup *find_or_list(struct cgroups *cgroups, uint64_t id)
{
	struct cgroup *cgroup = find(cgroups, id);
	if (cgroup || clock_now() < cgroups->list_at)
		return cgroup;
	list_all(cgroups);
	return find(cgroups, id);
}

const char *cgroups_path(struct cgroups *cgroups, uint64_t id)
{
	const struct cgroup *cgroup = find_or_list(cgroups, id);
	return cgroup ? strpool_text(&cgroups->paths, cgroup->path) : NULL;
}

const char *cgroups_news(struct cgroups *cgroups, uint64_t id)
{
	struct cgroup *cgroup = find_or_list(cgroups, id);
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
	FILE *file = cgroups->hierarchy ? fopen(path, "re") : NULL;
	while (file && !folder.size && fgets(line, sizeof line, file))
		if (!strncmp(line, "0::/", 4)) /* cgroup v2 */
			buf_printf(&folder, "%s%.*s", cgroups->hierarchy->directory, (int)strcspn(line + 3, "\n"),
				   line + 3);
	if (file)
		fclose(file);
	return folder.size && stat(folder.data, &status) == 0 ? status.st_ino : 0;
}
