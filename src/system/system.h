/*
 * The machine: the small files in which the kernel says what it allows. They are read below a root and events opened by
 * a function, so that tests can present other machines.
 */
#ifndef WICK_SYSTEM_SYSTEM_H
#define WICK_SYSTEM_SYSTEM_H

#include "base/buf.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct system {
	const char *root; /* "" normally: prefix of all paths */
	/* Opens an event on the calling thread and closes it again: 0 or -errno. */
	int (*open_event)(const struct perf_event_attr *attr);
	/* Whether tracefs is reached where it is not mounted: 0 or -errno. */
	int (*open_tracefs)(void);
	const char *(*environment)(const char *name);
};

/* The one that wick runs on. */
struct system system_this(void);

/* What lets a container record. */
#define DENIED_PROFILE "docker run --security-opt seccomp=unconfined --cap-add PERFMON … (the same with podman)"

/* The first 64 KiB of a file; false when it cannot be read. */
bool system_read(const struct system *system, const char *path, struct buf *out);
/* A file that holds one number. */
bool system_number(const struct system *system, const char *path, long long *ret_value);
bool system_exists(const struct system *system, const char *path);
bool system_readable(const struct system *system, const char *path);
/* True when the folder has an entry whose name begins so. */
bool system_has_entry(const struct system *system, const char *folder, const char *beginning);
bool system_contains(const struct system *system, const char *path, const char *text);

/* A field of /proc/self/status such as "CapEff:", in hexadecimal or decimal; 0 when it is not there. */
uint64_t system_status(const struct system *system, const char *field, int base);

enum system_capability {
	CAN_IPC_LOCK = 14,
	CAN_SYS_PTRACE = 19,
	CAN_SYS_ADMIN = 21,
	CAN_SYSLOG = 34,
	CAN_PERFMON = 38,
	CAN_BPF
};
/* In a user namespace nothing is capable: the kernel requires capabilities over the whole machine. */
bool system_capable(const struct system *system, enum system_capability capability);
bool system_is_root(const struct system *system); /* this user is called root */
bool system_in_user_namespace(const struct system *system);
/* "pid", "uts", …: not the one that the kernel started with. False when it cannot be read. */
bool system_in_other_namespace(const struct system *system, const char *name);
/* perf_event_paranoid does not hold for this user. */
bool system_is_privileged(const struct system *system);

#endif
