/* Opens counters of task-clock on the target, and adds them up. */
#include "recorder/cpu_time.h"

#include "base/mem.h"
#include "capture/open_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS_LEFT 64u /* for what is opened later, and is of more use */

void cpu_time_close(struct cpu_time *time)
{
	for (size_t i = 0; i < time->count; i++)
		close(time->fds[i]);
	free(time->fds);
	*time = (struct cpu_time){0};
}

static void open_counters(struct cpu_time *time, const struct target *target, bool children, bool on_exec)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.inherit = children,
		.enable_on_exec = on_exec,
		.exclude_kernel = 1, /* needs no rights; the clock counts all the same */
		.exclude_hv = 1,
	};
	size_t count = 0;
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	getrlimit(RLIMIT_NOFILE, &limit);
	const int32_t *tasks = target_is_by_cpu(target) ? NULL : open_tasks(target, &count);
	for (size_t i = 0; i < count; i++) {
		int fd = open_event(&attr, target, tasks[i], -1);
		if (fd < 0 && errno == ESRCH)
			continue;
		if (fd >= 0) {
			MEM_ROOM(time->fds, time->count, time->capacity);
			time->fds[time->count++] = fd;
		}
		if (fd < 0 || (rlim_t)fd > limit.rlim_cur - DESCRIPTORS_LEFT) {
			cpu_time_close(time); /* a sum of some threads is of no use */
			return;
		}
	}
}

void cpu_time_open(struct cpu_time *time, struct engine *engine, const struct target *target, bool children,
		   bool on_exec)
{
	*time = (struct cpu_time){.engine = engine && engine_has_cpu_time(engine) ? engine : NULL, .runs = on_exec};
	if (!time->engine)
		open_counters(time, target, children, on_exec);
}

bool cpu_time_is_known(const struct cpu_time *time)
{
	return time->engine || time->count;
}

void cpu_time_run(struct cpu_time *time, bool run)
{
	if (time->engine && run && !time->runs)
		time->from = engine_cpu_time_begin(time->engine);
	if (time->engine && !run && time->runs) {
		uint64_t until = engine_cpu_time_end(time->engine);
		time->sum += until > time->from ? until - time->from : 0;
	}
	time->runs = run;
	for (size_t i = 0; i < time->count; i++)
		ioctl(time->fds[i], run ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

bool cpu_time_read(const struct cpu_time *time, uint64_t *ret_nanoseconds)
{
	uint64_t sum = time->sum, value;
	for (size_t i = 0; i < time->count; i++) {
		if (read(time->fds[i], &value, sizeof value) != sizeof value)
			return false;
		sum += value;
	}
	if (!cpu_time_is_known(time))
		return false;
	*ret_nanoseconds = sum;
	return true;
}
