/* Reading the small files in which the kernel tells what it allows. Private to src/capture/. */
#ifndef WICK_CAPTURE_CHECK_FILES_H
#define WICK_CAPTURE_CHECK_FILES_H

#include "capture/check.h"

#include <stdint.h>

/* What lets a container record. */
#define DENIED_PROFILE "docker run --security-opt seccomp=unconfined --cap-add PERFMON … (the same with podman)"

/* The first 64 KiB of a file; false when it cannot be read. */
bool check_read(const struct check_system *system, const char *path, struct buf *out);
/* A file that holds one number. */
bool check_number(const struct check_system *system, const char *path, long long *ret_value);
bool check_exists(const struct check_system *system, const char *path);
bool check_readable(const struct check_system *system, const char *path);
/* True when the folder has an entry whose name begins so. */
bool check_entry(const struct check_system *system, const char *folder, const char *beginning);
bool check_contains(const struct check_system *system, const char *path, const char *text);

/* A field of /proc/self/status such as "CapEff:", in hexadecimal or decimal; 0 when it is not there. */
uint64_t check_status(const struct check_system *system, const char *field, int base);

enum check_capability {
	CAN_IPC_LOCK = 14,
	CAN_SYS_PTRACE = 19,
	CAN_SYS_ADMIN = 21,
	CAN_SYSLOG = 34,
	CAN_PERFMON = 38,
	CAN_BPF
};
/* In a user namespace nothing is capable: the kernel asks for capabilities over the whole machine. */
bool check_capable(const struct check_system *system, enum check_capability capability);
bool check_root(const struct check_system *system); /* this user is called root */
bool check_user_namespace(const struct check_system *system);
/* "pid", "uts", …: not the one that the kernel started with. False when it cannot be read. */
bool check_other_namespace(const struct check_system *system, const char *name);
/* perf_event_paranoid does not hold for this user. */
bool check_privileged(const struct check_system *system);

#endif
