/* Reading the small files in which the kernel tells what it allows. Private to src/capture/. */
#ifndef WICK_CAPTURE_CHECK_FILES_H
#define WICK_CAPTURE_CHECK_FILES_H

#include "capture/check.h"

#include <stdint.h>

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
bool check_capable(const struct check_system *system, enum check_capability capability);
/* perf_event_paranoid does not hold for this user. */
bool check_privileged(const struct check_system *system);

#endif
