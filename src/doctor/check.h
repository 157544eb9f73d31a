/*
 * What this system lets a profiler do, one row per question: how things are, what that limits, and what fixes it.
 * Files are read below a root and events opened by a function, so that tests can present other systems.
 */
#ifndef WICK_DOCTOR_CHECK_H
#define WICK_DOCTOR_CHECK_H

#include "system/system.h"

enum check_verdict {
	CHECK_OK,
	CHECK_WARN, /* something is limited */
	CHECK_BAD, /* recording is impossible, or next to it */
};

struct check_result {
	const char *name;
	enum check_verdict verdict;
	struct buf state; /* "2: samples of user space only" */
	/* When it is not ok; "" where there is nothing to say. */
	const char *limits;
	const char *now; /* command that fixes it until the next reboot */
	const char *forever; /* and for good */
	char room[2][128]; /* for the two, where they are not constants: a result is not copied */
};

/* The number of questions; check_run() answers the one of an index below it. Release the result's state. */
size_t check_count(void);
void check_run(const struct system *system, size_t index, struct check_result *ret_result);
/* By name ("perf_event_paranoid"): what record shows when it fails or has to step down. False: no such row. */
bool check_run_name(const struct system *system, const char *name, struct check_result *ret_result);

/* True when the kernel lets this user record his own processes. */
bool check_can_record(const struct system *system);

#endif
