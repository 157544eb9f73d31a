#include "symbol/jitdump.h"

#include <stdlib.h>
#include <string.h>

static volatile size_t sink;

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
		sink += strlen(frame.name) + (frame.file ? strlen(frame.file) : 0);
	}
	jitdump_close(dump);
	return 0;
}
