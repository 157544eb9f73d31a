/* Finds where cgroups are mounted, and lists their directories. */
#include "container/hierarchy.h"

#include <dirent.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <unistd.h>

#define DIRECTORIES_MAX 65536u

static unsigned rank(const struct hierarchy *hierarchy)
{
	if (!*hierarchy->controllers)
		return 0;
	return strstr(hierarchy->controllers, "perf_event") ? 1 : 2;
}

static void add(struct hierarchies *hierarchies, const char *root, const struct mntent *mount)
{
	struct buf directory = {0};
	bool unified = !strcmp(mount->mnt_type, "cgroup2");
	buf_printf(&directory, "%s%s", root, mount->mnt_dir);
	struct hierarchy added = {directory.data, mem_strdup(unified ? "" : mount->mnt_opts)};
	MEM_ROOM(hierarchies->items, hierarchies->count, hierarchies->capacity);
	size_t at = hierarchies->count++;
	for (; at && rank(&hierarchies->items[at - 1]) > rank(&added); at--)
		hierarchies->items[at] = hierarchies->items[at - 1];
	hierarchies->items[at] = added;
}

void hierarchies_read(struct hierarchies *hierarchies, const char *root)
{
	struct buf path CLEANUP_BUF = {0};
	*hierarchies = (struct hierarchies){0};
	/* The mounts of the host are those of its first process. */
	buf_printf(&path, "%s/proc/%s/mounts", root, *root ? "1" : "self");
	FILE *mounts = setmntent(path.data, "re");
	for (struct mntent *mount; mounts && (mount = getmntent(mounts));)
		if (!strcmp(mount->mnt_type, "cgroup") || !strcmp(mount->mnt_type, "cgroup2"))
			add(hierarchies, root, mount);
	if (mounts)
		endmntent(mounts);
}

void hierarchies_release(struct hierarchies *hierarchies)
{
	for (size_t i = 0; i < hierarchies->count; i++) {
		free(hierarchies->items[i].directory);
		free(hierarchies->items[i].controllers);
	}
	free(hierarchies->items);
	*hierarchies = (struct hierarchies){0};
}

/* One of the words of "rw,relatime,cpu,cpuacct". */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strcspn(at, ",") == length && !memcmp(at, word, length))
			return true;
	}
	return false;
}

const struct hierarchy *hierarchies_find(const struct hierarchies *hierarchies, const char *controller)
{
	for (size_t i = 0; i < hierarchies->count; i++)
		if (has_word(hierarchies->items[i].controllers, controller))
			return &hierarchies->items[i];
	return NULL;
}

struct walk {
	cgroup_take *take;
	void *context;
	struct buf path;
	size_t left;
};

/* `directory` is closed. */
static void walk_below(struct walk *walk, int directory, unsigned depth)
{
	size_t length = walk->path.size;
	bool down = walk->take(walk->context, length ? walk->path.data : "/", directory);
	DIR *entries = down && depth < HIERARCHY_DEPTH_MAX ? fdopendir(directory) : NULL;
	if (!entries)
		close(directory);
	for (struct dirent *entry; entries && walk->left && (entry = readdir(entries));) {
		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		int child = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (child < 0)
			continue;
		walk->left--;
		buf_printf(&walk->path, "/%s", entry->d_name);
		walk_below(walk, child, depth + 1);
		walk->path.size = length;
		walk->path.data[length] = '\0';
	}
	if (entries)
		closedir(entries);
}

/* `directory` is closed. */
static void walk_all(int directory, cgroup_take *take, void *context)
{
	struct walk walk = {.take = take, .context = context, .left = DIRECTORIES_MAX};
	if (directory >= 0)
		walk_below(&walk, directory, 0);
	buf_release(&walk.path);
}

void hierarchy_walk(const struct hierarchy *hierarchy, cgroup_take *take, void *context)
{
	walk_all(open(hierarchy->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), take, context);
}

void cgroup_walk(int directory, cgroup_take *take, void *context)
{
	walk_all(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), take, context);
}

static bool take_process(void *context, const char *path, int directory)
{
	int32_t *least = context;
	int pid, fd = openat(directory, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	(void)path;
	while (file && fscanf(file, "%d", &pid) == 1)
		if (pid > 0 && (!*least || pid < *least))
			*least = pid;
	if (file)
		fclose(file);
	return true;
}

int32_t cgroup_process(int directory)
{
	int32_t least = 0;
	cgroup_walk(directory, take_process, &least);
	return least;
}
