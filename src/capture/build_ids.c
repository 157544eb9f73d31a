#include "capture/build_ids.h"

#include "base/hash.h"
#include "base/index_map.h"
#include "base/mem.h"
#include "symbol/elf.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct known_file {
	dev_t device;
	ino_t inode;
	struct timespec changed; /* a file can be written anew in its place */
	struct build_id build_id;
};

struct build_ids {
	struct known_file *files;
	size_t count, capacity;
	struct index_map map;
};

struct build_ids *build_ids_new(void)
{
	return mem_zalloc(1, sizeof(struct build_ids));
}

void build_ids_free(struct build_ids *ids)
{
	if (!ids)
		return;
	free(ids->files);
	index_map_release(&ids->map);
	free(ids);
}

/*
 * Where the file can be opened: by its path, when that is the same file here, else through the process's own root
 * folder, as in a container. There the device may go by another number (btrfs, overlays).
 */
static bool find_file(const struct event_mmap *mmap, char *path, size_t room, struct stat *status)
{
	snprintf(path, room, "%s", mmap->path);
	if (!stat(path, status) && status->st_ino == mmap->inode && status->st_dev == makedev(mmap->major, mmap->minor))
		return S_ISREG(status->st_mode);
	snprintf(path, room, "/proc/%d/root%s", (int)mmap->pid, mmap->path);
	return !stat(path, status) && status->st_ino == mmap->inode && S_ISREG(status->st_mode);
}

static struct build_id read_build_id(const char *path)
{
	struct elf_file *elf;
	struct build_id id = {0};
	if (elf_open(&elf, path, NULL))
		return id;
	id = elf_build_id(elf);
	elf_close(elf);
	return id;
}

struct build_id build_ids_of(struct build_ids *ids, const struct event_mmap *mmap)
{
	char path[64 + FILENAME_MAX];
	struct stat status;
	/* "//anon", "[vdso]" */
	if (mmap->path[0] != '/' || mmap->path[1] == '/' || !find_file(mmap, path, sizeof path, &status))
		return (struct build_id){0};
	uint64_t hash = hash_mix(status.st_ino ^ HASH_K0, status.st_dev ^ HASH_K1);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&ids->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&ids->map, &probe)) {
		const struct known_file *file = &ids->files[i];
		if (file->inode == status.st_ino && file->device == status.st_dev &&
		    file->changed.tv_sec == status.st_mtim.tv_sec && file->changed.tv_nsec == status.st_mtim.tv_nsec)
			return file->build_id;
	}
	MEM_ROOM(ids->files, ids->count, ids->capacity);
	index_map_insert(&ids->map, hash, (uint32_t)ids->count);
	struct known_file *file = &ids->files[ids->count++];
	*file = (struct known_file){status.st_dev, status.st_ino, status.st_mtim, read_build_id(path)};
	return file->build_id;
}

static int fill_mmap(void *context, const struct event_mmap *mmap)
{
	const struct build_ids_filler *filler = context;
	struct event_mmap filled = *mmap;
	if (!filled.build_id.size && !filled.kernel)
		filled.build_id = build_ids_of(filler->ids, mmap);
	return filler->sink.mmap ? filler->sink.mmap(filler->sink.context, &filled) : 0;
}

struct event_sink build_ids_sink(struct build_ids_filler *filler, struct build_ids *ids, const struct event_sink *sink)
{
	*filler = (struct build_ids_filler){.ids = ids, .sink = *sink};
	filler->tee.first = (struct event_sink){.context = filler, .mmap = fill_mmap};
	filler->tee.second = *sink;
	filler->tee.second.mmap = NULL; /* called by the first */
	return event_tee_sink(&filler->tee);
}
