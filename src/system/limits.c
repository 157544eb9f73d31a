/* Reads the limits of perf events from /proc/sys/kernel. */
#include "system/limits.h"

#include "system/system.h"

#include <stdio.h>

static bool read_number(const char *path, long long *ret_value)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	bool read = fscanf(file, "%lld", ret_value) == 1;
	fclose(file);
	return read;
}

struct capture_limits capture_limits_read(void)
{
	long long paranoid = 2, rate = 100000;
	struct capture_limits limits = {0};
	struct system system = system_this();
	limits.supported = read_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	read_number("/proc/sys/kernel/perf_event_max_sample_rate", &rate);
	limits.paranoid = (int)paranoid;
	limits.privileged = system_is_privileged(&system);
	limits.kernel_samples = limits.privileged || paranoid < 2;
	limits.whole_system = limits.privileged || paranoid < 1;
	limits.tracepoints = limits.privileged || paranoid < 0;
	limits.max_frequency = rate > 0 ? (uint64_t)rate : 1;
	return limits;
}
