#include "collect/tally.h"

#include "symbolize/symbolize.h"

#include <string.h>

void tally_init(struct tally *tally, bool ordered)
{
	*tally = (struct tally){0};
	profile_init(&tally->profile);
	tally->profile.ordered = ordered;
}

void tally_release(struct tally *tally)
{
	profile_release(&tally->profile);
	free(tally->module_function);
	free(tally->path);
	free(tally->stacks);
	free(tally->broken);
}

static function_id function_of_module(struct tally *tally, module_id module)
{
	size_t key = (uint32_t)(module + 2); /* MODULE_TRUNCATED becomes 0, MODULE_NONE 1 */
	if (key >= tally->function_capacity) {
		size_t old = tally->function_capacity;
		tally->module_function = mem_grow(tally->module_function, &tally->function_capacity, key + 1,
						  sizeof *tally->module_function);
		memset(tally->module_function + old, 0xff,
		       (tally->function_capacity - old) * sizeof *tally->module_function);
	}
	if (tally->module_function[key] == PROFILE_NONE)
		tally->module_function[key] = symbolize_module_function(&tally->profile, module);
	return tally->module_function[key];
}

/* Where frame pointers hold something else stacks end in any number of addresses that mean nothing. */
static struct frame address_frame(const struct tally *tally, const struct stack_frame *frame, function_id function)
{
	bool means_nothing = frame->module == MODULE_NONE && !tally->unmapped_apart;
	return (struct frame){
		.function = function,
		.address = means_nothing ? 0 : frame->address,
		.line = means_nothing ? 0 : symbolize_line(frame->version, frame->exact),
		.kind = frame->kernel ? FRAME_KERNEL : FRAME_NATIVE,
	};
}

uint32_t tally_frame(void *context, const struct stack_frame *frame)
{
	struct tally *tally = context;
	size_t known = tally->profile.frame_count;
	frame_id id =
		profile_frame(&tally->profile, address_frame(tally, frame, function_of_module(tally, frame->module)));
	if (id >= known && frame->module < MODULE_TRUNCATED)
		preparer_add(tally->preparer, frame->module, frame->address);
	return id;
}

uint32_t tally_waker_frame(struct tally *tally, const struct stack_frame *frame)
{
	struct function function = tally->profile.functions[function_of_module(tally, frame->module)];
	function.name = profile_string(&tally->profile, SYMBOLIZE_REVERSED, strlen(SYMBOLIZE_REVERSED));
	return profile_frame(&tally->profile, address_frame(tally, frame, profile_function(&tally->profile, function)));
}

uint32_t tally_text_frame(struct tally *tally, const char *text)
{
	str_id name = profile_string(&tally->profile, text, strlen(text));
	return profile_frame(&tally->profile,
			     (struct frame){
				     .function = profile_function(&tally->profile, (struct function){.name = name}),
				     .kind = FRAME_UNKNOWN,
			     });
}

/* The frame that stands for what is missing of a stack; PROFILE_NONE when nothing is, or the stack shows it itself. */
static frame_id frame_of_end(struct tally *tally, const struct stack_frame *frames, size_t count, enum stack_end end)
{
	if (end == STACK_UNSEEN)
		return tally_text_frame(tally, "[no stack: waited before the recording began]");
	if (!count && end == STACK_WHOLE)
		return tally_text_frame(tally, "[no stack]");
	/* An address outside all code says that the stack is not whole. */
	if (end == STACK_WHOLE || (count && frames[count - 1].module == MODULE_NONE))
		return PROFILE_NONE;
	return profile_frame(&tally->profile, (struct frame){
						      .function = function_of_module(tally, MODULE_TRUNCATED),
						      .kind = FRAME_UNKNOWN,
					      });
}

/* Goes one frame further in, at `depth`; `shared` as long as all frames were those of the sample before. */
static void step(struct tally *tally, size_t depth, frame_id frame, bool *shared)
{
	if (*shared && depth < tally->depth && tally->path[depth] == frame)
		return;
	*shared = false;
	tally->path[depth] = frame;
	tally->stacks[depth] = profile_stack(&tally->profile, depth ? tally->stacks[depth - 1] : STACK_ROOT, frame);
}

static stack_id stack_of(struct tally *tally, const struct stack_frame *frames, size_t count, frame_id end)
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
	const struct thread *last = &tally->profile.threads[tally->thread];
	int32_t pid = tally->threads_apart == TALLY_BY_NAME ? -1 : sample->pid;
	/* The main thread of a process gives it its name. */
	bool main_thread = sample->tid == sample->pid && tally->threads_apart == TALLY_BY_PROCESS;
	int32_t tid = main_thread || tally->threads_apart == TALLY_BY_THREAD ? sample->tid : -1;
	if (tally->comm != sample->comm || last->pid != pid || last->tid != tid) {
		tally->thread = profile_thread(
			&tally->profile,
			(struct thread){
				.pid = pid,
				.tid = tid,
				.comm = profile_string(&tally->profile, sample->comm, strlen(sample->comm)),
			});
		tally->comm = sample->comm;
	}
	return tally->thread;
}

static value_id value_of(struct tally *tally, const struct batch_sample *sample)
{
	if (tally->event != sample->event) {
		tally->value = profile_value(&tally->profile, sample->event, sample->unit);
		tally->event = sample->event;
	}
	return tally->value;
}

static void count_broken(struct tally *tally, const struct stack_frame *frames, size_t count, uint64_t samples)
{
	if (!count || frames[count - 1].kernel || frames[count - 1].module >= MODULE_TRUNCATED)
		return;
	size_t old = tally->broken_capacity, at = (size_t)frames[count - 1].module + 1;
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
	value_id value = value_of(tally, sample);
	profile_add_sum(&tally->profile,
			(struct sample){
				.weight = sample->weight,
				.thread = thread_of(tally, sample),
				.stack = stack,
				.value = value,
				.count = sample->count < UINT32_MAX ? (uint32_t)sample->count : UINT32_MAX,
			});
	struct value_type *type = &tally->profile.values[value];
	if (type->first_seen > sample->source)
		type->first_seen = sample->source;
	if (end == STACK_BROKEN)
		count_broken(tally, frames, count, sample->count);
	__atomic_fetch_add(&tally->ends[end], sample->count, __ATOMIC_RELAXED);
}
