/* Events → profile. The code that is sampled is just-in-time code with a perf map, so that no ELF file is needed. */
#include "arch/arch.h"
#include "collect/live_profile.h"
#include "collecting.h"
#include "symbolize/remedies.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void samples_become_stacks_with_names(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 2});
	TAKE(run, USER_CHAIN(INNER, OUTER, MAIN));
	TAKE(run, USER_CHAIN(INNER + 4, OUTER, MAIN)); /* another place in the same function */
	finish(run);
	expect(run, "a_b:c;main;outer;inner 20\n");
	assert_int_equal(run->profile.quality.samples, 2);
	assert_int_equal(run->profile.samples[0].count, 2);
	assert_int_equal(run->profile.quality.truncated, 0);
	assert_int_equal(run->profile.quality.unresolved, 0);
	end(run);
}

static void what_cannot_be_a_call_is_looked_up_itself(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1});
	TAKE(run, USER_CHAIN(INNER, APART, MAIN)); /* no function has the byte before */
	TAKE(run, USER_CHAIN(APART - 1, MAIN)); /* that is where it was */
	finish(run);
	char *text CLEANUP_FREE = folded(&run->profile);
	assert_non_null(strstr(text, "a_b:c;main;apart;inner 10\n"));
	assert_non_null(strstr(text, "a_b:c;main;[jit]"));
	assert_int_equal(run->profile.quality.unresolved, 1);
	end(run);
}

static void return_addresses_belong_to_the_call_before_them(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1});
	/* A call that never returns may be the last instruction: what follows is the next function. */
	TAKE(run, USER_CHAIN(CODE, CODE + 0x40, CODE + 0xc0));
	finish(run);
	expect(run, "a_b:c;main;inner;inner 10\n");
	end(run);
}

static void a_sample_weighs_its_period_or_one(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1});
	TAKE(run, USER_CHAIN(INNER), s->period = 0);
	TAKE(run, USER_CHAIN(OUTER), s->period = UINT64_MAX);
	finish(run);
	expect(run, "a_b:c;inner 1\na_b:c;outer 9223372036854775807\n");
	end(run);
	run = start(&(struct collect_options){.threads = 1, .count_samples = true});
	TAKE(run, USER_CHAIN(INNER), s->period = 500);
	TAKE(run, USER_CHAIN(INNER), s->period = 600);
	finish(run);
	expect(run, "a_b:c;inner 2\n");
	end(run);
}

static void events_are_kept_apart(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1});
	TAKE(run, USER_CHAIN(INNER), s->source = 1);
	TAKE(run, USER_CHAIN(INNER));
	finish(run);
	assert_int_equal(run->profile.value_count, 2);
	assert_int_equal(run->profile.sample_count, 2);
	value_id first = profile_first_value(&run->profile); /* of the recording, not of the samples */
	assert_string_equal(profile_text(&run->profile, run->profile.values[first].name), "cycles");
	end(run);
}

static void what_is_missing_is_counted_by_samples(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 3});
	for (int i = 0; i < 5; i++)
		TAKE(run, USER_CHAIN(NAMELESS, NAMELESS, MAIN));
	TAKE(run, USER_CHAIN(INNER, UNMAPPED));
	TAKE(run, USER_CHAIN(INNER, MAIN));
	finish(run);
	const struct quality *quality = &run->profile.quality;
	assert_int_equal(quality->samples, 7);
	assert_int_equal(quality->unresolved, 6);
	assert_int_equal(quality->truncated, 1);
	assert_int_equal(quality->module_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const char *module = profile_text(&run->profile, quality->modules[i].module);
		assert_int_equal(quality->modules[i].frames, strcmp(module, "[jit]") == 0 ? 10 : 1);
	}
	end(run);
}

/* Of the whole recording: filters leave it alone. */
static void the_extent_is_that_of_the_recording(void **state)
{
	(void)state;
	static const char *const nobody[] = {"nobody", NULL};
	const struct collect_options options = {.filter.profile.comms = nobody};
	struct run *run = start(&options);
	run->sources[0].attr.type = PERF_TYPE_SOFTWARE;
	run->sources[0].attr.config = PERF_COUNT_SW_CPU_CLOCK;
	const struct event_count begin = {.time = 500, .source = 0},
				 end_of_it = {.time = 4500, .value = 2000, .source = 0};
	const struct event_count other = {.time = 4000, .value = 77, .source = 1};
	const struct event_task thread = {
		.pid = run->pid, .tid = 1, .parent_pid = run->pid, .parent_tid = run->pid, .time = 600};
	assert_int_equal(sink_count(&run->sink, &begin), 0);
	assert_int_equal(sink_fork(&run->sink, &thread), 0);
	TAKE(run, USER_CHAIN(INNER, MAIN), s->period = 900);
	TAKE(run, USER_CHAIN(INNER, MAIN), s->count = 2, s->period = 1000, s->since = 700, s->time = 2000);
	TAKE(run, USER_CHAIN(INNER, MAIN), s->source = 1, s->period = 5);
	TAKE(run, USER_CHAIN(INNER, MAIN), s->pid = s->tid = 0); /* idle */
	assert_int_equal(sink_count(&run->sink, &other), 0);
	assert_int_equal(sink_count(&run->sink, &end_of_it), 0);
	finish(run);
	const struct extent *extent = &run->profile.extent;
	assert_int_equal(run->profile.sample_count, 0);
	assert_int_equal(extent->duration, 4000);
	assert_int_equal(extent->cpu_time, 2000);
	assert_int_equal(extent->sampled, 1900);
	assert_int_equal(extent->samples, 3);
	assert_int_equal(extent->processes, 1);
	assert_int_equal(extent->threads, 2);
	end(run);
}

static void lost_samples_are_counted_with_what_would_help(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1});
	run->sources[1].attr =
		(struct perf_event_attr){.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .sample_period = 1};
	TAKE(run, USER_CHAIN(INNER));
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(sink_lost(&run->sink, &(struct event_lost){.count = 5 + i}), 0);
	struct event_lost samples = {.kind = LOST_SAMPLES, .count = 20}, others = {.kind = LOST_OTHERS, .count = 700};
	assert_int_equal(sink_lost(&run->sink, &samples), 0);
	assert_int_equal(sink_lost(&run->sink, &others), 0);
	finish(run);
	const struct quality *quality = &run->profile.quality;
	assert_int_equal(quality->lost, 31);
	assert_int_equal(quality->lost_records, 700);
	assert_non_null(strstr(profile_text(&run->profile, quality->lost_records_advice), "may have no names"));
	assert_non_null(strstr(profile_text(&run->profile, quality->lost_advice), "record with a larger buffer"));
	assert_int_equal(quality->truncated_advice, 0);
	end(run);
}

static void chains_that_were_marked_as_truncated_still_are(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1});
	TAKE(run, USER_CHAIN(INNER, OUTER, stack_end_mark(STACK_CUT)));
	TAKE(run, USER_CHAIN(INNER, MAIN, STACK_CUT)); /* no mark: an address outside all code */
	finish(run);
	expect(run, "a_b:c;[truncated];outer;inner 10\n"
		    "a_b:c;[unknown];main;inner 10\n");
	assert_int_equal(run->profile.quality.truncated, 2);
	assert_non_null(strstr(profile_text(&run->profile, run->profile.quality.truncated_advice), "--engine bpf"));
	end(run);
}

/* As a recording reports them, and as they are read again. */
static void waits_without_a_stack_are_called_so(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1});
	const uint64_t none[] = {0};
	TAKE(run, none, s->chain_count = 0, s->mode = MODE_UNKNOWN, s->unwound = true, s->end = STACK_UNSEEN);
	TAKE(run, USER_CHAIN(stack_end_mark(STACK_UNSEEN)), s->mode = MODE_UNKNOWN, s->ip = 0);
	TAKE(run, none, s->chain_count = 0, s->mode = MODE_UNKNOWN);
	finish(run);
	expect(run, "a_b:c;[no stack: waited before the recording began] 20\n"
		    "a_b:c;[no stack] 10\n");
	assert_int_equal(run->profile.quality.truncated, 0);
	assert_int_equal(run->profile.quality.unresolved, 0);
	end(run);
}

static void advice_is_for_the_modules_with_the_most_to_gain(void **state)
{
	(void)state;
	struct modules modules = {.count = 20};
	struct module_store codes = {.modules = &modules};
	uint64_t amounts[21] = {1000}; /* the first is for addresses outside all modules */
	module_id ranked[REMEDIES_MAX];
	assert_int_equal(remedies_rank(&codes, amounts, ranked), 0);
	amounts[3 + 1] = 5;
	amounts[7 + 1] = 6;
	assert_int_equal(remedies_rank(&codes, amounts, ranked), 2);
	assert_int_equal(ranked[0], 7);
	assert_int_equal(ranked[1], 3);
	for (unsigned i = 0; i < 20; i++)
		amounts[i + 1] = 100 + i * 7 % 20; /* 0, 7, 14, 1, 8, … */
	assert_int_equal(remedies_rank(&codes, amounts, ranked), REMEDIES_MAX);
	for (unsigned i = 0; i < REMEDIES_MAX; i++)
		assert_int_equal(amounts[ranked[i] + 1], 119 - i);
}

static void chains_that_do_not_end_well_are_truncated(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1});
	TAKE(run,
	     USER_CHAIN(INNER, INNER, INNER, INNER, INNER, INNER, INNER, OUTER)); /* as many as the kernel follows */
	TAKE(run, USER_CHAIN(INNER, OUTER, (uint64_t)-3, MAIN)); /* no address and no marker */
	finish(run);
	expect(run, "a_b:c;[truncated];outer;inner;inner;inner;inner;inner;inner;inner 10\n"
		    "a_b:c;[truncated];outer;inner 10\n");
	assert_int_equal(run->profile.quality.truncated, 2);
	assert_non_null(
		strstr(profile_text(&run->profile, run->profile.quality.truncated_advice), "perf_event_max_stack"));
	end(run);
}

static void without_a_chain_the_address_is_the_stack(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1});
	struct event_sample sample = sample_of(run, NULL, 0);
	sample.ip = CODE + 0x40;
	assert_int_equal(sink_sample(&run->sink, &sample), 0);
	finish(run);
	expect(run, "a_b:c;outer 10\n");
	end(run);
}

static void filters_take_parts_and_count_only_them(void **state)
{
	(void)state;
	static const char *const functions[] = {"oth*", NULL}, *const comms[] = {"a b*", NULL},
				 *const none[] = {"x", NULL}, *const four[] = {"9", "4*", NULL},
				 *const unset[] = {"", NULL};
	static const struct label_filter on_four[] = {{"cpu", four}, {"cgroup", unset}, {NULL, NULL}},
					 in_x[] = {{"cpu", four}, {"cgroup", none}, {NULL, NULL}},
					 other_key[] = {{"unit", none}, {NULL, NULL}};
	static const uint32_t cpus[] = {1, 4, UINT32_MAX};
	const int32_t pids[] = {(int32_t)getpid() + 1, -1};
	struct collect_filter filters[] = {
		{.profile = {.functions = functions}},
		{.profile = {.comms = comms}},
		{.profile = {.comms = none}},
		{.profile = {.pids = pids}},
		{.cpus = cpus},
		{.from = 5, .to = 10},
		{.cgroups = none},
		{.profile = {.labels = on_four}},
		{.profile = {.labels = in_x}},
		{.profile = {.labels = other_key}},
	};
	static const struct {
		uint64_t samples, unresolved;
	} wanted[] = {{2, 1}, {4, 2}, {0, 0}, {0, 0}, {1, 0}, {2, 1}, {0, 0}, {1, 0}, {0, 0}, {0, 0}};
	for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
		struct run *run = start(&(struct collect_options){.threads = 2, .filter = filters[i]});
		TAKE(run, USER_CHAIN(INNER, MAIN), s->time = 100);
		TAKE(run, USER_CHAIN(NAMELESS, MAIN), s->time = 105);
		TAKE(run, USER_CHAIN(INNER, OTHER), s->cpu = 4, s->time = 109);
		TAKE(run, USER_CHAIN(NAMELESS, OTHER), s->time = 110);
		finish(run);
		assert_int_equal(run->profile.quality.samples, wanted[i].samples);
		assert_int_equal(run->profile.quality.unresolved, wanted[i].unresolved);
		end(run);
	}
}

static void samples_have_their_cpu_and_cgroup_as_labels_if_asked_for(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1});
	TAKE(run, USER_CHAIN(INNER), s->cgroup = 5);
	TAKE(run, USER_CHAIN(INNER), s->cpu = 4);
	finish(run);
	expect(run, "a_b:c;inner 20\n");
	assert_null(run->profile.labels.ids);
	end(run);
	run = start(&(struct collect_options){.threads = 1, .label_cpu = true});
	TAKE(run, USER_CHAIN(INNER));
	TAKE(run, USER_CHAIN(INNER), s->cpu = UINT32_MAX);
	TAKE(run, USER_CHAIN(INNER), s->cpu = 4);
	TAKE(run, USER_CHAIN(INNER), s->cgroup = 5);
	finish(run);
	expect(run, "a_b:c{cpu=3};inner 20\na_b:c;inner 10\na_b:c{cpu=4};inner 10\n");
	end(run);
	run = start(&(struct collect_options){.threads = 1, .label_cpu = true, .label_cgroup = true});
	sink_cgroup(&run->sink, &(struct event_cgroup){.id = 5, .path = "/old"});
	sink_cgroup(&run->sink, &(struct event_cgroup){.id = 5, .path = "/system"});
	TAKE(run, USER_CHAIN(INNER), s->cgroup = 5);
	TAKE(run, USER_CHAIN(INNER), s->cgroup = 123); /* removed before anybody looked */
	TAKE(run, USER_CHAIN(INNER), s->cgroup = 0);
	finish(run);
	expect(run,
	       "a_b:c{cgroup=/system}{container=[no container]}{cpu=3}{pod=[no pod]}{unit=[no unit]};inner 10\n"
	       "a_b:c{cgroup=cgroup ID 123}{container=[no container]}{cpu=3}{pod=[no pod]}{unit=[no unit]};inner 10\n"
	       "a_b:c{cpu=3};inner 10\n");
	end(run);
	run = start(&(struct collect_options){.threads = 1, .label_cgroup = true});
	sink_cgroup(&run->sink, &(struct event_cgroup){.id = 6, .names = "container=lost"}); /* without a path */
	sink_cgroup(&run->sink, &(struct event_cgroup){.id = 5, .path = "/a.slice/b.service"});
	sink_cgroup(&run->sink, &(struct event_cgroup){.id = 5, .names = "x=y\tcontainer=web 1\tpod=prod/shop\t=\t"});
	TAKE(run, USER_CHAIN(INNER), s->cgroup = 5);
	finish(run);
	expect(run, "a_b:c{cgroup=/a.slice/b.service}{container=web 1}{pod=prod/shop}{unit=b.service};inner 10\n");
	end(run);
}

/* From one worker, whose samples come in their order. */
static void samples_keep_their_times_if_asked_for(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1, .keep_times = true});
	TAKE(run, USER_CHAIN(INNER), s->time = 100);
	TAKE(run, USER_CHAIN(INNER), s->time = 120, s->cpu = 4);
	TAKE(run, USER_CHAIN(INNER), s->time = 150, s->since = 130, s->count = 2);
	finish(run);
	static const struct sample_time wanted[] = {{100, 0, 3}, {120, 0, 4}, {150, 20, 3}};
	assert_int_equal(run->profile.sample_count, 3);
	for (size_t i = 0; i < 3; i++) {
		struct sample_time time = profile_sample_time(&run->profile, i);
		assert_int_equal(time.time, wanted[i].time);
		assert_int_equal(time.duration, wanted[i].duration);
		assert_int_equal(time.cpu, wanted[i].cpu);
	}
	assert_int_equal(run->profile.quality.samples, 4);
	end(run);
}

static void threads_are_distinguished_as_far_as_asked_for(void **state)
{
	(void)state;
	static const size_t wanted[] = {[TALLY_BY_THREAD] = 100, [TALLY_BY_PROCESS] = 2, [TALLY_BY_NAME] = 1};
	for (enum tally_threads apart = TALLY_BY_THREAD; apart <= TALLY_BY_NAME; apart++) {
		struct run *run = start(&(struct collect_options){.threads = 1, .threads_apart = apart});
		sink_comm(&run->sink, &(struct event_comm){.pid = 77, .tid = 77, .comm = "a b;c"});
		for (int i = 0; i < 100; i++)
			TAKE(run, USER_CHAIN(UNMAPPED), s->tid = 1000 + i, s->pid = i % 2 ? 77 : run->pid);
		finish(run);
		assert_int_equal(run->profile.sample_count, wanted[apart]);
		assert_int_equal(run->profile.quality.samples, 100);
		assert_int_equal(profile_total(&run->profile, 0), 1000);
		end(run);
	}
}

static void a_thread_without_a_name_is_called_by_its_number(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 1});
	TAKE(run, USER_CHAIN(UNMAPPED), s->pid = -1, s->tid = -1);
	finish(run);
	expect(run, ":-1;[unknown] 10\n");
	end(run);
}

static void any_number_of_threads_gives_the_same(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		struct run *run = start(&(struct collect_options){.threads = threads});
		for (int i = 0; i < 60000; i++) /* several batches */
			TAKE(run, USER_CHAIN(INNER + i % 7, OUTER + i % 3, i % 2 ? MAIN : OTHER),
			     s->period = 1 + i % 5);
		finish(run);
		assert_int_equal(run->profile.quality.samples, 60000);
		assert_int_equal(run->profile.sample_count, 2);
		assert_int_equal(profile_total(&run->profile, 0), 180000);
		end(run);
	}
}

static void order_is_kept_when_asked_for(void **state)
{
	(void)state;
	struct run *run = start(&(struct collect_options){.threads = 4, .keep_order = true});
	TAKE(run, USER_CHAIN(INNER));
	TAKE(run, USER_CHAIN(OUTER));
	TAKE(run, USER_CHAIN(INNER));
	finish(run);
	expect(run, "a_b:c;inner 10\na_b:c;outer 10\na_b:c;inner 10\n");
	assert_true(run->profile.ordered);
	end(run);
}

static void note_sample(void *context, const struct batch_sample *sample, const struct stack_frame *frames,
			size_t count, enum stack_end end)
{
	assert_int_equal(end, STACK_WHOLE);
	buf_printf(context, "%s %s %zu %llx\n", sample->comm, sample->event_name, count,
		   (unsigned long long)frames[0].frame.address);
}

static void each_sample_can_be_had(void **state)
{
	(void)state;
	CLEANUP_BUF struct buf seen = {0};
	struct run *run = start(&(struct collect_options){.threads = 4, .each = note_sample, .each_context = &seen});
	TAKE(run, USER_CHAIN(INNER, MAIN));
	TAKE(run, USER_CHAIN(OUTER));
	finish(run);
	assert_string_equal(seen.data, "a b;c cycles 2 10010\na b;c cycles 1 10050\n");
	end(run);
}

static void note_frames(void *context, const struct batch_sample *sample, const struct stack_frame *frames,
			size_t count, enum stack_end end)
{
	(void)sample;
	for (size_t i = 0; i < count; i++) {
		const struct trace_frame *frame = &frames[i].frame;
		buf_printf(context, "%d %llx %x %d;", frame->kind, (unsigned long long)frame->address, frame->version,
			   frame->flags);
	}
	buf_printf(context, "%d\n", end);
}

/* What the kernel unwound: frames in words. */
static void unwound_frames_come_in_words(void **state)
{
	(void)state;
	const uint64_t native = trace_word(TRACE_NATIVE, INNER, 1);
	for (int each = 0; each < 2; each++) {
		CLEANUP_BUF struct buf seen = {0};
		struct run *run = start(&(struct collect_options){
			.threads = 1, .each = each ? note_frames : NULL, .each_context = &seen});
		TAKE(run, USER_CHAIN(native, OUTER, MAIN), s->unwound = true);
		TAKE(run, USER_CHAIN(native), s->unwound = true, s->end = STACK_CUT);
		finish(run);
		if (each)
			assert_string_equal(seen.data, "2 10010 0 1;2 1004f 0 0;2 1008f 0 0;0\n2 10010 0 1;1\n");
		else
			expect(run, "a_b:c;main;outer;inner 10\na_b:c;[truncated];inner 10\n");
		end(run);
	}
}

/* A stack of frame pointers from `sp` up, `frames` of them, that all return to the same place in outer(). */
static size_t make_stack(uint64_t *stack, uint64_t sp, size_t frames)
{
	for (size_t i = 0; i < frames; i++) {
		stack[2 * i] = sp + 16 * (i + 1);
		stack[2 * i + 1] = OUTER;
	}
	return frames * 16;
}

static void registers_of_another_machine_are_left_alone(void **state)
{
	(void)state;
	uint64_t stack[6], registers[] = {0x7ffe0000, 0x7ffe0000, OUTER};
	struct run *run = start(&(struct collect_options){.threads = 1, .foreign = true});
	TAKE(run, USER_CHAIN(INNER), s->user.abi = PERF_SAMPLE_REGS_ABI_64, s->user.mask = 7,
	     s->user.values = registers, s->stack = (const uint8_t *)stack,
	     s->stack_size = make_stack(stack, 0x7ffe0000, 3));
	finish(run);
	expect(run, "a_b:c;[truncated];inner 10\n");
	assert_int_equal(run->profile.quality.truncated, 1);
	assert_non_null(
		strstr(profile_text(&run->profile, run->profile.quality.truncated_advice), "another architecture"));
	end(run);
}

static void a_stack_copy_that_ends_is_continued_by_the_call_chain(void **state)
{
	(void)state;
	enum { RECURSION = 6, COPIED = 3 };
	const uint64_t sp = 0x7ffe0000;
	uint64_t stack[2 * COPIED], registers[] = {sp /* rbp */, sp, INNER};
	size_t size = make_stack(stack, sp, COPIED);
	uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, INNER, OUTER, OUTER, OUTER, OUTER, OUTER, OUTER, MAIN};
	struct run *run = start(&(struct collect_options){.threads = 1, .machine = &arch_x86_64});
	struct event_sample sample = sample_of(run, chain, RECURSION + 3);
	sample.user = (struct event_registers){
		.abi = PERF_SAMPLE_REGS_ABI_64,
		.mask = 7u << 6, /* rbp, rsp, rip */
		.values = registers,
	};
	sample.stack = (const uint8_t *)stack;
	sample.stack_size = sample.stack_asked = size;
	assert_int_equal(sink_sample(&run->sink, &sample), 0);
	sample.chain_count = 0; /* and without a chain it is truncated */
	assert_int_equal(sink_sample(&run->sink, &sample), 0);
	finish(run);
	expect(run, "a_b:c;main;outer;outer;outer;outer;outer;outer;inner 10\n"
		    "a_b:c;[truncated];outer;outer;outer;inner 10\n");
	assert_int_equal(run->profile.quality.truncated, 1);
	end(run);
}

/* On any machine, as far as its files are there; here frame pointers lead up. */
static void stack_copies_of_aarch64_are_unwound(void **state)
{
	(void)state;
	const uint64_t sp = 0xffffc0000000;
	uint64_t stack[6], registers[] = {sp /* x29 */, sp, INNER};
	size_t size = make_stack(stack, sp, 3);
	struct run *run = start(&(struct collect_options){.threads = 1, .machine = &arch_aarch64});
	stack[4] = stack[5] = 0;
	TAKE(run, USER_CHAIN(INNER), s->user.abi = PERF_SAMPLE_REGS_ABI_64,
	     s->user.mask = 1ull << 29 | 1ull << 31 | 1ull << 32, s->user.values = registers,
	     s->stack = (const uint8_t *)stack, s->stack_size = size);
	finish(run);
	expect(run, "a_b:c;outer;outer;inner 10\n");
	assert_int_equal(run->profile.quality.truncated, 0);
	end(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_become_stacks_with_names),
		cmocka_unit_test(what_cannot_be_a_call_is_looked_up_itself),
		cmocka_unit_test(return_addresses_belong_to_the_call_before_them),
		cmocka_unit_test(a_sample_weighs_its_period_or_one),
		cmocka_unit_test(events_are_kept_apart),
		cmocka_unit_test(what_is_missing_is_counted_by_samples),
		cmocka_unit_test(the_extent_is_that_of_the_recording),
		cmocka_unit_test(lost_samples_are_counted_with_what_would_help),
		cmocka_unit_test(chains_that_were_marked_as_truncated_still_are),
		cmocka_unit_test(waits_without_a_stack_are_called_so),
		cmocka_unit_test(advice_is_for_the_modules_with_the_most_to_gain),
		cmocka_unit_test(chains_that_do_not_end_well_are_truncated),
		cmocka_unit_test(without_a_chain_the_address_is_the_stack),
		cmocka_unit_test(filters_take_parts_and_count_only_them),
		cmocka_unit_test(samples_have_their_cpu_and_cgroup_as_labels_if_asked_for),
		cmocka_unit_test(samples_keep_their_times_if_asked_for),
		cmocka_unit_test(threads_are_distinguished_as_far_as_asked_for),
		cmocka_unit_test(a_thread_without_a_name_is_called_by_its_number),
		cmocka_unit_test(any_number_of_threads_gives_the_same),
		cmocka_unit_test(order_is_kept_when_asked_for),
		cmocka_unit_test(each_sample_can_be_had),
		cmocka_unit_test(unwound_frames_come_in_words),
		cmocka_unit_test(registers_of_another_machine_are_left_alone),
		cmocka_unit_test(a_stack_copy_that_ends_is_continued_by_the_call_chain),
		cmocka_unit_test(stack_copies_of_aarch64_are_unwound),
	};
	return cmocka_run_group_tests_name("collect", tests, write_map, remove_map);
}
