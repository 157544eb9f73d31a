/* Opens the perf events of the BPF engine, and reads its records and counts as a source. */
#include "engine/engine_source.h"

#include "base/clock.h"
#include "base/mem.h"
#include "capture/open_event.h"
#include "event/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COUNT_EVERY 250000000ull /* nanoseconds */
#define COUNT_EVERY_MAX 1000000000ull /* by CPU there are many stacks at once */
#define COUNT_SHARE 250 /* of the time goes into reading counts, but for COUNT_EVERY_MAX */

/* --- events --- */

/* Only what the program needs: the kernel shall not follow the call chain too. */
static struct perf_event_attr bare(const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	copy.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   (attr->sample_type & (PERF_SAMPLE_PERIOD | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE));
	copy.sample_regs_user = 0;
	copy.sample_stack_user = 0;
	copy.exclude_callchain_user = 0;
	copy.read_format = 0;
	copy.watermark = 0;
	copy.wakeup_watermark = 0;
	return copy;
}

static int open_one(struct engine_source *source, const struct target *target, size_t number, int32_t task,
		    bool may_lack, int32_t cpu, struct err *err)
{
	const struct capture_event *event = &source->options.events->items[number];
	struct perf_event_attr attr = bare(&event->attr);
	if (event->by_cpu)
		attr.inherit = attr.enable_on_exec = 0;
	int fd = open_event(&attr, target, task, cpu);
	bool skipped = errno == ESRCH || ((errno == EACCES || errno == EPERM) && may_lack);
	if (fd < 0)
		return skipped ? 0 : open_refused(event, target, task, errno, err);
	MEM_ROOM(source->events, source->count, source->capacity);
	source->events[source->count++] = (struct engine_source_event){fd, event->by_cpu, cpu};
	return engine_attach(source->engine, number, fd, err);
}

/* One descriptor per thread where all CPUs are meant; else one per CPU too. */
static int open_task(struct engine_source *source, size_t number, struct err *err)
{
	const struct target *target = source->options.target;
	const struct capture_events *events = source->options.events;
	bool by_cpu = target_is_by_cpu(target) || source->options.some_cpus;
	size_t count;
	int32_t task = open_tasks(target, &count)[number];
	bool may_lack = target_may_lack(target, number);
	int result = 0;
	for (size_t i = 0; i < events->count; i++) {
		const struct capture_event *event = &events->items[i];
		size_t cpus = !event->by_engine || event->by_cpu ? 0 : by_cpu ? target->cpu_count : 1;
		for (size_t cpu = 0; cpu < cpus && !result; cpu++)
			result = open_one(source, target, i, task, may_lack, by_cpu ? target->cpus[cpu] : -1, err);
	}
	return result;
}

static const struct target everybody = {.whole_system = true, .cgroup = -1};

/* Events of CPUs, and whose samples count there. A command becomes a member when it executes its program. */
static int open_cpus(struct engine_source *source, struct err *err)
{
	const struct target *target = source->options.target;
	const struct capture_events *events = source->options.events;
	bool threads = target->by_thread;
	int result = 0;
	for (size_t i = 0; i < events->count; i++)
		for (size_t cpu = 0; cpu < target->cpu_count && !result && events->items[i].by_cpu; cpu++)
			result = open_one(source, &everybody, i, -1, false, target->cpus[cpu], err);
	for (size_t i = 0; i < (threads ? target->tid_count : target->pid_count); i++) {
		int32_t id = threads ? target->tids[i] : target->pids[i];
		if (id != target->command)
			engine_add_member(source->engine, id);
	}
	return result;
}

int engine_source_open(struct engine_source *source, const struct engine_source_options *options, struct err *err)
{
	const struct target *target = options->target;
	*source = (struct engine_source){.options = *options,
					 .engine = options->engine,
					 .every = target_is_by_cpu(target) ? COUNT_EVERY_MAX : COUNT_EVERY};
	if (!source->engine)
		return 0;
	size_t count;
	open_tasks(target, &count);
	int result = 0;
	for (size_t i = 0; i < count && !result; i++)
		result = open_task(source, i, err);
	if (!result)
		result = open_cpus(source, err);
	if (!result && !source->count)
		result = err_set(err, ERR_SYSTEM, "the process ended before it could be recorded");
	return result;
}

static void control(const struct engine_source *source, unsigned long request, bool only_cpus)
{
	for (size_t i = 0; i < source->count; i++)
		if (source->events[i].by_cpu || !only_cpus)
			ioctl(source->events[i].fd, request, 0);
}

static void start(void *context, const struct source_consumer *consumer)
{
	struct engine_source *source = context;
	tails_init(&source->tails, consumer->needs, NULL);
	engine_start(source->engine, consumer->codes);
}

/* Events of threads are enabled by the exec of a command, those of CPUs are not. */
static void enable(void *context, enum source_state state, uint64_t time)
{
	struct engine_source *source = context;
	const struct target *target = source->options.target;
	switch (state) {
	case SOURCE_TRACKING:
		if (target->command && !target->clock)
			engine_add_member(source->engine, target->command);
		break;
	case SOURCE_ON_EXEC:
		engine_begin(source->engine, time, target->command);
		control(source, PERF_EVENT_IOC_ENABLE, true);
		break;
	case SOURCE_SAMPLING:
		engine_begin(source->engine, time, 0);
		control(source, PERF_EVENT_IOC_ENABLE, false);
		break;
	case SOURCE_PAUSED:
		control(source, PERF_EVENT_IOC_DISABLE, false);
		break;
	case SOURCE_ENDED:
		engine_end(source->engine, time);
		control(source, PERF_EVENT_IOC_DISABLE, false);
		break;
	}
}

static int poll_engine(void *context, int epoll, uint64_t data, struct err *err)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = data};
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, engine_fd(((struct engine_source *)context)->engine), &event) == 0)
		return 0;
	return err_set(err, ERR_SYSTEM, "cannot wait for events: %s", strerror(errno));
}

/* --- CPUs that come back --- */

/* Those of threads stay when a CPU goes. */
static void close_gone(struct engine_source *source, int32_t cpu)
{
	size_t kept = 0;
	for (size_t i = 0; i < source->count; i++) {
		const struct engine_source_event *event = &source->events[i];
		if (event->cpu == cpu && (event->by_cpu || target_is_by_cpu(source->options.target)))
			close(event->fd);
		else
			source->events[kept++] = *event;
	}
	source->count = kept;
}

static int reopen(void *context, int32_t cpu, bool samples, struct err *err)
{
	struct engine_source *source = context;
	const struct target *target = source->options.target;
	const struct capture_events *events = source->options.events;
	size_t count;
	int32_t task = *open_tasks(target, &count);
	int result = 0;
	close_gone(source, cpu);
	size_t first = source->count;
	for (size_t i = 0; i < events->count && !result; i++) {
		const struct capture_event *event = &events->items[i];
		if (event->by_engine && event->by_cpu)
			result = open_one(source, &everybody, i, -1, false, cpu, err);
		else if (event->by_engine && target_is_by_cpu(target))
			result = open_one(source, target, i, task, false, cpu, err);
	}
	for (size_t i = first; i < source->count && samples && !result; i++)
		ioctl(source->events[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	return result;
}

/* --- records --- */

static struct event_sink early(void *context)
{
	struct engine_source *source = context;
	struct event_sink engine = engine_early(source->engine);
	return build_ids_sink(&source->filler, source->options.build_ids, &engine);
}

/* What was counted before a thread got another name, or a process became another program, belongs to the old one. */
static int settle_counts(struct engine_source *source, const struct event *event)
{
	struct engine *engine = source->engine;
	const struct event_task *task;
	int result = 0;
	switch (event->type) {
	case EVENT_COMM:
		return engine_retire(engine, event->comm->pid, event->comm->exec ? -1 : event->comm->tid,
				     &source->next);
	case EVENT_MMAP:
		return engine_replaced(engine, event->mmap) ?
			       engine_retire(engine, event->mmap->pid, -1, &source->next) :
			       0;
	case EVENT_EXIT:
		task = event->task;
		result = engine_exit(engine, task, &source->next);
		return result >= 0 && task->pid == task->tid ? engine_retire(engine, task->pid, -1, &source->next) :
							       result;
	default:
		return 0;
	}
}

static int take(void *context, const struct event *event)
{
	struct engine_source *source = context;
	int result = settle_counts(source, event);
	return result < 0 ? result : sink_take(&source->next, event);
}

static struct event_sink stage(void *context, const struct event_sink *next)
{
	struct engine_source *source = context;
	source->next = *next;
	return (struct event_sink){.context = source, .take = take};
}

static void add(void *merge, uint64_t time, uint64_t number)
{
	merge_add(merge, time, number);
}

static void look(void *context, struct merge *merge)
{
	engine_look(((struct engine_source *)context)->engine, add, merge);
}

/* What is above a copied stack is read at once. */
static void announce(void *context, uint64_t number, const struct event_sink *sink)
{
	struct engine_source *source = context;
	struct event_sink tails = tails_early(&source->tails);
	(void)sink; /* its early records are those of the rings */
	engine_announce(source->engine, number, &tails);
}

static void settle(void *context)
{
	engine_supply(((struct engine_source *)context)->engine);
}

static int take_delivered(void *context, const struct event *event)
{
	struct engine_source *source = context;
	if (event->type != EVENT_SAMPLE || event->sample->unwound)
		return sink_take(source->delivery, event);
	struct event_sample whole = tails_complete(&source->tails, event->sample);
	return sink_sample(source->delivery, &whole);
}

static int deliver(void *context, uint64_t number, const struct event_sink *sink)
{
	struct engine_source *source = context;
	struct event_sink delivered = {.context = source, .take = take_delivered};
	source->delivery = sink;
	return engine_deliver(source->engine, number, &delivered);
}

/* --- counts --- */

static int count(struct engine_source *source, const struct event_sink *sink, bool last)
{
	uint64_t now = clock_now(), cpu = clock_read(CLOCK_THREAD_CPUTIME_ID);
	if (!last && now < source->count_at)
		return 0;
	int result = engine_counts(source->engine, sink, last);
	source->counted = now;
	uint64_t wait = (clock_read(CLOCK_THREAD_CPUTIME_ID) - cpu) * COUNT_SHARE;
	wait = wait > source->every ? wait : source->every;
	source->count_at = now + (wait < COUNT_EVERY_MAX ? wait : COUNT_EVERY_MAX);
	return result;
}

/* Now and then: what was counted. */
static int flush(void *context, struct merge *merge, const struct event_sink *sink, bool last)
{
	struct engine_source *source = context;
	int result = count(source, sink, last);
	if (source->counted < merge->until)
		merge->until = source->counted;
	return result;
}

/* --- the end --- */

static void stop(void *context, struct buf *note, struct buf *detail)
{
	struct engine *engine = ((struct engine_source *)context)->engine;
	uint64_t unfollowed = engine_statistics(engine).unfollowed;
	(void)detail;
	engine_stop(engine);
	if (unfollowed)
		buf_printf(note,
			   "%" PRIu64
			   " processes were not sampled: the limit of kernel memory is too low; use a larger "
			   "--kernel-memory",
			   unfollowed);
}

static void close_engine(void *context)
{
	struct engine_source *source = context;
	for (size_t i = 0; i < source->count; i++)
		close(source->events[i].fd);
	free(source->events);
	tails_release(&source->tails);
	source->events = NULL;
	source->count = source->capacity = 0;
}

struct source engine_source(struct engine_source *source)
{
	static const struct source_ops ops = {
		.start = start,
		.enable = enable,
		.poll = poll_engine,
		.reopen = reopen,
		.early = early,
		.stage = stage,
		.look = look,
		.announce = announce,
		.settle = settle,
		.deliver = deliver,
		.flush = flush,
		.stop = stop,
		.close = close_engine,
	};
	return (struct source){&ops, source};
}
