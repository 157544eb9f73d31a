/* Derives advice from what a recording lacks. */
#include "collect/advice.h"

#include <inttypes.h>

#define USUAL_HZ 99
#define STACK_BYTES_MAX 65528 /* the most that perf copies of a stack */
#define WICK_STACK_BYTES_MAX 63488 /* the most that wick record does */

/* --- where stacks break --- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* JIT code of several processes is shown as one module. */
static bool is_named(const struct advice_broken *broken, const char *name)
{
	for (size_t i = 0; i < broken->count; i++)
		if (strcmp(broken->modules[i], name) == 0)
			return true;
	return false;
}

void advice_find_broken(struct advice_broken *broken, struct module_store *codes, const uint64_t *amounts)
{
	module_id modules[REMEDIES_MAX];
	size_t count = remedies_rank(codes, amounts, modules);
	*broken = (struct advice_broken){.remedy = ""};
	for (size_t i = 0; i < count; i++) {
		struct module_code *code = module_store_get(codes, modules[i]);
		const char *name = last_part(module_code_shown_module(code));
		if (!*broken->remedy)
			broken->remedy = module_code_stack_advice(code);
		if (!is_named(broken, name) && broken->count < ADVICE_BROKEN_MAX)
			broken->modules[broken->count++] = name;
	}
}

/* --- why stacks are truncated --- */

static void advise_larger_copies(struct buf *out, const struct advice_facts *facts)
{
	uint32_t bytes = facts->stack_bytes;
	if (facts->by_engine)
		buf_str(out, "stacks of a program that has just started were larger than their copies: record longer");
	else if (facts->by_wick && bytes && bytes < WICK_STACK_BYTES_MAX)
		buf_printf(out, "stack copies were too small: record with --stack-size %u", WICK_STACK_BYTES_MAX);
	else if (facts->by_wick && bytes)
		buf_printf(out,
			   "stacks are larger than the largest stack copy (%u bytes): record as root with --engine bpf",
			   WICK_STACK_BYTES_MAX);
	else if (facts->by_wick)
		buf_str(out, "stacks are larger than their copies: record as root with --engine bpf"); /* of a file */
	else if (bytes < STACK_BYTES_MAX)
		buf_printf(out, "stack copies (%u bytes) were too small: record with --call-graph dwarf,%u", bytes,
			   STACK_BYTES_MAX);
	else
		buf_printf(out, "stacks are larger than the largest stack copy of perf (%u bytes)", bytes);
}

static void advise_other_stack(struct buf *out, const struct advice_facts *facts)
{
	buf_str(out, "on a stack other than the one that was copied (signal handlers, coroutines, goroutines)");
	if (facts->by_engine)
		buf_str(out, ", in a program that has just started: record longer");
	else if (facts->by_wick)
		buf_str(out, ", which only the BPF engine reads");
}

static void advise_broken(struct buf *out, const struct advice_facts *facts)
{
	const struct advice_broken *broken = &facts->broken;
	bool frame_pointers = !facts->by_wick && !facts->stack_bytes;
	buf_str(out,
		frame_pointers ? "in code without frame pointers" : "in code without unwind tables or frame pointers");
	for (size_t i = 0; i < broken->count; i++)
		buf_printf(out, "%s%s", i ? ", " : " (", broken->modules[i]);
	buf_str(out, broken->count ? ")" : "");
	if (frame_pointers)
		buf_str(out, ": record with --call-graph dwarf");
	else if (broken->remedy && *broken->remedy)
		buf_printf(out, ": %s", broken->remedy);
	else
		buf_str(out, ", or in code that was changing its stack");
}

static void advise_on(struct buf *out, const struct advice_facts *facts, enum stack_end end)
{
	switch (end) {
	case STACK_CUT:
		advise_larger_copies(out, facts);
		break;
	case STACK_DEEP:
		buf_str(out, "deeper than the call chain limit of the kernel: sudo sysctl "
			     "kernel.perf_event_max_stack=1024, then record again");
		break;
	case STACK_BROKEN:
		advise_broken(out, facts);
		break;
	case STACK_ABSENT:
		buf_str(out, "stack memory was not resident when the sample was taken");
		break;
	case STACK_OTHER:
		advise_other_stack(out, facts);
		break;
	case STACK_NARROW:
		buf_str(out, "in 32-bit programs, in code without unwind tables or frame pointers");
		break;
	case STACK_INTERPRETER:
		buf_str(out, "in an interpreter whose frames could not be followed to the first one");
		break;
	case STACK_FOREIGN:
		buf_str(out, "recorded on another architecture, with unknown registers: read it there, or record with "
			     "--call-graph fp");
		break;
	default:
		break;
	}
}

static void write_share(struct buf *out, uint64_t part, uint64_t all)
{
	double percent = 100.0 * (double)part / (double)all;
	if (percent < 1)
		buf_str(out, "<1 % ");
	else if (part < all && percent > 99)
		buf_str(out, ">99 % ");
	else
		buf_printf(out, "%.0f %% ", percent);
}

/* The commonest first. */
void advice_on_truncated(struct buf *out, const struct advice_facts *facts)
{
	static const enum stack_end reasons[] = {STACK_FOREIGN, STACK_CUT,   STACK_ABSENT, STACK_DEEP,
						 STACK_BROKEN,  STACK_OTHER, STACK_NARROW, STACK_INTERPRETER};
	enum { REASONS = sizeof reasons / sizeof *reasons };
	enum stack_end order[REASONS] = {0};
	uint64_t all = 0;
	size_t count = 0;
	for (size_t i = 0; i < REASONS; i++) {
		uint64_t amount = facts->ends[reasons[i]];
		size_t at = count;
		if (!amount)
			continue;
		for (; at && facts->ends[order[at - 1]] < amount; at--)
			order[at] = order[at - 1];
		order[at] = reasons[i];
		count++;
		all += amount;
	}
	for (size_t i = 0; i < count; i++) {
		buf_str(out, i ? "; " : "");
		if (count > 1)
			write_share(out, facts->ends[order[i]], all);
		advise_on(out, facts, order[i]);
	}
}

/* --- why samples are lost --- */

void advice_on_lost(struct buf *out, const struct advice_facts *facts)
{
	uint64_t half = facts->frequency / 2, fewer = !facts->frequency || half > USUAL_HZ ? USUAL_HZ : half;
	if (facts->each)
		buf_str(out, "too many events per second: record only every hundredth (-e EVENT -c 100)");
	else if (facts->by_wick)
		buf_printf(out, "record fewer samples (-F %" PRIu64 ")", fewer ? fewer : 1);
	else
		buf_str(out, "record with a larger buffer (-m 16M)");
}

/* Fewer samples would not help: no sample is in the way of these. */
void advice_on_lost_records(struct buf *out, const struct advice_facts *facts)
{
	if (facts->by_wick)
		buf_str(out, "mappings were read again from /proc, but code that was mapped only for a short time may "
			     "have no names: record a smaller target (-p)");
	else
		buf_str(out, "code that was mapped meanwhile may have no names: record with a larger buffer (-m 16M)");
}

/* --- what cannot be seen --- */

void advice_on_names(struct buf *out, const struct module_store *codes, const struct profile *profile)
{
	bool evaluates = false, named = false;
	for (size_t i = 0; i < profile->function_count; i++) {
		const char *name = profile_text(profile, profile->functions[i].name);
		evaluates |= strcmp(name, "_PyEval_EvalFrameDefault") == 0;
		named |= strncmp(name, "py::", 4) == 0;
	}
	for (size_t i = 0; i < profile->frame_count && !named; i++)
		named = profile->frames[i].kind == FRAME_PYTHON;
	for (size_t i = 0; i < codes->runtime_count && evaluates && !named && !out->size; i++)
		runtime_python_advice(out, codes->runtimes[i].runtime);
}
