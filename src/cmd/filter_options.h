/* The filters of the command line: which samples are taken. */
#ifndef WICK_CMD_FILTER_OPTIONS_H
#define WICK_CMD_FILTER_OPTIONS_H

#include "base/buf.h"
#include "cmd/input.h"
#include "collect/collect.h"

struct input_filter {
	struct collect_filter takes;
	bool any; /* something may be omitted */
	bool recordings_only; /* by what text does not contain: CPU, cgroup, time */
	struct buf pids, tids, cpus; /* where the lists of `takes` are */
	struct arena labels; /* and those of its labels */
};

/* Says what is wrong with the options. −1 to continue, else the exit code. Release in any case. */
int input_filter_parse(struct input_filter *filter, const struct input_options *options);
void input_filter_release(struct input_filter *filter);

#endif
