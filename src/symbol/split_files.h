/* The .dwo and .dwp files that debug information was split into, found and kept open. */
#ifndef WICK_SYMBOL_SPLIT_FILES_H
#define WICK_SYMBOL_SPLIT_FILES_H

#include "base/index_map.h"
#include "object/elf.h"

#include <pthread.h>

struct split_file;

struct split_files {
	char *root, *elf_path, *debug_path; /* paths may be NULL */
	pthread_mutex_t lock; /* of what follows */
	bool package_tried;
	struct elf_file *package; /* .dwp */
	struct split_file *items;
	size_t count, capacity;
	struct index_map map; /* by path */
};

void split_files_init(struct split_files *files, const char *root, const char *elf_path, const char *debug_path);
void split_files_release(struct split_files *files);

/*
 * For dwarf_files.find_split, with a struct split_files as context: the .dwp beside the file, else `name` in
 * `directory` or beside the file. NULL: none. Thread-safe.
 */
struct elf_file *split_files_open(void *context, const char *directory, const char *name, uint64_t id);

#endif
