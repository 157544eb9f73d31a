/* The trace store, compared with a model that stores every sample as it was added. */
#include "base/hash.h"
#include "trace/follow.h"
#include "unit.h"

#include <string.h>

#define DEPTH_MAX 6
#define ADDED_MAX 3000

/* A sample as it was added, all of it. */
struct added {
	struct trace_frame frames[DEPTH_MAX]; /* outermost first; texts by their index in `texts` */
	size_t depth;
	int32_t pid, tid;
	unsigned comm, event, label; /* label 0: none */
	int64_t weight;
	uint32_t count;
};

static const char *const texts[] = {"[no stack]", "--", "a thread", "1", "\1"};
static const char *const events[] = {"cycles", "cpu-clock", "page-faults"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t next(uint64_t *random)
{
	*random += HASH_K0;
	return hash_u64(*random);
}

/* Few of each, so that many are equal, and pairs that differ in one member only. */
static struct trace_frame some_frame(uint64_t *random)
{
	uint64_t bits = next(random);
	struct trace_frame frame = {
		.kind = (uint8_t)(bits % TRACE_KINDS),
		.module = bits >> 8 & 1 ? MODULE_NONE : (module_id)(bits >> 9 & 1),
		.address = (bits >> 10 & 3) << 62 | (bits >> 12 & 1),
		.version = (uint32_t)(bits >> 13 & 1) << 31,
		.flags = (uint8_t)(bits >> 14 & (TRACE_EXACT | TRACE_INVERTED)),
	};
	if (frame.kind == TRACE_TEXT)
		frame = (struct trace_frame){
			.kind = TRACE_TEXT, .module = MODULE_NONE, .address = (bits >> 16) % COUNT(texts)};
	return frame;
}

static struct added some_sample(uint64_t *random)
{
	struct added added = {
		.depth = next(random) % (DEPTH_MAX + 1),
		.pid = (int32_t)(next(random) % 3) - 1,
		.tid = (int32_t)(next(random) % 3) - 1,
		.comm = (unsigned)(next(random) % COUNT(texts)),
		.event = (unsigned)(next(random) % COUNT(events)),
		.label = (unsigned)(next(random) % COUNT(texts)),
		.weight = (int64_t)(next(random) % 1000) - 100,
		.count = (uint32_t)(next(random) % 4),
	};
	for (size_t i = 0; i < added.depth; i++)
		added.frames[i] = some_frame(random);
	return added;
}

static void add(struct trace *trace, const struct added *added)
{
	stack_id stack = STACK_ROOT;
	for (size_t i = 0; i < added->depth; i++) {
		const struct trace_frame *frame = &added->frames[i];
		trace_frame_id id = frame->kind == TRACE_TEXT ? trace_text_frame(trace, texts[frame->address]) :
								trace_frame(trace, *frame);
		stack = trace_stack(trace, stack, id);
	}
	struct thread thread = {.pid = added->pid, .tid = added->tid, .comm = trace_string(trace, texts[added->comm])};
	struct label label = {trace_string(trace, "key"), trace_string(trace, texts[added->label])};
	trace_add(trace,
		  (struct sample){
			  .thread = trace_thread(trace, thread),
			  .stack = stack,
			  .value = trace_value(trace, events[added->event], "ns", added->event),
			  .weight = added->weight,
			  .count = added->count,
		  },
		  trace_label_set(trace, &label, added->label ? 1 : 0));
}

/* What a sample of the trace says, in the form of the model. */
static struct added as_added(const struct trace *trace, size_t index)
{
	const struct sample *sample = &trace->samples[index];
	struct added added = {.weight = sample->weight, .count = sample->count};
	label_set_id labels = label_column_get(&trace->labels, index);
	size_t label_count;
	const struct label *label = label_sets_get(&trace->label_sets, labels, &label_count);
	assert_true(label_count <= 1);
	while (label_count && strcmp(texts[added.label], trace_text(trace, label->value)) != 0)
		assert_true(++added.label < COUNT(texts));
	const struct thread *thread = &trace->threads[sample->thread];
	added.pid = thread->pid;
	added.tid = thread->tid;
	while (strcmp(texts[added.comm], trace_text(trace, thread->comm)) != 0)
		assert_true(++added.comm < COUNT(texts));
	while (strcmp(events[added.event], trace_text(trace, trace->values[sample->value].name)) != 0)
		assert_true(++added.event < COUNT(events));
	for (stack_id at = sample->stack; at != STACK_ROOT; at = trace->stacks[at].parent)
		added.depth++;
	size_t depth = added.depth;
	assert_true(depth <= DEPTH_MAX);
	for (stack_id at = sample->stack; at != STACK_ROOT; at = trace->stacks[at].parent) {
		struct trace_frame frame = trace->frames[trace->stacks[at].frame];
		assert_true(trace->stacks[at].parent < at);
		const char *text = frame.kind == TRACE_TEXT ? trace_text(trace, (str_id)frame.address) : NULL;
		for (frame.address = text ? 0 : frame.address; text && strcmp(texts[frame.address], text) != 0;)
			assert_true(++frame.address < COUNT(texts));
		added.frames[--depth] = frame;
	}
	return added;
}

/* Not by trace_frame_equal(), which is tested too. */
static bool same_frame(const struct trace_frame *a, const struct trace_frame *b)
{
	return a->kind == b->kind && a->flags == b->flags && a->module == b->module && a->address == b->address &&
	       a->version == b->version;
}

static bool counts_the_same(const struct added *a, const struct added *b)
{
	bool same = a->depth == b->depth && a->pid == b->pid && a->tid == b->tid && a->comm == b->comm &&
		    a->event == b->event && a->label == b->label;
	for (size_t i = 0; same && i < a->depth; i++)
		same = same_frame(&a->frames[i], &b->frames[i]);
	return same;
}

/* Equal samples are one with the sum of weights and counts, and nothing else is there. */
static void expect(const struct trace *trace, const struct added *all, size_t count)
{
	bool *met = mem_zalloc(count + 1, sizeof *met);
	size_t total = 0;
	for (size_t i = 0; i < trace->sample_count; i++) {
		struct added sum = as_added(trace, i);
		int64_t weight = 0;
		uint32_t samples = 0;
		size_t equal = 0;
		for (size_t k = 0; k < count; k++) {
			if (met[k] || !counts_the_same(&sum, &all[k]))
				continue;
			met[k] = true;
			weight += all[k].weight;
			samples += all[k].count;
			equal++;
		}
		assert_true(equal > 0);
		assert_int_equal(sum.weight, weight);
		assert_int_equal(sum.count, samples);
		total += equal;
	}
	assert_int_equal(total, count);
	free(met);
}

/* Equal frames, stacks and threads have one id. */
static void expect_unique(const struct trace *trace)
{
	for (size_t i = 0; i < trace->frame_count; i++)
		for (size_t k = 0; k < i; k++)
			assert_false(trace_frame_equal(&trace->frames[i], &trace->frames[k]));
	for (size_t i = STACK_ROOT + 1; i < trace->stack_count; i++)
		for (size_t k = i + 1; k < trace->stack_count && k < i + 200; k++)
			assert_false(trace->stacks[i].parent == trace->stacks[k].parent &&
				     trace->stacks[i].frame == trace->stacks[k].frame);
	for (size_t i = THREAD_UNKNOWN + 1; i < trace->thread_count; i++)
		for (size_t k = THREAD_UNKNOWN + 1; k < i; k++)
			assert_false(trace->threads[i].pid == trace->threads[k].pid &&
				     trace->threads[i].tid == trace->threads[k].tid &&
				     trace->threads[i].comm == trace->threads[k].comm);
}

static void equal_samples_are_added_up(void **state)
{
	(void)state;
	struct added *all = mem_zalloc(ADDED_MAX, sizeof *all);
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct trace trace;
		uint64_t random = seed << 32;
		trace_init(&trace);
		size_t count = seed == 1 ? 0 : ADDED_MAX / 4 * seed - ADDED_MAX / 4;
		for (size_t i = 0; i < count; i++) {
			all[i] = some_sample(&random);
			add(&trace, &all[i]);
		}
		expect(&trace, all, count);
		expect_unique(&trace);
		assert_int_equal(trace.overflows, 0);
		trace_release(&trace);
	}
	free(all);
}

static void ordered_samples_stay_apart(void **state)
{
	(void)state;
	struct trace trace;
	uint64_t random = 5;
	trace_init(&trace);
	trace.ordered = true;
	struct added all[200];
	for (size_t i = 0; i < COUNT(all); i++) {
		all[i] = some_sample(&random);
		all[i].depth = all[i].depth ? 1 : 0; /* many are equal */
		add(&trace, &all[i]);
	}
	assert_int_equal(trace.sample_count, COUNT(all));
	for (size_t i = 0; i < COUNT(all); i++) {
		struct added seen = as_added(&trace, i);
		assert_true(counts_the_same(&seen, &all[i]));
		assert_int_equal(seen.weight, all[i].weight);
		assert_int_equal(seen.count, all[i].count);
	}
	trace_release(&trace);
}

/* Two traces grow at different times; what is new in them arrives in a third one, once. */
static void followers_give_what_grew(void **state)
{
	(void)state;
	struct added *all = mem_zalloc(ADDED_MAX, sizeof *all);
	struct trace from[2], into, sums;
	struct trace_follower followers[2] = {0};
	struct sample_list news = {0};
	uint64_t random = 77;
	trace_init(&from[0]);
	trace_init(&from[1]);
	trace_init(&into);
	trace_init(&sums);
	for (size_t count = 0; count < ADDED_MAX;) {
		for (size_t part = next(&random) % 300; part && count < ADDED_MAX; part--) {
			all[count] = some_sample(&random);
			all[count].count++; /* what does not grow is not news */
			add(&from[next(&random) % 2], &all[count++]);
		}
		size_t which = next(&random) % 2;
		trace_follow(&followers[which], &into, &from[which], &news);
	}
	for (size_t i = 0; i < 2; i++)
		trace_follow(&followers[i], &into, &from[i], &news);
	size_t known = news.count;
	for (size_t i = 0; i < 2; i++)
		trace_follow(&followers[i], &into, &from[i], &news);
	assert_int_equal(news.count, known); /* nothing happened */
	assert_int_equal(into.sample_count, 0);
	expect_unique(&into);
	for (size_t i = 0; i < news.count; i++)
		trace_add(&into, news.items[i], label_column_get(&news.labels, i));
	expect(&into, all, ADDED_MAX);
	trace_merge(&sums, &from[0]);
	trace_merge(&sums, &from[1]);
	expect(&sums, all, ADDED_MAX);
	assert_int_equal(sums.sample_count, into.sample_count);
	free(all);
	sample_list_release(&news);
	for (size_t i = 0; i < 2; i++) {
		trace_follower_release(&followers[i]);
		trace_release(&from[i]);
	}
	trace_release(&into);
	trace_release(&sums);
}

static void followed_frames_have_the_ids_of_the_other_trace(void **state)
{
	(void)state;
	struct trace from, into;
	struct trace_follower follower = {0};
	uint64_t random = 9;
	trace_init(&from);
	trace_init(&into);
	trace_text_frame(&into, "--"); /* so that ids differ */
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 20; i++) {
			struct trace_frame frame = some_frame(&random);
			if (frame.kind != TRACE_TEXT)
				trace_frame(&from, frame);
			trace_text_frame(&from, texts[next(&random) % COUNT(texts)]);
		}
		trace_follow_frames(&follower, &into, &from);
		for (size_t i = 0; i < from.frame_count; i++) {
			struct trace_frame frame = from.frames[i], other = into.frames[follower.frames.ids[i]];
			if (frame.kind == TRACE_TEXT) {
				assert_string_equal(trace_text(&from, (str_id)frame.address),
						    trace_text(&into, (str_id)other.address));
				frame.address = other.address;
			}
			assert_true(trace_frame_equal(&frame, &other));
		}
	}
	trace_follower_release(&follower);
	trace_release(&from);
	trace_release(&into);
}

static void the_first_event_stays_the_first(void **state)
{
	(void)state;
	struct trace trace, other;
	struct trace_follower follower = {0};
	struct sample_list news = {0};
	trace_init(&trace);
	trace_init(&other);
	value_id clock = trace_value(&trace, "cpu-clock", "ns", 3);
	assert_int_equal(trace_value(&trace, "cycles", "", 2), clock + 1);
	trace_follow(&follower, &other, &trace, &news);
	assert_int_equal(trace_value(&trace, "cpu-clock", "ns", 1), clock);
	assert_int_equal(trace_value(&trace, "cpu-clock", "ns", 5), clock);
	assert_int_equal(trace.values[clock].first_seen, 1);
	trace_follow(&follower, &other, &trace, &news); /* it was earlier than was known */
	assert_int_equal(other.values[follower.values.ids[clock]].first_seen, 1);
	assert_string_equal(trace_text(&trace, trace.values[clock].unit), "ns");
	trace_follower_release(&follower);
	trace_release(&trace);
	trace_release(&other);
}

static void sums_are_held_at_the_limit(void **state)
{
	(void)state;
	struct trace trace;
	trace_init(&trace);
	value_id value = trace_value(&trace, "cycles", "", 0);
	trace_add(&trace, (struct sample){.value = value, .weight = INT64_MAX - 1, .count = UINT32_MAX - 1},
		  LABEL_SET_EMPTY);
	trace_add(&trace, (struct sample){.value = value, .weight = 1, .count = 1}, LABEL_SET_EMPTY);
	assert_int_equal(trace.overflows, 0);
	trace_add(&trace, (struct sample){.value = value, .weight = 1, .count = 1}, LABEL_SET_EMPTY);
	assert_int_equal(trace.sample_count, 1);
	assert_true(trace.samples[0].weight == INT64_MAX);
	assert_int_equal(trace.samples[0].count, UINT32_MAX);
	assert_int_equal(trace.overflows, 1);
	trace_release(&trace);
}

static void words_keep_kind_and_address(void **state)
{
	(void)state;
	uint64_t random = 3;
	for (int i = 0; i < 10000; i++) {
		uint64_t word = next(&random) >> next(&random) % 64, address = word & TRACE_WORD_ADDRESS;
		unsigned kind = (unsigned)(next(&random) % TRACE_KINDS), exact = (unsigned)(next(&random) % 2);
		assert_true(trace_word_kind(word) < TRACE_KINDS); /* whatever it is */
		if (kind == TRACE_KERNEL)
			continue;
		word = trace_word(kind, address, exact);
		assert_int_equal(trace_word_kind(word), kind);
		assert_true(trace_word_address(word) == address);
		assert_int_equal(trace_word_is_exact(word), exact);
	}
	/* Addresses of the kernel, and of the page of system calls that it maps for programs, are as they are. */
	const uint64_t addresses[] = {0xffffffff81000010, 0xff11000000000000, 0xffffffffff600000};
	for (size_t i = 0; i < COUNT(addresses); i++) {
		assert_int_equal(trace_word_kind(addresses[i]), TRACE_KERNEL);
		assert_true(trace_word_address(addresses[i]) == addresses[i]);
	}
}

static void merging_keeps_times_where_they_are_kept(void **state)
{
	(void)state;
	struct trace into, from;
	trace_init(&into);
	trace_init(&from);
	into.keep_times = from.keep_times = true;
	struct sample sample = {.value = trace_value(&from, "cycles", "", 0), .weight = 1, .count = 1};
	trace_add_timed(&from, sample, LABEL_SET_EMPTY, (struct sample_time){100, 5, 2});
	trace_add(&from, sample, LABEL_SET_EMPTY);
	trace_add_timed(&from, sample, LABEL_SET_EMPTY, (struct sample_time){90, 0, 1});
	trace_merge(&into, &from);
	static const struct sample_time wanted[] = {{100, 5, 2}, {UINT64_MAX, 0, UINT32_MAX}, {90, 0, 1}};
	assert_int_equal(into.sample_count, 3);
	for (size_t i = 0; i < 3; i++) {
		struct sample_time time = trace_sample_time(&into, i);
		assert_int_equal(time.time, wanted[i].time);
		assert_int_equal(time.duration, wanted[i].duration);
		assert_int_equal(time.cpu, wanted[i].cpu);
	}
	trace_release(&into);
	trace_init(&into);
	trace_merge(&into, &from);
	assert_int_equal(into.sample_count, 1);
	assert_int_equal(into.samples[0].count, 3);
	assert_null(into.times.times);
	trace_release(&into);
	trace_release(&from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_samples_are_added_up),
		cmocka_unit_test(ordered_samples_stay_apart),
		cmocka_unit_test(followers_give_what_grew),
		cmocka_unit_test(followed_frames_have_the_ids_of_the_other_trace),
		cmocka_unit_test(the_first_event_stays_the_first),
		cmocka_unit_test(sums_are_held_at_the_limit),
		cmocka_unit_test(words_keep_kind_and_address),
		cmocka_unit_test(merging_keeps_times_where_they_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
