/* Bytes of a cache file → names of addresses. They are put there by the cache, so that its own checks pass. */
#include "cache_folder.h"
#include "harness.h"
#include "symbol/kept_names.h"

#define MOST 16

static volatile size_t sink;

static void read_frames(const struct names *names, uint64_t address)
{
	struct symbol_frame frames[MOST];
	size_t count = names_find(names, address, frames, MOST);
	if (count > MOST)
		abort();
	for (size_t i = 0; i < count; i++)
		sink += strlen(frames[i].name) + (frames[i].file ? strlen(frames[i].file) : 0);
}

/* The numbers of the file itself are the addresses worth asking for. */
static void read_names(const struct names *names, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i + sizeof(uint64_t) <= size && i < 4096; i += sizeof(uint64_t)) {
		uint64_t address;
		memcpy(&address, data + i, sizeof address);
		read_frames(names, address);
		read_frames(names, address + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct symbol_frame frame = {.name = "added", .file = "added.c", .line = 7, .start = 0x1230};
	struct cache *cache = cache_folder_open();
	struct names_key key = {.id = {.size = 4, .bytes = "name"}, .writer = FILE_TRUSTED};
	uint64_t address = 0x1234;
	if (!cache_put(cache, &key.id, NULL, "names", data, size))
		abort();
	struct names *names = names_open(cache, &key);
	if (names)
		read_names(names, data, size);
	names_close(names);
	/* Something can be added, whatever was there before. */
	if (size >= sizeof address)
		memcpy(&address, data + size - sizeof address, sizeof address);
	names_keep(cache, &key, &(struct name_entry){address, &frame, 1}, 1);
	names = names_open(cache, &key);
	if (!names)
		abort();
	read_names(names, data, size);
	names_close(names);
	return 0;
}
