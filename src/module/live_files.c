/* Caches roots, paths and build IDs of files of live processes. */
#include "module/live_files.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/regular_file.h"
#include "object/elf.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HELD_MAX 256 /* descriptors */
#define ROOTS_KEPT 16384 /* processes; of another one it is asked again */

void live_files_init(struct live_files *files)
{
	*files = (struct live_files){0};
	roots_init(&files->roots);
}

void live_files_release(struct live_files *files)
{
	for (size_t i = 0; i < files->file_count; i++)
		free(files->files[i].path);
	free(files->files);
	for (size_t i = 0; i < files->held_count; i++) {
		if (files->held[i]->fd >= 0)
			close(files->held[i]->fd);
		free(files->held[i]->path);
		free(files->held[i]);
	}
	free(files->held);
	free(files->pids);
	id_map_release(&files->pid_map);
	index_map_release(&files->file_map);
	roots_release(&files->roots);
}

static struct live_root *known_root(struct live_files *files, int32_t pid)
{
	uint32_t at = id_map_find(&files->pid_map, pid);
	return at == INDEX_NONE ? NULL : &files->pids[at];
}

static bool is_gone(int32_t pid)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return access(path, F_OK) != 0;
}

const char *live_files_root(struct live_files *files, int32_t pid)
{
	struct live_root *known = known_root(files, pid);
	if (known && !known->stale)
		return known->root;
	const char *root = roots_of(&files->roots, pid);
	if (!known) {
		if (files->pid_count >= ROOTS_KEPT) {
			files->pid_count = 0;
			id_map_clear(&files->pid_map);
		}
		id_map_add(&files->pid_map, pid);
		MEM_ROOM(files->pids, files->pid_count, files->pid_capacity);
		known = &files->pids[files->pid_count++];
		*known = (struct live_root){.pid = pid, .root = root};
	} else if (*root || !is_gone(pid)) {
		known->root = root;
	}
	known->stale = false;
	return known->root;
}

void live_files_changed(struct live_files *files, int32_t pid)
{
	struct live_root *known = known_root(files, pid);
	if (known)
		known->stale = true;
}

static struct build_id read_build_id(const char *root, const char *path)
{
	CLEANUP_BUF struct buf whole = {0};
	struct elf_file *elf;
	struct build_id id = {0};
	buf_printf(&whole, "%s%s", root, path);
	if (elf_open(&elf, whole.data, NULL))
		return id;
	id = elf_build_id(elf);
	elf_close(elf);
	return id;
}

struct build_id live_files_build_id(struct live_files *files, const char *root, const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path)) ^ hash_bytes(root, strlen(root));
	struct index_probe probe;
	for (uint32_t i = index_map_first(&files->file_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&files->file_map, &probe))
		if (!strcmp(files->files[i].path, path) && !strcmp(files->files[i].root, root))
			return files->files[i].build_id;
	index_map_insert(&files->file_map, hash, (uint32_t)files->file_count);
	MEM_ROOM(files->files, files->file_count, files->file_capacity);
	struct live_file *file = &files->files[files->file_count++];
	*file = (struct live_file){root, mem_strdup(path), read_build_id(root, path)};
	return file->build_id;
}

/* Opens what the process has mapped under this name. */
static int open_mapped(int32_t pid, const char *path)
{
	char name[96];
	CLEANUP_FREE char *line = NULL;
	size_t capacity = 0;
	int fd = -1;
	snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
	FILE *maps = fopen(name, "re");
	while (maps && fd < 0 && getline(&line, &capacity, maps) > 0) {
		unsigned long long start, end;
		int text = 0;
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %n", &start, &end, &text) < 2 || !text ||
		    strcmp(line + text, path) != 0)
			continue;
		snprintf(name, sizeof name, "/proc/%d/map_files/%llx-%llx", (int)pid, start, end);
		struct stat status;
		fd = regular_file_open(name, true, &status);
		if (fd < 0)
			break; /* nor would the others be opened */
	}
	if (maps)
		fclose(maps);
	return fd;
}

const char *live_files_hold(struct live_files *files, int32_t pid, const char *path)
{
	for (size_t i = 0; i < files->held_count; i++)
		if (files->held[i]->pid == pid && !strcmp(files->held[i]->path, path))
			return *files->held[i]->open ? files->held[i]->open : NULL;
	if (files->held_count >= HELD_MAX)
		return NULL;
	struct live_held *held = mem_zalloc(1, sizeof *held);
	*held = (struct live_held){.pid = pid, .path = mem_strdup(path), .fd = open_mapped(pid, path)};
	if (held->fd >= 0)
		snprintf(held->open, sizeof held->open, "/proc/self/fd/%d", held->fd);
	MEM_ROOM(files->held, files->held_count, files->held_capacity);
	files->held[files->held_count++] = held;
	return *held->open ? held->open : NULL;
}
