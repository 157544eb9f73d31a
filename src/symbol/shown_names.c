/* Demangles the name of each symbol once. */
#include "symbol/shown_names.h"

#include "base/hash.h"
#include "symbol/rust_twins.h"

struct shown_name {
	const char *name;
	const char *text;
	bool plt;
};

void shown_names_init(struct shown_names *names, enum name_style style)
{
	*names = (struct shown_names){.style = style};
	pthread_mutex_init(&names->twins_lock, NULL);
	for (size_t i = 0; i < SHOWN_NAMES_PARTS; i++)
		pthread_mutex_init(&names->parts[i].lock, NULL);
}

void shown_names_release(struct shown_names *names)
{
	rust_twins_free(names->twins);
	pthread_mutex_destroy(&names->twins_lock);
	for (size_t i = 0; i < SHOWN_NAMES_PARTS; i++) {
		struct shown_names_part *part = &names->parts[i];
		pthread_mutex_destroy(&part->lock);
		free(part->items);
		index_map_release(&part->map);
		arena_release(&part->arena);
	}
}

/* What no demangler knows needs no work and no memory. */
static bool is_plain(const struct shown_names *names, const char *name)
{
	return names->style == NAMES_RAW || (name[0] != '_' && name[0] != 'c') ||
	       (name[0] == 'c' && strncmp(name, "caml", 4));
}

/* The call goes to whatever version is bound: it is no part of the entry's name. */
static size_t length_without_version(const char *name)
{
	return strcspn(name, "@");
}

/* Whether the module has several functions that differ only in the hash of their old Rust names. */
static bool needs_hash(struct shown_names *names, const char *name)
{
	size_t stem = names->style == NAMES_FULL && names->table ? demangle_rust_stem(name) : 0;
	if (!stem)
		return false;
	pthread_mutex_lock(&names->twins_lock);
	if (!names->twins)
		names->twins = rust_twins_new(names->table);
	pthread_mutex_unlock(&names->twins_lock);
	return rust_twins_has(names->twins, name, stem);
}

static void make_text(struct shown_names *names, const char *name, bool plt, struct buf *text)
{
	if (plt) {
		CLEANUP_BUF struct buf base = {0};
		buf_add(&base, name, length_without_version(name));
		demangle(text, base.data, names->style);
		buf_str(text, "@plt");
	} else if (needs_hash(names, name)) {
		demangle_with_hash(text, name);
	} else {
		demangle(text, name, names->style);
	}
}

/* Under the lock; NULL: not made yet. */
static const char *find(const struct shown_names_part *part, uint64_t hash, const char *name, bool plt)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&part->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&part->map, &probe))
		if (part->items[i].name == name && part->items[i].plt == plt)
			return part->items[i].text;
	return NULL;
}

const char *shown_name(struct shown_names *names, const char *name, bool plt)
{
	if (!plt && is_plain(names, name))
		return name;
	uint64_t hash = hash_u64((uint64_t)(uintptr_t)name + plt);
	struct shown_names_part *part = &names->parts[hash % SHOWN_NAMES_PARTS];
	pthread_mutex_lock(&part->lock);
	const char *text = find(part, hash, name, plt);
	pthread_mutex_unlock(&part->lock);
	if (text)
		return text;
	CLEANUP_BUF struct buf made = {0};
	make_text(names, name, plt, &made);
	pthread_mutex_lock(&part->lock);
	text = find(part, hash, name, plt);
	if (!text) {
		text = arena_copy(&part->arena, made.data, made.size);
		MEM_ROOM(part->items, part->count, part->capacity);
		index_map_insert(&part->map, hash, (uint32_t)part->count);
		part->items[part->count++] = (struct shown_name){name, text, plt};
	}
	pthread_mutex_unlock(&part->lock);
	return text;
}
