/* A sorted array of ranges. */
#include "runtime/python/instructions.h"

#include "base/mem.h"

#include <string.h>

void python_instructions_release(struct python_instructions *instructions)
{
	free(instructions->items);
	*instructions = (struct python_instructions){0};
}

/* The first range that ends behind an address. */
static size_t first_after(const struct python_instructions *instructions, uint64_t address)
{
	size_t low = 0, high = instructions->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (instructions->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void python_instructions_set(struct python_instructions *instructions, uint64_t start, uint64_t end, uint32_t code)
{
	if (start >= end)
		return;
	size_t first = first_after(instructions, start), last = first;
	while (last < instructions->count && instructions->items[last].start < end)
		last++;
	if (first == last)
		MEM_ROOM(instructions->items, instructions->count, instructions->capacity);
	struct python_instruction_range *at = instructions->items + first;
	if (last != first + 1)
		memmove(at + 1, instructions->items + last, (instructions->count - last) * sizeof *at);
	instructions->count += first + 1 - last;
	*at = (struct python_instruction_range){start, end, code};
}

uint32_t python_instructions_before(const struct python_instructions *instructions, uint64_t next)
{
	size_t at = next ? first_after(instructions, next - 1) : instructions->count;
	if (at == instructions->count || next <= instructions->items[at].start)
		return PYTHON_NO_CODE;
	return instructions->items[at].code;
}
