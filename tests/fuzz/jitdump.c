/* A jitdump file: its names, lines and unwind information. */
#include "harness.h"
#include "symbol/jitdump.h"
#include "unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

static volatile size_t sink;

static struct unwind_place place_of(void *context, uint64_t ip)
{
	(void)ip;
	return (struct unwind_place){.table = context, .mapped = true};
}

/* Unwind information is built and followed. */
static void unwind_at(const struct jitdump *dump, uint32_t version, uint64_t address)
{
	struct jitdump_code code;
	struct unwind_table *table;
	if (!jitdump_code(dump, version, &code))
		return;
	struct unwind_code described = {code.start, code.end, code.eh_frame, code.eh_frame_size, code.eh_frame_address};
	if (unwind_table_build_code(&table, &described, NULL))
		return;
	const uint64_t words[8] = {address, address + 8};
	struct unwind_space space = {
		.context = table,
		.find = place_of,
		.stack = (const uint8_t *)words,
		.stack_start = 0x1000,
		.stack_size = sizeof words,
	};
	struct unwind_registers registers = {.ip = address, .sp = 0x1000, .fp = 0x1010};
	enum unwind_end end;
	uint64_t addresses[4];
	sink += unwind_stack(&space, &registers, addresses, NULL, 4, &end);
	unwind_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump *dump;
	if (jitdump_open_bytes(&dump, data, size, NULL))
		return 0;
	if (!jitdump_facts(dump).functions)
		abort();
	/* The numbers of the file itself are the addresses worth asking for. */
	for (size_t i = 0; i + 16 <= size && i < 4096; i += 4) {
		uint64_t address, time;
		memcpy(&address, data + i, sizeof address);
		memcpy(&time, data + i + 8, sizeof time);
		struct jitdump_frame frame;
		if (!jitdump_find(dump, address, i & 4 ? time : UINT64_MAX, &frame))
			continue;
		if (frame.start > address)
			abort();
		unwind_at(dump, jitdump_version(dump, address, UINT64_MAX), address);
		sink += strlen(frame.name) + (frame.file ? strlen(frame.file) : 0);
	}
	jitdump_close(dump);
	return 0;
}
