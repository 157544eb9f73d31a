/*
 * Writes a perf.data file of finished call chains: no stack bytes, no registers. perf report, perf script and Hotspot
 * read it, and so does perfdata.h.
 *
 * The writer is one more consumer beside a collector: perfdata_writer_sink() takes the records that describe processes
 * and mappings (tee the records into both, see event/tee.h), perfdata_writer_stack() takes unwound samples,
 * which the `each` of a collector gets. The two may be called by different threads, in any order of time:
 * readers sort by time. Mappings wait for the first sample that lies in them; those in which none lies are omitted from
 * a short recording.
 *
 * The file is streamed to a temporary and takes its name when it is whole. What is written so far is readable as that
 * of a recorder that was killed: the events come first, and a header without a size means "up to the end".
 */
#ifndef WICK_PERFDATA_WRITE_H
#define WICK_PERFDATA_WRITE_H

#include "base/err.h"
#include "base/outfile.h"
#include "event/event.h"
#include "runtime/interpreted.h"
#include "trace/frame.h"

struct perfdata_writer;

struct perfdata_writer_options {
	/* All events; the `source` of a sample is an index here. Copied; their ids are replaced by the writer's own. */
	const struct event_source *sources;
	size_t source_count;
	char *const *command; /* what was called to record, ended by NULL; may be NULL */
	/* Of the machine the samples are from; NULL or 0: this one. */
	const char *hostname, *release, *machine;
	unsigned cpus;
	/* as perf record -z does: about eight times smaller; perf since 5.2 reads it, not every Hotspot */
	bool compress;
	/* Clocks tick at their frequency, as the kernel's do: with a single event this is written once. */
	bool steady_clocks;
	bool keep_part; /* see outfile_open_part(): what a recorder wrote before it died can be read */
	const struct outfile_place *place; /* NULL: the usual one */
};

/* On failure nothing needs to be released. */
int perfdata_writer_open(struct perfdata_writer **ret_writer, const char *path,
			 const struct perfdata_writer_options *options, struct err *err);

/*
 * Takes mmap, comm, fork, exit, lost, count, ksymbol and cgroup records; has no sample function. Its functions return 0
 * until a write has failed (the disk is full), then the failure's code.
 */
struct event_sink perfdata_writer_sink(struct perfdata_writer *writer);

/* The functions of interpreted frames, before the first stack that has any. They must stay until the end. */
void perfdata_writer_set_interpreted(struct perfdata_writer *writer, struct interpreted *functions);

/* One finished sample; its chain is not used. */
void perfdata_writer_stack(struct perfdata_writer *writer, const struct event_sample *sample,
			   const struct stack_frame *frames, size_t count, enum stack_end end);

/* A build-id known from elsewhere than the mmap records. The first one of a path stays. */
void perfdata_writer_build_id(struct perfdata_writer *writer, const char *path, bool kernel,
			      const struct build_id *build_id);

/*
 * Promises that no record still to come is older than `time`: readers then need not hold everything in memory to sort
 * it. May be called as often as one likes, also by the thread that gives the stacks; need not be called at all.
 */
void perfdata_writer_settled(struct perfdata_writer *writer, uint64_t time);

/* What was given so far is in the file, which is whole up to there but for what is known at the end only. */
void perfdata_writer_flush(struct perfdata_writer *writer);

/* Whether a write failed: 0 or its code. */
int perfdata_writer_failed(struct perfdata_writer *writer);

/* Completes the file, gives it its name and frees the writer. On failure nothing is left but the message. */
int perfdata_writer_finish(struct perfdata_writer *writer, struct err *err);
/* Frees the writer and removes what it wrote. */
void perfdata_writer_abandon(struct perfdata_writer *writer);

#endif
