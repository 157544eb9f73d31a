/* What the kernel lets this user record. */
#ifndef WICK_SYSTEM_LIMITS_H
#define WICK_SYSTEM_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct capture_limits {
	bool supported; /* the kernel has perf events at all */
	int paranoid; /* kernel.perf_event_paranoid */
	bool privileged; /* CAP_PERFMON or CAP_SYS_ADMIN: paranoid does not matter */
	bool kernel_samples, whole_system;
	bool tracepoints; /* those of the kernel, with their data */
	uint64_t max_frequency; /* kernel.perf_event_max_sample_rate */
};

struct capture_limits capture_limits_read(void);

#endif
