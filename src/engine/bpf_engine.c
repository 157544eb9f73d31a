/* Implements engine.h: loads programs, attaches events, and reads the ring buffer. */
#include "engine/engine.h"

#include "engine/bpf_counts.h"
#include "engine/bpf_python.h"
#include "engine/bpf_supply.h"
#include "engine/bpf_times.h"
#include "engine/bpf_waits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct engine {
	struct bpf_programs *programs;
	struct bpf_supply supply;
	struct bpf_counts counts;
	struct ring_buffer *ring;
	size_t taken; /* bytes from the ring in this round */
	int epoll;
	/* Records that wait for their turn: number `first_number` is waiting[head]. */
	struct layout_record **waiting;
	size_t head, waiting_count, waiting_capacity;
	uint64_t first_number;
	size_t noted; /* waiting[…noted) have said what they lack */
	struct engine_options options;
	struct bpf_waits_span span;
	uint64_t skipped; /* waits, at the end */
	uint64_t unfollowed; /* members that there was no room for from the beginning */
};

/* --- opening --- */

static int take_record(void *context, void *data, size_t size);

static int watch(struct engine *engine, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	return epoll_ctl(engine->epoll, EPOLL_CTL_ADD, fd, &event);
}

int engine_open(struct engine **ret_engine, const struct engine_options *options, struct err *err)
{
	struct bpf_programs *programs;
	int result = bpf_programs_load(&programs, options, err);
	if (result)
		return result;
	struct engine *engine = mem_zalloc(1, sizeof *engine);
	struct bpf_maps maps = bpf_programs_maps(programs);
	engine->programs = programs;
	engine->options = *options;
	engine->supply.python = options->capture->python != INTERPRETED_OFF;
	engine->supply.pythons.wants_tasks = engine->supply.python && options->capture->asyncio;
	engine->epoll = epoll_create1(EPOLL_CLOEXEC);
	bpf_counts_init(&engine->counts, &maps, options);
	result = bpf_supply_init(&engine->supply, programs, err);
	if (!result) {
		engine->ring = ring_buffer__new(maps.records, take_record, engine, NULL);
		if (!engine->ring || engine->epoll < 0 || watch(engine, ring_buffer__epoll_fd(engine->ring)) ||
		    watch(engine, engine->supply.loader.fd))
			result = err_set(err, ERR_SYSTEM, "cannot read the ring buffer of the BPF programs");
	}
	if (result)
		engine_close(engine);
	else
		*ret_engine = engine;
	return result;
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	ring_buffer__free(engine->ring);
	for (size_t i = engine->head; i < engine->waiting_count; i++)
		free(engine->waiting[i]);
	bpf_counts_release(&engine->counts);
	bpf_supply_release(&engine->supply);
	if (engine->epoll >= 0)
		close(engine->epoll);
	bpf_programs_free(engine->programs);
	free(engine->waiting);
	free(engine);
}

int engine_attach(struct engine *engine, size_t source, int event_fd, struct err *err)
{
	return bpf_programs_attach(engine->programs, source, event_fd, err);
}

void engine_add_member(struct engine *engine, int32_t id)
{
	uint32_t key = (uint32_t)id;
	struct layout_member member = {0};
	if (engine->counts.maps.members >= 0 &&
	    bpf_map_update_elem(engine->counts.maps.members, &key, &member, BPF_ANY))
		engine->unfollowed++;
}

bool engine_has_cpu_time(const struct engine *engine)
{
	return engine->counts.maps.members >= 0;
}

uint64_t engine_cpu_time_begin(struct engine *engine)
{
	return bpf_times_begin(engine->programs);
}

uint64_t engine_cpu_time_end(struct engine *engine)
{
	return bpf_times_end(engine->programs);
}

void engine_begin(struct engine *engine, uint64_t time, int32_t command)
{
	if (command)
		bpf_programs_await(engine->programs, command);
	if (engine->options.waits.counted && command)
		bpf_waits_add(&engine->counts.maps, command, command);
	if (!engine->span.began)
		engine->span.began = time;
	bpf_programs_began(engine->programs, engine->span.began);
}

struct listing {
	void (*add)(void *context, int32_t tid, const uint64_t *values);
	void *context;
};

static void list(void *context, const struct layout_registers *found)
{
	const struct listing *listing = context;
	listing->add(listing->context, (int32_t)found->tid, (const uint64_t *)found->values);
}

void engine_registers(struct engine *engine, void (*add)(void *context, int32_t tid, const uint64_t *values),
		      void *context)
{
	struct listing listing = {add, context};
	_Static_assert(ENGINE_REGISTERS == LAYOUT_REGISTERS, "the number of registers in bpf/layout.h");
	bpf_programs_registers(engine->programs, list, &listing);
}

void engine_end(struct engine *engine, uint64_t time)
{
	engine->span.ended = time;
	bpf_programs_ended(engine->programs, time);
}

size_t engine_interpreted(struct engine *engine, int32_t pid, int32_t tid, uint64_t *words, size_t max)
{
	return bpf_supply_interpreted(&engine->supply, pid, tid, words, max);
}

void engine_start(struct engine *engine, struct module_store *codes)
{
	engine->supply.codes = codes;
	engine->supply.pythons.functions = &codes->interpreted;
	bpf_programs_emit_symbols(engine->programs, codes);
	bpf_loader_start(&engine->supply.loader, codes);
}

void engine_stop(struct engine *engine)
{
	bpf_loader_stop(&engine->supply.loader);
}

int engine_fd(const struct engine *engine)
{
	return engine->epoll;
}

/* --- what the rings report, at once --- */

static int take_early(void *context, const struct event *event)
{
	struct engine *engine = context;
	switch (event->type) {
	case EVENT_MMAP:
		return bpf_supply_mmap(&engine->supply, event->mmap);
	case EVENT_COMM:
		if (engine->options.waits.counted && engine->options.waits.unseen && !engine->span.began)
			bpf_waits_add(&engine->counts.maps, event->comm->pid, event->comm->tid);
		return event->comm->exec ? bpf_supply_exec(&engine->supply, event->comm) : 0;
	case EVENT_FORK:
		return bpf_supply_fork(&engine->supply, event->task);
	case EVENT_EXIT:
		return bpf_supply_exit(&engine->supply, event->task);
	case EVENT_ASLEEP:
		if (engine->options.waits.counted)
			bpf_counts_asleep(&engine->counts, event->sample);
		return 0;
	default:
		return 0;
	}
}

struct event_sink engine_early(struct engine *engine)
{
	return (struct event_sink){.context = engine, .take = take_early};
}

/* --- records --- */

/*
 * The frames of an interpreter that a thread waits in, where its stack was copied. Those of another wait would be
 * wrong. The mappings of its process may not be known yet: a long wait gets its frames when it is delivered.
 */
static struct layout_record *read_wait(struct engine *engine, struct layout_record *record)
{
	if (record->kind != LAYOUT_COPY_LEFT)
		return record;
	if (!record->python_count && bpf_waits_lasts(&engine->counts.maps, record)) {
		bpf_supply_seek_python(&engine->supply, (int32_t)record->key.pid);
		record = bpf_python_name(&engine->supply.pythons, record, sizeof *record);
	}
	if (!bpf_waits_lasts(&engine->counts.maps, record))
		record->python_count = 0;
	return record;
}

static int take_record(void *context, void *data, size_t size)
{
	struct engine *engine = context;
	if (size < sizeof(struct layout_record))
		return 0;
	struct layout_record *record = mem_alloc(size + bpf_python_room(&engine->supply.pythons));
	memcpy(record, data, size);
	MEM_ROOM(engine->waiting, engine->waiting_count, engine->waiting_capacity);
	bool seen = record->python_count; /* by the kernel, at the moment of the sample */
	/* Frames of an interpreter get their functions at once: the process may end, or free them. */
	record = bpf_python_name(&engine->supply.pythons, record, size);
	if (record->python_count)
		bpf_supply_seek_tasks(&engine->supply, (int32_t)record->key.pid);
	engine->waiting[engine->waiting_count++] = seen ? record : read_wait(engine, record);
	/*
	 * All that was in the ring when the round began. What reading it causes waits for the next round: page faults
	 * of wick itself are recorded with the whole system, and would otherwise come faster than they are read.
	 */
	engine->taken += size;
	return engine->taken < engine->counts.maps.record_room ? 0 : -EAGAIN;
}

void engine_look(struct engine *engine, void (*add)(void *context, uint64_t time, uint64_t number), void *context)
{
	size_t from = engine->waiting_count;
	engine->taken = 0;
	ring_buffer__consume(engine->ring);
	for (size_t i = from; i < engine->waiting_count; i++)
		add(context, engine->waiting[i]->time, engine->first_number + i);
}

void engine_announce(struct engine *engine, uint64_t number, const struct event_sink *sink)
{
	bpf_counts_announce(&engine->counts, engine->waiting[number - engine->first_number], sink);
}

void engine_supply(struct engine *engine)
{
	for (; engine->noted < engine->waiting_count; engine->noted++)
		if (engine->waiting[engine->noted])
			bpf_supply_note_miss(&engine->supply, engine->waiting[engine->noted]);
	bpf_supply_give(&engine->supply);
}

/* Forgets what was delivered, when that is most of it. */
static void compact(struct engine *engine)
{
	while (engine->head < engine->waiting_count && !engine->waiting[engine->head])
		engine->head++;
	if (engine->head < engine->waiting_count / 2 || engine->noted < engine->head)
		return;
	engine->waiting_count -= engine->head;
	memmove(engine->waiting, engine->waiting + engine->head, engine->waiting_count * sizeof *engine->waiting);
	engine->first_number += engine->head;
	engine->noted -= engine->head;
	engine->head = 0;
}

int engine_deliver(struct engine *engine, uint64_t number, const struct event_sink *sink)
{
	struct layout_record **place = &engine->waiting[number - engine->first_number];
	struct layout_record *record = *place;
	*place = NULL;
	if (record->kind == LAYOUT_COPY_LEFT && !record->python_count)
		record = read_wait(engine, record);
	int result = bpf_counts_record(&engine->counts, record, sink);
	compact(engine);
	return result;
}

int engine_retire(struct engine *engine, int32_t pid, int32_t tid, const struct event_sink *sink)
{
	return bpf_counts_retire(&engine->counts, pid, tid, sink);
}

int engine_exit(struct engine *engine, const struct event_task *task, const struct event_sink *sink)
{
	if (task->pid != task->tid)
		bpf_counts_ended(&engine->counts, task->tid);
	return engine->options.waits.counted ? bpf_waits_exit(&engine->counts, &engine->options, task, sink) : 0;
}

bool engine_replaced(struct engine *engine, const struct event_mmap *mmap)
{
	return bpf_supply_replaced(&engine->supply, mmap);
}

/* --- counts --- */

struct engine_statistics engine_statistics(const struct engine *engine)
{
	struct engine_statistics statistics = {
		.taken = bpf_programs_statistic(engine->programs, LAYOUT_TAKEN),
		.copied = bpf_programs_statistic(engine->programs, LAYOUT_COPIED),
		.lost = bpf_programs_statistic(engine->programs, LAYOUT_LOST),
		.uncounted = bpf_programs_statistic(engine->programs, LAYOUT_UNCOUNTED),
		.emitted = engine->counts.emitted,
		.unfollowed = bpf_programs_statistic(engine->programs, LAYOUT_UNFOLLOWED) + engine->unfollowed,
		.skipped = bpf_programs_statistic(engine->programs, LAYOUT_SKIPPED_WAITS) + engine->skipped,
		.modules = engine->supply.placed_count,
		.evicted = engine->supply.evicted,
		.refused = engine->supply.refused,
		.processes = bpf_supply_processes(&engine->supply),
		.kernel_bytes = bpf_programs_bytes(engine->programs) + bpf_slabs_bytes(engine->counts.maps.slabs),
	};
	bpf_programs_cost(engine->programs, &statistics.runs, &statistics.nanoseconds);
	return statistics;
}

int engine_counts(struct engine *engine, const struct event_sink *sink, bool last)
{
	int result = last && engine->options.waits.counted ?
			     bpf_waits_finish(&engine->counts, &engine->options, engine->span, sink, &engine->skipped) :
			     0;
	if (result >= 0)
		result = bpf_counts_flush(&engine->counts, sink);
	uint64_t taken = last ? bpf_programs_statistic(engine->programs, LAYOUT_TAKEN) : 0;
	if (result < 0 || taken <= engine->counts.emitted)
		return result;
	struct event_lost lost = {.kind = LOST_SAMPLES, .count = taken - engine->counts.emitted, .source = UINT32_MAX};
	return sink_lost(sink, &lost);
}
