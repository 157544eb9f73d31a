/* Reads and drops capabilities, without a library. */
#include "sandbox/capabilities.h"

#include <sys/syscall.h>
#include <unistd.h>

static bool get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	return syscall(SYS_capget, &header, data) == 0;
}

uint64_t capabilities_read(void)
{
	struct __user_cap_data_struct data[2] = {0};
	return get(data) ? (uint64_t)data[1].effective << 32 | data[0].effective : 0;
}

bool capabilities_keep(uint64_t kept)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};
	if (!get(data))
		return false;
	for (int half = 0; half < 2; half++) {
		data[half].permitted &= (uint32_t)(kept >> 32 * half);
		data[half].effective &= data[half].permitted;
		data[half].inheritable = 0;
	}
	return syscall(SYS_capset, &header, data) == 0;
}

uint64_t capabilities_needed(bool recording, bool kernel_stacks)
{
	uint64_t needed = CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_SYSLOG);
	if (recording)
		needed |= CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_CHECKPOINT_RESTORE) | CAPABILITY(CAP_PERFMON) |
			  CAPABILITY(CAP_BPF) | CAPABILITY(CAP_IPC_LOCK) | CAPABILITY(CAP_SYS_NICE);
	if (kernel_stacks)
		needed |= CAPABILITY(CAP_SYS_ADMIN);
	return needed;
}
