/* Writes and reads names by address in the cache, and merges new ones. */
#include "symbol/kept_names.h"

#include "base/bisect.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/strpool.h"
#include "object/elf.h"

#include <stdio.h>

#define VERSION 3 /* 1 had names without parameters, 2 addresses instead of offsets in the file */

struct head {
	uint32_t version, entry_count, frame_count, text_size;
};

struct kept_entry {
	uint64_t address;
	uint32_t first, count; /* frames */
};

struct kept_frame {
	uint64_t start;
	uint32_t name, file; /* where in the texts; file 0: not known */
	uint32_t line, inlined;
};

struct names {
	struct cache_bytes bytes;
	const struct kept_entry *entries;
	size_t entry_count;
	const struct kept_frame *frames;
	const char *texts;
};

#define KIND_SIZE 48

/*
 * Names outlive the file that they are from, so the build-id alone must find them. What a user can write into a file is
 * kept apart from what the others' files say.
 */
static const char *kind_of(const struct names_key *key, char kind[KIND_SIZE])
{
	static const char *const styles[] = {
		[NAMES_FULL] = "names", [NAMES_PERF] = "names-perf", [NAMES_RAW] = "names-raw"};
	if (key->writer == FILE_TRUSTED)
		return styles[key->style];
	snprintf(kind, KIND_SIZE, "%s-of-%lld", styles[key->style], (long long)key->writer);
	return kind;
}

/*
 * The cache has checked that the bytes are what was put there; this checks that it made sense. No two entries share
 * frames, so that copying all of them takes no more room than the file.
 */
static bool make_sense(const struct names *names, const struct head *head)
{
	uint32_t next = 0;
	for (size_t i = 0; i < head->entry_count; i++) {
		const struct kept_entry *entry = &names->entries[i];
		if (entry->first != next || entry->count > head->frame_count - next ||
		    (i && entry->address <= names->entries[i - 1].address))
			return false;
		next += entry->count;
	}
	for (size_t i = 0; i < head->frame_count; i++)
		if (names->frames[i].name >= head->text_size || names->frames[i].file >= head->text_size)
			return false;
	return head->text_size && !names->texts[head->text_size - 1];
}

static bool read_bytes(struct names *names)
{
	const struct head *head = names->bytes.bytes;
	if (names->bytes.size < sizeof *head || head->version != VERSION)
		return false;
	uint64_t entries = (uint64_t)head->entry_count * sizeof *names->entries;
	uint64_t frames = (uint64_t)head->frame_count * sizeof *names->frames;
	if (names->bytes.size != sizeof *head + entries + frames + head->text_size)
		return false;
	names->entries = (const struct kept_entry *)(head + 1);
	names->entry_count = head->entry_count;
	names->frames = (const struct kept_frame *)(names->entries + head->entry_count);
	names->texts = (const char *)(names->frames + head->frame_count);
	return make_sense(names, head);
}

void names_keep_by_offset(struct cache *cache, const struct names_key *key, const struct elf_file *elf,
			  const struct name_entry *entries, size_t count)
{
	struct name_entry *by_offset CLEANUP_FREE = mem_alloc((count + 1) * sizeof *by_offset);
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		struct name_entry entry = entries[i];
		if (elf_offset_of_address(elf, entries[i].address, &entry.address) &&
		    (!kept || by_offset[kept - 1].address < entry.address))
			by_offset[kept++] = entry;
	}
	names_keep(cache, key, by_offset, kept);
}

struct names *names_open(struct cache *cache, const struct names_key *key)
{
	struct names *names = mem_zalloc(1, sizeof *names);
	char kind[KIND_SIZE];
	if (key->id.size && cache_get(cache, &key->id, NULL, kind_of(key, kind), &names->bytes) && read_bytes(names))
		return names;
	names_close(names);
	return NULL;
}

void names_close(struct names *names)
{
	if (!names)
		return;
	cache_bytes_release(&names->bytes);
	free(names);
}

static const struct kept_entry *find_entry(const struct names *names, uint64_t address)
{
	size_t at = BISECT(names ? names->entry_count : 0, i, names->entries[i].address < address);
	return names && at < names->entry_count && names->entries[at].address == address ? &names->entries[at] : NULL;
}

static struct symbol_frame frame_of(const struct names *names, const struct kept_frame *frame)
{
	return (struct symbol_frame){
		.name = names->texts + frame->name,
		.file = frame->file ? names->texts + frame->file : NULL,
		.line = frame->line,
		.inlined = frame->inlined,
		.start = frame->start,
	};
}

size_t names_find(const struct names *names, uint64_t address, struct symbol_frame *frames, size_t max)
{
	const struct kept_entry *entry = find_entry(names, address);
	size_t count = !entry ? 0 : entry->count < max ? entry->count : max;
	for (size_t i = 0; i < count; i++)
		frames[i] = frame_of(names, &names->frames[entry->first + i]);
	return count;
}

/* --- keeping --- */

/* Entries as they will be written. */
struct keeping {
	struct buf entries, frames, texts;
	struct strpool pool;
	uint32_t *offsets; /* in `texts`, by string */
	size_t offset_count, offset_capacity;
	uint32_t entry_count, frame_count;
};

static uint32_t keep_text(struct keeping *keeping, const char *text)
{
	str_id id = strpool_add(&keeping->pool, text, strlen(text));
	if (id < keeping->offset_count)
		return keeping->offsets[id];
	MEM_ROOM(keeping->offsets, keeping->offset_count, keeping->offset_capacity);
	keeping->offsets[keeping->offset_count++] = (uint32_t)keeping->texts.size;
	buf_add(&keeping->texts, text, strlen(text) + 1);
	return keeping->offsets[id];
}

static void keep_entry(struct keeping *keeping, uint64_t address, const struct symbol_frame *frames, size_t count)
{
	struct kept_entry entry = {.address = address, .first = keeping->frame_count, .count = (uint32_t)count};
	for (size_t i = 0; i < count; i++) {
		struct kept_frame frame = {
			.start = frames[i].start,
			.name = keep_text(keeping, frames[i].name),
			.file = frames[i].file ? keep_text(keeping, frames[i].file) : 0,
			.line = frames[i].line,
			.inlined = frames[i].inlined,
		};
		buf_add(&keeping->frames, &frame, sizeof frame);
	}
	buf_add(&keeping->entries, &entry, sizeof entry);
	keeping->entry_count++;
	keeping->frame_count += (uint32_t)count;
}

static void keep_old(struct keeping *keeping, const struct names *old, const struct kept_entry *entry)
{
	struct symbol_frame *frames CLEANUP_FREE = mem_alloc((entry->count + 1) * sizeof *frames);
	for (uint32_t i = 0; i < entry->count; i++)
		frames[i] = frame_of(old, &old->frames[entry->first + i]);
	keep_entry(keeping, entry->address, frames, entry->count);
}

static void merge(struct keeping *keeping, const struct names *old, const struct name_entry *entries, size_t count)
{
	size_t at = 0, old_count = old ? old->entry_count : 0;
	for (size_t i = 0; i < count; i++) {
		for (; at < old_count && old->entries[at].address < entries[i].address; at++)
			keep_old(keeping, old, &old->entries[at]);
		at += at < old_count && old->entries[at].address == entries[i].address;
		keep_entry(keeping, entries[i].address, entries[i].frames, entries[i].count);
	}
	for (; at < old_count; at++)
		keep_old(keeping, old, &old->entries[at]);
}

static bool all_known(const struct names *old, const struct name_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!find_entry(old, entries[i].address))
			return false;
	return true;
}

static void put(struct cache *cache, const struct names_key *key, const struct keeping *keeping)
{
	char kind[KIND_SIZE];
	struct buf bytes CLEANUP_BUF = {0};
	struct head head = {VERSION, keeping->entry_count, keeping->frame_count, (uint32_t)keeping->texts.size};
	buf_add(&bytes, &head, sizeof head);
	buf_add(&bytes, keeping->entries.data, keeping->entries.size);
	buf_add(&bytes, keeping->frames.data, keeping->frames.size);
	buf_add(&bytes, keeping->texts.data, keeping->texts.size);
	cache_put(cache, &key->id, NULL, kind_of(key, kind), bytes.data, bytes.size);
}

void names_keep(struct cache *cache, const struct names_key *key, const struct name_entry *entries, size_t count)
{
	struct keeping keeping = {0};
	if (!cache || !key->id.size || !count)
		return;
	struct names *old = names_open(cache, key);
	if (!all_known(old, entries, count)) {
		strpool_init(&keeping.pool);
		keep_text(&keeping, "");
		merge(&keeping, old, entries, count);
		if (keeping.texts.size < UINT32_MAX)
			put(cache, key, &keeping);
		strpool_release(&keeping.pool);
	}
	names_close(old);
	buf_release(&keeping.entries);
	buf_release(&keeping.frames);
	buf_release(&keeping.texts);
	free(keeping.offsets);
}
