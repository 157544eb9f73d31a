#include "capture/record.h"

#include "base/buf.h"
#include "bpf/layout.h"
#include "capture/build_ids.h"
#include "capture/engine_events.h"
#include "capture/engine_tap.h"
#include "capture/existing.h"
#include "capture/limits.h"
#include "capture/pmu.h"
#include "capture/rings.h"
#include "event/tee.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUND_MS 100 /* between two looks at rings that did not fill up */
#define SECOND 1000000000ull
#define READER_PRIORITY (-10)

enum wake_up { WAKE_RING, WAKE_SIGNAL, WAKE_PROCESS, WAKE_ENGINE };

struct recorder {
	struct recorder_options options;
	struct target target;
	struct rings *rings;
	struct engine *engine; /* NULL: the rings bring the samples too */
	struct engine_tap tap;
	sigset_t signals, old_mask;
	bool blocked;
	int epoll, signal_fd;
	int *process_fds; /* become readable when the process ends */
	size_t process_count, processes_left;
	bool kernel; /* samples of the kernel are recorded */
	bool samples_on, paused;
	uint64_t started;
	struct recorder_progress progress;
	bool done;
	enum recorder_end end;
	bool asked_to_end; /* the command */
	bool privileged;
	int32_t stopped; /* a process that the kernel tells nothing of any more; 0: none */
	bool told_stopped;
	struct build_ids *build_ids;
	struct build_ids_filler filler, early_filler;
};

static uint64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static void note(const struct recorder *recorder, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(const struct recorder *recorder, const char *format, ...)
{
	CLEANUP_BUF struct buf text = {0};
	va_list args;
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	if (recorder->options.note)
		recorder->options.note(recorder->options.context, text.data);
}

/* --- opening --- */

static int choose_events(struct recorder *recorder, const struct capture_limits *limits, struct err *err)
{
	struct capture_events *events = recorder->options.events;
	struct record_types_options types = {
		.types = recorder->options.types,
		.weight = recorder->options.weight,
		.wakers = recorder->options.wakers,
		.note = recorder->options.note,
		.context = recorder->options.context,
	};
	int result = record_types_events(events, &types, limits, err);
	if (result)
		return result;
	bool told = false;
	for (size_t i = 0; i < events->count; i++) {
		struct capture_event *event = &events->items[i];
		/* These always happen in the kernel, or always outside of it. */
		bool fixed = event->attr.type == PERF_TYPE_TRACEPOINT || event->derive.rule == DERIVE_SWITCH ||
			     event->path;
		bool wants_kernel = !event->attr.exclude_kernel && !fixed;
		if (fixed && recorder->options.no_kernel)
			event->attr.exclude_callchain_kernel = 1;
		if (wants_kernel && !limits->kernel_samples && event->modes_chosen)
			return err_set(err, ERR_DENIED,
				       "%s: kernel samples need root, or as root: sysctl "
				       "kernel.perf_event_paranoid=1",
				       event->name);
		if (wants_kernel && !limits->kernel_samples && !recorder->options.no_kernel && !told) {
			note(recorder,
			     "user space only: kernel.perf_event_paranoid is %d; root, or sysctl "
			     "kernel.perf_event_paranoid=1, adds the kernel's part",
			     limits->paranoid);
			told = true;
		}
		if (wants_kernel && !event->modes_chosen && (!limits->kernel_samples || recorder->options.no_kernel))
			capture_event_user_only(event);
		recorder->kernel = recorder->kernel || !event->attr.exclude_kernel;
		/* A clock ticks for the idle task too, and nobody waits for that. */
		event->attr.exclude_idle = event->attr.type == PERF_TYPE_SOFTWARE;
	}
	return 0;
}

static int choose_found(struct recorder *recorder, struct err *err)
{
	const struct recorder_options *options = &recorder->options;
	CLEANUP_BUF struct buf what = {0};
	struct find_wish wish = {.names = options->names, .user = options->user};
	for (size_t i = 0; options->names && options->names[i]; i++)
		buf_printf(&what, "%s%s", i ? " or " : "called ", options->names[i]);
	if (options->user)
		buf_printf(&what, "%sof user %u", options->names ? " " : "", (unsigned)*options->user);
	return target_add_found(&recorder->target, &wish, what.data, err);
}

/* Asks the kernel whether it can follow a cgroup: another hierarchy may have its perf_event controller. */
static bool can_follow_cgroup(int folder, int32_t cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, folder, cpu, -1, PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int choose_cgroup(struct recorder *recorder, const struct capture_limits *limits, struct err *err)
{
	int folder = find_cgroup(recorder->options.cgroup, err);
	if (folder < 0)
		return folder;
	bool allowed = limits->whole_system;
	bool by_kernel = allowed && can_follow_cgroup(folder, recorder->target.cpus[0]);
	if (!by_kernel)
		note(recorder, "recording the processes that are in the cgroup now and their children: %s",
		     allowed ? "the kernel has the perf_event controller in another hierarchy" :
			       "to follow who joins it needs root, or as root: sysctl kernel.perf_event_paranoid=0");
	return target_set_cgroup(&recorder->target, folder, by_kernel, err);
}

static int choose_target(struct recorder *recorder, const struct capture_limits *limits, struct err *err)
{
	const struct recorder_options *options = &recorder->options;
	struct target *target = &recorder->target;
	target->whole_system = options->whole_system;
	if (options->whole_system && !limits->whole_system)
		return err_set(err, ERR_DENIED,
			       "may not record the whole system with kernel.perf_event_paranoid %d: be root, "
			       "or as root: sysctl kernel.perf_event_paranoid=0",
			       limits->paranoid);
	int result = target_set_cpus(target, options->cpus, err);
	if (!result && options->cgroup)
		result = choose_cgroup(recorder, limits, err);
	if (!result && (options->names || options->user))
		result = choose_found(recorder, err);
	if (!result && options->processes)
		result = target_add_processes(target, options->processes, err);
	if (!result && options->threads)
		result = target_add_threads(target, options->threads, err);
	return result;
}

static int shape_events(struct recorder *recorder, const struct capture_limits *limits, struct attr_shape *shape,
			struct err *err)
{
	const struct recorder_options *options = &recorder->options;
	*shape = (struct attr_shape){
		.call_graph = options->call_graph,
		.stack_size = options->stack_size,
		.frequency = options->frequency,
		.period = options->period,
		.inherit = options->inherit && !target_is_by_cpu(&recorder->target),
		.enable_on_exec = options->command && !options->whole_system && !options->delay,
		.switches = options->events->switches,
	};
	if (shape->call_graph == CALL_GRAPH_DWARF && !attr_can_unwind()) {
		note(recorder,
		     "stacks are followed by frame pointers: wick has no unwind tables for this processor yet");
		shape->call_graph = CALL_GRAPH_FP;
	}
	if (shape->frequency > limits->most_frequency && !shape->period) {
		note(recorder,
		     "%" PRIu64 " Hz instead of %" PRIu64 ": kernel.perf_event_max_sample_rate; as root: sysctl "
		     "kernel.perf_event_max_sample_rate=%" PRIu64,
		     limits->most_frequency, shape->frequency, shape->frequency);
		shape->frequency = limits->most_frequency;
	}
	if (shape->call_graph == CALL_GRAPH_LBR) {
		struct perf_event_attr attr = recorder->options.events->items[0].attr;
		attr_shape_event(&attr, shape, false);
		int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0)
			return err_set(err, ERR_UNSUPPORTED,
				       "--call-graph lbr: the processor (or this virtual machine) records no "
				       "branches for %s: %s; --call-graph dwarf works everywhere",
				       recorder->options.events->items[0].name, strerror(errno));
		close(fd);
	}
	return 0;
}

/* --- which engine --- */

/* The BPF engine where it is wanted and possible; with ENGINE_AUTO the reason why not is only a note. */
static int choose_engine(struct recorder *recorder, const struct attr_shape *shape, struct err *err)
{
	const struct recorder_options *options = &recorder->options;
	if (options->engine == ENGINE_RING ||
	    (options->engine == ENGINE_AUTO && options->call_graph != CALL_GRAPH_DWARF))
		return 0;
	CLEANUP_BUF struct buf reason = {0};
	struct check_system system = check_this_system();
	struct engine_facts facts = engine_facts_read(&system);
	struct engine_task task = {shape->call_graph, engine_events_mark(options->events), options->max_depth};
	struct engine_options engine = {
		.sources = options->events->count,
		.max_depth = options->max_depth ? options->max_depth : LAYOUT_FRAMES_MOST,
		.copy_bytes = LAYOUT_COPY_MOST, /* few stacks are copied, so that there is room for all of them */
		.timeline = options->timeline,
		.many_processes = target_is_by_cpu(&recorder->target),
	};
	struct err refusal = {0};
	engine_events_describe(options->events, &engine);
	if (engine_fits(&facts, &task, &reason)) {
		if (!engine_open(&recorder->engine, &engine, &refusal)) {
			if (engine_events_taken(options->events))
				note(recorder,
				     "a huge page counts as a small one; --engine ring tells sizes, but loses "
				     "faults when there are many");
			return 0;
		}
		buf_str(&reason, err_text(&refusal));
	}
	engine_events_unmark(options->events);
	if (options->engine == ENGINE_BPF)
		return err_set(err, refusal.code ? refusal.code : ERR_UNSUPPORTED, "--engine bpf: %s", reason.data);
	note(recorder, "ring engine: %s", reason.data);
	return 0;
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
	struct epoll_event event = {.events = EPOLLIN | (kind == WAKE_PROCESS ? (unsigned)EPOLLONESHOT : 0),
				    .data.u64 = kind};
	return epoll_ctl(recorder->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ?
		       err_set(err, ERR_SYSTEM, "cannot wait for events: %s", strerror(errno)) :
		       0;
}

/* To see the end of the command, or of all processes that were named. */
static int watch_processes(struct recorder *recorder, struct err *err)
{
	const struct target *target = &recorder->target;
	size_t count = target->command ? 1 : target_is_by_cpu(target) ? 0 : target->pid_count;
	recorder->process_fds = mem_zalloc(count + 1, sizeof *recorder->process_fds);
	for (size_t i = 0; i < count; i++) {
		int fd = (int)syscall(SYS_pidfd_open, target->command ? target->command : target->pids[i], 0);
		if (fd < 0 && errno == ESRCH)
			continue;
		if (fd < 0)
			return err_set(err, ERR_SYSTEM, "cannot watch a process (Linux 5.3 can): %s", strerror(errno));
		recorder->process_fds[recorder->process_count++] = fd;
		recorder->processes_left++;
		int result = watch(recorder, fd, WAKE_PROCESS, err);
		if (result)
			return result;
	}
	return 0;
}

static int open_waiting(struct recorder *recorder, struct err *err)
{
	recorder->epoll = epoll_create1(EPOLL_CLOEXEC);
	recorder->signal_fd = signalfd(-1, &recorder->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->epoll < 0 || recorder->signal_fd < 0)
		return err_set(err, ERR_SYSTEM, "cannot wait for events: %s", strerror(errno));
	int result = watch(recorder, recorder->signal_fd, WAKE_SIGNAL, err);
	if (!result)
		result = watch_processes(recorder, err);
	if (!result && recorder->engine)
		result = watch(recorder, engine_fd(recorder->engine), WAKE_ENGINE, err);
	return result ? result : rings_poll(recorder->rings, recorder->epoll, WAKE_RING, err);
}

int recorder_open(struct recorder **ret_recorder, const struct recorder_options *options, struct err *err)
{
	struct recorder *recorder = mem_zalloc(1, sizeof *recorder);
	struct capture_limits limits = capture_limits_read();
	recorder->options = *options;
	recorder->privileged = limits.privileged;
	recorder->epoll = recorder->signal_fd = -1;
	target_init(&recorder->target);
	recorder->build_ids = build_ids_new();
	sigemptyset(&recorder->signals);
	sigaddset(&recorder->signals, SIGINT);
	sigaddset(&recorder->signals, SIGTERM);
	sigaddset(&recorder->signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &recorder->signals, &recorder->old_mask);
	recorder->blocked = true;
	struct rings_options rings = {
		.target = &recorder->target,
		.events = options->events,
		.derives = options->types & ~(unsigned)RECORD_CPU,
	};
	int result = limits.supported ? 0 :
					err_set(err, ERR_SYSTEM, "this kernel has no perf events (CONFIG_PERF_EVENTS)");
	if (!result)
		result = choose_target(recorder, &limits, err);
	if (!result)
		result = choose_events(recorder, &limits, err);
	if (!result)
		result = shape_events(recorder, &limits, &rings.shape, err);
	if (options->streams)
		memcpy(recorder->target.streams, options->streams, sizeof recorder->target.streams);
	if (!result)
		result = choose_engine(recorder, &rings.shape, err);
	if (!result && options->command)
		result = target_start_command(&recorder->target, options->command, &recorder->old_mask, err);
	if (!result)
		result = rings_open(&recorder->rings, &rings, err);
	if (!result && rings_denied(recorder->rings))
		note(recorder, "%zu %s left out: another user's or protected; root may record them",
		     rings_denied(recorder->rings), rings_denied(recorder->rings) == 1 ? "thread is" : "threads are");
	if (!result && recorder->engine)
		result = engine_tap_open(&recorder->tap, recorder->engine, &recorder->target, options->events,
					 options->cpus, err);
	if (!result && recorder->engine)
		rings_invite(recorder->rings, &recorder->tap.guest);
	if (!result)
		result = open_waiting(recorder, err);
	if (result)
		recorder_close(recorder);
	else
		*ret_recorder = recorder;
	return result;
}

const struct event_source *recorder_sources(const struct recorder *recorder, size_t *ret_count)
{
	return rings_sources(recorder->rings, ret_count);
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
	engine_tap_release(&recorder->tap);
	rings_close(recorder->rings);
	engine_close(recorder->engine);
	for (size_t i = 0; i < recorder->process_count; i++)
		close(recorder->process_fds[i]);
	free(recorder->process_fds);
	if (recorder->epoll >= 0)
		close(recorder->epoll);
	if (recorder->signal_fd >= 0)
		close(recorder->signal_fd);
	target_release(&recorder->target);
	build_ids_free(recorder->build_ids);
	recorder_unblock_signals(recorder);
	free(recorder);
}

/* --- recording --- */

static int count_sample(void *context, const struct event_sample *sample)
{
	((struct recorder *)context)->progress.samples += sample->count ? sample->count : 1;
	return 0;
}

static int count_lost(void *context, const struct event_lost *lost)
{
	((struct recorder *)context)->progress.lost += lost->count;
	return 0;
}

/* Ends, or becomes another user's by executing a setuid program: then it is not ours to record any more. */
static int take_exit(void *context, const struct event_task *task)
{
	struct recorder *recorder = context;
	if (task->pid == task->tid && !recorder->told_stopped)
		recorder->stopped = task->pid;
	return 0;
}

/* What took the events away is known a moment later. */
static void tell_stopped(struct recorder *recorder)
{
	char path[64];
	struct stat status;
	if (!recorder->stopped || recorder->privileged)
		return;
	snprintf(path, sizeof path, "/proc/%d", (int)recorder->stopped);
	if (stat(path, &status) == 0 && status.st_uid != geteuid()) {
		note(recorder,
		     "process %d executes a setuid program: the kernel lets only root record what it does from here on",
		     (int)recorder->stopped);
		recorder->told_stopped = true;
	}
	recorder->stopped = 0;
}

static int tell_existing(const struct recorder *recorder, const struct event_sink *sink)
{
	const struct target *target = &recorder->target;
	int result = recorder->kernel ? existing_kernel(sink) : 0;
	if (result >= 0 && target_is_by_cpu(target)) /* anybody may join a cgroup later */
		result = existing_all_processes(sink);
	else if (result >= 0)
		result = existing_processes(sink, target->pids, target->pid_count);
	return result;
}

static void stop(struct recorder *recorder, enum recorder_end end)
{
	if (!recorder->done)
		recorder->end = end;
	recorder->done = true;
}

static void take_signal(struct recorder *recorder)
{
	struct signalfd_siginfo info;
	while (read(recorder->signal_fd, &info, sizeof info) == sizeof info) {
		/* One typed at the terminal went to the command too. */
		if (recorder->target.command && info.ssi_code != SI_KERNEL)
			kill(recorder->target.command, (int)info.ssi_signo);
		stop(recorder, RECORDER_INTERRUPTED);
	}
}

/* Milliseconds until something must be done without being woken up. */
static int patience(const struct recorder *recorder, uint64_t time)
{
	uint64_t until = time + ROUND_MS * (SECOND / 1000);
	const struct recorder_options *options = &recorder->options;
	if (!recorder->samples_on && recorder->started + options->delay < until)
		until = recorder->started + options->delay;
	if (options->duration && recorder->started + options->delay + options->duration < until)
		until = recorder->started + options->delay + options->duration;
	return until <= time ? 0 : (int)((until - time + 999999) / 1000000);
}

static void keep_time(struct recorder *recorder)
{
	uint64_t passed = now() - recorder->started, delay = recorder->options.delay;
	if (!recorder->samples_on && passed >= delay) {
		rings_enable_samples(recorder->rings);
		engine_tap_enable(&recorder->tap);
		recorder->samples_on = true;
		if (recorder->options.begun)
			recorder->options.begun(recorder->options.context, now());
	}
	recorder->progress.elapsed = passed > delay ? passed - delay : 0;
	if (recorder->options.duration && recorder->progress.elapsed >= recorder->options.duration)
		stop(recorder, RECORDER_TIME_OVER);
}

static void obey(struct recorder *recorder)
{
	const struct recorder_control *control = recorder->options.control;
	if (!control)
		return;
	if (atomic_load(&control->stop))
		stop(recorder, RECORDER_INTERRUPTED);
	bool pause = atomic_load(&control->pause);
	if (pause == recorder->paused || !recorder->samples_on)
		return;
	if (pause) {
		rings_disable_samples(recorder->rings);
		engine_tap_disable(&recorder->tap);
	} else {
		rings_enable_samples(recorder->rings);
		engine_tap_enable(&recorder->tap);
	}
	recorder->paused = pause;
}

static int wait_and_drain(struct recorder *recorder, const struct event_sink *sink)
{
	struct epoll_event events[16];
	int count = epoll_wait(recorder->epoll, events, 16, patience(recorder, now()));
	for (int i = 0; i < count; i++) {
		if (events[i].data.u64 == WAKE_SIGNAL)
			take_signal(recorder);
		else if (events[i].data.u64 == WAKE_PROCESS && --recorder->processes_left == 0)
			stop(recorder, RECORDER_TARGET_ENDED);
	}
	keep_time(recorder);
	obey(recorder);
	tell_stopped(recorder);
	int result = rings_drain(recorder->rings, sink, false);
	if (result >= 0 && recorder->engine)
		result = engine_tap_count(&recorder->tap, false);
	if (recorder->options.progress)
		recorder->options.progress(recorder->options.context, &recorder->progress);
	return result;
}

static int begin(struct recorder *recorder, const struct event_sink *sink, struct recorder_result *result,
		 struct err *err)
{
	const struct recorder_options *options = &recorder->options;
	bool on_exec = options->command && !options->whole_system && !options->delay;
	struct event_tee tee = {.first = recorder->tap.guest.early, .second = *sink};
	if (!on_exec)
		rings_enable_tracking(recorder->rings);
	struct event_sink early = event_tee_sink(&tee);
	int code = tell_existing(recorder, recorder->engine ? &early : sink);
	if (on_exec)
		rings_enable_everywhere(recorder->rings);
	recorder->samples_on = on_exec;
	recorder->started = now();
	if (code >= 0)
		keep_time(recorder);
	if (code >= 0 && recorder->target.command)
		code = target_let_go(&recorder->target, options->command[0], &result->exec_error, err);
	return code;
}

/* A command that outlives the recording. It stays a zombie until recorder_wait(): its number is not another's yet. */
static void ask_to_end(struct recorder *recorder)
{
	siginfo_t info = {0};
	pid_t command = recorder->target.command;
	if (!command || recorder->end == RECORDER_TARGET_ENDED)
		return;
	if (waitid(P_PID, (id_t)command, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == command)
		return;
	recorder->asked_to_end = kill(command, SIGTERM) == 0;
}

/* What is still under way when the samples have ended. */
static int finish(struct recorder *recorder, const struct event_sink *ordered, const struct event_sink *sink)
{
	int code = rings_drain(recorder->rings, ordered, true);
	if (code >= 0 && recorder->engine)
		code = engine_tap_count(&recorder->tap, true);
	struct event_lost untold = {
		.count = rings_untold_losses(recorder->rings, recorder->progress.lost),
		.source = UINT32_MAX,
	};
	if (code >= 0 && untold.count && sink->lost)
		code = sink->lost(sink->context, &untold);
	return code;
}

int recorder_run(struct recorder *recorder, const struct event_sink *sink, struct codes *codes,
		 struct recorder_result *ret_result, struct err *err)
{
	struct event_tee tee = {
		.first = {.context = recorder, .sample = count_sample, .lost = count_lost, .exit = take_exit},
		.second = build_ids_sink(&recorder->filler, recorder->build_ids, sink),
	};
	struct event_sink both = event_tee_sink(&tee), ordered = both;
	struct recorder_result result = {0};
	/* Where many threads compete for the CPUs, rings would overflow before wick gets its turn. Only root may. */
	(void)!setpriority(PRIO_PROCESS, 0, READER_PRIORITY);
	recorder->progress.duration = recorder->options.duration;
	if (recorder->engine) {
		struct event_sink *early = &recorder->tap.guest.early;
		*early = build_ids_sink(&recorder->early_filler, recorder->build_ids, early);
		ordered = engine_tap_sink(&recorder->tap, &both);
		engine_start(recorder->engine, codes);
	}
	int code = begin(recorder, &both, &result, err);
	while (code >= 0 && !recorder->done)
		code = wait_and_drain(recorder, &ordered);
	result.ended = now();
	rings_disable(recorder->rings);
	engine_tap_disable(&recorder->tap);
	if (code >= 0)
		code = finish(recorder, &ordered, &both);
	if (recorder->engine)
		engine_stop(recorder->engine);
	ask_to_end(recorder);
	result.last = recorder->progress;
	result.end = recorder->end;
	*ret_result = result;
	return code < 0 ? code : 0;
}

int recorder_wait(struct recorder *recorder)
{
	int status = 0;
	if (!recorder->target.command || recorder->target.start_fd >= 0)
		return 0; /* it was never let go, and recorder_close() ends it */
	while (waitpid(recorder->target.command, &status, 0) < 0 && errno == EINTR)
		;
	recorder->target.command = 0;
	if (recorder->asked_to_end && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM)
		return 0; /* it did as it was told */
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
