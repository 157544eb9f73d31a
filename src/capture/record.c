/* The recording itself: from the first sample to the end. record_open.c is what comes before and after. */
#include "base/buf.h"
#include "capture/existing.h"
#include "capture/recorder.h"
#include "capture/sleepers.h"
#include "event/source_facts.h"
#include "event/tee.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHORT_ROUND_MS 4 /* where stacks have to be read before they change */
#define ROUND_MS 100 /* between two looks at rings that did not fill up */
#define LONG_ROUND_MS 250 /* of a whole system, where processes come and go all the time and map the same files */
#define SECOND 1000000000ull
#define MILLISECOND 1000000ull
#define READER_PRIORITY (-10)

static uint64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static int count_sample(struct recorder *recorder, const struct event_sample *sample)
{
	recorder->progress.samples += sample->count ? sample->count : 1;
	const char *path = sample->cgroup ? cgroups_news(recorder->cgroups, sample->cgroup) : NULL;
	if (!path)
		return 0;
	/* Without a time: it counts for all samples, also those that are spread over the time before this one. */
	struct event_cgroup cgroup = {.id = sample->cgroup, .path = path};
	return sink_cgroup(&recorder->told, &cgroup);
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

static int count(void *context, const struct event *event)
{
	switch (event->type) {
	case EVENT_SAMPLE:
		return count_sample(context, event->sample);
	case EVENT_LOST:
		return count_lost(context, event->lost);
	case EVENT_EXIT:
		return take_exit(context, event->task);
	default:
		return 0;
	}
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

static uint64_t round_of(const struct recorder *recorder)
{
	return target_is_by_cpu(&recorder->target) ? LONG_ROUND_MS : ROUND_MS;
}

/* Milliseconds until something must be done without being woken up. */
static int patience(const struct recorder *recorder, uint64_t time)
{
	uint64_t until = time +
			 (tails_hurry(&recorder->tails, time) ? SHORT_ROUND_MS : round_of(recorder)) * MILLISECOND;
	const struct recorder_options *options = &recorder->options;
	if (!recorder->samples_on && recorder->started + options->delay < until)
		until = recorder->started + options->delay;
	if (options->duration && recorder->started + options->delay + options->duration < until)
		until = recorder->started + options->delay + options->duration;
	return until <= time ? 0 : (int)((until - time + 999999) / 1000000);
}

/* The CPU time of the target as a counter of the clock that is sampled, if one is. */
static int emit_cpu_time(const struct recorder *recorder, uint64_t time, uint64_t value)
{
	const struct target *target = &recorder->target;
	int32_t pid = target->command && !target->clock ? (int32_t)target->command :
		      target->pid_count                 ? target->pids[0] :
							  -1;
	struct event_count count = {.pid = pid, .tid = pid, .time = time, .value = value};
	const struct capture_events *events = recorder->options.events;
	if (events->count != 1 || !attr_is_clock(&events->items->attr) || !cpu_time_is_known(&recorder->cpu_time))
		return 0;
	return sink_count(&recorder->told, &count);
}

static void begin_samples(struct recorder *recorder)
{
	const struct target *target = &recorder->target;
	bool all = target_is_by_cpu(target);
	struct sleepers *sleepers =
		recorder->asleep.take ? sleepers_note(all ? NULL : target->pids, target->pid_count) : NULL;
	rings_enable_samples(recorder->rings);
	if (recorder->engine)
		engine_begin(recorder->engine, now(), 0);
	engine_tap_enable(&recorder->tap);
	cpu_time_run(&recorder->cpu_time, true);
	emit_cpu_time(recorder, now(), 0);
	recorder->samples_on = true;
	if (recorder->options.begun)
		recorder->options.begun(recorder->options.context, now());
	if (sleepers && recorder->engine)
		engine_registers(recorder->engine, sleepers_registers, sleepers);
	if (sleepers)
		sleepers_emit(sleepers, recorder->options.stack_size ? recorder->options.stack_size : STACK_SIZE_MAX,
			      recorder->kernel && !recorder->options.no_kernel, recorder->cgroups, &recorder->asleep);
	sleepers_free(sleepers);
}

static void keep_time(struct recorder *recorder)
{
	uint64_t passed = now() - recorder->started, delay = recorder->options.delay;
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
	if (pause) {
		rings_disable_samples(recorder->rings);
		engine_tap_disable(&recorder->tap);
	} else {
		rings_enable_samples(recorder->rings);
		engine_tap_enable(&recorder->tap);
	}
	cpu_time_run(&recorder->cpu_time, !pause);
	recorder->paused = pause;
}

static bool reopen_cpu(void *context, int32_t cpu)
{
	struct recorder *recorder = context;
	bool samples = recorder->samples_on && !recorder->paused;
	struct err err = {0};
	int result = rings_return(recorder->rings, cpu, samples, &err);
	if (!result && recorder->engine)
		result = engine_tap_return(&recorder->tap, &recorder->target, recorder->options.events, cpu, samples,
					   &err);
	return !result;
}

static int wait_and_drain(struct recorder *recorder, const struct event_sink *sink)
{
	struct epoll_event events[16];
	int count = epoll_wait(recorder->epoll, events, 16, patience(recorder, now()));
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
	hotplug_check(&recorder->hotplug, now(), reopen_cpu, recorder);
	if (recorder->done)
		return 0; /* finish() does the rest */
	uint64_t drained = now();
	int result = rings_drain(recorder->rings, sink, false);
	if (result >= 0)
		result = recover_round(&recorder->recover, rings_round(recorder->rings), false);
	if (result >= 0 && recorder->engine)
		result = engine_tap_count(&recorder->tap, false);
	recorder->progress.until = recorder->engine ? recorder->tap.counted : drained;
	if (tails_hurry(&recorder->tails, drained) && drained - recorder->rounded < ROUND_MS * MILLISECOND)
		return result;
	recorder->rounded = drained;
	if (mem_is_short())
		stop(recorder, RECORDER_MEMORY_SHORT);
	if (recorder->options.progress)
		recorder->options.progress(recorder->options.context, &recorder->progress);
	return result;
}

static int begin(struct recorder *recorder, const struct event_sink *sink, struct recorder_result *result,
		 struct err *err)
{
	const struct recorder_options *options = &recorder->options;
	bool on_exec = options->command && !recorder->target.clock && !options->delay;
	struct event_tee tee = {.first = recorder->tap.guest.early, .second = *sink};
	if (!on_exec)
		rings_enable_tracking(recorder->rings);
	struct event_sink early = event_tee_sink(&tee);
	int code = emit_existing(recorder, recorder->engine ? &early : sink);
	if (on_exec)
		rings_enable_everywhere(recorder->rings);
	if (on_exec && recorder->engine) {
		engine_begin(recorder->engine, now(), recorder->target.command);
		engine_tap_enable_cpus(&recorder->tap);
	} else if (recorder->engine && recorder->target.command && !recorder->target.clock) {
		engine_add_member(recorder->engine, recorder->target.command);
	} else if (recorder->by_members && recorder->target.command && !recorder->target.clock && !on_exec) {
		members_add(&recorder->members, recorder->target.command);
	}
	recorder->samples_on = on_exec;
	recorder->started = now();
	if (on_exec)
		emit_cpu_time(recorder, recorder->started, 0);
	if (code >= 0)
		keep_time(recorder);
	if (code >= 0 && recorder->target.command)
		code = target_let_go(&recorder->target, options->command[0], &result->exec_error, err);
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
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * SECOND +
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

/* Waits that began before the recording are told, so their stacks are of interest. */
bool recorder_lists_sleepers(const struct recorder *recorder)
{
	const struct recorder_options *options = &recorder->options;
	unsigned needs = profile_types_needs(options->types);
	return needs & TYPE_SWITCHES && !options->command && (needs & TYPE_RUN_TIME || !options->whole_system);
}

/* What is still under way when the samples have ended. */
static int finish(struct recorder *recorder, const struct event_sink *ordered, const struct event_sink *sink)
{
	engine_tap_ending(&recorder->tap);
	int code = rings_drain(recorder->rings, ordered, true);
	if (code >= 0)
		code = recover_round(&recorder->recover, rings_round(recorder->rings), true);
	if (code >= 0 && recorder->engine)
		code = engine_tap_count(&recorder->tap, true);
	return code < 0 ? code : rings_last_losses(recorder->rings, sink);
}

static void report_offline(struct recorder *recorder)
{
	CLEANUP_BUF struct buf text = {0};
	hotplug_describe(&recorder->hotplug, now(), &text);
	if (text.size)
		recorder_note(recorder, "%s", text.data);
}

static void stop_engine(struct recorder *recorder)
{
	uint64_t unfollowed = engine_statistics(recorder->engine).unfollowed;
	engine_stop(recorder->engine);
	if (unfollowed)
		recorder_note(recorder,
			      "%" PRIu64 " processes were not sampled: not enough kernel memory for so many; use "
			      "a larger --kernel-memory",
			      unfollowed);
}

/* The workers may still unwind some of the last ones. */
static void report_tails(const struct recorder *recorder)
{
	const struct tails *tails = &recorder->tails;
	uint64_t completed = tails->needs ? atomic_load(&tails->needs->completed) : 0;
	CLEANUP_BUF struct buf text = {0};
	if (!recorder->options.detail || (!completed && !tails->changed && !tails->denied))
		return;
	buf_printf(&text,
		   "ring engine: %" PRIu64 " stacks larger than their copies were completed from memory of the "
		   "process, %" PRIu64 " had changed",
		   completed, tails->changed);
	if (tails->denied)
		buf_str(&text, "; not permitted for all processes");
	recorder->options.detail(recorder->options.context, text.data);
}

/* Without the engine: stacks are completed while their processes run. */
static void begin_rings(struct recorder *recorder, struct stack_needs *needs)
{
	if (recorder->options.call_graph != CALL_GRAPH_DWARF)
		return;
	tails_init(&recorder->tails, needs, recorder->by_members ? &recorder->members : NULL);
	recorder->members.tails = &recorder->tails;
	rings_invite(recorder->rings, &recorder->tails.guest);
}

int recorder_run(struct recorder *recorder, const struct event_sink *sink, struct module_store *codes,
		 struct stack_needs *needs, struct recorder_result *ret_result, struct err *err)
{
	struct event_tee tee = {
		.first = {.context = recorder, .take = count},
		.second = build_ids_sink(&recorder->filler, recorder->build_ids, sink),
	};
	struct recover_options recover = {.everybody = target_is_by_cpu(&recorder->target),
					  .children = recorder->options.inherit};
	struct event_sink counting = event_tee_sink(&tee);
	struct event_sink both = recover_init(&recorder->recover, &recover, &counting), ordered = both;
	struct recorder_result result = {0};
	/* Where many threads compete for the CPUs, rings would overflow before wick gets its turn. Only root may. */
	(void)!setpriority(PRIO_PROCESS, 0, READER_PRIORITY);
	recorder->progress.duration = recorder->options.duration;
	recorder->told = tee.second;
	recorder->cgroups = cgroups_new(!recorder->engine);
	if (recorder->engine) {
		struct event_sink *early = &recorder->tap.guest.early;
		*early = build_ids_sink(&recorder->early_filler, recorder->build_ids, early);
		ordered = engine_tap_sink(&recorder->tap, &both);
		engine_start(recorder->engine, codes);
	} else {
		begin_rings(recorder, needs);
		ordered = members_sink(&recorder->members, &both);
	}
	struct event_sink early = recorder->engine ? recorder->tap.guest.early : (struct event_sink){0};
	struct event_tee asleep = {.first = early, .second = both};
	recover_connect(&recorder->recover, &early, &ordered);
	if (recorder_lists_sleepers(recorder))
		recorder->asleep = event_tee_sink(&asleep);
	int code = begin(recorder, &both, &result, err);
	while (code >= 0 && !recorder->done)
		code = wait_and_drain(recorder, &ordered);
	result.ended = now();
	report_offline(recorder);
	if (recorder->engine)
		engine_end(recorder->engine, result.ended);
	rings_disable(recorder->rings);
	engine_tap_disable(&recorder->tap);
	cpu_time_run(&recorder->cpu_time, false);
	result.cpu_time = cpu_time_of_target(recorder);
	if (code >= 0 && result.cpu_time != RECORDER_TIME_UNKNOWN)
		code = emit_cpu_time(recorder, result.ended, result.cpu_time);
	if (code >= 0)
		code = finish(recorder, &ordered, &counting);
	if (recorder->engine)
		stop_engine(recorder);
	else
		report_tails(recorder);
	ask_to_end(recorder);
	result.last = recorder->progress;
	result.ended_threads = recorder->ended_threads;
	result.end = recorder->end;
	result.stopped_command = recorder->asked_to_end;
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
