/* Unwinds one sample, and assigns its addresses to modules. */
#include "collect/stack.h"

#include "base/hash.h"
#include "collect/interpreted.h"

#include <string.h>

#define PLACES_LOG2 15

void stack_maker_init(struct stack_maker *maker, struct module_store *codes, size_t max_depth)
{
	*maker = (struct stack_maker){.codes = codes, .max_depth = max_depth};
	maker->addresses = mem_alloc(max_depth * sizeof *maker->addresses);
	maker->exact = mem_alloc(max_depth * sizeof *maker->exact);
	/* Pages that are read before they are written to would fault twice. */
	maker->places = mem_aligned(_Alignof(struct stack_place), ((size_t)1 << PLACES_LOG2) * sizeof *maker->places);
	memset(maker->places, 0, ((size_t)1 << PLACES_LOG2) * sizeof *maker->places);
}

void stack_maker_release(struct stack_maker *maker)
{
	free(maker->known);
	free(maker->frames);
	free(maker->merged);
	free(maker->addresses);
	free(maker->exact);
	free(maker->places);
}

struct module_code *stack_maker_code(struct stack_maker *maker, module_id module)
{
	if (module >= maker->known_capacity) {
		size_t old = maker->known_capacity;
		maker->known = mem_grow(maker->known, &maker->known_capacity, (size_t)module + 1, sizeof *maker->known);
		memset(maker->known + old, 0, (maker->known_capacity - old) * sizeof *maker->known);
	}
	if (!maker->known[module])
		maker->known[module] = module_store_get(maker->codes, module);
	return maker->known[module];
}

static const struct mapping *find_user(struct stack_maker *maker, uint64_t ip)
{
	const struct mapping *last = maker->last;
	if (last && ip >= last->start && ip < last->end)
		return last;
	const struct mapping *found = map_set_find(maker->sample->maps, ip);
	if (found)
		maker->last = found;
	return found;
}

/*
 * The kernel has code outside the mappings in records: what ran while booting, BPF programs, modules of which
 * no record came. Its symbols are asked by absolute addresses, so any of its mappings leads to them.
 */
static const struct mapping *find_kernel(const struct map_set *maps, uint64_t ip)
{
	const struct mapping *found = map_set_find(maps, ip);
	return found || !maps || !maps->count ? found : &maps->items[0];
}

static struct stack_frame frame_at(struct stack_maker *maker, uint64_t ip, bool exact, bool kernel)
{
	const struct mapping *mapping = kernel ? find_kernel(maker->sample->kernel_maps, ip) : find_user(maker, ip);
	struct trace_frame frame = {
		.kind = kernel ? TRACE_KERNEL : TRACE_NATIVE,
		.module = MODULE_NONE,
		.address = ip,
		.flags = exact ? TRACE_EXACT : 0,
	};
	uint64_t offset = ip;
	if (mapping) {
		struct module_code *code = stack_maker_code(maker, mapping->module);
		struct stack_frame interpreted;
		if (ip >= INTERPRETED_BASE && !kernel && interpreted_frame_at(maker, code_path(code), ip, &interpreted))
			return interpreted;
		frame.module = mapping->module;
		frame.address = module_code_address(code, mapping, ip);
		frame.version = module_code_version(code, frame.address, maker->sample->monotonic);
		if (!kernel && module_code_is_jit(code))
			frame.kind = TRACE_JIT;
		if (module_code_is_file(code))
			offset = ip - mapping->start + mapping->offset;
	}
	uint32_t id = maker->identify ? maker->identify(maker->identify_context, &frame) : 0;
	return (struct stack_frame){.frame = frame, .offset = offset, .id = id};
}

/* Samples meet the same addresses again and again: what was found out about one is kept. */
static struct stack_frame *push(struct stack_maker *maker, uint64_t ip, bool exact, bool kernel)
{
	const struct map_set *set = kernel ? maker->sample->kernel_maps : maker->sample->maps;
	uint64_t lookup = exact ? ip : ip - 1, maps = set ? set->serial << 2 | exact << 1 | kernel : 0;
	struct stack_place *place = &maker->places[hash_mix(lookup ^ HASH_K0, maps ^ HASH_K1) >> (64 - PLACES_LOG2)];
	if (place->ip != lookup || place->maps != maps || !maps)
		*place = (struct stack_place){lookup, maps, frame_at(maker, lookup, exact, kernel)};
	if (place->frame.frame.version)
		place->maps = 0; /* another moment, other code */
	MEM_ROOM(maker->frames, maker->count, maker->capacity);
	struct stack_frame *frame = &maker->frames[maker->count++];
	*frame = place->frame;
	frame->ip = ip;
	return frame;
}

static void push_kernel(struct stack_maker *maker, uint64_t ip, bool exact)
{
	push(maker, ip, exact, true);
}

static struct stack_frame *push_user(struct stack_maker *maker, uint64_t ip, bool exact)
{
	return push(maker, ip, exact, false);
}

/* The part of the recorded chain that belongs to user space or to the kernel, as [from, to). */
struct chain_part {
	const uint64_t *from, *to;
};

/*
 * False when the chain continues with something that is neither an address nor a marker, as frame pointers that hold
 * something else lead to: what came before is used.
 */
static bool split_chain(const struct event_sample *sample, struct chain_part *kernel, struct chain_part *user)
{
	const uint64_t *at = sample->chain, *end = at + sample->chain_count;
	struct chain_part *part = sample->mode == MODE_KERNEL ? kernel : user;
	*kernel = *user = (struct chain_part){at, at};
	for (; at < end; at++) {
		switch (*at) {
		case (uint64_t)PERF_CONTEXT_USER:
		case (uint64_t)PERF_CONTEXT_GUEST_USER:
			part = user;
			break;
		case (uint64_t)PERF_CONTEXT_HV:
		case (uint64_t)PERF_CONTEXT_KERNEL:
		case (uint64_t)PERF_CONTEXT_GUEST:
		case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
			part = kernel;
			break;
		default:
			if (*at >= (uint64_t)PERF_CONTEXT_MAX)
				return false;
			part->to = at + 1;
			continue;
		}
		part->from = part->to = at + 1;
	}
	return true;
}

static struct unwind_place find_place(void *context, uint64_t ip)
{
	struct stack_maker *maker = context;
	const struct mapping *mapping = find_user(maker, ip);
	if (!mapping)
		return (struct unwind_place){0};
	struct module_code *code = stack_maker_code(maker, mapping->module);
	struct unwind_place jit = {.mapped = true};
	jit.table = module_code_jit_table(code, ip, maker->sample->monotonic, &jit.start, &jit.end);
	if (jit.table)
		return jit;
	return (struct unwind_place){
		.table = module_code_unwind_table(code),
		.bias = ip - module_code_address(code, mapping, ip),
		.mapped = true,
		.start = mapping->start,
		.end = mapping->end,
	};
}

static bool read_code(void *context, uint64_t address, uint8_t *bytes, size_t size)
{
	struct stack_maker *maker = context;
	const struct mapping *mapping = find_user(maker, address);
	if (!mapping)
		return false;
	struct module_code *code = stack_maker_code(maker, mapping->module);
	return code_read(code, module_code_address(code, mapping, address), bytes, size);
}

/* How many addresses before (and with) chain[at] are those before (and with) the last one that was unwound. */
static size_t shared_addresses(const struct stack_maker *maker, size_t unwound, const uint64_t *chain, size_t at)
{
	size_t count = 0;
	while (count <= at && count < unwound && chain[at - count] == maker->addresses[unwound - 1 - count])
		count++;
	return count;
}

/*
 * What the kernel found by frame pointers continues where the copy of the stack ended. Recursion repeats addresses: the
 * place with the most in common before it is taken, of equal ones that at the same depth or nearest above.
 */
static bool splice(struct stack_maker *maker, size_t unwound, struct chain_part user)
{
	size_t count = (size_t)(user.to - user.from), best = 0, place = 0;
	for (size_t i = 0; unwound && i < count; i++) {
		size_t shared = shared_addresses(maker, unwound, user.from, i);
		if (shared > best || (shared && shared == best && i < unwound)) {
			best = shared;
			place = i;
		}
	}
	if (unwound && !best)
		return false;
	for (size_t i = unwound ? place + 1 : 0; i < count; i++)
		push_user(maker, user.from[i], !i);
	return count != 0;
}

static bool read_tail(void *context, uint64_t address, uint64_t *ret_value)
{
	struct stack_maker *maker = context;
	uint64_t offset = address - maker->tail_start;
	const struct event_sample *sample = &maker->sample->event;
	size_t size = sample->stack_tail_size;
	if (maker->elsewhere || offset >= size || size - offset < sizeof *ret_value) {
		maker->missing = address;
		return false;
	}
	memcpy(ret_value, sample->stack_tail + offset, sizeof *ret_value);
	if (maker->tail_used < offset + sizeof *ret_value)
		maker->tail_used = offset + sizeof *ret_value;
	return true;
}

/*
 * A stack that continues on another one (Go's systemstack()) or behind the end of the copy. Frame pointers lead there,
 * and the kernel followed them.
 */
static bool continue_by_chain(struct stack_maker *maker, const struct unwind_space *space,
			      const struct unwind_registers *registers, enum unwind_end end, struct chain_part user)
{
	size_t first = 0;
	if (end != UNWIND_OTHER_STACK && end != UNWIND_NO_MEMORY)
		return false;
	size_t count =
		unwind_continue(space, registers, maker->missing, user.from, (size_t)(user.to - user.from), &first);
	for (size_t i = 0; i < count; i++)
		push_user(maker, user.from[first + i], false);
	return count != 0;
}

static enum stack_end unwind_user(struct stack_maker *maker, const struct unwind_registers *registers,
				  struct chain_part user)
{
	const struct event_sample *sample = &maker->sample->event;
	bool full = sample->stack_size >= sample->stack_asked; /* there may be more */
	struct unwind_space space = {
		.context = maker,
		.find = find_place,
		.read_code = read_code,
		.stack = sample->stack,
		.stack_start = registers->sp + sample->stack_skipped,
		.stack_size = sample->stack_size,
		.read = read_tail,
		.ret_elsewhere = &maker->elsewhere,
	};
	enum unwind_end end;
	maker->tail_start = space.stack_start + space.stack_size;
	maker->tail_used = 0;
	maker->missing = 0;
	maker->elsewhere = false;
	size_t count = unwind_stack(&space, registers, maker->addresses, maker->exact, maker->max_depth, &end);
	/* A shallow stack shows nothing about deep ones of the same thread. */
	if (maker->needs && sample->stack_size && (full || end != UNWIND_COMPLETE || maker->tail_used))
		stack_needs_learn(maker->needs, sample->tid, sample->stack_tail_size, maker->tail_used,
				  end == UNWIND_NO_MEMORY, end == UNWIND_COMPLETE);
	for (size_t i = 0; i < count; i++)
		push_user(maker, maker->addresses[i], maker->exact[i])->unwound = true;
	if (end == UNWIND_COMPLETE || continue_by_chain(maker, &space, registers, end, user))
		return STACK_WHOLE;
	/* A recording of our own has chains of all programs, most of which lead nowhere: they need evidence. */
	if (!maker->needs && splice(maker, count, user))
		return STACK_WHOLE;
	if (end == UNWIND_OTHER_STACK)
		return STACK_OTHER;
	if (registers->kind == ARCH_I386 && end != UNWIND_NO_MEMORY)
		return STACK_NARROW;
	if (end != UNWIND_NO_MEMORY)
		return STACK_BROKEN;
	/* Where the copy ended before it was full there was no memory, as in a process that executes a program. */
	return full ? STACK_CUT : STACK_ABSENT;
}

/* What its source unwound already. */
static enum stack_end push_unwound(struct stack_maker *maker, struct chain_part user)
{
	for (const uint64_t *at = user.from; at < user.to; at++)
		push_user(maker, trace_word_address(*at), trace_word_is_exact(*at))->unwound = true;
	return maker->sample->event.end;
}

static void push_chain(struct stack_maker *maker, struct chain_part part, bool kernel)
{
	for (const uint64_t *at = part.from; at < part.to; at++) {
		bool exact = at == part.from;
		if (kernel)
			push_kernel(maker, *at, exact);
		else
			push_user(maker, *at, exact);
	}
}

/* Takes the mark of a stack that was not whole when it was written off the chain; STACK_WHOLE when there is none. */
static enum stack_end take_end_mark(struct stack_maker *maker, struct chain_part *user)
{
	enum stack_end end = user->from < user->to ? stack_marked_end(user->to[-1]) : STACK_WHOLE;
	if (end != STACK_WHOLE) {
		maker->marked = true;
		user->to--;
	}
	return end;
}

/* What was recorded as a call chain, all of it or the user part, says little about where it should have ended. */
static enum stack_end chain_end(const struct stack_maker *maker, size_t addresses)
{
	if (maker->sample->chain_max && addresses >= maker->sample->chain_max)
		return STACK_DEEP;
	const struct stack_frame *outermost = maker->count ? &maker->frames[maker->count - 1] : NULL;
	return outermost && !stack_frame_is_kernel(outermost) && outermost->frame.module == MODULE_NONE ? STACK_BROKEN :
													  STACK_WHOLE;
}

static enum stack_end push_user_part(struct stack_maker *maker, struct chain_part kernel, struct chain_part user,
				     bool sound)
{
	struct unwind_registers registers;
	const struct event_sample *event = &maker->sample->event;
	if (event->unwound)
		return push_unwound(maker, user);
	bool copied = event->user.abi && event->user.mask;
	if (copied && !maker->foreign &&
	    unwind_registers_from_perf(&registers, maker->machine, event->user.abi, event->user.mask,
				       event->user.values))
		return unwind_user(maker, &registers, user);
	enum stack_end marked = copied && maker->foreign ? STACK_FOREIGN : take_end_mark(maker, &user);
	push_chain(maker, user, false);
	if (!maker->count && !event->ip && event->mode == MODE_UNKNOWN)
		return marked; /* derived: nobody knows where the thread was */
	if (!maker->count) {
		/* Recorded without call chains: the sample's own address is all there is. */
		if (event->mode == MODE_KERNEL)
			push_kernel(maker, event->ip, true);
		else
			push_user(maker, event->ip, true);
		return marked;
	}
	if (marked)
		return marked;
	if (!sound)
		return STACK_BROKEN;
	return chain_end(maker, (size_t)(kernel.to - kernel.from) + (size_t)(user.to - user.from));
}

enum stack_end stack_make(struct stack_maker *maker, const struct batch_sample *sample)
{
	struct chain_part kernel, user;
	maker->sample = sample;
	maker->count = 0;
	maker->last = NULL;
	bool sound = split_chain(&sample->event, &kernel, &user);
	push_chain(maker, kernel, true);
	size_t first = maker->count;
	enum stack_end end = push_user_part(maker, kernel, user, sound);
	if (sample->event.interpreted_count && maker->python < INTERPRETED_NATIVE)
		interpreted_merge(maker, first, end == STACK_WHOLE);
	return end;
}
