/* Events → profile. The code that is sampled is JIT code with a perf map, so that no ELF file is needed. */
#ifndef WICK_TESTS_COLLECTING_H
#define WICK_TESTS_COLLECTING_H

#include "unit.h"

#include "collect/collect.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CODE 0x10000
#define INNER (CODE + 0x10)
#define OUTER (CODE + 0x50)
#define MAIN (CODE + 0x90)
#define OTHER (CODE + 0xd0)
#define NAMELESS (CODE + 0x800)
#define APART (CODE + 0x900)
#define UNMAPPED 0x7000000

static char map_path[64];

static inline int write_map(void **state)
{
	(void)state;
	snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(map_path, "w");
	if (!map)
		return -1;
	fprintf(map, "%x 40 inner\n%x 40 outer\n%x 40 main\n%x 40 other\n%x 40 apart\n", CODE, CODE + 0x40, CODE + 0x80,
		CODE + 0xc0, APART);
	return fclose(map);
}

static inline int remove_map(void **state)
{
	(void)state;
	return unlink(map_path);
}

struct run {
	struct collector *collector;
	struct event_sink sink;
	struct event_source sources[2];
	struct profile profile;
	struct buf seen; /* of `each` */
	int32_t pid;
};

static const struct event_source *give_sources(void *context, size_t *ret_count)
{
	*ret_count = 2;
	return ((struct run *)context)->sources;
}

static inline struct run *start(const struct collect_options *given)
{
	struct run *run = mem_zalloc(1, sizeof *run);
	struct collect_options options = *given;
	if (!options.each_context)
		options.each_context = run;
	run->pid = (int32_t)getpid();
	for (int i = 0; i < 2; i++)
		run->sources[i] = (struct event_source){
			.name = i ? "faults" : "cycles",
			.attr = {.sample_type = PERF_SAMPLE_CALLCHAIN, .sample_max_stack = 8},
		};
	run->collector = collector_new(&options);
	run->sink = collector_sink(run->collector);
	collector_set_reader(run->collector, &(struct collect_reader){.context = run, .sources = give_sources});
	struct event_mmap mmap = {.pid = run->pid, .tid = run->pid, .start = CODE, .length = 0x1000, .path = "//anon"};
	assert_int_equal(sink_mmap(&run->sink, &mmap), 0);
	struct event_comm comm = {.pid = run->pid, .tid = run->pid, .comm = "a b;c"};
	assert_int_equal(sink_comm(&run->sink, &comm), 0);
	profile_init(&run->profile);
	return run;
}

static inline void finish(struct run *run)
{
	collector_finish(run->collector, &run->profile);
	collector_free(run->collector);
	run->collector = NULL;
}

static inline void end(struct run *run)
{
	if (run->collector)
		collector_free(run->collector);
	profile_release(&run->profile);
	buf_release(&run->seen);
	free(run);
}

static inline struct event_sample sample_of(const struct run *run, const uint64_t *chain, size_t count)
{
	return (struct event_sample){
		.mode = MODE_USER,
		.pid = run->pid,
		.tid = run->pid,
		.cpu = 3,
		.time = 1000,
		.period = 10,
		.ip = count > 1 ? chain[1] : 0,
		.chain = chain,
		.chain_count = count,
	};
}

#define USER_CHAIN(...) ((const uint64_t[]){(uint64_t)PERF_CONTEXT_USER, __VA_ARGS__})
/* Takes a sample; what follows the chain changes its fields. */
#define TAKE(run, chain, ...)                                                         \
	do {                                                                          \
		struct event_sample taken = sample_of(run, chain, sizeof(chain) / 8); \
		struct event_sample *s = &taken;                                      \
		(void)s;                                                              \
		__VA_ARGS__;                                                          \
		assert_int_equal(sink_sample(&(run)->sink, &taken), 0);               \
	} while (0)

/* All samples as "comm{cpu=3};main;inner weight\n", in their order. */
static inline char *folded(const struct profile *profile)
{
	struct buf out = {0};
	buf_str(&out, "");
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct sample *sample = &profile->samples[i];
		const char *names[64];
		size_t count = 0;
		for (stack_id at = sample->stack; at != STACK_ROOT; at = profile->stacks[at].parent) {
			const struct frame *frame = &profile->frames[profile->stacks[at].frame];
			names[count++] = profile_text(profile, profile->functions[frame->function].name);
		}
		buf_str(&out, profile_text(profile, profile->threads[sample->thread].comm));
		size_t label_count;
		const struct label *label =
			label_sets_get(&profile->label_sets, label_column_get(&profile->labels, i), &label_count);
		for (; label_count--; label++)
			buf_printf(&out, "{%s=%s}", profile_text(profile, label->key),
				   profile_text(profile, label->value));
		while (count-- > 0)
			buf_printf(&out, ";%s", names[count]);
		buf_printf(&out, " %lld\n", (long long)sample->weight);
	}
	return out.data;
}

static inline void expect(const struct run *run, const char *wanted)
{
	char *text CLEANUP_FREE = folded(&run->profile);
	assert_string_equal(text, wanted);
}

#endif
