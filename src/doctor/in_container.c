/* Finds out that wick runs in a container, and prints what it must be allowed. */
#include "doctor/in_container.h"

/* A file of Docker's stays when its image becomes the disk of a machine, and a chroot is no container. */
const char *in_container_type(const struct system *system)
{
	static const struct {
		const char *text, *name;
	} cgroups[] = {{"docker", "Docker"},
		       {"kubepods", "Kubernetes"},
		       {"libpod", "Podman"},
		       {"lxc", "LXC"},
		       {"containerd", "containerd"}};
	bool apart = false;
	static const char *const namespaces[] = {"cgroup", "ipc", "pid", "uts"};
	for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++)
		apart = apart || system_in_other_namespace(system, namespaces[i]);
	if (!apart)
		return NULL;
	if (system_exists(system, "/.dockerenv"))
		return "Docker";
	if (system_exists(system, "/run/.containerenv"))
		return "Podman";
	for (size_t i = 0; i < sizeof cgroups / sizeof *cgroups; i++)
		if (system_contains(system, "/proc/1/cgroup", cgroups[i].text))
			return cgroups[i].name;
	return system_contains(system, "/proc/1/environ", "container=") ? "unknown type" : NULL;
}

bool in_container_limited(const struct system *system)
{
	static const enum system_capability wanted[] = {CAN_PERFMON, CAN_BPF, CAN_SYS_PTRACE, CAN_SYSLOG};
	bool limited = false;
	if (!in_container_type(system))
		return false;
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		limited = limited || !system_capable(system, wanted[i]);
	return limited || system_status(system, "Seccomp:", 10) == 2;
}

void in_container_settings(struct buf *out)
{
	buf_str(out, "Start a container so that wick can record everything in it:\n"
		     "\n"
		     "  docker run --cap-add PERFMON --cap-add BPF --cap-add SYS_PTRACE --cap-add SYSLOG \\\n"
		     "    --security-opt seccomp=unconfined …\n"
		     "\n"
		     "  # compose.yaml\n"
		     "      cap_add: [PERFMON, BPF, SYS_PTRACE, SYSLOG]\n"
		     "      security_opt: [seccomp=unconfined]\n"
		     "\n"
		     "  # Kubernetes\n"
		     "      securityContext:\n"
		     "        capabilities:\n"
		     "          add: [PERFMON, BPF, SYS_PTRACE, SYSLOG]\n"
		     "        seccompProfile:\n"
		     "          type: Unconfined\n"
		     "\n"
		     "Docker 23 and later need no seccomp setting. Processes of other containers need --pid=host\n"
		     "(pid: host, hostPID: true) as well. From the host, wick records containers as they are.\n");
}
