/* Opening a recorder: what is recorded, by which events and which engine, and what it waits for. */
#include "arch/native.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/memory_limit.h"
#include "capture/pmu.h"
#include "capture/types.h"
#include "engine/engine_events.h"
#include "recorder/recorder_private.h"
#include "runtime/launch.h"
#include "system/denied.h"
#include "system/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MEMBERS_FREQUENCY_MAX 4000

/* What the steps of opening hand on. */
struct opening {
	struct capture_limits limits;
	struct attr_shape shape;
};

void recorder_note(const struct recorder *recorder, const char *format, ...)
{
	CLEANUP_BUF struct buf text = {0};
	va_list args;
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	if (recorder->options.note)
		recorder->options.note(recorder->options.context, text.data);
}

static int choose_events(struct recorder *recorder, struct opening *opening, struct err *err)
{
	const struct capture_limits *limits = &opening->limits;
	struct capture_events *events = recorder->options.events;
	struct system system = system_this();
	int result = capture_types_events(&recorder->options, limits, err);
	if (result)
		return result;
	for (size_t i = 0; i < events->count; i++) {
		struct capture_event *event = &events->items[i];
		/* These always happen in the kernel, or always outside of it. */
		bool fixed = event->attr.type == PERF_TYPE_TRACEPOINT || event->derive.rule == DERIVE_SWITCH ||
			     event->path;
		bool wants_kernel = !event->attr.exclude_kernel && !fixed;
		if (fixed && !recorder->options.kernel)
			event->attr.exclude_callchain_kernel = 1;
		if (wants_kernel && !limits->kernel_samples && event->modes_chosen)
			return denied_set(err, &system, event->name, false, EACCES);
		if (wants_kernel && !limits->kernel_samples && recorder->options.kernel)
			recorder->user_only = true;
		if (wants_kernel && !event->modes_chosen && (!limits->kernel_samples || !recorder->options.kernel))
			capture_event_user_only(event);
		recorder->kernel = recorder->kernel || !event->attr.exclude_kernel;
		/* A clock ticks for the idle task too, and nobody waits for that. */
		event->attr.exclude_idle = event->attr.type == PERF_TYPE_SOFTWARE;
	}
	return 0;
}

static int choose_found(struct recorder *recorder, struct err *err)
{
	const struct capture_options *options = &recorder->options;
	CLEANUP_BUF struct buf what = {0};
	struct find_filter filter = {.names = options->names, .user = options->user};
	for (size_t i = 0; options->names && options->names[i]; i++)
		buf_printf(&what, "%s%s", i ? " or " : "named ", options->names[i]);
	if (options->user)
		buf_printf(&what, "%sof user %u", options->names ? " " : "", (unsigned)*options->user);
	return target_add_found(&recorder->target, &filter, what.data, err);
}

/* Asks the kernel: whether it follows a cgroup, whose perf_event controller may be in another hierarchy, or anybody. */
static bool can_open(int32_t task, int32_t cpu, unsigned long flags)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, task, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int choose_cgroup(struct recorder *recorder, const struct capture_limits *limits, struct err *err)
{
	int folder = find_cgroup(recorder->options.cgroup, err);
	if (folder < 0)
		return folder;
	cgroup_use_open(&recorder->cgroup_use, folder);
	bool allowed = limits->whole_system;
	struct system system = system_this();
	bool by_kernel = allowed && can_open(folder, recorder->target.cpus[0], PERF_FLAG_PID_CGROUP);
	if (!by_kernel)
		recorder_note(recorder, "recording only processes that are in the cgroup now, and their children: %s",
			      allowed ? "the perf_event controller is in another hierarchy" : denied_step(&system));
	return target_set_cgroup(&recorder->target, folder, by_kernel, err);
}

static int choose_target(struct recorder *recorder, struct opening *opening, struct err *err)
{
	const struct capture_limits *limits = &opening->limits;
	const struct capture_options *options = &recorder->options;
	struct target *target = &recorder->target;
	struct system system = system_this();
	target->whole_system = options->whole_system;
	target->by_thread = !options->inherit; /* later threads of the same process are not wanted */
	if (options->whole_system && !limits->whole_system)
		return denied_set(err, &system, "the whole system", false, EACCES);
	int result = target_set_cpus(target, options->cpus, err);
	if (!result && options->cgroup)
		result = choose_cgroup(recorder, limits, err);
	if (!result && (options->names || options->user))
		result = choose_found(recorder, err);
	if (!result && options->processes)
		result = target_add_processes(target, options->processes, err);
	if (!result && options->processes && options->inherit)
		target_add_descendants(target);
	if (!result && options->threads)
		result = target_add_threads(target, options->threads, err);
	target->clock = options->command && (target_is_by_cpu(target) || target->tid_count);
	return result;
}

static int shape_events(struct recorder *recorder, struct opening *opening, struct err *err)
{
	const struct capture_limits *limits = &opening->limits;
	struct attr_shape *shape = &opening->shape;
	const struct capture_options *options = &recorder->options;
	recorder->on_exec = options->command && !recorder->target.clock && !options->delay;
	*shape = (struct attr_shape){
		.call_graph = options->call_graph,
		.stack_size = options->stack_size,
		.frequency = options->frequency,
		.period = options->period,
		.inherit = options->inherit && !target_is_by_cpu(&recorder->target),
		.enable_on_exec = recorder->on_exec,
		.switches = options->events->switches,
	};
	if (shape->frequency > limits->max_frequency && !shape->period) {
		recorder_note(recorder,
			      "%" PRIu64 " Hz instead of %" PRIu64
			      ": kernel.perf_event_max_sample_rate; as root: sysctl "
			      "kernel.perf_event_max_sample_rate=%" PRIu64,
			      limits->max_frequency, shape->frequency, shape->frequency);
		shape->frequency = limits->max_frequency;
	}
	if (shape->call_graph == CALL_GRAPH_LBR) {
		struct perf_event_attr attr = recorder->options.events->items[0].attr;
		attr_shape_event(&attr, shape, false);
		int error = -system_this().open_event(&attr);
		if (error)
			return err_set(err, ERR_UNSUPPORTED,
				       "--call-graph lbr: branch records are not supported on this machine for "
				       "%s: %s; use --call-graph dwarf",
				       recorder->options.events->items[0].name, strerror(error));
	}
	return 0;
}

/* --- which engine --- */

/* The BPF engine where it is wanted and possible; with ENGINE_AUTO the reason why not is only a note. */
static int choose_engine(struct recorder *recorder, struct opening *opening, struct err *err)
{
	const struct capture_options *options = &recorder->options;
	if (options->engine == ENGINE_RING ||
	    (options->engine == ENGINE_AUTO && options->call_graph != CALL_GRAPH_DWARF))
		return 0;
	CLEANUP_BUF struct buf reason = {0};
	struct system system = system_this();
	struct engine_facts facts = engine_facts_read(&system);
	struct engine_task task = {
		.call_graph = opening->shape.call_graph,
		.suitable = engine_events_mark(options->events),
		.max_depth = options->max_depth,
		.system_wide = target_is_by_cpu(&recorder->target),
		.waits = profile_types_needs(options->types) & TYPE_SWITCHES,
	};
	struct engine_options engine =
		engine_options_of(options, &recorder->target, &opening->shape, &facts, opening->limits.whole_system);
	struct err refusal = {0};
	if (engine_fits(&facts, &task, &reason)) {
		if (!engine_open(&recorder->engine, &engine, &refusal)) {
			if (engine_events_taken(options->events, &engine) && !engine_knows_page_size(&facts))
				recorder_note(recorder,
					      "before Linux 6.2, a huge page counts as a small one; --engine "
					      "ring records the size, but loses samples if there are many faults");
			return 0;
		}
		buf_str(&reason, err_text(&refusal));
	}
	engine_events_unmark(options->events);
	if (options->engine == ENGINE_BPF)
		return err_set(err, refusal.code ? refusal.code : ERR_UNSUPPORTED, "--engine bpf: %s", reason.data);
	CLEANUP_BUF struct buf text = {0};
	buf_printf(&text, "ring engine: %s", reason.data);
	if (facts.capable && !engine_memory_suffices(&facts))
		recorder_note(recorder, "%s", text.data);
	else if (options->detail)
		options->detail(options->context, text.data);
	return 0;
}

/*
 * The same in wick, by the forks and exits in the rings. Not where only some CPUs are recorded: a fork on another
 * one would be missed. And not at high frequencies, where the copies of strangers' stacks cost too much, and few
 * threads are shorter than a period.
 */
static bool choose_ring_members(const struct recorder *recorder, const struct capture_limits *limits)
{
	const struct capture_options *options = &recorder->options;
	const struct target *target = &recorder->target;
	return !recorder->engine && limits->whole_system && !target_is_by_cpu(target) && !options->cpus &&
	       options->period != 1 && (options->period || options->frequency <= MEMBERS_FREQUENCY_MAX) &&
	       can_open(-1, target->cpus[0], 0) && engine_events_rings_on_cpus(options->events);
}

pid_t recorder_command(const struct recorder *recorder)
{
	return recorder->target.command;
}

bool recorder_uses_engine(const struct recorder *recorder, struct engine_statistics *ret_statistics)
{
	if (recorder->engine && ret_statistics)
		*ret_statistics = engine_statistics(recorder->engine);
	return recorder->engine;
}

/* --- waiting --- */

static int watch(struct recorder *recorder, int fd, enum wake_up kind, struct err *err)
{
	bool once = kind == WAKE_PROCESS || kind == WAKE_COMMAND;
	struct epoll_event event = {.events = EPOLLIN | (once ? (unsigned)EPOLLONESHOT : 0), .data.u64 = kind};
	return epoll_ctl(recorder->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ?
		       err_set(err, ERR_SYSTEM, "cannot wait for events: %s", strerror(errno)) :
		       0;
}

static int watch_process(struct recorder *recorder, int32_t pid, enum wake_up kind, struct err *err)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0 && errno == ESRCH)
		return 0;
	if (fd < 0)
		return err_set(err, ERR_SYSTEM, "cannot watch a process (needs Linux 5.3): %s", strerror(errno));
	recorder->process_fds[recorder->process_count++] = fd;
	recorder->processes_left += kind == WAKE_PROCESS;
	return watch(recorder, fd, kind, err);
}

/* To see the end of the command, or of all processes that were named. */
static int watch_processes(struct recorder *recorder, struct err *err)
{
	const struct target *target = &recorder->target;
	size_t count = target_is_by_cpu(target) ? 0 : target->pid_count;
	int result = 0;
	recorder->process_fds = mem_zalloc(count + 1, sizeof *recorder->process_fds);
	if (target->command)
		result = watch_process(recorder, target->command, WAKE_COMMAND, err);
	for (size_t i = 0; i < count && !result; i++)
		if (!target_in_range(&target->descended_pids, i))
			result = watch_process(recorder, target->pids[i], WAKE_PROCESS, err);
	return result;
}

static int open_waiting(struct recorder *recorder, struct opening *opening, struct err *err)
{
	(void)opening;
	recorder->epoll = epoll_create1(EPOLL_CLOEXEC);
	recorder->signal_fd = signalfd(-1, &recorder->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->epoll < 0 || recorder->signal_fd < 0)
		return err_set(err, ERR_SYSTEM, "cannot wait for events: %s", strerror(errno));
	int result = watch(recorder, recorder->signal_fd, WAKE_SIGNAL, err);
	if (!result)
		result = watch_processes(recorder, err);
	for (size_t i = 0; i < recorder->merge.source_count && !result; i++) {
		const struct source *source = &recorder->merge.sources[i];
		if (source->ops->poll)
			result = source->ops->poll(source->context, recorder->epoll, WAKE_SOURCE, err);
	}
	return result;
}

/* Events of threads stay when a CPU goes offline; those of CPUs do not. */
static void watch_cpus(struct recorder *recorder)
{
	const struct capture_events *events = recorder->options.events;
	bool on_cpus = target_is_by_cpu(&recorder->target);
	for (size_t i = 0; i < events->count; i++)
		on_cpus = on_cpus || events->items[i].by_cpu || events->items[i].everywhere;
	if (on_cpus)
		hotplug_open(&recorder->hotplug, &recorder->target, recorder->options.cpus, clock_now());
}

/* --- opening, step by step --- */

static int check_machine(struct recorder *recorder, struct opening *opening, struct err *err)
{
	if (!ARCH_RECORDS)
		return err_set(err, ERR_UNSUPPORTED,
			       "recording is not implemented on %s yet; record with perf, wick reads its perf.data",
			       ARCH_NATIVE.name);
	opening->limits = capture_limits_read();
	recorder->privileged = opening->limits.privileged;
	return opening->limits.supported ? 0 :
					   err_set(err, ERR_SYSTEM,
						   "this kernel does not support perf events "
						   "(CONFIG_PERF_EVENTS)");
}

/* When it is known who takes which events. */
static int choose_rings(struct recorder *recorder, struct opening *opening, struct err *err)
{
	const struct capture_options *options = &recorder->options;
	(void)err;
	recorder->ring_options = (struct ring_source_options){
		.all_samples = !recorder->engine,
		.by_members = choose_ring_members(recorder, &opening->limits),
		.children = options->inherit,
		.complete = !recorder->engine && options->call_graph == CALL_GRAPH_DWARF,
		.python = options->python < INTERPRETED_NATIVE,
	};
	capture_types_note_missing(options);
	opening->shape.switches = options->events->switches;
	return 0;
}

static int start_command(struct recorder *recorder, struct opening *opening, struct err *err)
{
	const struct capture_options *options = &recorder->options;
	(void)opening;
	recorder->target.environment = options->environment;
	if (options->streams)
		memcpy(recorder->target.streams, options->streams, sizeof recorder->target.streams);
	return options->command ? target_start_command(&recorder->target, options->command, &recorder->old_mask, err) :
				  0;
}

/* Whether samples are of Python, whose frames are to be read as soon as one comes. */
static bool expects_python(const struct recorder *recorder)
{
	const struct ring_source_options *options = &recorder->ring_options;
	char *const *command = recorder->options.command;
	return options->complete && options->python &&
	       ((command && launch_find(command) & LAUNCH_PYTHON) || pythons_has_any(&recorder->target));
}

static int open_rings(struct recorder *recorder, struct opening *opening, struct err *err)
{
	recorder->ring_options.rings = (struct rings_options){
		.target = &recorder->target,
		.events = recorder->options.events,
		.shape = opening->shape,
		.derives = profile_types_needs(recorder->options.types) & TYPE_DERIVED,
		.wake_each = expects_python(recorder),
		.max_bytes = memory_limit_read("").left / 4,
	};
	int result = ring_source_open(&recorder->rings, &recorder->ring_options, err);
	struct system system = system_this();
	size_t denied = result ? 0 : rings_denied(recorder->rings.rings);
	if (!result && recorder->user_only)
		recorder_note(recorder, "recording user space only: kernel.perf_event_paranoid is %d; %s",
			      opening->limits.paranoid, denied_step(&system));
	if (denied)
		recorder_note(recorder, "permission denied for %zu %s of other users: %s", denied,
			      denied == 1 ? "thread" : "threads", denied_step(&system));
	return result;
}

static int open_engine(struct recorder *recorder, struct opening *opening, struct err *err)
{
	(void)opening;
	return engine_source_open(&recorder->engine_source,
				  &(struct engine_source_options){
					  .engine = recorder->engine,
					  .target = &recorder->target,
					  .events = recorder->options.events,
					  .some_cpus = recorder->options.cpus,
					  .build_ids = recorder->build_ids,
				  },
				  err);
}

/* The engine looks first: what its records need to be understood was then written to the rings before. */
static int join_sources(struct recorder *recorder, struct opening *opening, struct err *err)
{
	struct source rings = ring_source(&recorder->rings), engine = engine_source(&recorder->engine_source);
	(void)opening, (void)err;
	if (recorder->engine)
		merge_add_source(&recorder->merge, &engine);
	merge_add_source(&recorder->merge, &rings);
	watch_cpus(recorder);
	/* The kernel accounts the time on all CPUs, of all processes: some of the samples do not stand for it. */
	if (!recorder->options.cpus && !recorder->options.follow)
		cpu_time_open(&recorder->cpu_time, recorder->engine, &recorder->target, recorder->options.inherit,
			      recorder->on_exec);
	return 0;
}

static int start_asking(struct recorder *recorder, struct opening *opening, struct err *err)
{
	(void)opening, (void)err;
	if (recorder->options.perf_maps)
		perf_maps_open(&recorder->perf_maps, recorder->options.launched);
	return 0;
}

void recorder_keep_maps(struct recorder *recorder)
{
	recorder->perf_maps.kept = true;
}

static void block_signals(struct recorder *recorder)
{
	sigemptyset(&recorder->signals);
	sigaddset(&recorder->signals, SIGINT);
	sigaddset(&recorder->signals, SIGTERM);
	sigaddset(&recorder->signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &recorder->signals, &recorder->old_mask);
	recorder->blocked = true;
}

/* Records of switches have no cgroup: only the BPF programs know whose waits they are. */
static int check_follow(struct recorder *recorder, struct opening *opening, struct err *err)
{
	const struct capture_options *options = &recorder->options;
	unsigned needs = profile_types_needs(options->types);
	(void)opening;
	if (!options->follow || !(needs & (TYPE_SWITCHES | TYPE_RUN_TIME)) || options->events->waits_counted)
		return 0;
	return err_set(err, ERR_UNSUPPORTED, "--follow with off-CPU or wall-clock time needs the BPF engine");
}

int recorder_open(struct recorder **ret_recorder, const struct capture_options *options, struct err *err)
{
	static int (*const steps[])(struct recorder * recorder, struct opening * opening, struct err * err) = {
		check_machine, choose_target, choose_events, shape_events, choose_engine, check_follow, choose_rings,
		start_command, open_rings,    open_engine,   join_sources, open_waiting,  start_asking,
	};
	struct recorder *recorder = mem_zalloc(1, sizeof *recorder);
	struct opening opening = {0};
	recorder->options = *options;
	recorder->epoll = recorder->signal_fd = -1;
	target_init(&recorder->target);
	recorder->build_ids = build_ids_new();
	block_signals(recorder);
	int result = 0;
	for (size_t i = 0; i < sizeof steps / sizeof *steps && !result; i++)
		result = steps[i](recorder, &opening, err);
	if (result)
		recorder_close(recorder);
	else
		*ret_recorder = recorder;
	return result;
}

const struct event_source *recorder_sources(const struct recorder *recorder, size_t *ret_count)
{
	return rings_sources(recorder->rings.rings, ret_count);
}

void recorder_unblock_signals(struct recorder *recorder)
{
	if (recorder->blocked)
		pthread_sigmask(SIG_SETMASK, &recorder->old_mask, NULL);
	recorder->blocked = false;
}

void recorder_close(struct recorder *recorder)
{
	if (!recorder)
		return;
	cpu_time_close(&recorder->cpu_time);
	perf_maps_close(&recorder->perf_maps);
	hotplug_close(&recorder->hotplug);
	struct source sources[] = {engine_source(&recorder->engine_source), ring_source(&recorder->rings)};
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
		sources[i].ops->close(sources[i].context);
	merge_release(&recorder->merge);
	engine_close(recorder->engine);
	recover_release(&recorder->recover);
	derive_free(recorder->derive);
	free(recorder->derive_sources);
	for (size_t i = 0; i < recorder->process_count; i++)
		close(recorder->process_fds[i]);
	free(recorder->process_fds);
	if (recorder->epoll >= 0)
		close(recorder->epoll);
	if (recorder->signal_fd >= 0)
		close(recorder->signal_fd);
	target_release(&recorder->target);
	build_ids_free(recorder->build_ids);
	cgroups_free(recorder->cgroups);
	cgroup_names_free(recorder->cgroup_names);
	followed_free(recorder->followed);
	cgroup_use_close(&recorder->cgroup_use);
	recorder_unblock_signals(recorder);
	free(recorder);
}
