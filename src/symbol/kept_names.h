/*
 * What addresses of a file are called, kept in the cache under its build-id: a recording still has its names when the
 * program was rebuilt or removed since.
 */
#ifndef WICK_SYMBOL_KEPT_NAMES_H
#define WICK_SYMBOL_KEPT_NAMES_H

#include "object/cache.h"
#include "symbol/symbols.h"

struct names;

struct name_entry {
	uint64_t address;
	const struct symbol_frame *frames; /* as symbols_find() fills them */
	size_t count;
};

struct names_key {
	struct build_id id;
	enum name_style style;
	int64_t writer; /* as file_writer_of() */
};

/* Adds entries, sorted by their address, to what is kept already. */
void names_keep(struct cache *cache, const struct names_key *key, const struct name_entry *entries, size_t count);
/* The same with addresses in a file as offsets in it: where it is loaded is not known without the file. */
void names_keep_by_offset(struct cache *cache, const struct names_key *key, const struct elf_file *elf,
			  const struct name_entry *entries, size_t count);
/* NULL: nothing is kept. */
struct names *names_open(struct cache *cache, const struct names_key *key);
void names_close(struct names *names);
/* As symbols_find(). The texts stay until names_close(). */
size_t names_find(const struct names *names, uint64_t address, struct symbol_frame *frames, size_t max);

#endif
