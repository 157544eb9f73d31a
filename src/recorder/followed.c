/* Lists containers from time to time, and remembers which cgroups are in those that are followed. */
#include "recorder/followed.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/index_map.h"
#include "base/mem.h"
#include "container/container.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_AGAIN (CLOCK_SECOND / 10) /* for a cgroup that was not seen before */
#define LOOK_AGAIN (CLOCK_SECOND / 5) /* for others: a container may get its name after its cgroup */

struct seen_cgroup {
	uint64_t id;
	uint64_t list; /* the number of the list by which it was judged */
	bool wanted, gone;
};

struct followed {
	const char *wish, *root;
	struct containers containers;
	uint64_t list, listed; /* the number of this list, and when it was made */
	struct seen_cgroup *items;
	size_t count, capacity;
	struct index_map map; /* by id */
	uint64_t unknown; /* samples */
};

struct followed *followed_new(const char *wish, const char *root)
{
	struct followed *followed = mem_zalloc(1, sizeof *followed);
	followed->wish = wish;
	followed->root = root;
	return followed;
}

void followed_free(struct followed *followed)
{
	if (!followed)
		return;
	containers_release(&followed->containers);
	index_map_release(&followed->map);
	free(followed->items);
	free(followed);
}

static struct seen_cgroup *find(const struct followed *followed, uint64_t id)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&followed->map, hash_u64(id), &probe); i != INDEX_NONE;
	     i = index_map_next(&followed->map, &probe))
		if (followed->items[i].id == id)
			return &followed->items[i];
	return NULL;
}

static struct seen_cgroup *add(struct followed *followed, uint64_t id)
{
	index_map_insert(&followed->map, hash_u64(id), (uint32_t)followed->count);
	MEM_ROOM(followed->items, followed->count, followed->capacity);
	struct seen_cgroup *added = &followed->items[followed->count++];
	*added = (struct seen_cgroup){.id = id};
	return added;
}

/* The number of its directory is the id of a cgroup. */
static bool take_cgroup(void *context, const char *path, int directory)
{
	struct followed *followed = context;
	struct stat status;
	(void)path;
	if (fstat(directory, &status))
		return true;
	struct seen_cgroup *cgroup = find(followed, status.st_ino);
	(cgroup ? cgroup : add(followed, status.st_ino))->wanted = true;
	return true;
}

/* Not sooner than `pause` after the last time. */
static void list(struct followed *followed, uint64_t pause)
{
	uint64_t now = clock_now();
	if (followed->list && now < followed->listed + pause)
		return;
	containers_release(&followed->containers);
	containers_list(&followed->containers, followed->root);
	for (size_t i = 0; i < followed->containers.count; i++) {
		if (!containers_fits(&followed->containers, i, followed->wish))
			continue;
		int directory = open(followed->containers.items[i].directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (directory < 0)
			continue;
		cgroup_walk(directory, take_cgroup, followed);
		close(directory);
	}
	followed->listed = clock_now();
	followed->list++;
}

void followed_look(struct followed *followed)
{
	list(followed, LOOK_AGAIN);
}

static bool is_in(const struct container *container, const char *path)
{
	size_t length = strlen(container->cgroup);
	return !strncmp(path, container->cgroup, length) && (!path[length] || path[length] == '/');
}

static bool judge(const struct followed *followed, const char *path)
{
	for (size_t i = 0; i < followed->containers.count; i++)
		if (is_in(&followed->containers.items[i], path) &&
		    containers_fits(&followed->containers, i, followed->wish))
			return true;
	return false;
}

bool followed_wants(struct followed *followed, struct cgroups *cgroups, uint64_t id)
{
	struct seen_cgroup *cgroup = find(followed, id);
	if (cgroup && cgroup->wanted)
		return true;
	if (!id)
		return false;
	list(followed, cgroup ? LOOK_AGAIN : LIST_AGAIN);
	cgroup = find(followed, id);
	if (!cgroup)
		cgroup = add(followed, id);
	if (cgroup->wanted)
		return true;
	if (cgroup->list == followed->list) {
		followed->unknown += cgroup->gone;
		return false;
	}
	/* The id may be of another hierarchy. */
	const char *path = cgroups_path(cgroups, id);
	cgroup->list = followed->list;
	cgroup->gone = !path;
	cgroup->wanted = path && judge(followed, path);
	followed->unknown += cgroup->gone;
	return cgroup->wanted;
}

uint64_t followed_unknown(const struct followed *followed)
{
	return followed->unknown;
}
