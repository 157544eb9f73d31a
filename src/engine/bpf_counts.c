/* Combines the counts in BPF maps with the stacks of records into samples. */
#include "engine/bpf_counts.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "engine/bpf_python.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#define FULL_COPY (LAYOUT_COPY_MAX - 4096u) /* bytes of a copy that has no room for another page */
#define CHUNK 4096 /* elements of the map that are read at a time */
#define MARKERS 2 /* in a chain: where the kernel's part begins, and that of user space */
#define RETIRED_MIN 1024 /* stacks; fewer are not worth making room */

void bpf_counts_init(struct bpf_counts *counts, const struct bpf_maps *maps, const struct engine_options *options)
{
	*counts = (struct bpf_counts){.maps = *maps, .copy_bytes = LAYOUT_COPY_MAX, .faults = options->faults};
	bpf_held_init(&counts->held);
	bpf_held_init(&counts->asleep);
	counts->chain = mem_alloc((MARKERS + LAYOUT_KERNEL_MAX + LAYOUT_FRAMES_MAX) * sizeof *counts->chain);
}

static void forget_all(struct bpf_counts *counts)
{
	for (size_t i = 0; i < counts->count; i++)
		free(counts->stacks[i].record);
	counts->count = counts->pid_count = counts->retired = 0;
	index_map_clear(&counts->map);
	id_map_clear(&counts->pid_map);
}

void bpf_counts_release(struct bpf_counts *counts)
{
	forget_all(counts);
	index_map_release(&counts->map);
	id_map_release(&counts->pid_map);
	bpf_held_release(&counts->held);
	bpf_held_release(&counts->asleep);
	free(counts->stacks);
	free(counts->pids);
	free(counts->ended);
	free(counts->chain);
}

/* --- stacks that are known --- */

static uint64_t hash_key(const struct layout_key *key)
{
	return hash_bytes((const char *)key, sizeof *key);
}

static struct bpf_stack *find_stack(struct bpf_counts *counts, const struct layout_key *key)
{
	struct index_probe probe;
	for (uint32_t i = index_map_first(&counts->map, hash_key(key), &probe); i != INDEX_NONE;
	     i = index_map_next(&counts->map, &probe)) {
		struct bpf_stack *stack = &counts->stacks[i];
		if (stack->record && memcmp(&stack->record->key, key, sizeof *key) == 0)
			return stack;
	}
	return NULL;
}

static struct bpf_pid *find_pid(struct bpf_counts *counts, int32_t pid)
{
	uint32_t at = id_map_find(&counts->pid_map, pid);
	return at == INDEX_NONE ? NULL : &counts->pids[at];
}

static struct bpf_pid *get_pid(struct bpf_counts *counts, int32_t pid)
{
	struct bpf_pid *known = find_pid(counts, pid);
	if (known)
		return known;
	id_map_add(&counts->pid_map, pid);
	MEM_ROOM(counts->pids, counts->pid_count, counts->pid_capacity);
	struct bpf_pid *added = &counts->pids[counts->pid_count++];
	*added = (struct bpf_pid){INDEX_NONE};
	return added;
}

static void add_stack(struct bpf_counts *counts, struct bpf_stack stack)
{
	uint32_t number = (uint32_t)counts->count;
	struct bpf_pid *pid = get_pid(counts, (int32_t)stack.record->key.pid);
	stack.next = pid->first;
	MEM_ROOM(counts->stacks, counts->count, counts->capacity);
	counts->stacks[counts->count++] = stack;
	pid->first = number;
	index_map_insert(&counts->map, hash_key(&stack.record->key), number);
}

/* Retired stacks and their processes leave holes, which are many where processes come and go. */
static void make_room(struct bpf_counts *counts)
{
	size_t count = counts->count;
	if (counts->retired < RETIRED_MIN || counts->retired < count / 2)
		return;
	counts->count = counts->pid_count = counts->retired = 0;
	index_map_clear(&counts->map);
	id_map_clear(&counts->pid_map);
	for (size_t i = 0; i < count; i++)
		if (counts->stacks[i].record)
			add_stack(counts, counts->stacks[i]);
}

static struct bpf_stack *keep(struct bpf_counts *counts, struct layout_record *record)
{
	/* Two CPUs may have met a new stack at the same moment. */
	struct bpf_stack *known = find_stack(counts, &record->key);
	if (known) {
		free(record);
		return known;
	}
	add_stack(counts, (struct bpf_stack){.record = record, .time = record->time});
	return &counts->stacks[counts->count - 1];
}

static bool is_time(const struct bpf_counts *counts, const struct layout_key *key)
{
	return counts->maps.threads >= 0 && key->source == counts->maps.waits_source;
}

/* Waits of which no stack is known need no record of one. */
static struct bpf_stack *get_stack(struct bpf_counts *counts, const struct layout_key *key, uint64_t time)
{
	struct bpf_stack *stack = find_stack(counts, key);
	if (stack || !is_time(counts, key) || key->user || key->kernel)
		return stack;
	struct layout_record *record = mem_zalloc(1, sizeof *record);
	record->key = *key;
	record->time = time;
	return keep(counts, record);
}

/* A wait that continues, or time that a thread has run and that will be reported with where it waited last. */
static bool is_pending(const struct bpf_counts *counts, const struct layout_key *key)
{
	struct layout_thread thread;
	return is_time(counts, key) && !bpf_map_lookup_elem(counts->maps.threads, &key->tid, &thread) &&
	       memcmp(&thread.key, key, sizeof *key) == 0;
}

/* --- samples --- */

static enum stack_end end_of(uint8_t end)
{
	switch (end) {
	case LAYOUT_WHOLE:
		return STACK_WHOLE;
	case LAYOUT_ABSENT:
		return STACK_ABSENT;
	case LAYOUT_UNSEEN:
		return STACK_UNSEEN;
	case LAYOUT_NARROW:
		return STACK_NARROW;
	case LAYOUT_INTERPRETER:
		return STACK_INTERPRETER;
	default:
		return STACK_BROKEN;
	}
}

static struct event_sample sample_of(const struct bpf_counts *counts, const struct layout_record *record)
{
	bool is_fault = counts->faults >> (record->key.source & 31) & 1;
	return (struct event_sample){
		.source = record->key.source,
		.mode = record->key.mode == LAYOUT_MODE_KERNEL ? MODE_KERNEL : MODE_USER,
		.pid = (int32_t)record->key.pid,
		.tid = (int32_t)record->key.tid,
		.cpu = record->key.cpu,
		.gil = record->key.gil < GIL_STATES ? (enum event_gil)record->key.gil : GIL_UNKNOWN,
		.cgroup = record->key.cgroup,
		.time = record->time,
		.since = record->time,
		.ip = record->ip,
		.period = record->weight,
		.count = 1,
		.data_page_size = is_fault ? record->key.extra : 0,
		.raw = (const uint8_t *)&record->key.extra,
		.raw_size = sizeof record->key.extra,
	};
}

static size_t chain_of(uint64_t *chain, const uint64_t *kernel, uint32_t kernel_count, const uint64_t *user,
		       uint32_t user_count)
{
	size_t count = 0;
	if (kernel_count) {
		chain[count++] = (uint64_t)PERF_CONTEXT_KERNEL;
		memcpy(chain + count, kernel, kernel_count * sizeof *chain);
		count += kernel_count;
	}
	if (user_count) {
		chain[count++] = (uint64_t)PERF_CONTEXT_USER;
		memcpy(chain + count, user, user_count * sizeof *chain);
		count += user_count;
	}
	return count;
}

static int emit(struct bpf_counts *counts, const struct event_sample *sample, const struct event_sink *sink)
{
	counts->emitted += sample->count;
	return sink_sample(sink, sample);
}

/* `raw` is the state in which the time was spent: the waits until the wake-up, and from there on. */
static int emit_time(struct bpf_counts *counts, struct event_sample *sample, const struct layout_count *count,
		     const struct event_sink *sink)
{
	static const uint64_t runnable = LAYOUT_STATE_RUNNABLE;
	int result = 0;
	counts->emitted += count->count;
	sample->count = count->count ? count->count : 1;
	sample->period = count->weight;
	if (count->weight)
		result = sink_sample(sink, sample);
	sample->period = count->runnable;
	sample->raw = (const uint8_t *)&runnable;
	return result >= 0 && count->runnable ? sink_sample(sink, sample) : result;
}

static void set_stack(struct bpf_counts *counts, const struct layout_record *stack, struct event_sample *sample)
{
	const uint64_t *addresses = (const uint64_t *)(stack + 1);
	sample->unwound = true;
	sample->end = end_of(stack->key.end);
	sample->chain_count = chain_of(counts->chain, addresses, stack->kernel_count, addresses + stack->kernel_count,
				       stack->user_count);
	sample->chain = counts->chain;
	sample->interpreted = addresses + stack->kernel_count + stack->user_count;
	sample->interpreted_count = stack->python_count;
}

/* A sample of a known stack. */
static int emit_stack(struct bpf_counts *counts, const struct layout_record *stack, struct event_sample *sample,
		      const struct event_sink *sink)
{
	set_stack(counts, stack, sample);
	return emit(counts, sample, sink);
}

/* One that is unwound in user space. */
static void set_copy(struct bpf_counts *counts, const struct layout_copy *copy, struct event_sample *sample)
{
	sample->ip = copy->record.ip;
	sample->cgroup = copy->record.key.cgroup;
	sample->chain_count =
		chain_of(counts->chain, (const uint64_t *)copy->kernel, copy->record.kernel_count, NULL, 0);
	sample->chain = counts->chain;
	sample->user =
		(struct event_registers){.abi = copy->record.narrow ? PERF_SAMPLE_REGS_ABI_32 : PERF_SAMPLE_REGS_ABI_64,
					 .mask = ENGINE_REGISTER_MASK,
					 .values = (const uint64_t *)copy->registers};
	sample->interpreted = bpf_python_copy_words(copy);
	sample->interpreted_count = copy->record.python_count;
	sample->interpreted_late = copy->record.python_late;
	sample->stack = copy->bytes;
	sample->stack_skipped = copy->skipped;
	sample->stack_size = copy->record.bytes;
	/* Copies are made page by page, so that a full one may lack a part of the last. */
	sample->stack_asked = counts->copy_bytes < FULL_COPY ? counts->copy_bytes : FULL_COPY;
}

void bpf_counts_announce(struct bpf_counts *counts, const struct layout_record *record, const struct event_sink *sink)
{
	if (record->kind != LAYOUT_COPY)
		return;
	struct event_sample sample = sample_of(counts, record);
	set_copy(counts, (const struct layout_copy *)record, &sample);
	sink_sample(sink, &sample);
}

void bpf_counts_asleep(struct bpf_counts *counts, const struct event_sample *sample)
{
	struct layout_copy *copy = bpf_python_copy_new((uint32_t)sample->stack_size, sample->interpreted,
						       (uint32_t)sample->interpreted_count);
	copy->record.python_late = 1;
	copy->record.key.pid = (uint32_t)sample->pid;
	copy->record.key.tid = (uint32_t)sample->tid;
	copy->record.key.cgroup = sample->cgroup;
	copy->record.ip = sample->ip;
	for (size_t i = 1; i < sample->chain_count && i <= LAYOUT_KERNEL_MAX; i++) /* behind the marker */
		copy->kernel[copy->record.kernel_count++] = sample->chain[i];
	/* Those that are not known stay 0. */
	const uint64_t *value = sample->user.values;
	for (uint64_t mask = sample->user.abi ? sample->user.mask : 0; mask; mask &= mask - 1, value++) {
		uint64_t below = (mask & -mask) - 1;
		if (mask & -mask & ENGINE_REGISTER_MASK)
			copy->registers[__builtin_popcountll(below & ENGINE_REGISTER_MASK)] = *value;
	}
	if (sample->stack_size)
		memcpy(copy->bytes, sample->stack, sample->stack_size);
	bpf_held_put(&counts->asleep, copy);
}

/* The copy of the stack that a wait has, if it has one. */
static const struct layout_copy *copy_of(const struct bpf_counts *counts, const struct layout_key *key, uint32_t left)
{
	if (key->end == LAYOUT_UNSEEN)
		return bpf_held_find(&counts->asleep, key->tid);
	return left == LAYOUT_LEFT_COPY ? bpf_held_find(&counts->held, key->tid) : NULL;
}

/*
 * The stack of a wait: its copy, or its record, either of which may be NULL. If there is none, the sample says so
 * instead of pointing to address 0.
 */
static void set_wait_stack(struct bpf_counts *counts, const struct layout_key *key, const struct layout_copy *copy,
			   const struct layout_record *stack, struct event_sample *sample)
{
	if (copy) {
		set_copy(counts, copy, sample);
	} else if (stack && stack->kernel_count + stack->user_count) {
		set_stack(counts, stack, sample);
	} else {
		bool unseen = key->end == LAYOUT_UNSEEN && key->extra != LAYOUT_STATE_RUNNING;
		sample->mode = MODE_UNKNOWN;
		sample->ip = 0;
		sample->unwound = true;
		sample->end = unseen ? STACK_UNSEEN : STACK_WHOLE;
	}
}

int bpf_counts_time(struct bpf_counts *counts, const struct layout_key *key, uint32_t left, uint64_t state,
		    const struct layout_count *count, uint64_t time, const struct event_sink *sink)
{
	const struct layout_copy *copy = copy_of(counts, key, left);
	const struct bpf_stack *known = copy ? NULL : find_stack(counts, key);
	const struct layout_record *stack = known ? known->record : NULL;
	struct layout_record record = copy ? copy->record : stack ? *stack : (struct layout_record){0};
	record.key = *key;
	record.key.extra = state;
	struct event_sample sample = sample_of(counts, &record);
	sample.time = sample.since = time;
	set_wait_stack(counts, &record.key, copy, stack, &sample);
	return emit_time(counts, &sample, count, sink);
}

int bpf_counts_record(struct bpf_counts *counts, struct layout_record *record, const struct event_sink *sink)
{
	struct event_sample sample = sample_of(counts, record);
	struct bpf_stack *stack;
	int result = 0;
	switch (record->kind) {
	case LAYOUT_STACK:
		result = emit_stack(counts, record, &sample, sink);
		keep(counts, record);
		return result;
	case LAYOUT_NEW_STACK:
		keep(counts, record);
		return 0;
	case LAYOUT_COPY:
		set_copy(counts, (const struct layout_copy *)record, &sample);
		result = emit(counts, &sample, sink);
		break;
	case LAYOUT_COPY_LEFT:
		bpf_held_put(&counts->held, (struct layout_copy *)record);
		return 0;
	case LAYOUT_WAIT:
		result = bpf_counts_time(counts, &record->key, record->module, record->key.extra,
					 &(struct layout_count){1, record->weight, record->runnable}, record->time,
					 sink);
		break;
	case LAYOUT_TICK:
		stack = find_stack(counts, &record->key);
		if (stack)
			result = emit_stack(counts, stack->record, &sample, sink);
	}
	free(record);
	return result;
}

/* --- counts --- */

static int emit_count(struct bpf_counts *counts, struct bpf_stack *stack, const struct layout_count *count,
		      uint64_t time, const struct event_sink *sink)
{
	struct event_sample sample = sample_of(counts, stack->record);
	struct layout_count news = {count->count - stack->emitted.count, count->weight - stack->emitted.weight,
				    count->runnable - stack->emitted.runnable};
	sample.count = news.count;
	sample.period = news.weight;
	sample.since = stack->time > counts->read ? stack->time : counts->read;
	sample.time = time;
	stack->emitted = *count;
	stack->time = time;
	if (!news.count)
		return 0;
	if (!is_time(counts, &stack->record->key))
		return emit_stack(counts, stack->record, &sample, sink);
	const struct layout_key *key = &stack->record->key;
	set_wait_stack(counts, key, copy_of(counts, key, LAYOUT_LEFT_STACK), stack->record, &sample);
	return emit_time(counts, &sample, &news, sink);
}

/*
 * Emits what a stack has and takes it out of the map. When nobody needs it any more it is freed: that is so when no
 * wait was pending before, nothing was there, and no wait is pending after; for a wait that ends puts it back, and one
 * that begins does not report a stack that is there (see leave_with_stack() of bpf/waits.h).
 */
static int take_out(struct bpf_counts *counts, struct bpf_stack *stack, uint64_t time, const struct event_sink *sink)
{
	const struct layout_key *key = &stack->record->key;
	struct layout_count count;
	bool found, pending;
	int result = 0;
	do {
		pending = is_pending(counts, key);
		found = !bpf_map_lookup_and_delete_elem(counts->maps.counts, key, &count);
		if (found)
			result = emit_count(counts, stack, &count, time, sink);
		stack->emitted = (struct layout_count){0};
		pending = is_pending(counts, key) || pending;
	} while (found && !pending && result >= 0 && is_time(counts, key));
	if (!pending) {
		free(stack->record);
		stack->record = NULL;
	}
	return result;
}

/* Retires stacks of one process: all, those of thread `tid`, or those of threads that ended. */
enum whose { WHOSE_ALL, WHOSE_THREAD, WHOSE_ENDED };

static int compare_threads(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return a < b ? -1 : a > b;
}

static bool is_wanted(const struct bpf_counts *counts, const struct bpf_stack *stack, enum whose whose, uint32_t tid)
{
	uint32_t own = stack->record->key.tid;
	return whose == WHOSE_ALL || (whose == WHOSE_THREAD && own == tid) ||
	       (whose == WHOSE_ENDED && bsearch(&own, counts->ended, counts->ended_count, sizeof own, compare_threads));
}

static int retire(struct bpf_counts *counts, struct bpf_pid *pid, enum whose whose, uint32_t tid,
		  const struct event_sink *sink)
{
	uint32_t *link = &pid->first;
	uint64_t time = clock_now();
	int result = 0;
	while (*link != INDEX_NONE && result >= 0) {
		struct bpf_stack *stack = &counts->stacks[*link];
		if (!is_wanted(counts, stack, whose, tid)) {
			link = &stack->next;
			continue;
		}
		result = take_out(counts, stack, time, sink);
		if (stack->record) {
			link = &stack->next;
			continue;
		}
		*link = stack->next;
		counts->retired++;
	}
	return result;
}

int bpf_counts_retire(struct bpf_counts *counts, int32_t pid, int32_t tid, const struct event_sink *sink)
{
	struct bpf_pid *known = find_pid(counts, pid);
	return known ? retire(counts, known, tid < 0 ? WHOSE_ALL : WHOSE_THREAD, (uint32_t)tid, sink) : 0;
}

void bpf_counts_ended(struct bpf_counts *counts, int32_t tid)
{
	MEM_ROOM(counts->ended, counts->ended_count, counts->ended_capacity);
	counts->ended[counts->ended_count++] = (uint32_t)tid;
}

/* All at once: a process may have many stacks, and threads that end all the time. */
static int retire_ended(struct bpf_counts *counts, const struct event_sink *sink)
{
	int result = 0;
	if (!counts->ended_count)
		return 0;
	qsort(counts->ended, counts->ended_count, sizeof *counts->ended, compare_threads);
	for (size_t i = 0; i < counts->pid_count && result >= 0; i++)
		result = retire(counts, &counts->pids[i], WHOSE_ENDED, 0, sink);
	counts->ended_count = 0;
	return result;
}

static int start_again(struct bpf_counts *counts, const struct event_sink *sink)
{
	CLEANUP_FREE struct layout_record **pending = mem_alloc((counts->count + 1) * sizeof *pending);
	uint64_t time = clock_now();
	size_t pending_count = 0;
	int result = 0;
	for (size_t i = 0; i < counts->count && result >= 0; i++) {
		struct bpf_stack *stack = &counts->stacks[i];
		if (!stack->record)
			continue;
		result = take_out(counts, stack, time, sink);
		if (stack->record)
			pending[pending_count++] = stack->record;
		stack->record = NULL;
	}
	forget_all(counts);
	for (size_t i = 0; i < pending_count; i++) {
		pending[i]->time = time;
		keep(counts, pending[i]);
	}
	return result;
}

/* Stacks whose record still waits for its turn are not known yet: their counts are reported the next time. */
static int read_counts(struct bpf_counts *counts, const struct event_sink *sink)
{
	CLEANUP_FREE struct layout_key *keys = mem_alloc(CHUNK * sizeof *keys);
	CLEANUP_FREE struct layout_count *values = mem_alloc(CHUNK * sizeof *values);
	uint32_t in = 0, out = 0;
	uint64_t time = clock_now();
	int result = 0;
	for (bool first = true, more = true; more && result >= 0; first = false) {
		uint32_t count = CHUNK;
		int failed =
			bpf_map_lookup_batch(counts->maps.counts, first ? NULL : &in, &out, keys, values, &count, NULL);
		if (failed && errno != ENOENT)
			break;
		for (uint32_t i = 0; i < count && result >= 0; i++) {
			/* Most stacks are met once, and that was reported. */
			struct bpf_stack *stack = values[i].count ? get_stack(counts, &keys[i], time) : NULL;
			if (stack)
				result = emit_count(counts, stack, &values[i], time, sink);
		}
		in = out;
		more = !failed;
	}
	counts->read = time;
	return result;
}

int bpf_counts_flush(struct bpf_counts *counts, const struct event_sink *sink)
{
	int result = retire_ended(counts, sink);
	if (result < 0)
		return result;
	make_room(counts);
	bool full = counts->count - counts->retired > counts->maps.count_room / 4 * 3;
	return full ? start_again(counts, sink) : read_counts(counts, sink);
}
