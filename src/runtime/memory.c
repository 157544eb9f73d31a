/* Memory of a running process, through /proc/PID/mem. */
#include "runtime/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int process_memory_open(int32_t pid)
{
	char path[32];
	snprintf(path, sizeof path, "/proc/%d/mem", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool process_memory_read(void *context, uint64_t address, void *bytes, size_t size)
{
	const int *fd = context;
	uint8_t *to = bytes;
	if (address > INT64_MAX || size > INT64_MAX - address)
		return false;
	while (size) {
		/* Less than all is read where a mapping ends: the next read fails if nothing follows. */
		ssize_t count = pread(*fd, to, size, (off_t)address);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		to += count;
		address += (uint64_t)count;
		size -= (size_t)count;
	}
	return true;
}
