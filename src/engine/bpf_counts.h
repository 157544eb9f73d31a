/*
 * From the records and counts of the programs to samples. A stack that crossed is kept until its process changes, so
 * that later counts can be emitted with it; with the map of counts, this is what bounds the memory.
 */
#ifndef WICK_ENGINE_BPF_COUNTS_H
#define WICK_ENGINE_BPF_COUNTS_H

#include "base/id_map.h"
#include "bpf/layout.h"
#include "engine/bpf_held.h"
#include "engine/bpf_load.h"

struct bpf_stack {
	struct layout_record *record; /* with its addresses; NULL: retired */
	struct layout_count emitted;
	uint64_t time; /* until when */
	uint32_t next; /* of the same process; INDEX_NONE: none */
};

struct bpf_pid {
	uint32_t first; /* its stacks; INDEX_NONE: none */
};

struct bpf_counts {
	struct bpf_maps maps;
	uint32_t copy_bytes; /* that a copy may have */
	uint32_t faults; /* sources by bit, as engine_options has them */
	struct bpf_stack *stacks;
	size_t count, capacity, retired;
	struct index_map map; /* by key */
	struct bpf_pid *pids;
	size_t pid_count, pid_capacity;
	struct id_map pid_map; /* of the pids */
	uint32_t *ended; /* threads, since the counts were read; their processes continue */
	size_t ended_count, ended_capacity;
	uint64_t emitted; /* samples */
	uint64_t read; /* when all counts were */
	uint64_t *chain; /* room for one */
	struct bpf_held held;
	struct bpf_held asleep; /* the same of threads that waited when the recording began */
};

void bpf_counts_init(struct bpf_counts *counts, const struct bpf_maps *maps, const struct engine_options *options);
void bpf_counts_release(struct bpf_counts *counts);
/* A thread that waits when the recording begins, with its stack. */
void bpf_counts_asleep(struct bpf_counts *counts, const struct event_sample *sample);
/* Gives the sample of a copied stack to the sink, which is not emitted yet. */
void bpf_counts_announce(struct bpf_counts *counts, const struct layout_record *record, const struct event_sink *sink);
/* Emits the sample of a record, which becomes the counts' own. Returns as the sink. */
int bpf_counts_record(struct bpf_counts *counts, struct layout_record *record, const struct event_sink *sink);
/* tid −1: all threads of the process */
int bpf_counts_retire(struct bpf_counts *counts, int32_t pid, int32_t tid, const struct event_sink *sink);
/* A thread that is not all of its process ended: its stacks are retired when the counts are read. */
void bpf_counts_ended(struct bpf_counts *counts, int32_t tid);
/*
 * Emits time that a thread spent and that is in no map: `key` is that of the wait, or of the last one of a thread that
 * runs; `left` is enum layout_left_with and `state` enum layout_state. A count of 0 is one that no program saw.
 */
int bpf_counts_time(struct bpf_counts *counts, const struct layout_key *key, uint32_t left, uint64_t state,
		    const struct layout_count *count, uint64_t time, const struct event_sink *sink);
/* Emits what was counted since. Starts again when the map of counts is nearly full. */
int bpf_counts_flush(struct bpf_counts *counts, const struct event_sink *sink);

#endif
