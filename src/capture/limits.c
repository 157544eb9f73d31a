#include "capture/limits.h"

#include <linux/capability.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* Linux 5.8 */
#endif

static bool read_number(const char *path, long long *ret_value)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	bool read = fscanf(file, "%lld", ret_value) == 1;
	fclose(file);
	return read;
}

static bool has_capability(unsigned capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};
	return syscall(SYS_capget, &header, data) == 0 && data[capability / 32].effective >> (capability % 32) & 1;
}

struct capture_limits capture_limits_read(void)
{
	long long paranoid = 2, rate = 100000;
	struct capture_limits limits = {0};
	limits.supported = read_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	read_number("/proc/sys/kernel/perf_event_max_sample_rate", &rate);
	limits.paranoid = (int)paranoid;
	limits.privileged = has_capability(CAP_PERFMON) || has_capability(CAP_SYS_ADMIN);
	limits.kernel_samples = limits.privileged || paranoid < 2;
	limits.whole_system = limits.privileged || paranoid < 1;
	limits.tracepoints = limits.privileged || paranoid < 0;
	limits.most_frequency = rate > 0 ? (uint64_t)rate : 1;
	return limits;
}
