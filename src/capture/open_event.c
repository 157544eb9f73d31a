/* Opens perf events, and explains failures. */
#include "capture/open_event.h"

#include "system/denied.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int open_event(struct perf_event_attr *attr, const struct target *target, int32_t task, int32_t cpu)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (target->cgroup >= 0 ? PERF_FLAG_PID_CGROUP : 0);
	return (int)syscall(SYS_perf_event_open, attr, task, cpu, -1, flags);
}

const int32_t *open_tasks(const struct target *target, size_t *ret_count)
{
	static const int32_t everybody = -1;
	*ret_count = target_is_by_cpu(target) ? 1 : target->tid_count;
	return target->cgroup >= 0 ? &target->cgroup : target->whole_system ? &everybody : target->tids;
}

static int set_too_many_files(struct err *err, int error)
{
	struct rlimit limit = {0};
	if (error == ENFILE)
		return err_set(err, ERR_SYSTEM, "too many open files on this system: sudo sysctl fs.file-max=1000000");
	getrlimit(RLIMIT_NOFILE, &limit);
	return err_set(err, ERR_SYSTEM,
		       "too many open files: the limit is %llu; raise it (ulimit -n), or record fewer threads",
		       (unsigned long long)limit.rlim_cur);
}

int open_refused(const struct capture_event *event, const struct target *target, int32_t tid, int error,
		 struct err *err)
{
	const char *name = event ? event->name : "mappings";
	struct system system = system_this();
	char process[64];
	switch (error) {
	case EACCES:
	case EPERM:
		if (target_is_by_cpu(target))
			return denied_set(err, &system, "the whole system", false, error);
		if (target->command && !target->clock)
			return denied_set_own(err, &system, error);
		snprintf(process, sizeof process, "process %d", (int)target_process_of(tid));
		return denied_set(err, &system, process, true, error);
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return err_set(err, ERR_SYSTEM,
			       "event %s is not supported on this machine (virtual machines often have no PMU); "
			       "use -e cpu-clock",
			       name);
	case EMFILE:
	case ENFILE:
		return set_too_many_files(err, error);
	case ENOSYS:
		if (denied_by_filter(&system, error))
			return denied_set_own(err, &system, error);
		return err_set(err, ERR_SYSTEM, "this kernel does not support perf events (CONFIG_PERF_EVENTS)");
	case EBUSY:
		return err_set(err, ERR_SYSTEM, "%s: all counters of the PMU are in use", name);
	default:
		return err_set(err, ERR_SYSTEM, "cannot record %s: %s", name, strerror(error));
	}
}
