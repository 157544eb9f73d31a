/* Orders modules by weight, and downloads their debug files. */
#include "symbolize/fetch.h"

#include "base/mem.h"
#include "symbolize/rules.h"

struct heat {
	module_id module;
	uint64_t frames; /* over all samples */
};

static int hotter_first(const void *left, const void *right)
{
	const struct heat *a = left, *b = right;
	if (a->frames != b->frames)
		return a->frames > b->frames ? -1 : 1;
	return a->module < b->module ? -1 : a->module > b->module;
}

static void add_heat(struct heat *heats, size_t count, const struct trace *trace)
{
	uint64_t *passes CLEANUP_FREE = mem_zalloc(trace->stack_count, sizeof *passes);
	for (size_t i = 0; i < trace->sample_count; i++)
		passes[trace->samples[i].stack] += trace->samples[i].count;
	for (size_t i = trace->stack_count; i-- > 1;) {
		const struct stack *stack = &trace->stacks[i];
		module_id id = frame_rule_module(&trace->frames[stack->frame]);
		passes[stack->parent] += passes[i];
		if (id < count)
			heats[id].frames += passes[i];
	}
}

void fetch_debug_files(struct module_store *codes, const struct trace *trace)
{
	size_t count = codes->modules->count;
	if (!codes->debuginfod || !count)
		return;
	struct heat *heats CLEANUP_FREE = mem_zalloc(count, sizeof *heats);
	for (size_t i = 0; i < count; i++)
		heats[i].module = (module_id)i;
	add_heat(heats, count, trace);
	qsort(heats, count, sizeof *heats, hotter_first);
	for (size_t i = 0; i < count && heats[i].frames; i++)
		module_code_fetch(module_store_get(codes, heats[i].module));
}
