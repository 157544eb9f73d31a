/* Follows each thread through its switches, and emits a sample per wait. */
#include "event/offcpu.h"

#include "base/buf.h"
#include "base/id_map.h"
#include "base/mem.h"

#include <string.h>

#define HELD_MAX (64u << 20)
/* Bits of prev_state, as the kernel shows them to tracers since Linux 4.14. */
#define PREV_UNINTERRUPTIBLE 0x02
#define PREV_DEAD (0x10 | 0x20)
#define PREV_IDLE 0x80 /* kernel threads that wait for work; the kernel does not count them as load */
#define PREV_STATES 0xff /* above are marks: preempted */

enum doing { DOING_UNKNOWN, DOING_RUN, DOING_WAIT, DOING_GONE };

/* A sample that outlives its record. */
struct held_sample {
	struct event_sample sample; /* its pointers are not used */
	struct buf bytes; /* chain, registers and stack */
	bool there;
};

struct waiter {
	int32_t pid, tid;
	enum doing doing;
	enum thread_state state; /* while it waits */
	bool unseen; /* it waits since before the recording began */
	uint64_t since; /* what it does; for a running one also since its last sample */
	uint64_t woken; /* 0: not yet */
	uint64_t owed; /* time it ran that no sample has reported yet */
	struct held_sample left; /* the one it left its CPU with */
	struct held_sample waker; /* and the one of who woke it up */
};

struct offcpu {
	struct offcpu_options options;
	const struct event_sink *next;
	struct waiter *items;
	size_t count, capacity;
	struct id_map map; /* of the items */
	uint64_t began, latest;
	size_t held;
	struct offcpu_counts counts;
};

struct offcpu *offcpu_new(const struct offcpu_options *options, const struct event_sink *next)
{
	struct offcpu *offcpu = mem_zalloc(1, sizeof *offcpu);
	offcpu->options = *options;
	offcpu->next = next;
	if (!offcpu->options.held_max)
		offcpu->options.held_max = HELD_MAX;
	return offcpu;
}

void offcpu_free(struct offcpu *offcpu)
{
	if (!offcpu)
		return;
	for (size_t i = 0; i < offcpu->count; i++) {
		buf_release(&offcpu->items[i].left.bytes);
		buf_release(&offcpu->items[i].waker.bytes);
	}
	free(offcpu->items);
	id_map_release(&offcpu->map);
	free(offcpu);
}

struct offcpu_counts offcpu_counts(const struct offcpu *offcpu)
{
	return offcpu->counts;
}

void offcpu_begin(struct offcpu *offcpu, uint64_t time)
{
	offcpu->began = offcpu->latest = time;
}

static void note_time(struct offcpu *offcpu, uint64_t time)
{
	if (!offcpu->began)
		offcpu->began = time;
	if (time > offcpu->latest)
		offcpu->latest = time;
}

/* NULL for the idle task and those that are omitted. */
static struct waiter *waiter_of(struct offcpu *offcpu, int32_t pid, int32_t tid, bool add)
{
	if (tid <= 0 || (offcpu->options.except_pid && pid == offcpu->options.except_pid))
		return NULL;
	uint32_t at = id_map_find(&offcpu->map, tid);
	if (at != INDEX_NONE)
		return &offcpu->items[at];
	if (!add)
		return NULL;
	MEM_ROOM(offcpu->items, offcpu->count, offcpu->capacity);
	struct waiter *waiter = &offcpu->items[offcpu->count++];
	*waiter = (struct waiter){.pid = pid, .tid = tid};
	id_map_add(&offcpu->map, tid);
	return waiter;
}

static void drop_sample(struct offcpu *offcpu, struct held_sample *held)
{
	offcpu->held -= held->bytes.capacity;
	buf_release(&held->bytes);
	held->there = false;
}

static void drop_samples(struct offcpu *offcpu, struct waiter *waiter)
{
	drop_sample(offcpu, &waiter->left);
	drop_sample(offcpu, &waiter->waker);
}

static size_t register_bytes(const struct event_sample *sample)
{
	return sample->user.abi ? (size_t)__builtin_popcountll(sample->user.mask) * sizeof(uint64_t) : 0;
}

static void hold_sample(struct offcpu *offcpu, struct held_sample *held, const struct event_sample *sample)
{
	size_t chain = sample->chain_count * sizeof(uint64_t), registers = register_bytes(sample);
	size_t interpreted = sample->interpreted_count * sizeof(uint64_t);
	offcpu->held -= held->bytes.capacity;
	buf_clear(&held->bytes);
	held->sample = *sample;
	if (offcpu->held + chain + interpreted + registers + sample->stack_size + sample->stack_tail_size >
	    offcpu->options.held_max) {
		held->sample.stack_size = held->sample.stack_tail_size = 0;
		offcpu->counts.cut++;
	}
	buf_reserve(&held->bytes,
		    chain + interpreted + registers + held->sample.stack_size + held->sample.stack_tail_size + 1);
	if (chain)
		buf_add(&held->bytes, (const char *)sample->chain, chain);
	if (interpreted)
		buf_add(&held->bytes, (const char *)sample->interpreted, interpreted);
	if (registers)
		buf_add(&held->bytes, (const char *)sample->user.values, registers);
	if (held->sample.stack_size)
		buf_add(&held->bytes, (const char *)sample->stack, held->sample.stack_size);
	if (held->sample.stack_tail_size)
		buf_add(&held->bytes, (const char *)sample->stack_tail, held->sample.stack_tail_size);
	held->there = true;
	offcpu->held += held->bytes.capacity;
}

/* The sample as it was, or one that says nothing. */
static struct event_sample sample_of(const struct held_sample *held)
{
	if (!held->there)
		return (struct event_sample){.cpu = UINT32_MAX};
	struct event_sample sample = held->sample;
	size_t chain = sample.chain_count * sizeof(uint64_t);
	sample.chain = (const uint64_t *)held->bytes.data;
	sample.interpreted = (const uint64_t *)(held->bytes.data + chain);
	sample.user.values = sample.interpreted + sample.interpreted_count;
	sample.stack = (const uint8_t *)sample.user.values + register_bytes(&sample);
	sample.stack_tail = sample.stack + sample.stack_size;
	sample.stack_lasts = false;
	sample.interrupt = (struct event_registers){0};
	sample.branches = NULL;
	sample.branch_count = 0;
	return sample;
}

static int give(struct offcpu *offcpu, const struct waiter *waiter, struct event_sample sample, enum thread_state state,
		uint64_t time, uint64_t duration)
{
	if (!duration)
		return 0;
	sample.pid = waiter->pid;
	sample.tid = waiter->tid;
	sample.source = offcpu->options.source_of[state];
	sample.time = time;
	sample.period = duration;
	sample.raw = NULL;
	sample.raw_size = 0;
	return sink_sample(offcpu->next, &sample);
}

static bool is_wanted(const struct offcpu *offcpu, uint64_t duration)
{
	return duration >= offcpu->options.min_block &&
	       (!offcpu->options.max_block || duration <= offcpu->options.max_block);
}

/* A wait is over, or the recording is. */
static int end_wait(struct offcpu *offcpu, struct waiter *waiter, uint64_t time)
{
	uint64_t duration = time > waiter->since ? time - waiter->since : 0;
	uint64_t woken = waiter->woken > waiter->since && waiter->woken < time ? waiter->woken : time;
	int result = 0;
	if (!offcpu->options.waits || !duration)
		return 0;
	if (!is_wanted(offcpu, duration)) {
		offcpu->counts.skipped++;
		return 0;
	}
	struct event_sample sample = sample_of(&waiter->left), waker = sample_of(&waiter->waker);
	sample.unwound = sample.unwound || !waiter->left.there;
	if (!waiter->left.there && waiter->unseen)
		sample.end = STACK_UNSEEN;
	sample.waker = waiter->woken && waiter->waker.there ? &waker : NULL;
	offcpu->counts.waits++;
	offcpu->counts.without_stack += !waiter->left.there;
	result = give(offcpu, waiter, sample, waiter->state, woken, woken - waiter->since);
	return result < 0 ? result : give(offcpu, waiter, sample, STATE_RUNNABLE, time, time - woken);
}

/* Time that ran and that no sample of a clock came for: it is reported with where the thread left its CPU last. */
static int emit_owed(struct offcpu *offcpu, struct waiter *waiter, uint64_t time)
{
	uint64_t owed = waiter->owed;
	waiter->owed = 0;
	return offcpu->options.running ? give(offcpu, waiter, sample_of(&waiter->left), STATE_RUNNING, time, owed) : 0;
}

static void count_running(struct waiter *waiter, uint64_t time)
{
	if (time > waiter->since)
		waiter->owed += time - waiter->since;
	waiter->since = time;
}

/*
 * A thread of which no record came yet ran since the recording began; one whose exit was recorded continues until
 * its last switch.
 */
static void assume_running(const struct offcpu *offcpu, struct waiter *waiter)
{
	if (waiter->doing == DOING_UNKNOWN)
		waiter->since = offcpu->began;
	if (waiter->doing == DOING_UNKNOWN || waiter->doing == DOING_GONE)
		waiter->doing = DOING_RUN;
}

static int leave(struct offcpu *offcpu, struct waiter *waiter, uint64_t time, enum thread_state state)
{
	assume_running(offcpu, waiter);
	int result = 0;
	if (waiter->doing == DOING_WAIT) /* the record of its return was lost */
		result = end_wait(offcpu, waiter, time);
	else
		count_running(waiter, time);
	waiter->doing = DOING_WAIT;
	waiter->state = state;
	waiter->since = time;
	waiter->woken = 0;
	waiter->unseen = false;
	return result;
}

static int come_back(struct offcpu *offcpu, struct waiter *waiter, uint64_t time)
{
	int result = 0;
	if (waiter->doing == DOING_UNKNOWN && offcpu->options.unseen) {
		/* It waited when the recording began: where, no switch has shown. */
		waiter->unseen = true;
		waiter->doing = DOING_WAIT;
		waiter->state = STATE_SLEEPING;
		waiter->since = offcpu->began;
	}
	if (waiter->doing == DOING_WAIT)
		result = end_wait(offcpu, waiter, time);
	if (waiter->doing != DOING_RUN)
		waiter->since = time;
	waiter->doing = DOING_RUN;
	return result;
}

static int end_thread(struct offcpu *offcpu, struct waiter *waiter, uint64_t time)
{
	assume_running(offcpu, waiter);
	if (waiter->doing == DOING_RUN)
		count_running(waiter, time);
	int result = emit_owed(offcpu, waiter, time);
	waiter->doing = DOING_GONE;
	drop_samples(offcpu, waiter);
	return result;
}

static enum thread_state state_of(int64_t prev_state)
{
	int64_t states = prev_state & PREV_STATES;
	if (!states)
		return STATE_RUNNABLE;
	return states & PREV_UNINTERRUPTIBLE && !(states & PREV_IDLE) ? STATE_DISK : STATE_SLEEPING;
}

int offcpu_asleep(struct offcpu *offcpu, const struct event_sample *sample)
{
	struct waiter *waiter = waiter_of(offcpu, sample->pid, sample->tid, true);
	if (waiter && waiter->doing == DOING_UNKNOWN && offcpu->options.unseen)
		hold_sample(offcpu, &waiter->left, sample);
	return 0;
}

int offcpu_switch(struct offcpu *offcpu, const struct event_sample *sample)
{
	int64_t prev_state, next_tid;
	int result = 0;
	note_time(offcpu, sample->time);
	struct waiter *waiter = waiter_of(offcpu, sample->pid, sample->tid, true);
	bool has_state = trace_field_read(&offcpu->options.prev_state, sample, &prev_state);
	if (waiter && has_state && prev_state & PREV_DEAD) {
		result = end_thread(offcpu, waiter, sample->time);
	} else if (waiter) {
		/* Without a state a later record reports whether it was preempted. */
		result = leave(offcpu, waiter, sample->time, has_state ? state_of(prev_state) : STATE_SLEEPING);
		hold_sample(offcpu, &waiter->left, sample);
	}
	if (result < 0 || !trace_field_read(&offcpu->options.next_pid, sample, &next_tid))
		return result;
	/* Of a thread that was not seen before, the process is not known: it is left for the records of switches. */
	struct waiter *next = waiter_of(offcpu, 0, (int32_t)next_tid, false);
	return next && next->doing == DOING_WAIT ? come_back(offcpu, next, sample->time) : 0;
}

int offcpu_waking(struct offcpu *offcpu, const struct event_sample *sample)
{
	int64_t tid;
	note_time(offcpu, sample->time);
	if (!trace_field_read(&offcpu->options.woken_pid, sample, &tid))
		return 0;
	struct waiter *waiter = waiter_of(offcpu, 0, (int32_t)tid, false);
	if (waiter && waiter->doing == DOING_WAIT && waiter->state != STATE_RUNNABLE && !waiter->woken) {
		waiter->woken = sample->time;
		if (offcpu->options.wakers)
			hold_sample(offcpu, &waiter->waker, sample);
	}
	return 0;
}

int offcpu_clock(struct offcpu *offcpu, const struct event_sample *sample)
{
	note_time(offcpu, sample->time);
	struct waiter *waiter = waiter_of(offcpu, sample->pid, sample->tid, true);
	if (!waiter)
		return 0;
	int result = waiter->doing == DOING_WAIT ? come_back(offcpu, waiter, sample->time) : 0;
	assume_running(offcpu, waiter);
	count_running(waiter, sample->time);
	uint64_t owed = waiter->owed;
	waiter->owed = 0;
	return result < 0 || !offcpu->options.running ?
		       result :
		       give(offcpu, waiter, *sample, STATE_RUNNING, sample->time, owed);
}

int offcpu_record(struct offcpu *offcpu, const struct event_switch *change)
{
	note_time(offcpu, change->time);
	struct waiter *waiter = waiter_of(offcpu, change->pid, change->tid, true);
	if (!waiter)
		return 0;
	if (!change->out)
		return come_back(offcpu, waiter, change->time);
	if (waiter->doing == DOING_GONE)
		return 0; /* for ever */
	if (waiter->doing == DOING_WAIT) { /* a sample reported it already */
		if (change->preempted)
			waiter->state = STATE_RUNNABLE;
		return 0;
	}
	int result = leave(offcpu, waiter, change->time, change->preempted ? STATE_RUNNABLE : STATE_SLEEPING);
	waiter->left.there = false;
	return result;
}

int offcpu_comm(struct offcpu *offcpu, const struct event_comm *comm)
{
	if (comm->time)
		note_time(offcpu, comm->time);
	waiter_of(offcpu, comm->pid, comm->tid, true);
	return 0;
}

int offcpu_fork(struct offcpu *offcpu, const struct event_task *task)
{
	note_time(offcpu, task->time);
	struct waiter *waiter = waiter_of(offcpu, task->pid, task->tid, true);
	if (!waiter)
		return 0;
	drop_samples(offcpu, waiter); /* of an older thread of that number */
	*waiter = (struct waiter){
		.pid = task->pid,
		.tid = task->tid,
		.doing = DOING_WAIT,
		.state = STATE_RUNNABLE,
		.since = task->time,
	};
	return 0;
}

int offcpu_exit(struct offcpu *offcpu, const struct event_task *task)
{
	note_time(offcpu, task->time);
	struct waiter *waiter = waiter_of(offcpu, task->pid, task->tid, false);
	return waiter ? end_thread(offcpu, waiter, task->time) : 0;
}

int offcpu_finish(struct offcpu *offcpu, uint64_t time)
{
	int result = 0;
	time = time > offcpu->latest ? time : offcpu->latest;
	for (size_t i = 0; i < offcpu->count && result >= 0; i++) {
		struct waiter *waiter = &offcpu->items[i];
		if (waiter->doing == DOING_GONE)
			continue;
		if (waiter->doing == DOING_RUN)
			count_running(waiter, time);
		else
			result = come_back(offcpu, waiter, time);
		if (result >= 0)
			result = emit_owed(offcpu, waiter, time);
	}
	return result;
}
