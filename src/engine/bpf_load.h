/* Loading the programs into the kernel, and their maps. Only in builds with libbpf. */
#ifndef WICK_ENGINE_BPF_LOAD_H
#define WICK_ENGINE_BPF_LOAD_H

#include "bpf/layout.h"
#include "engine/bpf_slabs.h"
#include "engine/engine.h"

struct bpf_programs; /* loaded */

/* Descriptors and sizes of the maps; the programs own them. */
struct bpf_maps {
	struct bpf_slabs *slabs;
	int parts, mappings, processes, counts, records, statistics;
	int pythons;
	int threads; /* -1: waits are not added up */
	int members; /* -1: all samples count */
	uint16_t waits_source;
	uint32_t mapping_room, process_room, count_room; /* elements */
	uint32_t record_room; /* bytes of the ring buffer */
	unsigned cpus; /* that the kernel may have: elements of per-CPU maps */
};

int bpf_programs_load(struct bpf_programs **ret_programs, const struct engine_options *options, struct err *err);
void bpf_programs_free(struct bpf_programs *programs);
struct bpf_maps bpf_programs_maps(const struct bpf_programs *programs);
/* Attaches the program of a source to a perf event. */
int bpf_programs_attach(struct bpf_programs *programs, size_t source, int event_fd, struct err *err);
/* Calls `add` for each thread of the system that has registers of user space, where waits before the start count. */
void bpf_programs_registers(const struct bpf_programs *programs,
			    void (*add)(void *context, const struct layout_registers *found), void *context);
/* Calls `add` for the tasks of members that have not been released yet. */
void bpf_programs_times(const struct bpf_programs *programs,
			void (*add)(void *context, const struct layout_time *found), void *context);
/* While they are held, members that end stay in their map, with their time. */
void bpf_programs_hold_members(struct bpf_programs *programs, bool hold);
/* The sum over all CPUs of an enum layout_statistic. */
uint64_t bpf_programs_statistic(const struct bpf_programs *programs, uint32_t which);
/* A process that becomes a member when it executes a program. */
void bpf_programs_await(struct bpf_programs *programs, int32_t pid);
/* From when on and until when waits are added up. */
void bpf_programs_began(struct bpf_programs *programs, uint64_t time);
void bpf_programs_ended(struct bpf_programs *programs, uint64_t time);
/* What their functions are called, where they are sampled themselves. */
void bpf_programs_emit_symbols(const struct bpf_programs *programs, struct module_store *codes);
/* Stacks that the programs remember must be followed again. */
void bpf_programs_tables_changed(struct bpf_programs *programs);
/* How often the programs of sources ran and for how long; 0 where the kernel does not count (bpf_stats_enabled). */
void bpf_programs_cost(const struct bpf_programs *programs, uint64_t *ret_runs, uint64_t *ret_nanoseconds);
/* Memory of all maps, as far as the kernel reports it. */
size_t bpf_programs_bytes(const struct bpf_programs *programs);

#endif
