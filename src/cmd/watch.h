/* The full screen while a recording continues; a thread of its own, so that the reader of the rings need not wait. */
#ifndef WICK_CMD_WATCH_H
#define WICK_CMD_WATCH_H

#include "collect/live_profile.h"
#include "profile/calltree.h"
#include "recorder/recorder.h"

struct watch;

struct watch_options {
	const char *title; /* what is recorded */
	const char *event; /* the one that is shown, if there is no view */
	const struct profile_view *view; /* NULL: none */
	uint64_t frequency; /* 0: by count */
	unsigned cpus; /* that can be busy at once */
	unsigned window; /* seconds that are shown at first; 0: everything */
	unsigned refresh; /* milliseconds */
	enum label_names names;
	struct symbolize_options symbolize;
	struct recorder_control *control; /* gets what the keys ask for */
};

/*
 * Takes the screen, of which must be known that it can be had (see fullscreen_possible()). Call it between
 * recorder_open() and recorder_run(). The texts of the options are not copied.
 */
int watch_start(struct watch **ret_watch, struct collector *collector, const struct watch_options *options,
		struct err *err);
void watch_progress(struct watch *watch, const struct recorder_progress *progress);
/* Gives the screen back. NULL is allowed. */
void watch_stop(struct watch *watch);

#endif
