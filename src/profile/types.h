/*
 * Profile types, one row each: what is recorded for a type (`-t NAME`), how its samples become weights, and how the
 * result is shown. Everything else reads the rows: the events of a recording (capture/types), the stage that derives
 * samples (event/derive), views (profile/view), palettes, the screen of `wick top`, and the help.
 *
 * A new type is a row in types.c. It needs code only if its events cannot be opened by name (enum type_need), or if its
 * weights follow a new rule (enum derive_rule).
 */
#ifndef WICK_PROFILE_TYPES_H
#define WICK_PROFILE_TYPES_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* What a recording has to do for a type besides opening its events; by bit. */
enum type_need {
	TYPE_CLOCK = 1, /* samples of running code, at a frequency; --event replaces the clock */
	TYPE_CLOCK_KEPT = 2, /* these are what is shown */
	TYPE_RUN_TIME = 4, /* they become the time that threads ran, and every wait counts: both add up */
	TYPE_SWITCHES = 8, /* when threads leave their CPU, are woken up and return */
	TYPE_WAIT_FILTER = 16, /* waits may be selected, and shown with their wakers */
	TYPE_EACH_EVENT = 32, /* every sample of --event counts */
	TYPE_DERIVED = 64, /* samples pass through event/derive */
};

/* Events that no kernel has, behind the others. perf.data contains these numbers: add new ones at the end. */
enum derived_event {
	DERIVED_RUNNING, /* the first ones in the order of enum thread_state */
	DERIVED_RUNNABLE,
	DERIVED_SLEEPING,
	DERIVED_DISK,
	DERIVED_MINOR_BYTES, /* first touched: pages that were in memory, or needed no content */
	DERIVED_MAJOR_BYTES, /* and those that had to be read */
	DERIVED_EVENTS,
};
const char *derived_name(enum derived_event event);

/* How the samples of an event become weights. */
enum derive_rule {
	DERIVE_PASS,
	DERIVE_SWITCH,
	DERIVE_TIME, /* is a time already: `raw` holds the thread_state, as 64 bits */
	DERIVE_WAKING,
	DERIVE_CLOCK, /* becomes the time that threads run, and is passed on when `keep` is set */
	DERIVE_PAGES, /* is passed on, and the size of its page becomes a sample of a derived event */
	DERIVE_WEIGH, /* weighs what one of its fields says */
};

/* An event that a type records by name, every time that it happens. */
struct type_event {
	const char *name; /* NULL ends the list */
	enum derive_rule rule;
	enum derived_event derived; /* of DERIVE_PAGES */
};

/*
 * Labels of parts: PART_RUNNING is a frame "[running]" below the stacks of that part. `time`: it is what a thread does
 * or waits for. The palette "state" colors it in a hue of render/palette.c, or in a safe_ hue; then the legend.
 */
/* clang-format off */
#define PROFILE_PARTS(part)                                                          \
	part(RUNNING, "running", true, red, kernel, "running")                       \
	part(RUNNABLE, "runnable", true, yellow, inlined, "waiting for a CPU")       \
	part(SLEEPING, "sleeping", true, io, scoped, "sleeps")                       \
	part(LOCK, "lock", true, purple, waker, "waiting for a lock")                \
	part(GIL, "GIL", true, orange, python, "waiting for Python's GIL")           \
	part(DISK, "disk", true, aqua, jit, "waiting for a disk (uninterruptible)")  \
	part(MINOR, "minor", false, mem, jit, "minor faults")                        \
	part(MAJOR, "major", false, orange, kernel, "major faults (read from disk)")
/* clang-format on */

#define PROFILE_PART_ID(id, ...) PART_##id,
enum part_label {
	PART_NONE, /* the source does not say which part it is */
	PROFILE_PARTS(PROFILE_PART_ID) /* one each */
	PART_LABELS,
};
#undef PROFILE_PART_ID
/* "[running]"; NULL for PART_NONE. */
const char *part_label_text(enum part_label label);
/* "running" for "[running]"; NULL: the name is no label of a time. */
const char *part_label_time(const char *name);

/* Value types that are parts of a whole are shown as one: see view.h. */
#define VIEW_PARTS_MAX 6
struct profile_view {
	const char *name;
	const char *title; /* of a flame graph: "Off-CPU Time" */
	const char *unit, *one; /* of its weights: "faults"; and of a weight of one, NULL: the same */
	bool counted; /* the unit is that of the view only: its parts are plain counts */
	const char *background; /* as flamegraph.pl's users know it: "blue" for waits, "green" for memory */
	const char *load; /* what `wick top` counts per second: "faults/s"; of times: the threads that it is about */
	const char *shown_by; /* by default only where a value type has this in its name */
	struct view_part {
		const char *value; /* name of the value type; NULL ends the list */
		enum part_label label;
		bool waits, may_be_lock;
	} parts[VIEW_PARTS_MAX];
};

#define TYPE_EVENTS_MAX 4
#define TYPE_VIEWS_MAX 3
struct profile_type {
	const char *name, *other_name; /* other_name: accepted too; NULL: none */
	const char *help; /* what it measures, for --help */
	unsigned needs; /* of enum type_need */
	struct type_event events[TYPE_EVENTS_MAX];
	struct profile_view views[TYPE_VIEWS_MAX]; /* each gets files; none: the first event is shown as it is */
};

/* All of them, in the order of the help; the first is the default. A set of types has a bit for each, by its index. */
extern const struct profile_type profile_types[];
extern const size_t profile_type_count;
#define PROFILE_TYPES_DEFAULT 1u
/* The views of all types: `view` NULL is the first, and the last is followed by NULL. */
const struct profile_view *profile_view_next(const struct profile_view *view);

/* "cpu,offcpu": adds to a set of types. On failure the message names the types that there are. */
int profile_types_parse(const char *text, unsigned *ret_types, struct err *err);
/* The needs of all types of a set. */
unsigned profile_types_needs(unsigned types);
/* "cpu, wall or trace": those that have one of the needs; 0: all. */
void profile_types_list(struct buf *out, unsigned needs);
/* "cpu (default): where threads run. offcpu: …" */
void profile_types_help(struct buf *out);

#endif
