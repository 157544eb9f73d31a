/* Bytes of a cache file → functions of the kernel; and the same bytes as a text like /proc/kallsyms, kept and read. */
#include "cache_folder.h"
#include "harness.h"
#include "symbol/kept_kallsyms.h"

static volatile size_t sink;

static bool is_entry(const char *name)
{
	return strstr(name, ".kallsyms.wick") != NULL;
}

/* The key depends on the machine: what wick keeps itself shows it. */
static bool key_of_machine(struct cache *cache, struct build_id *ret_id)
{
	static const char line[] = "ffffffff81000000 T _text\nffffffff81000040 t function\n";
	struct kallsyms *symbols;
	bool found = false;
	if (kallsyms_open_bytes(&symbols, line, sizeof line - 1, NULL))
		abort();
	kept_kallsyms_put(symbols, cache);
	kallsyms_close(symbols);
	DIR *folder = opendir(cache_folder);
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		char text[BUILD_ID_TEXT] = "";
		size_t length = strcspn(entry->d_name, ".");
		if (!is_entry(entry->d_name) || length >= sizeof text)
			continue;
		memcpy(text, entry->d_name, length);
		found = build_id_parse(ret_id, text);
	}
	if (folder)
		closedir(folder);
	return found;
}

static void ask(const struct kept_kallsyms *kept, uint64_t address)
{
	struct kallsyms_function function;
	if (!kept_kallsyms_find(kept, address, &function))
		return;
	if (address < function.start || address >= function.end)
		abort();
	sink += strlen(function.name) + (function.module ? strlen(function.module) : 0);
}

static void read_kept(const struct kept_kallsyms *kept, const uint8_t *data, size_t size)
{
	sink += kept_kallsyms_text(kept, "_text") + kept_kallsyms_text(kept, "_stext");
	for (size_t i = 0; i + sizeof(uint64_t) <= size && i < 4096; i += sizeof(uint64_t)) {
		uint64_t address;
		memcpy(&address, data + i, sizeof address);
		ask(kept, address);
		ask(kept, address + 1);
	}
}

/* What is found in the text must be found in what was kept of it, by the same name. */
static void compare(const struct kallsyms *symbols, const struct kept_kallsyms *kept)
{
	struct kallsyms_function function, found;
	for (size_t i = 0; kallsyms_at(symbols, i, &function) && i < 256; i++) {
		if (!function.name || (function.module && (!strcmp(function.module, "[bpf]") ||
							   !strncmp(function.module, "[__builtin__", 12))))
			continue;
		if (function.end > function.start &&
		    (!kept_kallsyms_find(kept, function.start, &found) || strcmp(found.name, function.name)))
			abort();
	}
}

static void keep_text(struct cache *cache, const uint8_t *data, size_t size)
{
	struct kallsyms *symbols;
	struct kept_kallsyms kept;
	if (kallsyms_open_bytes(&symbols, data, size, NULL))
		return;
	kept_kallsyms_put(symbols, cache);
	if (!kept_kallsyms_open(&kept, cache))
		abort();
	compare(symbols, &kept);
	kept_kallsyms_close(&kept);
	kallsyms_close(symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct build_id id;
	struct cache *cache = cache_folder_open();
	struct kept_kallsyms kept;
	if (!id.size && !key_of_machine(cache, &id))
		abort();
	if (!cache_put(cache, &id, NULL, "kallsyms", data, size))
		abort();
	if (kept_kallsyms_open(&kept, cache)) {
		read_kept(&kept, data, size);
		kept_kallsyms_close(&kept);
	}
	keep_text(cache, data, size);
	return 0;
}
