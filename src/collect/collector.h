/* A collector and its workers. Private to src/collect/. */
#ifndef WICK_COLLECT_COLLECTOR_H
#define WICK_COLLECT_COLLECTOR_H

#include "collect/collect.h"
#include "collect/stack.h"
#include "collect/tally.h"
#include "event/measure.h"
#include "event/source_facts.h"
#include "symbolize/prepare.h"

#include <pthread.h>

struct worker {
	struct collector *collector;
	pthread_t thread;
	bool started;
	struct stack_maker maker;
	struct tally tally;
	pthread_mutex_t lock; /* guards `tally` where it is followed */
};

struct known_build_id {
	str_id path;
	struct build_id id;
};

struct cgroup {
	uint64_t id;
	const struct batch_cgroup *labels;
};

struct collector;

/* --- collect_cgroups.c --- */

/* Of one that no record names, as of a cgroup that was gone too soon, the id is the path. NULL: the sample has none. */
const struct batch_cgroup *collector_cgroup(struct collector *collector, uint64_t id);
int collector_take_cgroup(struct collector *collector, const struct event_cgroup *cgroup);

struct collector {
	struct collect_options options;
	struct modules modules;
	struct processes processes;
	struct module_store codes;
	struct stack_needs needs;
	struct collect_reader reader;
	struct source_facts *sources; /* by event */
	size_t source_count, source_capacity;
	uint32_t source_columns; /* length of the longest name */
	struct known_build_id *build_ids;
	size_t build_id_count, build_id_capacity;
	struct cgroup *cgroups;
	size_t cgroup_count, cgroup_capacity;
	struct arena cgroup_labels;
	struct batch_queue *queue;
	struct batch *filling;
	struct worker *workers;
	struct preparer *preparer;
	uint64_t *chain; /* made of branches */
	size_t chain_capacity;
	unsigned worker_count, running;
	uint64_t first_time;
	bool has_first_time;
	uint64_t lost, lost_records;
	uint64_t overflows; /* weights of single samples that int64_t does not hold */
	struct measure measure;
};

static inline bool collector_makes_profile(const struct collect_options *options)
{
	return !options->each || options->each_and_profile;
}

#endif
