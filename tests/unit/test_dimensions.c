/* Labels and times of samples: random profiles against a model that keeps every sample as a line of text. */
#include "unit.h"

#include "base/buf.h"
#include "profile/match.h"
#include "profile/profile.h"

#include <stdio.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static unsigned below(uint64_t *state, unsigned limit)
{
	return (unsigned)(next_random(state) % limit);
}

/* --- the model --- */

static const char *const keys[] = {"cgroup", "cpu", "unit", "a", "cpu0"}; /* one is the beginning of another */
static const char *const values[] = {"", "0", "1", "/a", "/a/b", "cpu"};
static const char *const comms[] = {"java", "postgres", "sh"};
static const char *const events[] = {"cycles", "faults", ""};
enum { KEYS = 5, VALUES = 6, COMMS = 3, EVENTS = 3, DEPTH_MAX = 3 };

struct model_sample {
	unsigned comm, event, value[KEYS]; /* value 0: no such label */
	unsigned depth, frames[DEPTH_MAX];
	int64_t weight;
	uint32_t count;
	struct sample_time time;
};

struct model {
	struct model_sample *samples;
	size_t count, capacity;
};

static struct model_sample random_sample(uint64_t *state)
{
	struct model_sample sample = {
		.comm = below(state, COMMS),
		.event = below(state, EVENTS),
		.depth = below(state, DEPTH_MAX + 1),
		.weight = below(state, 100),
		.count = 1 + below(state, 3),
		.time = {next_random(state), below(state, 1000), below(state, 64)},
	};
	for (unsigned i = 0; i < sample.depth; i++)
		sample.frames[i] = below(state, 2);
	for (unsigned i = 0; i < KEYS; i++)
		sample.value[i] = below(state, 2) ? below(state, VALUES) : 0;
	return sample;
}

/* One line: what makes a sample another one than the others. */
struct line {
	char *key;
	int64_t weight;
	uint64_t count;
};

struct lines {
	struct line *items;
	size_t count, capacity;
};

static void lines_release(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->items[i].key);
	free(lines->items);
}

/* With `add_up` lines of equal keys become one. */
static void add_line(struct lines *lines, const struct buf *key, int64_t weight, uint64_t count, bool add_up)
{
	for (size_t i = 0; add_up && i < lines->count; i++)
		if (!strcmp(lines->items[i].key, key->data)) {
			lines->items[i].weight += weight;
			lines->items[i].count += count;
			return;
		}
	MEM_ROOM(lines->items, lines->count, lines->capacity);
	lines->items[lines->count++] = (struct line){mem_strdup(key->data), weight, count};
}

static void put_time(struct buf *out, struct sample_time time)
{
	buf_printf(out, " %llu %llu %u", (unsigned long long)time.time, (unsigned long long)time.duration, time.cpu);
}

static void model_line(struct lines *lines, const struct model_sample *sample, bool timed)
{
	static const unsigned sorted[KEYS] = {3, 0, 1, 4, 2}; /* a, cgroup, cpu, cpu0, unit */
	struct buf key CLEANUP_BUF = {0};
	buf_printf(&key, "%s %s", comms[sample->comm], events[sample->event]);
	for (unsigned i = 0; i < sample->depth; i++)
		buf_printf(&key, ";f%u", sample->frames[i]);
	for (unsigned i = 0; i < KEYS; i++)
		if (sample->value[sorted[i]])
			buf_printf(&key, " %s=%s", keys[sorted[i]], values[sample->value[sorted[i]]]);
	if (timed)
		put_time(&key, sample->time);
	buf_char(&key, '\0');
	add_line(lines, &key, sample->weight, sample->count, !timed);
}

static struct lines model_lines(const struct model *model, bool timed)
{
	struct lines lines = {0};
	for (size_t i = 0; i < model->count; i++)
		model_line(&lines, &model->samples[i], timed);
	return lines;
}

/* --- the profile --- */

static void put_stack(struct buf *out, const struct profile *profile, stack_id stack)
{
	if (stack == STACK_ROOT)
		return;
	put_stack(out, profile, profile->stacks[stack].parent);
	const struct frame *frame = &profile->frames[profile->stacks[stack].frame];
	buf_printf(out, ";%s", profile_text(profile, profile->functions[frame->function].name));
}

/* The labels as they are stored, so that a set that is not sorted differs. */
static void sample_line(struct lines *lines, const struct profile *profile, const struct sample *sample,
			label_set_id labels, const struct sample_time *time)
{
	struct buf key CLEANUP_BUF = {0};
	size_t count;
	const struct label *label = label_sets_get(&profile->label_sets, labels, &count);
	buf_printf(&key, "%s %s", profile_text(profile, profile->threads[sample->thread].comm),
		   profile_text(profile, profile->values[sample->value].name));
	put_stack(&key, profile, sample->stack);
	for (; count--; label++)
		buf_printf(&key, " %s=%s", profile_text(profile, label->key), profile_text(profile, label->value));
	if (time)
		put_time(&key, *time);
	buf_char(&key, '\0');
	add_line(lines, &key, sample->weight, sample->count, false);
}

static struct lines profile_lines(const struct profile *profile)
{
	struct lines lines = {0};
	for (size_t i = 0; i < profile->sample_count; i++) {
		struct sample_time time = profile_sample_time(profile, i);
		sample_line(&lines, profile, &profile->samples[i], label_column_get(&profile->labels, i),
			    profile->keep_times ? &time : NULL);
	}
	return lines;
}

static int compare_lines(const void *left, const void *right)
{
	return strcmp(((const struct line *)left)->key, ((const struct line *)right)->key);
}

/* Frees both. */
static void assert_same(struct lines got, struct lines wanted)
{
	assert_int_equal(got.count, wanted.count);
	qsort(got.items, got.count, sizeof *got.items, compare_lines);
	qsort(wanted.items, wanted.count, sizeof *wanted.items, compare_lines);
	for (size_t i = 0; i < got.count; i++) {
		assert_string_equal(got.items[i].key, wanted.items[i].key);
		assert_int_equal(got.items[i].weight, wanted.items[i].weight);
		assert_int_equal(got.items[i].count, wanted.items[i].count);
	}
	lines_release(&got);
	lines_release(&wanted);
}

static str_id text_id(struct profile *profile, const char *text)
{
	return profile_string(profile, text, strlen(text));
}

/* In any order, some of them twice: the last value of a key counts. */
static label_set_id add_labels(struct profile *profile, const struct model_sample *sample, uint64_t *state)
{
	struct label labels[2 * KEYS];
	unsigned count = 0, first = below(state, KEYS);
	for (unsigned i = 0; i < KEYS; i++)
		if (below(state, 4) == 0)
			labels[count++] = (struct label){text_id(profile, keys[i]), text_id(profile, values[1])};
	for (unsigned i = 0; i < KEYS; i++) {
		unsigned key = (first + i) % KEYS;
		labels[count++] =
			(struct label){text_id(profile, keys[key]), text_id(profile, values[sample->value[key]])};
	}
	return profile_label_set(profile, labels, count);
}

static void add(struct profile *profile, struct model *model, uint64_t *state)
{
	struct model_sample sample = random_sample(state);
	stack_id stack = STACK_ROOT;
	for (unsigned i = 0; i < sample.depth; i++) {
		char name[] = {'f', (char)('0' + sample.frames[i]), '\0'};
		function_id function = profile_function(profile, (struct function){.name = text_id(profile, name)});
		stack = profile_stack(profile, stack, profile_frame(profile, (struct frame){.function = function}));
	}
	struct sample sum = {
		.weight = sample.weight,
		.count = sample.count,
		.thread = profile_thread(profile, (struct thread){-1, -1, text_id(profile, comms[sample.comm])}),
		.stack = stack,
		.value = profile_value(profile, events[sample.event], ""),
	};
	label_set_id labels = add_labels(profile, &sample, state);
	profile->values[sum.value].samples += sum.count;
	profile->quality.samples += sum.count;
	if (profile->keep_times)
		profile_add_timed(profile, sum, labels, sample.time);
	else
		profile_add_labeled(profile, sum, labels);
	MEM_ROOM(model->samples, model->count, model->capacity);
	model->samples[model->count++] = sample;
}

static void random_profile(struct profile *profile, struct model *model, bool timed, uint64_t *state)
{
	profile_init(profile);
	if (timed)
		profile_keep_times(profile);
	*model = (struct model){0};
	for (unsigned i = below(state, 300); i--;)
		text_id(profile, i % 2 ? "some" : "strings"); /* so that ids differ */
	for (unsigned i = below(state, 400); i--;)
		add(profile, model, state);
}

static void release(struct profile *profile, struct model *model)
{
	profile_release(profile);
	free(model->samples);
}

#define ROUNDS 60

static void sets_are_equal_if_their_labels_are(void **state)
{
	(void)state;
	uint64_t random = 1;
	struct profile p;
	struct model_sample samples[200];
	label_set_id ids[200];
	profile_init(&p);
	assert_int_equal(profile_label_set(&p, NULL, 0), LABEL_SET_EMPTY);
	for (int i = 0; i < 200; i++) {
		samples[i] = random_sample(&random);
		if (i % 3)
			samples[i].value[i % KEYS] = samples[i / 2].value[i % KEYS];
		ids[i] = add_labels(&p, &samples[i], &random);
	}
	for (int i = 0; i < 200; i++)
		for (int k = 0; k < 200; k++)
			assert_int_equal(ids[i] == ids[k],
					 !memcmp(samples[i].value, samples[k].value, sizeof samples[i].value));
	for (int i = 0; i < 200; i++)
		for (int k = 0; k < KEYS; k++)
			assert_string_equal(profile_text(&p, profile_label(&p, ids[i], keys[k])),
					    values[samples[i].value[k]]);
	assert_int_equal(profile_label(&p, ids[0], "no such key"), 0);
	profile_release(&p);
}

static void one_more_label_makes_the_set_of_all(void **state)
{
	(void)state;
	uint64_t random = 2;
	struct profile p;
	profile_init(&p);
	for (int round = 0; round < 300; round++) {
		struct model_sample sample = random_sample(&random);
		label_set_id id = add_labels(&p, &sample, &random);
		unsigned key = below(&random, KEYS), value = below(&random, VALUES);
		struct label label = {text_id(&p, keys[key]), text_id(&p, values[value])};
		label_set_id with = label_sets_with(&p.label_sets, &p.strings, id, label);
		sample.value[key] = value;
		assert_int_equal(with, add_labels(&p, &sample, &random));
	}
	profile_release(&p);
}

static void keys_of_all_sets_are_listed_once_and_sorted(void **state)
{
	(void)state;
	uint64_t random = 7;
	struct profile p;
	profile_init(&p);
	str_id *found;
	assert_int_equal(label_sets_keys(&p.label_sets, &p.strings, &found), 0);
	free(found);
	bool used[KEYS] = {false};
	for (int round = 0; round < 40; round++) {
		struct model_sample sample = random_sample(&random);
		for (unsigned i = 0; i < KEYS; i++) {
			sample.value[i] = round > 20 || i % 2 ? sample.value[i] : 0;
			used[i] = used[i] || *values[sample.value[i]];
		}
		add_labels(&p, &sample, &random);
		size_t wanted = 0, count = label_sets_keys(&p.label_sets, &p.strings, &found);
		for (unsigned i = 0; i < KEYS; i++)
			wanted += used[i];
		assert_int_equal(count, wanted);
		for (size_t i = 0; i < count; i++) {
			const char *key = profile_text(&p, found[i]);
			assert_true(i == 0 || strcmp(profile_text(&p, found[i - 1]), key) < 0);
			for (unsigned k = 0; k < KEYS; k++)
				assert_true(strcmp(keys[k], key) != 0 || used[k]);
		}
		free(found);
	}
	profile_release(&p);
}

static void samples_add_up_by_their_labels_unless_times_are_kept(void **state)
{
	(void)state;
	uint64_t random = 3;
	for (int round = 0; round < ROUNDS; round++) {
		struct profile p;
		struct model model;
		random_profile(&p, &model, round % 2, &random);
		assert_same(profile_lines(&p), model_lines(&model, round % 2));
		release(&p, &model);
	}
}

/* A profile without them has no arrays for them. */
static void what_is_not_asked_for_costs_nothing(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	for (int i = 0; i < 100; i++)
		profile_add_timed(&p, (struct sample){.thread = profile_thread(&p, (struct thread){.tid = i})},
				  LABEL_SET_EMPTY, (struct sample_time){.time = 1});
	assert_int_equal(p.sample_count, 100);
	assert_null(p.labels.ids);
	assert_null(p.label_sets.ranges);
	assert_null(p.times.times);
	assert_int_equal(profile_sample_time(&p, 0).time, UINT64_MAX);
	assert_int_equal(sizeof(struct sample), 24);
	profile_release(&p);
}

static void what_was_there_before_times_are_kept_has_none(void **state)
{
	(void)state;
	struct profile p;
	profile_init(&p);
	profile_add_sum(&p, (struct sample){.weight = 1, .count = 1});
	profile_keep_times(&p);
	profile_add_timed(&p, (struct sample){.weight = 2, .count = 1}, LABEL_SET_EMPTY,
			  (struct sample_time){.time = 7, .duration = 3, .cpu = 1});
	profile_add_sum(&p, (struct sample){.weight = 4, .count = 1});
	profile_keep_times(&p); /* again changes nothing */
	assert_int_equal(p.sample_count, 3);
	assert_int_equal(profile_sample_time(&p, 0).time, UINT64_MAX);
	assert_int_equal(profile_sample_time(&p, 1).time, 7);
	assert_int_equal(profile_sample_time(&p, 1).duration, 3);
	assert_int_equal(profile_sample_time(&p, 1).cpu, 1);
	assert_int_equal(profile_sample_time(&p, 2).time, UINT64_MAX);
	profile_release(&p);
}

static void merging_keeps_labels_and_times(void **state)
{
	(void)state;
	uint64_t random = 4;
	for (int round = 0; round < ROUNDS; round++) {
		struct profile into, from;
		struct model model, other;
		bool timed = round & 1, other_timed = round & 2;
		random_profile(&into, &model, timed, &random);
		random_profile(&from, &other, other_timed, &random);
		profile_merge(&into, &from);
		/* What was added up before has no times. */
		struct lines wanted = model_lines(&model, timed);
		for (size_t i = 0; i < other.count && (!timed || other_timed); i++)
			model_line(&wanted, &other.samples[i], timed);
		for (size_t i = 0; i < from.sample_count && timed && !other_timed; i++)
			sample_line(&wanted, &from, &from.samples[i], label_column_get(&from.labels, i),
				    &SAMPLE_TIME_UNKNOWN);
		assert_same(profile_lines(&into), wanted);
		release(&into, &model);
		release(&from, &other);
	}
}

static bool fits(const struct model_sample *sample, const struct profile_filter *filter)
{
	for (const struct label_filter *label = filter->labels; label->key; label++)
		for (unsigned i = 0; i < KEYS; i++)
			if (!strcmp(keys[i], label->key) && !match_text(label->values, values[sample->value[i]]))
				return false;
	return match_text(filter->comms, comms[sample->comm]);
}

static void filters_keep_labels_and_times_with_their_samples(void **state)
{
	(void)state;
	static const char *const below_a[] = {"/a*", NULL}, *const numbers[] = {"[01]", "cpu", NULL},
				 *const none[] = {"", NULL}, *const java[] = {"java", NULL};
	static const struct label_filter filters[][3] = {
		{{"cgroup", below_a}, {NULL, NULL}},
		{{"cpu", numbers}, {"unit", none}, {NULL, NULL}},
		{{"a", none}, {NULL, NULL}},
		{{NULL, NULL}},
	};
	uint64_t random = 5;
	for (int round = 0; round < ROUNDS; round++) {
		struct profile p;
		struct model model, kept = {0};
		random_profile(&p, &model, round % 2, &random);
		struct profile_filter filter = {.labels = filters[round % 4], .comms = round % 3 ? NULL : java};
		profile_keep(&p, &filter);
		for (int more = 0; more < 20; more++) /* places that became free are used again */
			add(&p, &model, &random);
		kept.samples = mem_alloc(model.count * sizeof *kept.samples);
		for (size_t i = 0; i < model.count; i++)
			if (i + 20 >= model.count || fits(&model.samples[i], &filter))
				kept.samples[kept.count++] = model.samples[i];
		assert_same(profile_lines(&p), model_lines(&kept, round % 2));
		free(kept.samples);
		release(&p, &model);
	}
}

static void one_event_keeps_the_labels_and_times_of_its_samples(void **state)
{
	(void)state;
	uint64_t random = 6;
	for (int round = 0; round < ROUNDS; round++) {
		struct profile p;
		struct model model, kept = {0};
		random_profile(&p, &model, round % 2, &random);
		profile_keep_value(&p, profile_value(&p, events[0], ""));
		kept.samples = mem_alloc((model.count + 1) * sizeof *kept.samples);
		for (size_t i = 0; i < model.count; i++) {
			struct model_sample sample = model.samples[i];
			if (sample.event == 1)
				continue;
			sample.event = 0; /* samples without an event belong to every event */
			kept.samples[kept.count++] = sample;
		}
		assert_same(profile_lines(&p), model_lines(&kept, round % 2));
		free(kept.samples);
		release(&p, &model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_are_equal_if_their_labels_are),
		cmocka_unit_test(one_more_label_makes_the_set_of_all),
		cmocka_unit_test(keys_of_all_sets_are_listed_once_and_sorted),
		cmocka_unit_test(samples_add_up_by_their_labels_unless_times_are_kept),
		cmocka_unit_test(what_is_not_asked_for_costs_nothing),
		cmocka_unit_test(what_was_there_before_times_are_kept_has_none),
		cmocka_unit_test(merging_keeps_labels_and_times),
		cmocka_unit_test(filters_keep_labels_and_times_with_their_samples),
		cmocka_unit_test(one_event_keeps_the_labels_and_times_of_its_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
