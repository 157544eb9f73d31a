/* Bytes as a perf map, and the same bytes as kallsyms. */
#include "harness.h"
#include "symbol/kallsyms.h"
#include "symbol/perfmap.h"

#include <stdlib.h>
#include <string.h>

static volatile size_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap *map;
	struct kallsyms *symbols;
	if (!perfmap_open_bytes(&map, data, size, SIZE_MAX, NULL)) {
		if (!perfmap_count(map))
			abort();
		for (size_t i = 0; i + 8 <= size && i < 512; i++) {
			uint64_t address, start = 0;
			memcpy(&address, data + i, sizeof address);
			address = i & 1 ? address >> 48 : address;
			const char *name = perfmap_find(map, address, &start);
			if (name && start > address)
				abort();
			sink += name ? strlen(name) : 0;
		}
		perfmap_close(map);
	}
	if (!kallsyms_open_bytes(&symbols, data, size, NULL)) {
		for (uint64_t address = 1; address; address <<= 1) {
			struct kallsyms_function found;
			if (!kallsyms_find(symbols, address, &found))
				continue;
			if (found.start > address || found.end <= address)
				abort();
			sink += strlen(found.name) + (found.module ? strlen(found.module) : 0);
		}
		kallsyms_close(symbols);
	}
	return 0;
}
