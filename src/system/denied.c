/* Explains why the kernel refused something. */
#include "system/denied.h"

#include "system/system.h"

#include <errno.h>

#define FILTER_STEP "a seccomp filter blocks perf_event_open; " DENIED_PROFILE

const char *denied_step(const struct system *system)
{
	/* Also where a program with the capabilities was started in a user namespace: they do not count there. */
	if (system_in_user_namespace(system))
		return "root in a user namespace lacks CAP_PERFMON; run wick on the host, not in a rootless "
		       "container";
	if (system_is_root(system))
		return "root lacks CAP_PERFMON; add it to the container or service (docker run --cap-add "
		       "PERFMON, systemd CapabilityBoundingSet=)";
	return "run with sudo";
}

bool denied_by_filter(const struct system *system, int error)
{
	/* EACCES is the kernel's own answer. */
	return (error == EPERM || error == ENOSYS) && system_status(system, "Seccomp:", 10) == 2;
}

int denied_set(struct err *err, const struct system *system, const char *what, bool owner, int error)
{
	if (denied_by_filter(system, error))
		return err_set(err, ERR_DENIED, "permission denied: " FILTER_STEP);
	bool user = !system_is_root(system) && !system_in_user_namespace(system);
	return err_set(err, ERR_DENIED, "permission denied for %s: %s%s", what, denied_step(system),
		       owner && user ? " or as its owner" : "");
}

int denied_set_own(struct err *err, const struct system *system, int error)
{
	long long paranoid = 2;
	system_number(system, "/proc/sys/kernel/perf_event_paranoid", &paranoid);
	if (denied_by_filter(system, error))
		return err_set(err, ERR_DENIED, "permission denied: " FILTER_STEP);
	if (paranoid > 2)
		return err_set(err, ERR_DENIED, "permission denied: kernel.perf_event_paranoid is %lld; %s", paranoid,
			       system_is_root(system) ? denied_step(system) :
							"sudo sysctl kernel.perf_event_paranoid=2");
	return err_set(err, ERR_DENIED, "permission denied: %s", denied_step(system));
}
