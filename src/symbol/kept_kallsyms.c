/* Writes and reads the compact form of kallsyms in the cache. */
#include "symbol/kept_kallsyms.h"

#include "base/bisect.h"
#include "base/buf.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>

#define KIND "kallsyms"

struct kept_header {
	uint64_t text, stext; /* where "_text" and "_stext" are */
	uint64_t function_count;
	uint64_t name_bytes;
};

struct kept_function {
	uint64_t start, end;
	uint32_t name, module; /* offsets in the names; module 0: the kernel proper */
};

/* --- of what it is --- */

static bool add_boot(struct buf *out)
{
	char line[64];
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	bool fine = file && fgets(line, sizeof line, file);
	if (fine)
		buf_str(out, line);
	if (file)
		fclose(file);
	return fine;
}

/* Names, sizes and addresses; how often one is in use does not matter. */
static void add_modules(struct buf *out)
{
	FILE *file = fopen("/proc/modules", "re");
	char line[1024], name[256];
	uint64_t size, address;
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "%255s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &address) == 3)
			buf_printf(out, "%s %" PRIu64 " %" PRIx64 "\n", name, size, address);
	if (file)
		fclose(file);
}

static bool key(struct build_id *ret_id)
{
	CLEANUP_BUF struct buf boot = {0}, modules = {0};
	if (!add_boot(&boot))
		return false;
	add_modules(&modules);
	uint64_t words[2] = {hash_bytes(boot.data, boot.size), hash_bytes(modules.data, modules.size)};
	*ret_id = (struct build_id){.size = sizeof words};
	memcpy(ret_id->bytes, words, sizeof words);
	return true;
}

/* --- writing --- */

/* Of these the kernel makes new ones while modules stay the same. */
static bool comes_and_goes(const char *module)
{
	return module && (!strcmp(module, "[bpf]") || !strncmp(module, "[__builtin__", 12));
}

static uint32_t add_name(struct buf *names, const char *name)
{
	size_t at = names->size;
	buf_add(names, name, strlen(name) + 1);
	return (uint32_t)at;
}

void kept_kallsyms_put(const struct kallsyms *symbols, struct cache *cache)
{
	CLEANUP_BUF struct buf functions = {0}, names = {0};
	struct build_id id;
	struct kallsyms_function function;
	const char *last_module = NULL;
	uint32_t module_name = 0;
	if (!cache || !key(&id))
		return;
	buf_char(&names, '\0');
	for (size_t i = 0; kallsyms_at(symbols, i, &function) && names.size < UINT32_MAX / 2; i++) {
		if (!function.name || comes_and_goes(function.module))
			continue;
		if (function.module != last_module)
			module_name = function.module ? add_name(&names, function.module) : 0;
		last_module = function.module;
		struct kept_function kept = {function.start, function.end, add_name(&names, function.name),
					     module_name};
		buf_add(&functions, &kept, sizeof kept);
	}
	struct kept_header header = {
		.text = kallsyms_text(symbols, "_text"),
		.stext = kallsyms_text(symbols, "_stext"),
		.function_count = functions.size / sizeof(struct kept_function),
		.name_bytes = names.size,
	};
	CLEANUP_BUF struct buf all = {0};
	buf_add(&all, &header, sizeof header);
	buf_add(&all, functions.data, functions.size);
	buf_add(&all, names.data, names.size);
	cache_put(cache, &id, NULL, KIND, all.data, all.size);
}

/* --- reading --- */

bool kept_kallsyms_open(struct kept_kallsyms *kept, struct cache *cache)
{
	struct build_id id;
	struct cache_bytes bytes;
	if (!cache || !key(&id) || !cache_get(cache, &id, NULL, KIND, &bytes))
		return false;
	const struct kept_header *header = bytes.bytes;
	size_t left = bytes.size < sizeof *header ? 0 : bytes.size - sizeof *header;
	if (!left || header->function_count > left / sizeof(struct kept_function) ||
	    header->name_bytes != left - header->function_count * sizeof(struct kept_function) || !header->name_bytes) {
		cache_bytes_release(&bytes);
		return false;
	}
	const struct kept_function *functions = (const struct kept_function *)(header + 1);
	const char *names = (const char *)(functions + header->function_count);
	if (names[header->name_bytes - 1]) {
		cache_bytes_release(&bytes);
		return false;
	}
	*kept = (struct kept_kallsyms){bytes, header, functions, names};
	return true;
}

void kept_kallsyms_close(struct kept_kallsyms *kept)
{
	cache_bytes_release(&kept->bytes);
	*kept = (struct kept_kallsyms){0};
}

uint64_t kept_kallsyms_text(const struct kept_kallsyms *kept, const char *name)
{
	return !strcmp(name, "_stext") ? kept->header->stext : !strcmp(name, "_text") ? kept->header->text : 0;
}

bool kept_kallsyms_find(const struct kept_kallsyms *kept, uint64_t address, struct kallsyms_function *ret_function)
{
	size_t next = BISECT(kept->header->function_count, i, kept->functions[i].start <= address);
	const struct kept_function *found = next ? &kept->functions[next - 1] : NULL;
	uint64_t max = kept->header->name_bytes;
	if (!found || address >= found->end || found->name >= max || found->module >= max)
		return false;
	*ret_function = (struct kallsyms_function){
		.start = found->start,
		.end = found->end,
		.name = kept->names + found->name,
		.module = found->module ? kept->names + found->module : NULL,
	};
	return true;
}
