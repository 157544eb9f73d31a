/*
 * What is recorded, and how: one struct from the command line to the sources. The parser of options fills it in (see
 * cmd/record/record_options.c), and the recorder and capture/types read it.
 */
#ifndef WICK_CAPTURE_OPTIONS_H
#define WICK_CAPTURE_OPTIONS_H

#include "capture/attr.h"
#include "capture/events.h"
#include "collect/stack.h"

#include <sys/types.h>

struct recorder_control;
struct recorder_progress;

enum engine_request { ENGINE_AUTO, ENGINE_BPF, ENGINE_RING };

struct capture_options {
	const char *processes, *threads; /* lists; NULL: none */
	char *const *command; /* ended by NULL; NULL: none. With any other target it is not recorded: it is the clock */
	const int *streams; /* standard input, output and error for the command, -1: those of wick; NULL: all of them */
	char *const *environment; /* "NAME=value" for the command, besides that of wick; ended by NULL; NULL: none */
	unsigned launched; /* runtimes that got options there (runtime/launch.h) */
	const char *const *names; /* patterns for processes, ended by NULL; NULL: none */
	const uid_t *user; /* of processes; NULL: any */
	const char *cgroup; /* NULL: none */
	const char *follow; /* of the whole system only containers that this means, now or later */
	const char *host_root; /* where the file system of the host is mounted, for names of containers; NULL: here */
	bool whole_system;
	const char *cpus; /* list; NULL: all */
	struct capture_events *events; /* empty: what the machine has. Names change when only user space is recorded */
	unsigned types; /* of profile/types.h */
	const char *weight; /* field of a tracepoint that its samples weigh; NULL: each weighs one */
	bool wakers; /* with their stacks */
	uint64_t min_block, max_block; /* nanoseconds: shorter and longer waits are omitted; max 0: no limit */
	enum engine_request engine;
	bool timeline; /* every sample is reported with its time, also by the BPF engine */
	uint32_t kernel_memory; /* of the BPF engine, MiB; 0: the default */
	enum interpreted_frames python;
	bool asyncio; /* with the tasks of asyncio as frames */
	bool perf_maps; /* requested from JVMs */
	enum call_graph call_graph;
	uint32_t stack_size, max_depth; /* 0: the default */
	uint64_t frequency, period;
	bool inherit;
	bool kernel; /* samples of the kernel too, where they are allowed */
	uint64_t duration, delay; /* nanoseconds; 0: none */
	const struct recorder_control *control; /* NULL: none */
	void (*progress)(void *context, const struct recorder_progress *progress);
	void *context;
	/* A step down that was taken, one line each. */
	void (*note)(void *context, const char *text);
	/* One that does not change what is recorded, such as another engine. */
	void (*detail)(void *context, const char *text);
};

#endif
