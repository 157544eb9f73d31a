/* The memory of another process, as those who look for the frames of an interpreter there read it. */
#ifndef WICK_RUNTIME_MEMORY_H
#define WICK_RUNTIME_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target_memory {
	void *context;
	/* All of it or nothing: false when a part cannot be read. */
	bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
};

static inline bool target_memory_read(const struct target_memory *memory, uint64_t address, void *bytes, size_t size)
{
	return memory->read(memory->context, address, bytes, size);
}

/* As target_memory.read; `context` is a pointer to the number of a process (int32_t). */
bool process_memory_read(void *context, uint64_t address, void *bytes, size_t size);

/*
 * Pages of memory that are kept when they have been read once, so that many small reads of what lies together are one,
 * of the same moment. Empty at first, but for `memory`.
 */
#define MEMORY_PAGES 8u
#define MEMORY_PAGE_BYTES 4096u

struct memory_pages {
	const struct target_memory *memory;
	uint64_t addresses[MEMORY_PAGES]; /* 0: none */
	uint8_t bytes[MEMORY_PAGES][MEMORY_PAGE_BYTES];
	unsigned next; /* is replaced next */
};

/* As target_memory.read; `context` are the pages. */
bool memory_pages_read(void *context, uint64_t address, void *bytes, size_t size);

#endif
