/* Memory of a running process. */
#include "runtime/memory.h"

#include "base/remote_memory.h"

bool process_memory_read(void *context, uint64_t address, void *bytes, size_t size)
{
	const int32_t *pid = context;
	return remote_memory_read(*pid, address, bytes, size) == (long)size;
}
