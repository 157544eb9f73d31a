#include "capture/engine_tap.h"

#include "base/mem.h"
#include "capture/open_event.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>
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

static int open_one(struct engine_tap *tap, const struct target *target, const struct capture_event *event,
		    size_t source, int32_t task, bool may_lack, int32_t cpu, struct err *err)
{
	struct perf_event_attr attr = bare(&event->attr);
	if (event->by_cpu)
		attr.inherit = attr.enable_on_exec = 0;
	int fd = open_event(&attr, target, task, cpu);
	bool left_out = errno == ESRCH || ((errno == EACCES || errno == EPERM) && may_lack);
	if (fd < 0)
		return left_out ? 0 : open_refused(event, target, task, errno, err);
	MEM_ROOM(tap->events, tap->count, tap->capacity);
	tap->events[tap->count++] = (struct engine_tap_event){fd, event->by_cpu, cpu};
	return engine_attach(tap->engine, source, fd, err);
}

/* One descriptor per thread where all CPUs are meant; else one per CPU too. */
static int open_task(struct engine_tap *tap, const struct target *target, const struct capture_events *events,
		     size_t number, bool by_cpu, struct err *err)
{
	size_t count;
	int32_t task = open_tasks(target, &count)[number];
	bool may_lack = target_may_lack(target, number);
	int result = 0;
	for (size_t source = 0; source < events->count; source++) {
		const struct capture_event *event = &events->items[source];
		size_t cpus = !event->by_engine || event->by_cpu ? 0 : by_cpu ? target->cpu_count : 1;
		for (size_t cpu = 0; cpu < cpus && !result; cpu++)
			result = open_one(tap, target, event, source, task, may_lack, by_cpu ? target->cpus[cpu] : -1,
					  err);
	}
	return result;
}

/* Events of CPUs, and whose samples count there. A command becomes a member when it executes its program. */
static int open_cpus(struct engine_tap *tap, const struct target *target, const struct capture_events *events,
		     struct err *err)
{
	const struct target everybody = {.whole_system = true, .cgroup = -1};
	bool threads = target->by_thread;
	int result = 0;
	for (size_t source = 0; source < events->count; source++)
		for (size_t cpu = 0; cpu < target->cpu_count && !result && events->items[source].by_cpu; cpu++)
			result = open_one(tap, &everybody, &events->items[source], source, -1, false, target->cpus[cpu],
					  err);
	for (size_t i = 0; i < (threads ? target->tid_count : target->pid_count); i++) {
		int32_t id = threads ? target->tids[i] : target->pids[i];
		if (id != target->command)
			engine_add_member(tap->engine, id);
	}
	return result;
}

static void look(void *context, void (*add)(void *rings, uint64_t time, uint64_t number), void *rings)
{
	engine_look(((struct engine_tap *)context)->engine, add, rings);
}

static void settle(void *context)
{
	engine_supply(((struct engine_tap *)context)->engine);
}

static int deliver(void *context, uint64_t number, const struct event_sink *sink)
{
	struct engine_tap *tap = context;
	(void)sink; /* the tap's own, which knows samples already */
	return engine_deliver(tap->engine, number, tap->sink);
}

int engine_tap_open(struct engine_tap *tap, struct engine *engine, const struct target *target,
		    const struct capture_events *events, bool some_cpus, struct err *err)
{
	*tap = (struct engine_tap){.engine = engine, .every = target_is_by_cpu(target) ? COUNT_EVERY_MAX : COUNT_EVERY};
	tap->guest = (struct rings_guest){
		.context = tap, .look = look, .early = engine_early(engine), .settle = settle, .deliver = deliver};
	size_t count;
	open_tasks(target, &count);
	bool by_cpu = target_is_by_cpu(target) || some_cpus;
	int result = 0;
	for (size_t i = 0; i < count && !result; i++)
		result = open_task(tap, target, events, i, by_cpu, err);
	if (!result)
		result = open_cpus(tap, target, events, err);
	if (!result && !tap->count)
		result = err_set(err, ERR_SYSTEM, "the process ended before it could be recorded");
	if (result)
		engine_tap_release(tap);
	return result;
}

void engine_tap_release(struct engine_tap *tap)
{
	for (size_t i = 0; i < tap->count; i++)
		close(tap->events[i].fd);
	free(tap->events);
	tap->events = NULL;
	tap->count = tap->capacity = 0;
}

static void control(struct engine_tap *tap, unsigned long request, bool only_cpus)
{
	for (size_t i = 0; i < tap->count; i++)
		if (tap->events[i].by_cpu || !only_cpus)
			ioctl(tap->events[i].fd, request, 0);
}

void engine_tap_enable(struct engine_tap *tap)
{
	control(tap, PERF_EVENT_IOC_ENABLE, false);
}

void engine_tap_enable_cpus(struct engine_tap *tap)
{
	control(tap, PERF_EVENT_IOC_ENABLE, true);
}

void engine_tap_disable(struct engine_tap *tap)
{
	control(tap, PERF_EVENT_IOC_DISABLE, false);
}

/* Those of threads stay when a CPU goes. */
static void close_gone(struct engine_tap *tap, const struct target *target, int32_t cpu)
{
	size_t kept = 0;
	for (size_t i = 0; i < tap->count; i++) {
		const struct engine_tap_event *event = &tap->events[i];
		if (event->cpu == cpu && (event->by_cpu || target_is_by_cpu(target)))
			close(event->fd);
		else
			tap->events[kept++] = *event;
	}
	tap->count = kept;
}

int engine_tap_return(struct engine_tap *tap, const struct target *target, const struct capture_events *events,
		      int32_t cpu, bool samples, struct err *err)
{
	const struct target everybody = {.whole_system = true, .cgroup = -1};
	size_t count;
	int32_t task = *open_tasks(target, &count);
	int result = 0;
	close_gone(tap, target, cpu);
	size_t first = tap->count;
	for (size_t source = 0; source < events->count && !result; source++) {
		const struct capture_event *event = &events->items[source];
		if (event->by_engine && event->by_cpu)
			result = open_one(tap, &everybody, event, source, -1, false, cpu, err);
		else if (event->by_engine && target_is_by_cpu(target))
			result = open_one(tap, target, event, source, task, false, cpu, err);
	}
	for (size_t i = first; i < tap->count && samples && !result; i++)
		ioctl(tap->events[i].fd, PERF_EVENT_IOC_ENABLE, 0);
	return result;
}

/* --- records in the order of time --- */

/* What was counted before a thread got another name, or a process became another program, belongs to the old one. */
static int settle_counts(struct engine_tap *tap, const struct event *event)
{
	const struct event_task *task;
	int result = 0;
	switch (event->type) {
	case EVENT_COMM:
		return engine_retire(tap->engine, event->comm->pid, event->comm->exec ? -1 : event->comm->tid,
				     tap->sink);
	case EVENT_MMAP:
		return engine_replaced(tap->engine, event->mmap) ?
			       engine_retire(tap->engine, event->mmap->pid, -1, tap->sink) :
			       0;
	case EVENT_EXIT:
		task = event->task;
		result = engine_exit(tap->engine, task, tap->sink);
		return result >= 0 && task->pid == task->tid ? engine_retire(tap->engine, task->pid, -1, tap->sink) :
							       result;
	default:
		return 0;
	}
}

static int take(void *context, const struct event *event)
{
	struct engine_tap *tap = context;
	int result = settle_counts(tap, event);
	return result < 0 ? result : sink_take(tap->sink, event);
}

struct event_sink engine_tap_sink(struct engine_tap *tap, const struct event_sink *sink)
{
	tap->sink = sink;
	return (struct event_sink){.context = tap, .take = take};
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

void engine_tap_ending(struct engine_tap *tap)
{
	tap->ending = true;
}

int engine_tap_count(struct engine_tap *tap, bool last)
{
	uint64_t now = nanoseconds(CLOCK_MONOTONIC), cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
	if (!last && now < tap->count_at)
		return 0;
	int result = engine_counts(tap->engine, tap->sink, last);
	tap->counted = now;
	uint64_t wait = (nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu) * COUNT_SHARE;
	wait = wait > tap->every ? wait : tap->every;
	tap->count_at = now + (wait < COUNT_EVERY_MAX ? wait : COUNT_EVERY_MAX);
	return result;
}
