/*
 * Samples made of other samples: it stands before a collector, takes what the kernel reports and gives what people ask
 * for. Switches become nanoseconds that threads waited (see offcpu.h), page faults become bytes, tracepoints weigh what
 * one of their fields says. Samples of other events go through.
 */
#ifndef WICK_EVENT_DERIVE_H
#define WICK_EVENT_DERIVE_H

#include "event/offcpu.h"
#include "event/tee.h"
#include "profile/types.h"

/* How perf.data describes it: as perf describes its own off-CPU time. */
struct perf_event_attr derived_attr(enum derived_event event, const struct perf_event_attr *like);

/* What happens to the samples of an event. */
struct derive_source {
	enum derive_rule rule;
	enum derived_event derived; /* of DERIVE_PAGES */
	bool keep; /* of DERIVE_CLOCK */
	bool only_known; /* is recorded everywhere: samples of processes that no record mentioned are skipped */
	struct trace_field weight; /* of DERIVE_WEIGH */
};

struct derive_options {
	const struct derive_source *sources; /* by number of the event; later ones are passed on */
	size_t source_count;
	uint32_t first_derived; /* number of the event DERIVED_RUNNING */
	uint64_t page_size; /* of a fault whose record does not have it */
	struct offcpu_options offcpu;
};

struct derive;

/* Everything goes to `next`, which is copied. */
struct derive *derive_new(const struct derive_options *options, const struct event_sink *next);
void derive_free(struct derive *derive);
struct event_sink derive_sink(struct derive *derive);
/* As those of offcpu.h. */
void derive_begin(struct derive *derive, uint64_t time);
int derive_finish(struct derive *derive, uint64_t time);
struct offcpu_counts derive_counts(const struct derive *derive);

#endif
