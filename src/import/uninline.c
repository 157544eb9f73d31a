/* Opens the files that perf script text names, once each, and looks up inlined functions. */
#include "import/uninline.h"

#include "base/hash.h"
#include "base/index_map.h"
#include "base/mem.h"
#include "profile/tidy.h"

#include <pthread.h>
#include <string.h>

struct file {
	char *path;
	struct symbols *symbols;
};

struct uninliner {
	struct symbol_options options;
	pthread_mutex_t lock; /* guards all that follows */
	struct file *files;
	size_t count, capacity;
	struct index_map map;
};

struct uninliner *uninliner_new(const struct symbol_options *options)
{
	struct uninliner *uninliner = mem_zalloc(1, sizeof *uninliner);
	uninliner->options = *options;
	uninliner->options.inlines = true;
	pthread_mutex_init(&uninliner->lock, NULL);
	return uninliner;
}

void uninliner_free(struct uninliner *uninliner)
{
	if (!uninliner)
		return;
	for (size_t i = 0; i < uninliner->count; i++) {
		symbols_close(uninliner->files[i].symbols);
		free(uninliner->files[i].path);
	}
	free(uninliner->files);
	index_map_release(&uninliner->map);
	pthread_mutex_destroy(&uninliner->lock);
	free(uninliner);
}

/* Under the lock: a file is opened once. */
static struct symbols *open_file(struct uninliner *uninliner, const char *path, size_t length)
{
	uint64_t hash = hash_bytes(path, length);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&uninliner->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&uninliner->map, &probe)) {
		const struct file *file = &uninliner->files[i];
		if (strlen(file->path) == length && !memcmp(file->path, path, length))
			return file->symbols;
	}
	MEM_ROOM(uninliner->files, uninliner->count, uninliner->capacity);
	struct file *file = &uninliner->files[uninliner->count];
	file->path = mem_alloc(length + 1);
	memcpy(file->path, path, length);
	file->path[length] = '\0';
	file->symbols = symbols_open(file->path, &(struct build_id){0}, &uninliner->options);
	index_map_insert(&uninliner->map, hash, (uint32_t)uninliner->count++);
	return file->symbols;
}

static struct symbols *symbols_of(struct uninliner *uninliner, const struct perf_frame *line)
{
	/* Only files: not [kernel.kallsyms], not (inlined), and no map of just-in-time code. */
	if (!line->module_length || line->module[0] != '/' || memchr(line->module, '\0', line->module_length) ||
	    (line->module_length > 4 && !memcmp(line->module + line->module_length - 4, ".map", 4)))
		return NULL;
	pthread_mutex_lock(&uninliner->lock);
	struct symbols *symbols = open_file(uninliner, line->module, line->module_length);
	pthread_mutex_unlock(&uninliner->lock);
	return symbols;
}

static bool parse_address(const struct perf_frame *line, uint64_t *ret_address)
{
	char text[17] = "", *end;
	if (!line->address_length || line->address_length >= sizeof text)
		return false;
	memcpy(text, line->address, line->address_length);
	*ret_address = strtoull(text, &end, 16);
	return end == text + line->address_length;
}

/* Arguments are written by some versions of perf and not by others. */
static bool is_same_name(const char *name, const struct perf_frame *line)
{
	CLEANUP_BUF struct buf found = {0}, given = {0};
	tidy_name(&found, name, strlen(name), false);
	tidy_name(&given, line->symbol, line->symbol_length, false);
	return found.size == given.size && !memcmp(found.data, given.data, given.size);
}

size_t uninliner_find(struct uninliner *uninliner, const struct perf_frame *line, struct symbol_frame *frames,
		      size_t max)
{
	struct symbols *symbols = symbols_of(uninliner, line);
	struct elf_file *elf = symbols ? symbols_elf(symbols) : NULL;
	uint64_t given, candidates[2];
	size_t count = 0;
	if (!elf || !parse_address(line, &given))
		return 0;
	/* perf since 5.12 writes the place in the file, earlier ones the address at run time. */
	if (elf_address_of_offset(elf, given, &candidates[count]))
		count++;
	candidates[count++] = given;
	for (size_t i = 0; i < count; i++) {
		size_t found = symbols_find(symbols, candidates[i], frames, max);
		if (found && is_same_name(frames[found - 1].name, line))
			return found;
	}
	return 0;
}
