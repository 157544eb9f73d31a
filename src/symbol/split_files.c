/* Opens .dwo and .dwp files, once each. */
#include "symbol/split_files.h"

#include "base/buf.h"
#include "base/hash.h"

struct split_file {
	char *path;
	struct elf_file *elf; /* NULL: not there */
};

static char *copy_or_null(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

void split_files_init(struct split_files *files, const char *root, const char *elf_path, const char *debug_path)
{
	*files = (struct split_files){
		.root = mem_strdup(root),
		.elf_path = copy_or_null(elf_path),
		.debug_path = copy_or_null(debug_path),
	};
	pthread_mutex_init(&files->lock, NULL);
}

void split_files_release(struct split_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		elf_close(files->items[i].elf);
		free(files->items[i].path);
	}
	free(files->items);
	index_map_release(&files->map);
	elf_close(files->package);
	pthread_mutex_destroy(&files->lock);
	free(files->root);
	free(files->elf_path);
	free(files->debug_path);
}

/* A file that was requested before, there or not, is not opened again. Takes nothing over. */
static struct elf_file *open_once(struct split_files *files, const char *path)
{
	struct index_probe probe;
	uint64_t hash = hash_bytes(path, strlen(path));
	uint32_t i = index_map_first(&files->map, hash, &probe);
	for (; i != INDEX_NONE; i = index_map_next(&files->map, &probe))
		if (!strcmp(files->items[i].path, path))
			return files->items[i].elf;
	struct elf_file *elf = NULL;
	elf_open(&elf, path, NULL);
	MEM_ROOM(files->items, files->count, files->capacity);
	index_map_insert(&files->map, hash, (uint32_t)files->count);
	files->items[files->count++] = (struct split_file){mem_strdup(path), elf};
	return elf;
}

static struct elf_file *try_package(const char *path)
{
	CLEANUP_BUF struct buf name = {0};
	struct elf_file *elf = NULL;
	if (!path)
		return NULL;
	buf_printf(&name, "%s.dwp", path);
	elf_open(&elf, name.data, NULL);
	return elf;
}

static struct elf_file *open_single(struct split_files *files, const char *directory, const char *name)
{
	CLEANUP_BUF struct buf path = {0};
	if (name[0] == '/')
		buf_printf(&path, "%s%s", files->root, name);
	else
		buf_printf(&path, "%s%s/%s", files->root, directory ? directory : "", name);
	struct elf_file *elf = open_once(files, path.data);
	const char *folder_end = files->elf_path ? strrchr(files->elf_path, '/') : NULL;
	if (elf || !folder_end)
		return elf;
	/* Programs are moved with their .dwo files more often than those stay where they were made. */
	const char *slash = strrchr(name, '/');
	buf_clear(&path);
	buf_printf(&path, "%.*s/%s", (int)(folder_end - files->elf_path), files->elf_path, slash ? slash + 1 : name);
	return open_once(files, path.data);
}

struct elf_file *split_files_open(void *context, const char *directory, const char *name, uint64_t id)
{
	(void)id;
	struct split_files *files = context;
	pthread_mutex_lock(&files->lock);
	if (!files->package_tried) {
		files->package_tried = true;
		files->package = try_package(files->elf_path);
		if (!files->package)
			files->package = try_package(files->debug_path);
	}
	struct elf_file *elf = files->package ? files->package : name ? open_single(files, directory, name) : NULL;
	pthread_mutex_unlock(&files->lock);
	return elf;
}
