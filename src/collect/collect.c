/* The collector: follows processes and hands batches to workers, which count stacks in traces. */
#include "collect/collector.h"

#include "base/parallel.h"
#include "event/branches.h"
#include "profile/match.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_DEPTH 1024
#define LIVE_BATCHES 16 /* that wait while workers build a large table: who records must not */
#define PREFETCHED 4096 /* bytes of a stack */

static void *work(void *context);

struct collector *collector_new(const struct collect_options *options)
{
	struct collector *collector = mem_zalloc(1, sizeof *collector);
	collector->options = *options;
	if (!collector->options.max_depth)
		collector->options.max_depth = DEFAULT_DEPTH;
	modules_init(&collector->modules);
	processes_init(&collector->processes, &collector->modules);
	module_store_init(&collector->codes, &collector->modules, &options->symbols);
	collector->codes.debuginfod = options->debuginfod;
	collector->codes.fetch_at_once = !collector_makes_profile(options);
	if (options->live)
		module_store_set_live(&collector->codes);
	collector->worker_count = options->threads ? options->threads : parallel_cores();
	if (options->keep_order || options->each)
		collector->worker_count = 1;
	collector->queue = batch_queue_new(collector->worker_count * 2 + (options->live ? LIVE_BATCHES : 2));
	collector->workers = mem_zalloc(collector->worker_count, sizeof *collector->workers);
	for (unsigned i = 0; i < collector->worker_count; i++) {
		struct worker *worker = &collector->workers[i];
		worker->collector = collector;
		pthread_mutex_init(&worker->lock, NULL);
		tally_init(&worker->tally, options->keep_order);
		worker->tally.unmapped_apart = options->addresses;
		worker->tally.threads_apart = options->threads_apart;
		worker->tally.label_cpu = options->label_cpu;
		worker->tally.label_gil = options->label_gil;
		worker->tally.trace.keep_times = options->keep_times;
		stack_maker_init(&worker->maker, &collector->codes, collector->options.max_depth);
		worker->maker.foreign = options->foreign;
		worker->maker.machine = options->machine;
		worker->maker.python = options->python;
		worker->maker.needs = options->live ? &collector->needs : NULL;
		worker->maker.identify = collector_makes_profile(options) ? tally_frame : NULL;
		worker->maker.identify_context = &worker->tally;
	}
	return collector;
}

static void start_workers(struct collector *collector)
{
	/* Where samples come as fast as they can be read, no time is left over; followed ones are named at once. */
	if (collector->options.live && !collector->options.followed && collector_makes_profile(&collector->options))
		collector->preparer = preparer_new(&collector->codes);
	for (unsigned i = 0; i < collector->worker_count; i++) {
		struct worker *worker = &collector->workers[i];
		worker->tally.preparer = collector->preparer;
		worker->started = pthread_create(&worker->thread, NULL, work, worker) == 0;
		collector->running += worker->started;
	}
}

static void work_on(struct worker *worker, struct batch *batch);

/* Hands the batch over that is being filled. Where no thread could be started the reader does the work itself. */
static void hand_over(struct collector *collector)
{
	if (!collector->filling)
		return;
	if (collector->running)
		batch_queue_put(collector->queue, collector->filling);
	else
		work_on(&collector->workers[0], collector->filling);
	collector->filling = NULL;
}

void collector_stop(struct collector *collector)
{
	hand_over(collector);
	batch_queue_close(collector->queue);
	for (unsigned i = 0; i < collector->worker_count; i++) {
		if (collector->workers[i].started)
			pthread_join(collector->workers[i].thread, NULL);
		collector->workers[i].started = false;
	}
	preparer_stop(collector->preparer);
	collector->preparer = NULL;
}

void collector_free(struct collector *collector)
{
	collector_stop(collector);
	for (unsigned i = 0; i < collector->worker_count; i++) {
		struct worker *worker = &collector->workers[i];
		stack_maker_release(&worker->maker);
		tally_release(&worker->tally);
		pthread_mutex_destroy(&worker->lock);
	}
	batch_queue_free(collector->queue);
	module_store_release(&collector->codes);
	processes_release(&collector->processes);
	modules_release(&collector->modules);
	free(collector->workers);
	free(collector->build_ids);
	free(collector->cgroups);
	arena_release(&collector->cgroup_labels);
	free(collector->chain);
	free(collector->sources);
	free(collector);
}

void collector_set_reader(struct collector *collector, const struct collect_reader *reader)
{
	collector->reader = *reader;
}

void collector_build_id(struct collector *collector, const char *path, const struct build_id *build_id)
{
	MEM_ROOM(collector->build_ids, collector->build_id_count, collector->build_id_capacity);
	collector->build_ids[collector->build_id_count++] = (struct known_build_id){
		.path = strpool_add(&collector->processes.strings, path, strlen(path)),
		.id = *build_id,
	};
}

/* --- workers --- */

/* The stack of who waited, and on top of it, upside down, the one of who ended it: from the wake-up to the thread. */
static void add_with_waker(struct worker *worker, const struct batch_sample *sample, enum stack_end end,
			   const struct batch_sample *waker)
{
	struct stack_maker *maker = &worker->maker;
	size_t count = maker->count, at = 0;
	CLEANUP_FREE struct stack_frame *waited = mem_alloc((count + 1) * sizeof *waited);
	memcpy(waited, maker->frames, count * sizeof *waited);
	stack_make(maker, waker);
	CLEANUP_FREE struct stack_frame *joined = mem_alloc((count + maker->count + 2) * sizeof *joined);
	joined[at++] = (struct stack_frame){.id = trace_text_frame(&worker->tally.trace, waker->comm)};
	for (size_t i = maker->count; i-- > 0;) {
		joined[at] = maker->frames[i];
		joined[at++].id = tally_waker_frame(&worker->tally, &maker->frames[i].frame);
	}
	joined[at++] = (struct stack_frame){.id = trace_text_frame(&worker->tally.trace, "--")};
	memcpy(joined + at, waited, count * sizeof *waited);
	tally_add(&worker->tally, sample, joined, at + count, end);
}

/* The copy of the stack of the sample at `at` comes from far: it is prefetched while another one is worked on. */
static void prefetch_stack(struct batch *batch, size_t at)
{
	const struct batch_sample *sample = batch_at(batch, at);
	for (size_t i = 0; sample && i < PREFETCHED && i < sample->event.stack_size; i += 64)
		__builtin_prefetch(sample->event.stack + i);
}

static void work_on(struct worker *worker, struct batch *batch)
{
	const struct collect_options *options = &worker->collector->options;
	if (options->followed)
		pthread_mutex_lock(&worker->lock);
	const struct batch_sample *sample;
	for (size_t at = 0; (sample = batch_at(batch, at));) {
		prefetch_stack(batch, at + sample->size);
		enum stack_end end = stack_make(&worker->maker, sample);
		if (options->each)
			options->each(options->each_context, sample, worker->maker.frames, worker->maker.count, end);
		at += sample->size;
		const struct batch_sample *waker = NULL;
		if (sample->has_waker) {
			waker = batch_at(batch, at);
			at += waker->size;
		}
		if (waker && collector_makes_profile(options))
			add_with_waker(worker, sample, end, waker);
		else if (collector_makes_profile(options))
			tally_add(&worker->tally, sample, worker->maker.frames, worker->maker.count, end);
	}
	if (options->followed)
		pthread_mutex_unlock(&worker->lock);
	preparer_go(worker->tally.preparer);
	batch_queue_give_back(worker->collector->queue, batch);
}

static void *work(void *context)
{
	struct worker *worker = context;
	struct batch *batch;
	while ((batch = batch_queue_take(worker->collector->queue)))
		work_on(worker, batch);
	return NULL;
}

/* --- the sink --- */

static bool cgroup_fits(struct collector *collector, uint64_t id)
{
	const char *const *patterns = collector->options.filter.cgroups;
	const struct batch_cgroup *cgroup = patterns ? collector_cgroup(collector, id) : NULL;
	return !patterns || match_text(patterns, cgroup ? cgroup->path : "unknown");
}

/* The value of a label that tally_add() would give to the sample; "" without. */
static const char *label_value(struct collector *collector, const struct event_sample *event, const char *key,
			       char room[static 16])
{
	static const struct {
		const char *key;
		size_t offset;
	} of_cgroup[] = {
		{LABEL_CGROUP, offsetof(struct batch_cgroup, path)},
		{LABEL_CONTAINER, offsetof(struct batch_cgroup, container)},
		{LABEL_POD, offsetof(struct batch_cgroup, pod)},
		{LABEL_UNIT, offsetof(struct batch_cgroup, unit)},
	};
	room[0] = '\0';
	if (!strcmp(key, LABEL_GIL))
		return gil_label(event->gil);
	if (!strcmp(key, LABEL_CPU) && event->cpu != UINT32_MAX)
		snprintf(room, 16, "%u", event->cpu);
	for (size_t i = 0; i < sizeof of_cgroup / sizeof *of_cgroup; i++) {
		const struct batch_cgroup *cgroup =
			strcmp(key, of_cgroup[i].key) == 0 ? collector_cgroup(collector, event->cgroup) : NULL;
		if (cgroup)
			return *(const char *const *)((const char *)cgroup + of_cgroup[i].offset);
	}
	return room;
}

static bool labels_fit(struct collector *collector, const struct event_sample *event)
{
	char room[16];
	for (const struct label_filter *label = collector->options.filter.profile.labels; label && label->key; label++)
		if (!match_text(label->values, label_value(collector, event, label->key, room)))
			return false;
	return true;
}

static bool cpu_is_listed(const uint32_t *list, uint32_t cpu)
{
	if (!list)
		return true;
	for (; *list != UINT32_MAX; list++)
		if (*list == cpu)
			return true;
	return false;
}

static bool wanted(struct collector *collector, const struct event_sample *event, const char *comm)
{
	const struct collect_filter *filter = &collector->options.filter;
	uint64_t since = event->time - collector->first_time;
	return cpu_is_listed(filter->cpus, event->cpu) && since >= filter->from &&
	       (!filter->to || since < filter->to) && match_id(filter->profile.pids, event->pid) &&
	       match_id(filter->profile.tids, event->tid) && match_text(filter->profile.comms, comm) &&
	       cgroup_fits(collector, event->cgroup) && labels_fit(collector, event);
}

/* In a pipe events come with the records. */
static struct source_facts facts_of(struct collector *collector, uint32_t source)
{
	if (source >= collector->source_count) {
		size_t count;
		const struct event_source *sources = collector->reader.sources(collector->reader.context, &count);
		collector->sources =
			mem_grow(collector->sources, &collector->source_capacity, count, sizeof *collector->sources);
		for (size_t i = collector->source_count; i < count; i++) {
			const char *name = sources[i].name ? sources[i].name : "";
			if (strlen(name) > collector->source_columns)
				collector->source_columns = (uint32_t)strlen(name);
			collector->sources[i] =
				source_facts_of(&sources[i].attr, name, collector->options.count_samples);
			collector->sources[i].name = strpool_add(&collector->processes.strings, name, strlen(name));
		}
		collector->source_count = count;
	}
	return source < collector->source_count ? collector->sources[source] : (struct source_facts){0};
}

/* A sample whose user stack is given by branches gets it as its chain. */
static struct event_sample with_chain_of_branches(struct collector *collector, const struct event_sample *event)
{
	struct event_sample sample = *event;
	size_t count;
	const struct event_source *sources = collector->reader.sources(collector->reader.context, &count);
	if (event->source >= count || !(sources[event->source].attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
		return sample;
	collector->chain = mem_grow(collector->chain, &collector->chain_capacity, branches_chain_max(event),
				    sizeof *collector->chain);
	sample.chain_count = branches_chain(event, collector->chain);
	sample.chain = collector->chain;
	return sample;
}

/* Wakers need not be among those who are recorded: what no record contains the system may know. */
static bool ask_comm(struct collector *collector, const struct event_sample *event)
{
	char text[32];
	snprintf(text, sizeof text, "/proc/%d/comm", event->tid);
	FILE *file = fopen(text, "re");
	bool read = file && fgets(text, sizeof text, file);
	if (file)
		fclose(file);
	if (!read)
		return false;
	text[strcspn(text, "\n")] = '\0';
	processes_name(&collector->processes, event->pid, event->tid, text);
	return *text;
}

/* The name of the thread, or what perf shows for one without: ":12". Stays. */
static const char *comm_of(struct collector *collector, const struct event_sample *event)
{
	struct strpool *strings = &collector->processes.strings;
	const char *comm = event->pid < 0 ? "" : processes_comm_of(&collector->processes, event->pid, event->tid);
	if (*comm)
		return comm;
	if (event->tid == 0)
		return "swapper"; /* idle */
	if (collector->options.live && ask_comm(collector, event))
		return processes_comm_of(&collector->processes, event->pid, event->tid);
	char text[16];
	snprintf(text, sizeof text, ":%d", event->tid);
	return strpool_text(strings, strpool_add(strings, text, strlen(text)));
}

static void add_to_batch(struct collector *collector, const struct event_sample *event, const char *comm,
			 const struct source_facts *source, uint64_t weight)
{
	struct batch_sample *added = batch_add(collector->filling, event,
					       processes_maps(&collector->processes, event->pid),
					       processes_kernel_maps(&collector->processes));
	added->comm = comm;
	added->event_name = strpool_text(&collector->processes.strings, source->name);
	added->cgroup = collector->options.label_cgroup ? collector_cgroup(collector, event->cgroup) : NULL;
	added->unit = source->unit ? source->unit : "";
	added->event_columns = collector->source_columns;
	added->chain_max = source->chain_max;
	added->weight = weight < INT64_MAX ? (int64_t)weight : INT64_MAX;
	added->monotonic = source->monotonic ? event->time : UINT64_MAX;
	added->has_waker = event->waker;
}

static int take_sample(struct collector *collector, const struct event_sample *event)
{
	struct event_sample changed;
	if (event->branch_count) {
		changed = with_chain_of_branches(collector, event);
		event = &changed;
	}
	if (!collector->has_first_time) {
		collector->has_first_time = true;
		collector->first_time = event->time;
		start_workers(collector);
	}
	const char *comm = comm_of(collector, event);
	struct source_facts source = facts_of(collector, event->source);
	measure_sample(&collector->measure, event, &source);
	if (!wanted(collector, event, comm))
		return 0;
	uint64_t count = event->count ? event->count : 1;
	uint64_t weight = source.weighs_one || !event->period ? count : event->period;
	collector->overflows += weight > INT64_MAX;
	if (!collector->filling)
		collector->filling = batch_queue_take_empty(collector->queue);
	add_to_batch(collector, event, comm, &source, weight);
	if (event->waker)
		add_to_batch(collector, event->waker, comm_of(collector, event->waker), &source, 0);
	if (batch_is_full(collector->filling)) {
		hand_over(collector);
		if (collector->reader.progress)
			collector->reader.progress(collector->reader.context);
	}
	return 0;
}

static const struct build_id *build_id_of(struct collector *collector, const struct event_mmap *mmap)
{
	if (mmap->build_id.size)
		return &mmap->build_id;
	/* "[kernel.kallsyms]_text" is listed as "[kernel.kallsyms]". */
	const char *bracket = mmap->kernel && mmap->path[0] == '[' ? strchr(mmap->path, ']') : NULL;
	size_t length = bracket ? (size_t)(bracket + 1 - mmap->path) : strlen(mmap->path);
	str_id path = strpool_find(&collector->processes.strings, mmap->path, length);
	for (size_t i = 0; path != INDEX_NONE && i < collector->build_id_count; i++)
		if (collector->build_ids[i].path == path)
			return &collector->build_ids[i].id;
	return NULL;
}

static int take_mmap(struct collector *collector, const struct event_mmap *mmap)
{
	int32_t pid = mmap->kernel ? -1 : mmap->pid;
	const struct build_id *build_id = build_id_of(collector, mmap);
	uint64_t end;
	if (mmap->kernel && mmap->path[0] == '[')
		module_store_kernel_mapping(&collector->codes, mmap->path, mmap->offset, build_id);
	if (__builtin_add_overflow(mmap->start, mmap->length, &end))
		end = UINT64_MAX;
	processes_mmap(&collector->processes, pid,
		       (struct mapping){
			       .start = mmap->start,
			       .end = end,
			       .offset = mmap->offset,
			       .module = module_store_add(&collector->codes, mmap->path, build_id, pid),
		       });
	return 0;
}

static int take_comm(struct collector *collector, const struct event_comm *comm)
{
	measure_time(&collector->measure, comm->time);
	processes_comm(&collector->processes, comm->pid, comm->tid, comm->comm, comm->exec);
	if (comm->exec)
		module_store_process_changed(&collector->codes, comm->pid);
	return 0;
}

static int take_fork(struct collector *collector, const struct event_task *task)
{
	measure_time(&collector->measure, task->time);
	processes_fork(&collector->processes, task->pid, task->tid, task->parent_pid, task->parent_tid);
	if (task->pid != task->parent_pid)
		module_store_process_changed(&collector->codes, task->pid);
	return 0;
}

static int take_exit(struct collector *collector, const struct event_task *task)
{
	measure_time(&collector->measure, task->time);
	if (collector->options.live)
		processes_exit(&collector->processes, task->pid, task->tid, task->time);
	return 0;
}

static int take_lost(struct collector *collector, const struct event_lost *lost)
{
	if (lost->kind == LOST_OTHERS)
		collector->lost_records += lost->count;
	else
		collector->lost += lost->count;
	return 0;
}

static int take_count(struct collector *collector, const struct event_count *count)
{
	struct source_facts source = facts_of(collector, count->source);
	measure_count(&collector->measure, count, &source);
	return 0;
}

static int take_ksymbol(struct collector *collector, const struct event_ksymbol *symbol)
{
	if (!symbol->unregister)
		module_store_kernel_symbol(&collector->codes, symbol->address, symbol->length, symbol->name);
	return 0;
}

static int take(void *context, const struct event *event)
{
	switch (event->type) {
	case EVENT_SAMPLE:
		return take_sample(context, event->sample);
	case EVENT_MMAP:
		return take_mmap(context, event->mmap);
	case EVENT_COMM:
		return take_comm(context, event->comm);
	case EVENT_FORK:
		return take_fork(context, event->task);
	case EVENT_EXIT:
		return take_exit(context, event->task);
	case EVENT_LOST:
		return take_lost(context, event->lost);
	case EVENT_COUNT:
		return take_count(context, event->count);
	case EVENT_KSYMBOL:
		return take_ksymbol(context, event->ksymbol);
	case EVENT_CGROUP:
		return collector_take_cgroup(context, event->cgroup);
	case EVENT_SWITCH:
	case EVENT_ASLEEP:
		break;
	}
	return 0;
}

struct event_sink collector_sink(struct collector *collector)
{
	return (struct event_sink){.context = collector, .take = take};
}

void collector_flush(struct collector *collector)
{
	hand_over(collector);
}

unsigned collector_not_fetched(const struct collector *collector)
{
	return collector->codes.not_fetched;
}

uint64_t collector_ends(const struct collector *collector, enum stack_end end)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < collector->worker_count; i++)
		sum += __atomic_load_n(&collector->workers[i].tally.ends[end], __ATOMIC_RELAXED);
	return sum;
}

unsigned collector_worker_count(const struct collector *collector)
{
	return collector->worker_count;
}

void collector_follow(struct collector *collector, unsigned worker, struct trace_follower *follower, struct trace *into,
		      struct sample_list *news)
{
	struct worker *followed = &collector->workers[worker];
	pthread_mutex_lock(&followed->lock);
	trace_follow(follower, into, &followed->tally.trace, news);
	pthread_mutex_unlock(&followed->lock);
}

void collector_each_map(struct collector *collector, void *context, void (*each)(void *context, int32_t pid, int fd))
{
	module_store_each_map(&collector->codes, context, each);
}

struct module_store *collector_codes(struct collector *collector)
{
	return &collector->codes;
}

struct stack_needs *collector_stack_needs(struct collector *collector)
{
	return &collector->needs;
}
