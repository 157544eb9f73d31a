/*
 * How frames of each kind get their names. A new kind of frame needs a value of enum trace_kind, who produces it, and a
 * row in the table of rules.c.
 */
#ifndef WICK_SYMBOLIZE_RULES_H
#define WICK_SYMBOLIZE_RULES_H

#include "profile/profile.h"
#include "trace/trace.h"

struct symbolizer;
struct symbolizer_name;
struct answer;

struct frame_rule {
	/*
	 * Appends the names of a frame, outermost first, with symbolizer_add_frame(). `answer` is what was found at its
	 * address; NULL: nothing, or the kind has none. Sets what the quality counts in `named`.
	 */
	void (*name)(struct symbolizer *n, const struct trace *trace, const struct trace_frame *frame,
		     const struct answer *answer, struct symbolizer_name *named);
	enum frame_kind shown; /* what a frame with a name is in the profile */
	bool in_module; /* `address` is looked up in `module` */
	const char *text; /* of frames that all have one name */
};

const struct frame_rule *frame_rule(enum trace_kind kind);

/* The module in which a frame is looked up; MODULE_NONE: none. */
module_id frame_rule_module(const struct trace_frame *frame);
/* Whether it is an address that is in no module. */
bool frame_rule_is_unmapped(const struct trace_frame *frame);
/* Whether a stack with this outermost frame is truncated. */
bool frame_rule_truncates(const struct trace_frame *frame);

#endif
