/* Adds the stack of a sample to the trace of a worker. */
#include "collect/tally.h"

#include "symbolize/rules.h"
#include <stdio.h>
#include <string.h>

void tally_init(struct tally *tally, bool ordered)
{
	*tally = (struct tally){.cpu = UINT32_MAX};
	trace_init(&tally->trace);
	tally->trace.ordered = ordered;
}

void tally_release(struct tally *tally)
{
	trace_release(&tally->trace);
	free(tally->path);
	free(tally->stacks);
	free(tally->broken);
}

/* Where frame pointers hold something else stacks end in any number of addresses that mean nothing. */
static struct trace_frame counted_frame(const struct tally *tally, struct trace_frame frame)
{
	if (frame_rule_is_unmapped(&frame) && !tally->unmapped_apart)
		return (struct trace_frame){.kind = frame.kind, .module = MODULE_NONE};
	return frame;
}

uint32_t tally_frame(void *context, const struct trace_frame *frame)
{
	struct tally *tally = context;
	size_t known = tally->trace.frame_count;
	trace_frame_id id = trace_frame(&tally->trace, counted_frame(tally, *frame));
	if (id >= known && frame_rule_module(frame) != MODULE_NONE)
		preparer_add(tally->preparer, frame->module, frame->address);
	return id;
}

uint32_t tally_waker_frame(struct tally *tally, const struct trace_frame *frame)
{
	struct trace_frame inverted = counted_frame(tally, *frame);
	inverted.flags |= TRACE_INVERTED;
	return trace_frame(&tally->trace, inverted);
}

/* The frame that stands for what is missing of a stack; PROFILE_NONE when nothing is, or the stack shows it itself. */
static trace_frame_id frame_of_end(struct tally *tally, const struct stack_frame *frames, size_t count,
				   enum stack_end end)
{
	if (end == STACK_UNSEEN)
		return trace_text_frame(&tally->trace, "[no stack: waited before the recording began]");
	if (!count && end == STACK_WHOLE)
		return trace_text_frame(&tally->trace, "[no stack]");
	/* An address outside all code says that the stack is not whole. */
	if (end == STACK_WHOLE || (count && frame_rule_is_unmapped(&frames[count - 1].frame)))
		return PROFILE_NONE;
	return trace_frame(&tally->trace, (struct trace_frame){.kind = TRACE_TRUNCATED, .module = MODULE_NONE});
}

/* Goes one frame further in, at `depth`; `shared` as long as all frames were those of the sample before. */
static void step(struct tally *tally, size_t depth, trace_frame_id frame, bool *shared)
{
	if (*shared && depth < tally->depth && tally->path[depth] == frame)
		return;
	*shared = false;
	tally->path[depth] = frame;
	tally->stacks[depth] = trace_stack(&tally->trace, depth ? tally->stacks[depth - 1] : STACK_ROOT, frame);
}

static stack_id stack_of(struct tally *tally, const struct stack_frame *frames, size_t count, trace_frame_id end)
{
	tally->path = mem_grow(tally->path, &tally->path_capacity, count + 1, sizeof *tally->path);
	tally->stacks = mem_grow(tally->stacks, &tally->stack_capacity, count + 1, sizeof *tally->stacks);
	size_t depth = 0;
	bool shared = true;
	if (end != PROFILE_NONE)
		step(tally, depth++, end, &shared);
	for (size_t i = count; i-- > 0;)
		step(tally, depth++, frames[i].id, &shared);
	tally->depth = depth;
	return depth ? tally->stacks[depth - 1] : STACK_ROOT;
}

static thread_id thread_of(struct tally *tally, const struct batch_sample *sample)
{
	const struct thread *last = &tally->trace.threads[tally->thread];
	int32_t pid = tally->threads_apart == TALLY_BY_NAME ? -1 : sample->event.pid;
	/* The main thread of a process gives it its name. */
	bool main_thread = sample->event.tid == sample->event.pid && tally->threads_apart == TALLY_BY_PROCESS;
	int32_t tid = main_thread || tally->threads_apart == TALLY_BY_THREAD ? sample->event.tid : -1;
	if (tally->comm != sample->comm || last->pid != pid || last->tid != tid) {
		str_id comm = trace_string(&tally->trace, sample->comm);
		tally->thread = trace_thread(&tally->trace, (struct thread){.pid = pid, .tid = tid, .comm = comm});
		tally->comm = sample->comm;
	}
	return tally->thread;
}

static value_id value_of(struct tally *tally, const struct batch_sample *sample)
{
	if (tally->event != sample->event_name || tally->source != sample->event.source) {
		tally->value = trace_value(&tally->trace, sample->event_name, sample->unit, sample->event.source);
		tally->event = sample->event_name;
		tally->source = sample->event.source;
	}
	return tally->value;
}

static str_id text_id(struct tally *tally, const char *text)
{
	return trace_string(&tally->trace, text);
}

static label_set_id labels_of(struct tally *tally, const struct batch_sample *sample)
{
	uint32_t cpu = tally->label_cpu ? sample->event.cpu : UINT32_MAX;
	enum event_gil gil = tally->label_gil ? sample->event.gil : GIL_UNKNOWN;
	if (tally->cpu == cpu && tally->gil == gil && tally->cgroup == sample->cgroup)
		return tally->labels;
	char number[16] = "";
	if (cpu != UINT32_MAX)
		snprintf(number, sizeof number, "%u", cpu);
	static const struct batch_cgroup none = {"", "", "", ""};
	const struct batch_cgroup *cgroup = sample->cgroup ? sample->cgroup : &none;
	struct label labels[] = {
		{text_id(tally, LABEL_CPU), text_id(tally, number)},
		{text_id(tally, LABEL_CGROUP), text_id(tally, cgroup->path)},
		{text_id(tally, LABEL_CONTAINER), text_id(tally, cgroup->container)},
		{text_id(tally, LABEL_POD), text_id(tally, cgroup->pod)},
		{text_id(tally, LABEL_UNIT), text_id(tally, cgroup->unit)},
		{text_id(tally, LABEL_GIL), text_id(tally, gil_label(gil))},
	};
	tally->cpu = cpu;
	tally->gil = gil;
	tally->cgroup = sample->cgroup;
	tally->labels = trace_label_set(&tally->trace, labels, sizeof labels / sizeof *labels);
	return tally->labels;
}

static void count_broken(struct tally *tally, const struct stack_frame *frames, size_t count, uint64_t samples)
{
	if (!count || stack_frame_is_kernel(&frames[count - 1]) ||
	    frame_rule_module(&frames[count - 1].frame) == MODULE_NONE)
		return;
	size_t old = tally->broken_capacity, at = (size_t)frames[count - 1].frame.module + 1;
	if (at >= old) {
		tally->broken = mem_grow(tally->broken, &tally->broken_capacity, at + 1, sizeof *tally->broken);
		memset(tally->broken + old, 0, (tally->broken_capacity - old) * sizeof *tally->broken);
	}
	tally->broken[at] += samples;
}

void tally_add(struct tally *tally, const struct batch_sample *sample, const struct stack_frame *frames, size_t count,
	       enum stack_end end)
{
	stack_id stack = stack_of(tally, frames, count, frame_of_end(tally, frames, count, end));
	struct sample counted = {
		.weight = sample->weight,
		.thread = thread_of(tally, sample),
		.stack = stack,
		.value = value_of(tally, sample),
		.count = sample->event.count < UINT32_MAX ? (uint32_t)sample->event.count : UINT32_MAX,
	};
	uint64_t duration = sample->event.time > sample->event.since ? sample->event.time - sample->event.since : 0;
	trace_add_timed(&tally->trace, counted, labels_of(tally, sample),
			(struct sample_time){sample->event.time, duration, sample->event.cpu});
	if (end == STACK_BROKEN)
		count_broken(tally, frames, count, sample->event.count);
	__atomic_fetch_add(&tally->ends[end], sample->event.count, __ATOMIC_RELAXED);
}
