/*
 * Events → profile. The collector is a sink: it follows processes and mappings, hands samples in batches to workers,
 * who unwind them and count stacks of addresses, and at the end resolves each distinct address once.
 *
 * Samples of one batch see the mappings as they were when the sample was taken, so the result does not depend on the
 * number of workers.
 */
#ifndef WICK_COLLECT_COLLECT_H
#define WICK_COLLECT_COLLECT_H

#include "collect/tally.h"
#include "symbol/symbols.h"
#include "trace/follow.h"

/* What is taken; unset members take everything. */
struct collect_filter {
	/* Threads, labels, stacks. `each` gets the stacks of all modules and functions: they have no names yet. */
	struct profile_filter profile;
	const uint32_t *cpus; /* ended by UINT32_MAX */
	const char *const *cgroups; /* patterns for paths, ended by NULL */
	uint64_t from, to; /* nanoseconds since the first sample; to 0: no end */
};

struct collect_options {
	unsigned threads; /* 0: as many as there are cores */
	bool count_samples; /* a sample weighs one and not its period */
	bool keep_order; /* keep samples unmerged in the order of time */
	bool keep_times; /* samples keep their time, so they are not added up */
	bool label_cpu, label_cgroup, label_gil; /* samples have them as labels, and are counted by them */
	enum tally_threads threads_apart; /* in the profile; there is no end to new ones */
	bool keep_lines; /* frames keep their source line */
	bool foreign; /* they are of a machine that is not known: copies of stacks cannot be unwound */
	const struct arch *machine; /* that they are of; NULL: this one */
	bool engine; /* the BPF engine takes the samples */
	bool live; /* the records are of processes that run now */
	bool by_wick; /* wick recorded them, now or before */
	bool followed; /* collector_follow() will be called while records come */
	enum interpreted_frames python;
	bool addresses; /* frames without a symbol are called by their address too */
	size_t max_depth; /* 0: 1,024 */
	struct collect_filter filter;
	struct symbol_options symbols;
	struct debuginfod *debuginfod; /* provides files that are missing; NULL: none */
	/* When set, it gets each sample with its stack in the order of time; a profile needs each_and_profile then. */
	bool each_and_profile;
	void (*each)(void *context, const struct batch_sample *sample, const struct stack_frame *frames, size_t count,
		     enum stack_end end);
	void *each_context;
};

struct collector;

struct collector *collector_new(const struct collect_options *options);
void collector_free(struct collector *collector);

/* Who reads the records, as far as the collector must know. */
struct collect_reader {
	void *context;
	/* The events known so far; those of a sample are always. */
	const struct event_source *(*sources)(void *context, size_t *ret_count);
	void (*progress)(void *context); /* called now and then; may be NULL */
};
void collector_set_reader(struct collector *collector, const struct collect_reader *reader);
/* A build-id known from elsewhere than the mmap records. */
void collector_build_id(struct collector *collector, const char *path, const struct build_id *build_id);
struct event_sink collector_sink(struct collector *collector);
/* Lets the workers begin with what came so far: a live source calls it before it waits for more. */
void collector_flush(struct collector *collector);
/* For how many modules debuginfod was not asked, since its budget was used up. */
unsigned collector_not_fetched(const struct collector *collector);
/* How many samples have a stack that ends so, as far as the workers have come. From any thread. */
uint64_t collector_ends(const struct collector *collector, enum stack_end end);
/* How many there are to follow; and one of them, from any thread: see trace_follow(). */
unsigned collector_worker_count(const struct collector *collector);
void collector_follow(struct collector *collector, unsigned worker, struct trace_follower *follower, struct trace *into,
		      struct sample_list *news);
/* The code of the modules that the frames of `each` name. */
struct module_store *collector_codes(struct collector *collector);
/* As module_store_each_map(), after collector_finish(). */
void collector_each_map(struct collector *collector, void *context, void (*take)(void *context, int32_t pid, int fd));
/* What was missing of the stacks that were unwound so far, for who records. */
struct stack_needs *collector_stack_needs(struct collector *collector);
/* Waits for the workers: from here on nothing calls `each`. collector_finish() does it by itself. */
void collector_stop(struct collector *collector);
/* Waits for the workers and adds everything to an initialised profile, with names. */
void collector_finish(struct collector *collector, struct profile *profile);

#endif
