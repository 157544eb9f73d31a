/* Opening rings and their events, also those of CPUs that come later. */
#include "base/mem.h"
#include "capture/open_event.h"
#include "capture/rings_private.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define RING_MAX (32u << 20)
#define RING_USUAL (512u << 10) /* not less unless the limit of locked memory demands it */
/*
 * For mappings and tasks: a thread can map files 100,000 times a second, which is 12 MiB. On a busy machine it takes a
 * while until wick gets a CPU, and then records stay for two rounds.
 */
#define RING_MAPPINGS (4u << 20)
#define ALL_MAPPINGS_MAX (64u << 20)
#define ALL_RINGS_MAX (256u << 20) /* on a machine with many CPUs each ring gets less */
#define RECORD_USUAL 1024u /* bytes of a sample without its stack copy */
#define RECORDS_MIN 8u /* that a ring has room for */
#define RING_MIN (32u << 10)

/* --- opening --- */

/* Thousands of threads on many CPUs need as many descriptors. */
static void raise_descriptors(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static bool try_open(struct perf_event_attr *attr, const struct target *target)
{
	size_t count;
	int fd = open_event(attr, target, *open_tasks(target, &count), target->cpus[0]);
	int error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return fd >= 0 || error != EINVAL;
}

/* Takes out what this kernel does not know, the newest first. */
static void fit_to_kernel(struct rings_options *options)
{
	struct attr_shape *shape = &options->shape;
	bool *features[] = {&shape->losses, &shape->build_ids, &shape->clock};
	for (size_t i = 0; i < sizeof features / sizeof *features; i++)
		*features[i] = true;
	for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
		struct perf_event_attr attr = attr_tracking(shape);
		if (try_open(&attr, options->target))
			break;
		*features[i] = false;
	}
	shape->cgroups = true;
	struct perf_event_attr attr = attr_tracking(shape);
	shape->cgroups = try_open(&attr, options->target);
	/*
	 * The kernel (6.18) marks what other sessions get of the same mapping as if they had requested build-ids too,
	 * and perf crashes on that. Few processes are recorded twice at once, but a whole system often is.
	 */
	shape->build_ids &= !target_is_by_cpu(options->target);
}

static int map_ring(struct rings *rings, struct ring *ring, int fd, struct err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *start = mmap(NULL, page + rings->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (start == MAP_FAILED)
		return errno == EPERM || (errno == ENOMEM && rings->size > RING_MIN) ?
			       -EAGAIN :
			       err_set(err, ERR_SYSTEM, "cannot map a ring buffer: %s", strerror(errno));
	ring->page = start;
	ring->data = (uint8_t *)start + page;
	return 0;
}

/* The first event of a ring decides when its reader is woken up, besides events that do it each time. */
static void wake_up_at_quarter(struct perf_event_attr *attr, const struct rings *rings)
{
	attr->watermark = 1;
	attr->wakeup_watermark = (uint32_t)(rings->size / 4);
}

/* Opens one event on one thread and CPU and lets it write to the CPU's ring. */
static int add_event(struct rings *rings, struct ring *ring, struct perf_event_attr *attr, uint32_t source,
		     const struct target *target, int32_t task, struct err *err)
{
	int fd = open_event(attr, target, task, ring->cpu);
	if (fd < 0)
		return -errno;
	MEM_ROOM(rings->events, rings->event_count, rings->event_capacity);
	struct open_event *event = &rings->events[rings->event_count++];
	*event = (struct open_event){.fd = fd, .source = source, .ring = (uint32_t)(ring - rings->items)};
	losses_add(&rings->losses, event->ring, fd, source != rings->tracking);
	if (ioctl(fd, PERF_EVENT_IOC_ID, &event->id) < 0)
		return -errno;
	if (ring->owner >= 0)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, rings->events[ring->owner].fd) < 0 ? -errno : 0;
	ring->owner = (int)rings->event_count - 1;
	return map_ring(rings, ring, fd, err);
}

/* Opened on all threads, whoever the target is. */
static bool is_on_cpus(const struct capture_event *event)
{
	return event->everywhere || (event->by_cpu && !event->by_engine);
}

/* All events of one task on one CPU. */
static int add_task(struct rings *rings, struct ring *ring, struct rings_options *options, size_t number,
		    bool *ret_gone, struct err *err)
{
	size_t count;
	int32_t task = open_tasks(options->target, &count)[number];
	struct perf_event_attr tracking = attr_tracking(&options->shape);
	struct capture_events *events = options->events;
	wake_up_at_quarter(&tracking, rings);
	for (size_t i = 0; i <= events->count; i++) {
		bool last = i == events->count;
		struct perf_event_attr *attr = last ? &tracking : &events->items[i].attr;
		if (!last && (is_on_cpus(&events->items[i]) || events->items[i].by_engine))
			continue;
		err->code = 0;
		int result = add_event(rings, ring, attr, (uint32_t)i, options->target, task, err);
		bool denied = (result == -EACCES || result == -EPERM) && target_may_lack(options->target, number);
		if (result == -ESRCH || denied) {
			*ret_gone = true;
			rings->denied += denied;
			rings->denied_task = task;
			return 0;
		}
		if (result == -EAGAIN || (result && err->code))
			return result;
		if (result)
			return open_refused(last ? NULL : &events->items[i], options->target, task, -result, err);
	}
	return 0;
}

static int add_everywhere(struct rings *rings, struct ring *ring, struct rings_options *options, struct err *err)
{
	struct capture_events *events = options->events;
	const struct target all = {.whole_system = true, .cgroup = -1};
	for (size_t i = 0; i < events->count; i++) {
		if (!is_on_cpus(&events->items[i]))
			continue;
		err->code = 0;
		int result = add_event(rings, ring, &events->items[i].attr, (uint32_t)i, &all, -1, err);
		if (result == -EAGAIN || (result && err->code))
			return result;
		if (result)
			return open_refused(&events->items[i], options->target, -1, -result, err);
		rings->events[rings->event_count - 1].everywhere = true;
	}
	return 0;
}

static void close_events(struct rings *rings)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < rings->count; i++) {
		if (rings->items[i].page)
			munmap(rings->items[i].page, page + rings->size);
		rings->items[i] = (struct ring){.cpu = rings->items[i].cpu, .owner = -1};
	}
	for (size_t i = 0; i < rings->event_count; i++)
		if (rings->events[i].fd >= 0)
			close(rings->events[i].fd);
	rings->event_count = 0;
	losses_clear(&rings->losses);
}

static int open_all(struct rings *rings, struct rings_options *options, struct err *err)
{
	const struct target *target = options->target;
	size_t count, gone_count = 0;
	open_tasks(target, &count);
	rings->denied = 0;
	int result = 0;
	for (size_t cpu = 0; cpu < rings->count && !result; cpu++)
		result = add_everywhere(rings, &rings->items[cpu], options, err);
	if (result)
		return result;
	for (size_t i = 0; i < count; i++) {
		bool gone = false;
		for (size_t cpu = 0; cpu < rings->count && !gone; cpu++) {
			result = add_task(rings, &rings->items[cpu], options, i, &gone, err);
			if (result)
				return result;
		}
		gone_count += gone;
	}
	if (gone_count < count)
		return 0;
	return rings->denied ? open_refused(NULL, target, rings->denied_task, EACCES, err) :
			       err_set(err, ERR_SYSTEM, "the process ended before it could be recorded");
}

size_t rings_denied(const struct rings *rings)
{
	return rings->denied;
}

/* Samples a second on a CPU, as far as that is known. */
static uint64_t record_rate(const struct rings_options *options)
{
	const struct attr_shape *shape = &options->shape;
	uint64_t rate = 0;
	for (size_t i = 0; i < options->events->count; i++) {
		const struct capture_event *event = &options->events->items[i];
		/* Once shaped, an event has either. */
		bool each = shape->period || event->attr.type == PERF_TYPE_TRACEPOINT ||
			    (event->attr.sample_period && !event->attr.freq);
		if (!event->by_engine)
			rate += each ? RING_MAX : shape->frequency; /* RING_MAX: as often as it happens */
	}
	return rate;
}

/* The largest copy of which a ring holds those of a quarter of a second, and some in any case. */
static uint32_t copy_size(const struct rings *rings, const struct rings_options *options)
{
	uint32_t copy = STACK_SIZE_MAX;
	uint64_t min = record_rate(options) / 4 > RECORDS_MIN ? record_rate(options) / 4 : RECORDS_MIN;
	while (copy > STACK_SIZE_USUAL && (RECORD_USUAL + copy) * min > rings->size)
		copy = copy > 2 * STACK_SIZE_USUAL ? 2 * STACK_SIZE_USUAL : STACK_SIZE_USUAL;
	return copy;
}

/*
 * Room for what a second brings. Records stay for two rounds, and on a busy machine it takes a while until wick gets a
 * CPU; all this time others fill the ring too, where an event is opened on CPUs.
 */
static size_t first_size(const struct rings_options *options)
{
	const struct attr_shape *shape = &options->shape;
	uint32_t copy = shape->stack_size ? shape->stack_size : STACK_SIZE_MAX;
	uint64_t record = RECORD_USUAL + (shape->call_graph == CALL_GRAPH_DWARF ? copy : 0);
	uint64_t rate = record_rate(options);
	size_t size = RING_MAPPINGS, cpus = options->target->cpu_count;
	uint64_t max = options->max_bytes < ALL_RINGS_MAX ? options->max_bytes : ALL_RINGS_MAX;
	while (size > RING_USUAL && size * cpus > ALL_MAPPINGS_MAX)
		size /= 2;
	while (size < RING_MAX && size * 2 * cpus <= max && size < record * rate)
		size *= 2;
	while (size > RING_MIN && size * cpus > max)
		size /= 2;
	return size;
}

static void describe(struct rings *rings, const struct rings_options *options)
{
	uint64_t *ids = mem_alloc(rings->event_count * sizeof *ids + 1);
	struct perf_event_attr tracking = attr_tracking(&options->shape);
	for (uint32_t source = 0; source <= options->events->count; source++) {
		bool last = source == options->events->count;
		size_t count = 0;
		for (size_t i = 0; i < rings->event_count; i++)
			if (rings->events[i].source == source)
				ids[count++] = rings->events[i].id;
		struct perf_event_attr attr = last ? tracking : options->events->items[source].attr;
		if (!last && options->events->items[source].path)
			attr.config1 = 0; /* an address in this process */
		perfdata_live_source(rings->decoder, &attr, last ? "dummy:u" : options->events->items[source].name, ids,
				     count);
	}
	free(ids);
	if (!options->derives)
		return;
	/* As the other events have them, where there is one with stacks. */
	const struct perf_event_attr *like = &tracking;
	for (size_t i = 0; i < options->events->count; i++)
		if (!options->events->items[i].bare)
			like = &options->events->items[i].attr;
	for (enum derived_event event = 0; event < DERIVED_EVENTS; event++) {
		struct perf_event_attr attr = derived_attr(event, like);
		perfdata_live_source(rings->decoder, &attr, derived_name(event), NULL, 0);
	}
}

static void shape_events(const struct rings *rings, struct rings_options *options)
{
	struct attr_shape shape = options->shape;
	shape.stack_size = shape.stack_size ? shape.stack_size : copy_size(rings, options);
	for (size_t i = 0; i < options->events->count; i++) {
		struct perf_event_attr *attr = &options->events->items[i].attr;
		attr_shape_event(attr, &shape, options->events->items[i].bare);
		if (is_on_cpus(&options->events->items[i]))
			attr->inherit = attr->enable_on_exec = 0;
		if (options->wake_each && !options->events->items[i].bare)
			attr->wakeup_events = 1;
		else
			wake_up_at_quarter(attr, rings);
	}
}

int rings_open(struct rings **ret_rings, struct rings_options *options, struct err *err)
{
	const struct target *target = options->target;
	struct err own = {0};
	err = err ? err : &own;
	raise_descriptors();
	fit_to_kernel(options);
	struct rings *rings = mem_zalloc(1, sizeof *rings);
	rings->epoll = -1;
	rings->count = rings->capacity = target->cpu_count;
	losses_init(&rings->losses, rings->count, options->shape.losses);
	rings->items = mem_zalloc(rings->count, sizeof *rings->items);
	rings->size = first_size(options);
	rings->tracking = (uint32_t)options->events->count;
	rings->scratch = mem_alloc(RING_RECORD_MAX);
	rings->decoder = perfdata_live_new();
	for (size_t i = 0; i < rings->count; i++)
		rings->items[i] = (struct ring){.cpu = target->cpus[i], .owner = -1};
	int result;
	shape_events(rings, options);
	/* The limit of locked memory is shared by all rings: when one does not fit, all become smaller. */
	while ((result = open_all(rings, options, err)) == -EAGAIN && rings->size > RING_MIN) {
		close_events(rings);
		rings->size /= 2;
		shape_events(rings, options);
	}
	if (result == -EAGAIN)
		result = err_set(err, ERR_SYSTEM,
				 "not enough locked memory for ring buffers; raise ulimit -l or "
				 "kernel.perf_event_mlock_kb");
	if (result) {
		rings_close(rings);
		return result;
	}
	describe(rings, options);
	rings->options = *options;
	*ret_rings = rings;
	return 0;
}

void rings_close(struct rings *rings)
{
	if (!rings)
		return;
	close_events(rings);
	losses_release(&rings->losses);
	perfdata_close(rings->decoder);
	free(rings->items);
	free(rings->events);
	free(rings->scratch);
	free(rings);
}

const struct event_source *rings_sources(const struct rings *rings, size_t *ret_count)
{
	return perfdata_sources(rings->decoder, ret_count);
}

/* --- waiting --- */

static int poll_ring(struct rings *rings, const struct ring *ring, struct err *err)
{
	/* Edges only: the descriptor of a thread that ended reports that for ever. */
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = rings->epoll_data};
	if (ring->owner < 0 || epoll_ctl(rings->epoll, EPOLL_CTL_ADD, rings->events[ring->owner].fd, &event) == 0)
		return 0;
	return err_set(err, ERR_SYSTEM, "cannot wait for a ring buffer: %s", strerror(errno));
}

int rings_poll(struct rings *rings, int epoll, uint64_t data, struct err *err)
{
	int result = 0;
	rings->epoll = epoll;
	rings->epoll_data = data;
	for (size_t i = 0; i < rings->count && !result; i++)
		result = poll_ring(rings, &rings->items[i], err);
	return result;
}

/* --- CPUs that come back --- */

/*
 * The kernel has taken these events away with their CPU, but not those of threads. The one that has the ring must stay:
 * the others write to the same ring.
 */
static void close_gone(struct rings *rings, size_t number)
{
	for (size_t i = 0; i < rings->event_count; i++) {
		struct open_event *event = &rings->events[i];
		if (event->ring != number || event->fd < 0 ||
		    !(event->everywhere || target_is_by_cpu(rings->options.target)))
			continue;
		if ((int)i == rings->items[number].owner) {
			ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
			continue;
		}
		losses_remove(&rings->losses, event->fd);
		close(event->fd);
		event->fd = -1;
	}
}

/* The events of threads are opened for a CPU that is new; else they are still there. */
static int open_again(struct rings *rings, size_t number, bool is_new, struct err *err)
{
	struct ring *ring = &rings->items[number];
	size_t count;
	open_tasks(rings->options.target, &count);
	int result = add_everywhere(rings, ring, &rings->options, err);
	for (size_t i = 0; i < count && !result && (is_new || target_is_by_cpu(rings->options.target)); i++) {
		bool gone = false;
		result = add_task(rings, ring, &rings->options, i, &gone, err);
	}
	return result;
}

static size_t ring_of_cpu(struct rings *rings, int32_t cpu, bool *ret_new)
{
	size_t number = 0;
	while (number < rings->count && rings->items[number].cpu != cpu)
		number++;
	*ret_new = number == rings->count || rings->items[number].owner < 0;
	if (number == rings->count) {
		MEM_ROOM(rings->items, rings->count, rings->capacity);
		rings->items[rings->count++] = (struct ring){.cpu = cpu, .owner = -1};
	}
	return number;
}

static void close_again(struct rings *rings, size_t number, size_t first)
{
	struct ring *ring = &rings->items[number];
	for (size_t i = first; i < rings->event_count; i++) {
		losses_remove(&rings->losses, rings->events[i].fd);
		close(rings->events[i].fd);
	}
	rings->event_count = first;
	if (ring->owner < (int)first)
		return;
	if (ring->page)
		munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + rings->size);
	*ring = (struct ring){.cpu = ring->cpu, .owner = -1};
}

int rings_return(struct rings *rings, int32_t cpu, bool samples, struct err *err)
{
	bool is_new;
	size_t number = ring_of_cpu(rings, cpu, &is_new), first = rings->event_count;
	close_gone(rings, number);
	int result = open_again(rings, number, is_new, err);
	if (!result && is_new)
		result = poll_ring(rings, &rings->items[number], err);
	for (size_t i = first; i < rings->event_count && !result; i++) {
		const struct open_event *event = &rings->events[i];
		perfdata_live_id(rings->decoder, event->source, event->id);
		if (samples || event->source == rings->tracking)
			ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	if (result)
		close_again(rings, number, first);
	return result;
}
