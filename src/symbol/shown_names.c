#include "symbol/shown_names.h"

#include "base/hash.h"

struct shown_name {
	const char *name;
	const char *text;
	bool plt;
};

void shown_names_init(struct shown_names *names, enum name_style style)
{
	*names = (struct shown_names){.style = style};
	pthread_mutex_init(&names->lock, NULL);
}

void shown_names_release(struct shown_names *names)
{
	pthread_mutex_destroy(&names->lock);
	free(names->items);
	index_map_release(&names->map);
	arena_release(&names->arena);
}

/* What no demangler knows needs no work and no memory. Debug information has names with template arguments. */
static bool is_plain(const struct shown_names *names, const char *name)
{
	if (names->style == NAMES_SHORT && strchr(name, '<'))
		return false;
	return names->style == NAMES_RAW || (name[0] != '_' && name[0] != 'c') ||
	       (name[0] == 'c' && strncmp(name, "caml", 4));
}

/* The call goes to whatever version is bound: it is no part of the entry's name. */
static size_t length_without_version(const char *name)
{
	return strcspn(name, "@");
}

static const char *make_text(struct shown_names *names, const char *name, bool plt)
{
	CLEANUP_BUF struct buf text = {0};
	if (plt) {
		CLEANUP_BUF struct buf base = {0};
		buf_add(&base, name, length_without_version(name));
		demangle(&text, base.data, names->style);
		buf_str(&text, "@plt");
	} else if (!demangle(&text, name, names->style) && names->style == NAMES_SHORT) {
		buf_clear(&text);
		demangle_shorten(&text, name, strlen(name));
	}
	return arena_copy(&names->arena, text.data, text.size);
}

const char *shown_name(struct shown_names *names, const char *name, bool plt)
{
	if (!plt && is_plain(names, name))
		return name;
	uint64_t hash = hash_u64((uint64_t)(uintptr_t)name + plt);
	const char *text = NULL;
	struct index_probe probe;
	pthread_mutex_lock(&names->lock);
	uint32_t i = index_map_first(&names->map, hash, &probe);
	for (; i != INDEX_NONE && !text; i = index_map_next(&names->map, &probe))
		if (names->items[i].name == name && names->items[i].plt == plt)
			text = names->items[i].text;
	if (!text) {
		text = make_text(names, name, plt);
		MEM_ROOM(names->items, names->count, names->capacity);
		index_map_insert(&names->map, hash, (uint32_t)names->count);
		names->items[names->count++] = (struct shown_name){name, text, plt};
	}
	pthread_mutex_unlock(&names->lock);
	return text;
}
