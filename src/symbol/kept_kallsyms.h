/*
 * The functions of /proc/kallsyms in a form to keep: reading that file takes longer than all else that naming a short
 * recording does, and from one boot to the next its content hardly changes. Code that comes and goes (BPF programs,
 * trampolines) is omitted: for an address that is not covered, read the file itself.
 */
#ifndef WICK_SYMBOL_KEPT_KALLSYMS_H
#define WICK_SYMBOL_KEPT_KALLSYMS_H

#include "object/cache.h"
#include "symbol/kallsyms.h"

struct kept_kallsyms {
	struct cache_bytes bytes;
	const struct kept_header *header;
	const struct kept_function *functions; /* sorted */
	const char *names;
};

/* What is kept of this boot and the modules that are loaded now. False: nothing. `cache` may be NULL. */
bool kept_kallsyms_open(struct kept_kallsyms *kept, struct cache *cache);
void kept_kallsyms_close(struct kept_kallsyms *kept);
void kept_kallsyms_put(const struct kallsyms *symbols, struct cache *cache);

/* As those of kallsyms.h. */
uint64_t kept_kallsyms_text(const struct kept_kallsyms *kept, const char *name);
bool kept_kallsyms_find(const struct kept_kallsyms *kept, uint64_t address, struct kallsyms_function *ret_function);

#endif
