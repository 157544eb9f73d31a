/* The recording itself: from the first sample to the end. recorder_open.c is what comes before and after. */
#include "base/buf.h"
#include "base/clock.h"
#include "capture/existing.h"
#include "capture/types.h"
#include "event/source_facts.h"
#include "recorder/recorder_private.h"
#include "recorder/sleepers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUND_MS 100 /* between two looks at rings that did not fill up */
#define LONG_ROUND_MS 250 /* of a whole system, where processes come and go all the time and map the same files */
#define MAP_WAIT_MS 2000 /* for the end of a JVM */
#define MAP_STEP_MS 10
#define MILLISECOND 1000000ull
#define UNCHECKED_MAX 256 /* samples until the memory in use is looked at */
#define READER_PRIORITY (-10)

static int count_sample(struct recorder *recorder, const struct event_sample *sample)
{
	recorder->progress.samples += sample->count ? sample->count : 1;
	const char *path = sample->cgroup ? cgroups_news(recorder->cgroups, sample->cgroup) : NULL;
	if (!path)
		return 0;
	/* Without a time: it counts for all samples, also those that are spread over the time before this one. */
	struct event_cgroup cgroup = {.id = sample->cgroup, .path = path};
	struct event_cgroup names = {.id = sample->cgroup, .names = cgroup_names_find(recorder->cgroup_names, path)};
	int result = sink_cgroup(&recorder->filling, &cgroup);
	return result < 0 || !names.names ? result : sink_cgroup(&recorder->filling, &names);
}

static int count_lost(struct recorder *recorder, const struct event_lost *lost)
{
	if (lost->kind == LOST_OTHERS)
		recorder->progress.lost_records += lost->count;
	else
		recorder->progress.lost += lost->count;
	return 0;
}

/* Ends, or becomes another user's by executing a setuid program: then it is not ours to record any more. */
static int take_exit(struct recorder *recorder, const struct event_task *task)
{
	recorder->ended_threads++;
	if (task->pid == task->tid && !recorder->reported_stopped)
		recorder->stopped = task->pid;
	return 0;
}

/* Keeps the figures of the progress. */
static int count(struct recorder *recorder, const struct event *event)
{
	switch (event->type) {
	case EVENT_SAMPLE:
		return count_sample(recorder, event->sample);
	case EVENT_LOST:
		return count_lost(recorder, event->lost);
	case EVENT_EXIT:
		return take_exit(recorder, event->task);
	default:
		return 0;
	}
}

static void stop(struct recorder *recorder, enum recorder_end end)
{
	if (!recorder->done)
		recorder->end = end;
	recorder->done = true;
}

/*
 * A full ring can hold more than there is memory for. The rest of its samples is dropped, so that there is enough for
 * the files.
 */
static bool drops(struct recorder *recorder, const struct event_sample *sample)
{
	if (++recorder->unchecked >= UNCHECKED_MAX) {
		recorder->unchecked = 0;
		if (mem_is_short())
			stop(recorder, RECORDER_MEMORY_SHORT);
	}
	if (recorder->end != RECORDER_MEMORY_SHORT)
		return false;
	recorder->dropped += sample->count ? sample->count : 1;
	return true;
}

static int take(void *context, const struct event *event)
{
	struct recorder *recorder = context;
	if (recorder->followed && event->type == EVENT_SAMPLE &&
	    !followed_wants(recorder->followed, recorder->cgroups, event->sample->cgroup))
		return 0;
	if (event->type == EVENT_SAMPLE && drops(recorder, event->sample))
		return 0;
	int result = count(recorder, event);
	perf_maps_take(&recorder->perf_maps, event);
	return result < 0 ? result : sink_take(&recorder->filling, event);
}

/* What took the events away is known a moment later. */
static void report_stopped(struct recorder *recorder)
{
	char path[64];
	struct stat status;
	if (!recorder->stopped || recorder->privileged)
		return;
	snprintf(path, sizeof path, "/proc/%d", (int)recorder->stopped);
	if (stat(path, &status) == 0 && status.st_uid != geteuid()) {
		recorder_note(recorder,
			      "process %d executes a setuid program, which only root can record; run with sudo",
			      (int)recorder->stopped);
		recorder->reported_stopped = true;
	}
	recorder->stopped = 0;
}

static int emit_existing(const struct recorder *recorder, const struct event_sink *sink)
{
	const struct target *target = &recorder->target;
	int result = recorder->kernel ? existing_kernel(sink) : 0;
	if (result >= 0 && target_is_by_cpu(target)) /* anybody may join a cgroup later */
		result = existing_all_processes(sink);
	else if (result >= 0)
		result = existing_processes(sink, target->pids, target->pid_count);
	return result;
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

static uint64_t round_of(const struct recorder *recorder)
{
	return target_is_by_cpu(&recorder->target) ? LONG_ROUND_MS : ROUND_MS;
}

/* Milliseconds until something must be done without being woken up. */
static int timeout_ms(const struct recorder *recorder, uint64_t time)
{
	unsigned hurry = ring_source_hurry(&recorder->rings, time);
	uint64_t until = time + (hurry ? hurry : round_of(recorder)) * MILLISECOND;
	const struct capture_options *options = &recorder->options;
	if (!recorder->samples_on && recorder->started + options->delay < until)
		until = recorder->started + options->delay;
	if (options->duration && recorder->started + options->delay + options->duration < until)
		until = recorder->started + options->delay + options->duration;
	return until <= time ? 0 : (int)((until - time + 999999) / 1000000);
}

/* Whether the samples stand for CPU time. */
static bool samples_clock(const struct recorder *recorder)
{
	const struct capture_events *events = recorder->options.events;
	return events->count == 1 && attr_is_clock(&events->items->attr);
}

/* The CPU time of the target as a counter of the clock that is sampled, if one is. */
static int emit_cpu_time(const struct recorder *recorder, uint64_t time, uint64_t value)
{
	const struct target *target = &recorder->target;
	int32_t pid = target->command && !target->clock ? (int32_t)target->command :
		      target->pid_count                 ? target->pids[0] :
							  -1;
	struct event_count count = {.pid = pid, .tid = pid, .time = time, .value = value};
	if (!samples_clock(recorder) || !cpu_time_is_known(&recorder->cpu_time))
		return 0;
	return sink_count(&recorder->filling, &count);
}

/* What its limit did to the cgroup that is recorded. */
static int emit_cgroup_use(const struct recorder *recorder)
{
	CLEANUP_BUF struct buf text = {0};
	cgroup_use_end(&recorder->cgroup_use, samples_clock(recorder) && !recorder->options.cpus, &text);
	struct event_cgroup cgroup = {.id = recorder->cgroup_use.id, .names = text.data};
	return text.size ? sink_cgroup(&recorder->filling, &cgroup) : 0;
}

static void enable(struct recorder *recorder, enum source_state state, uint64_t time)
{
	for (size_t i = 0; i < recorder->merge.source_count; i++) {
		const struct source *source = &recorder->merge.sources[i];
		if (source->ops->enable)
			source->ops->enable(source->context, state, time);
	}
}

static size_t read_interpreted(void *context, int32_t pid, int32_t tid, uint64_t *words, size_t max)
{
	struct recorder *recorder = context;
	return recorder->engine ? engine_interpreted(recorder->engine, pid, tid, words, max) :
				  ring_source_interpreted(&recorder->rings, pid, tid, words, max);
}

static void begin_samples(struct recorder *recorder)
{
	const struct target *target = &recorder->target;
	bool all = target_is_by_cpu(target);
	struct sleepers *sleepers =
		recorder_lists_sleepers(recorder) ? sleepers_note(all ? NULL : target->pids, target->pid_count) : NULL;
	struct event_sink existing = event_tee_sink(&recorder->existing);
	enable(recorder, SOURCE_SAMPLING, clock_now());
	cpu_time_run(&recorder->cpu_time, true);
	cgroup_use_begin(&recorder->cgroup_use);
	emit_cpu_time(recorder, clock_now(), 0);
	recorder->samples_on = true;
	if (recorder->derive)
		derive_begin(recorder->derive, clock_now());
	if (sleepers && recorder->engine)
		engine_registers(recorder->engine, sleepers_registers, sleepers);
	if (sleepers)
		sleepers_set_interpreter(sleepers, read_interpreted, recorder);
	if (sleepers)
		sleepers_emit(sleepers, recorder->options.stack_size ? recorder->options.stack_size : STACK_SIZE_MAX,
			      recorder->kernel && recorder->options.kernel, recorder->cgroups, &existing);
	sleepers_free(sleepers);
}

static void keep_time(struct recorder *recorder)
{
	uint64_t passed = clock_now() - recorder->started, delay = recorder->options.delay;
	if (!recorder->samples_on && passed >= delay)
		begin_samples(recorder);
	recorder->progress.elapsed = passed > delay ? passed - delay : 0;
	if (recorder->options.duration && recorder->progress.elapsed >= recorder->options.duration)
		stop(recorder, RECORDER_TIME_OVER);
}

static void apply_control(struct recorder *recorder)
{
	const struct recorder_control *control = recorder->options.control;
	if (!control)
		return;
	if (atomic_load(&control->stop))
		stop(recorder, RECORDER_INTERRUPTED);
	bool pause = atomic_load(&control->pause);
	if (pause == recorder->paused || !recorder->samples_on)
		return;
	enable(recorder, pause ? SOURCE_PAUSED : SOURCE_SAMPLING, clock_now());
	cpu_time_run(&recorder->cpu_time, !pause);
	recorder->paused = pause;
}

/* The last source first: mappings and tasks of a CPU before its samples. */
static bool reopen_cpu(void *context, int32_t cpu)
{
	struct recorder *recorder = context;
	bool samples = recorder->samples_on && !recorder->paused;
	struct err err = {0};
	int result = 0;
	for (size_t i = recorder->merge.source_count; i-- > 0 && !result;) {
		const struct source *source = &recorder->merge.sources[i];
		if (source->ops->reopen)
			result = source->ops->reopen(source->context, cpu, samples, &err);
	}
	return !result;
}

static int drain(struct recorder *recorder, bool last)
{
	int result = merge_round(&recorder->merge, &recorder->front, last);
	if (result >= 0)
		result = recover_round(&recorder->recover, recorder->merge.rounds, last);
	return result < 0 ? result : merge_flush(&recorder->merge, &recorder->front, last);
}

static int wait_and_drain(struct recorder *recorder)
{
	struct epoll_event events[16];
	int count = epoll_wait(recorder->epoll, events, 16, timeout_ms(recorder, clock_now()));
	for (int i = 0; i < count; i++) {
		if (events[i].data.u64 == WAKE_SIGNAL)
			take_signal(recorder);
		else if (events[i].data.u64 == WAKE_COMMAND ||
			 (events[i].data.u64 == WAKE_PROCESS && --recorder->processes_left == 0))
			stop(recorder, RECORDER_TARGET_ENDED);
	}
	keep_time(recorder);
	apply_control(recorder);
	report_stopped(recorder);
	hotplug_check(&recorder->hotplug, clock_now(), reopen_cpu, recorder);
	if (recorder->followed)
		followed_look(recorder->followed);
	if (recorder->done)
		return 0; /* finish() does the rest */
	uint64_t drained = clock_now();
	int result = drain(recorder, false);
	recorder->progress.until = recorder->merge.until;
	bool often = recorder->ring_options.rings.wake_each || ring_source_hurry(&recorder->rings, drained);
	if (often && drained - recorder->rounded < ROUND_MS * MILLISECOND)
		return result;
	recorder->rounded = drained;
	perf_maps_round(&recorder->perf_maps, drained);
	if (mem_is_short())
		stop(recorder, RECORDER_MEMORY_SHORT);
	if (recorder->options.progress)
		recorder->options.progress(recorder->options.context, &recorder->progress);
	return result;
}

static int begin(struct recorder *recorder, struct recorder_result *result, struct err *err)
{
	bool on_exec = recorder->on_exec;
	struct event_sink existing = event_tee_sink(&recorder->existing);
	if (!on_exec)
		enable(recorder, SOURCE_TRACKING, clock_now());
	int code = emit_existing(recorder, &existing);
	if (on_exec)
		enable(recorder, SOURCE_ON_EXEC, clock_now());
	recorder->samples_on = on_exec;
	recorder->started = clock_now();
	if (on_exec)
		emit_cpu_time(recorder, recorder->started, 0);
	if (code >= 0)
		keep_time(recorder);
	if (code >= 0 && recorder->target.command)
		code = target_let_go(&recorder->target, recorder->options.command[0], &result->exec_error, err);
	return code;
}

/*
 * Counters miss what a process does before it is first scheduled and after they were taken from it at its exit, which
 * is a tenth of the time of a process of 3 ms. The BPF engine does not use them. What a command that has ended used,
 * with the children it waited for, the kernel knows exactly. It does not know the other children, which the counters
 * do.
 */
static uint64_t time_of_command(const struct recorder *recorder)
{
	siginfo_t info = {0};
	struct rusage usage;
	pid_t command = recorder->target.clock ? 0 : recorder->target.command;
	if (!command || recorder->options.delay || !recorder->options.inherit ||
	    syscall(SYS_waitid, P_PID, command, &info, WEXITED | WNOHANG | WNOWAIT, &usage) || info.si_pid != command)
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * CLOCK_SECOND +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static uint64_t cpu_time_of_target(const struct recorder *recorder)
{
	uint64_t counted, of_command;
	if (!cpu_time_read(&recorder->cpu_time, &counted))
		return RECORDER_TIME_UNKNOWN;
	of_command = time_of_command(recorder);
	return of_command > counted ? of_command : counted;
}

/* A command that outlives the recording. It stays a zombie until recorder_wait(): its number is not another's yet. */
static void ask_to_end(struct recorder *recorder)
{
	siginfo_t info = {0};
	pid_t command = recorder->target.command;
	if (!command || recorder->end == RECORDER_MEMORY_SHORT)
		return;
	if (waitid(P_PID, (id_t)command, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == command)
		return;
	recorder->asked_to_end = kill(command, SIGTERM) == 0;
}

/* A JVM writes its perf map again when it ends, if it was started so. Meanwhile the file is incomplete. */
static void await_map(const struct recorder *recorder)
{
	if (!recorder->perf_maps.count || !recorder->target.command || !recorder->options.launched)
		return;
	for (int i = 0; i < MAP_WAIT_MS / MAP_STEP_MS; i++) {
		siginfo_t info = {0};
		if (waitid(P_PID, (id_t)recorder->target.command, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			return;
		usleep(MAP_STEP_MS * 1000);
	}
}

/* Waits that began before the recording are reported, so their stacks are of interest. */
bool recorder_lists_sleepers(const struct recorder *recorder)
{
	const struct capture_options *options = &recorder->options;
	return profile_types_needs(options->types) & TYPE_SWITCHES && !options->command &&
	       capture_types_count_unseen(options);
}

/* What is still under way when the samples have ended. */
static int finish(struct recorder *recorder, uint64_t ended)
{
	int code = drain(recorder, true);
	if (code >= 0 && recorder->derive)
		code = derive_finish(recorder->derive, ended);
	struct event_lost lost = {
		.kind = LOST_SAMPLES, .time = ended, .count = recorder->dropped, .source = UINT32_MAX};
	return code >= 0 && lost.count ? take(recorder, &(struct event){EVENT_LOST, .lost = &lost}) : code;
}

static void report_unknown(struct recorder *recorder)
{
	uint64_t unknown = recorder->followed ? followed_unknown(recorder->followed) : 0;
	if (unknown)
		recorder_note(recorder, "%llu samples are of cgroups that were removed before they could be looked up",
			      (unsigned long long)unknown);
}

static void report_offline(struct recorder *recorder)
{
	CLEANUP_BUF struct buf text = {0};
	hotplug_describe(&recorder->hotplug, clock_now(), &text);
	if (text.size)
		recorder_note(recorder, "%s", text.data);
}

static void start_sources(struct recorder *recorder, const struct source_consumer *consumer)
{
	for (size_t i = 0; i < recorder->merge.source_count; i++) {
		const struct source *source = &recorder->merge.sources[i];
		if (source->ops->start)
			source->ops->start(source->context, consumer);
	}
}

static void stop_sources(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->merge.source_count; i++) {
		const struct source *source = &recorder->merge.sources[i];
		CLEANUP_BUF struct buf note = {0}, detail = {0};
		if (source->ops->stop)
			source->ops->stop(source->context, &note, &detail);
		if (note.size)
			recorder_note(recorder, "%s", note.data);
		if (detail.size && recorder->options.detail)
			recorder->options.detail(recorder->options.context, detail.data);
	}
}

/* --- sources → merge → stages → sink --- */

static bool derives(const struct recorder *recorder)
{
	const struct capture_events *events = recorder->options.events;
	bool only_known = false;
	for (size_t i = 0; i < events->count; i++)
		only_known = only_known || events->items[i].derive.only_known;
	return profile_types_needs(recorder->options.types) & TYPE_DERIVED || only_known;
}

static struct derive *make_derive(struct recorder *recorder, const struct event_sink *next)
{
	const struct capture_options *options = &recorder->options;
	const struct capture_events *events = options->events;
	unsigned needs = profile_types_needs(options->types);
	recorder->derive_sources = mem_zalloc(events->count + 1, sizeof *recorder->derive_sources);
	for (size_t i = 0; i < events->count; i++)
		recorder->derive_sources[i] = events->items[i].derive;
	struct derive_options derive = {
		.sources = recorder->derive_sources,
		.source_count = events->count,
		.first_derived = (uint32_t)events->count + 1,
		.page_size = (uint64_t)sysconf(_SC_PAGESIZE),
		.offcpu =
			{
				.waits = needs & TYPE_SWITCHES && !events->waits_counted,
				.running = needs & TYPE_RUN_TIME && !events->waits_counted,
				.wakers = options->wakers,
				.unseen = capture_types_count_unseen(options),
				.min_block = options->min_block,
				.max_block = options->max_block,
				.except_pid = options->whole_system ? (int32_t)getpid() : 0,
				.prev_state = events->prev_state,
				.next_pid = events->next_pid,
				.woken_pid = events->woken_pid,
			},
	};
	return derive_new(&derive, next);
}

/*
 * What a record passes, from the sink back to the merge. Samples are derived last, so that all others see what the
 * kernel took. What is recovered passes the stages of the sources too, as if it came from them.
 */
static void connect(struct recorder *recorder, const struct event_sink *sink)
{
	struct merge *merge = &recorder->merge;
	struct recover_options recover = {.everybody = target_is_by_cpu(&recorder->target),
					  .children = recorder->options.inherit,
					  .events = recorder->options.events};
	struct event_sink next = *sink;
	if (derives(recorder)) {
		recorder->derive = make_derive(recorder, &next);
		next = derive_sink(recorder->derive);
	}
	recorder->filling = build_ids_sink(&recorder->filler, recorder->build_ids, &next);
	next = (struct event_sink){.context = recorder, .take = take};
	next = recorder->recovering = recover_init(&recorder->recover, &recover, &next);
	for (size_t i = 0; i < merge->source_count; i++) {
		const struct source *source = &merge->sources[i];
		struct event_sink early = {0};
		if (source->ops->early)
			early = source->ops->early(source->context);
		merge->early = early.take ? early : merge->early;
		if (source->ops->stage)
			next = source->ops->stage(source->context, &next);
	}
	recorder->front = next;
	recorder->existing = (struct event_tee){.first = merge->early, .second = recorder->recovering};
	recover_connect(&recorder->recover, &merge->early, &recorder->front);
}

static struct offcpu_counts count_waits(const struct recorder *recorder)
{
	struct offcpu_counts counts = {0};
	struct engine_statistics engine;
	if (!recorder->derive)
		return counts;
	counts = derive_counts(recorder->derive);
	if (recorder_uses_engine(recorder, &engine))
		counts.skipped += engine.skipped;
	return counts;
}

int recorder_run(struct recorder *recorder, const struct event_sink *sink, const struct source_consumer *consumer,
		 struct recorder_result *ret_result, struct err *err)
{
	struct recorder_result result = {0};
	/* Where many threads compete for the CPUs, rings would overflow before wick gets its turn. Only root may. */
	(void)!setpriority(PRIO_PROCESS, 0, READER_PRIORITY);
	recorder->progress.duration = recorder->options.duration;
	recorder->cgroups = cgroups_new(!recorder->engine);
	if (recorder->options.follow)
		recorder->followed = followed_new(recorder->options.follow, recorder->options.host_root);
	recorder->cgroup_names = cgroup_names_new(recorder->options.host_root ? recorder->options.host_root : "");
	start_sources(recorder, consumer);
	connect(recorder, sink);
	int code = begin(recorder, &result, err);
	while (code >= 0 && !recorder->done)
		code = wait_and_drain(recorder);
	result.ended = clock_now();
	report_offline(recorder);
	enable(recorder, SOURCE_ENDED, result.ended);
	cpu_time_run(&recorder->cpu_time, false);
	result.cpu_time = cpu_time_of_target(recorder);
	if (code >= 0 && result.cpu_time != RECORDER_TIME_UNKNOWN)
		code = emit_cpu_time(recorder, result.ended, result.cpu_time);
	if (code >= 0)
		code = emit_cgroup_use(recorder);
	if (code >= 0)
		code = finish(recorder, result.ended);
	report_unknown(recorder);
	perf_maps_finish(&recorder->perf_maps);
	stop_sources(recorder);
	ask_to_end(recorder);
	await_map(recorder);
	result.last = recorder->progress;
	result.ended_threads = recorder->ended_threads;
	result.end = recorder->end;
	result.stopped_command = recorder->asked_to_end;
	result.waits = count_waits(recorder);
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
		return 0; /* it ended as requested */
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
