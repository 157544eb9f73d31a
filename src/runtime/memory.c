/* Memory of a running process. */
#include "runtime/memory.h"

#include "base/remote_memory.h"

#include <string.h>

bool process_memory_read(void *context, uint64_t address, void *bytes, size_t size)
{
	const int32_t *pid = context;
	return remote_memory_read(*pid, address, bytes, size) == (long)size;
}

/* NULL: it cannot be read as a whole. */
static const uint8_t *page_at(struct memory_pages *pages, uint64_t address)
{
	unsigned i = 0;
	while (i < MEMORY_PAGES && pages->addresses[i] != address)
		i++;
	if (i < MEMORY_PAGES)
		return pages->bytes[i];
	i = pages->next;
	pages->addresses[i] = 0;
	if (!target_memory_read(pages->memory, address, pages->bytes[i], MEMORY_PAGE_BYTES))
		return NULL;
	pages->addresses[i] = address;
	pages->next = (i + 1) % MEMORY_PAGES;
	return pages->bytes[i];
}

bool memory_pages_read(void *context, uint64_t address, void *bytes, size_t size)
{
	struct memory_pages *pages = context;
	uint64_t offset = address % MEMORY_PAGE_BYTES;
	const uint8_t *page = NULL;
	if (address >= MEMORY_PAGE_BYTES && size <= MEMORY_PAGE_BYTES - offset)
		page = page_at(pages, address - offset);
	if (!page)
		return target_memory_read(pages->memory, address, bytes, size);
	memcpy(bytes, page + offset, size);
	return true;
}
