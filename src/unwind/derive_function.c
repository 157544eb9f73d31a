/* Follows the paths of one function, block by block. */
#include "unwind/derive_function.h"

#include "base/bisect.h"
#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

/* How much work: entries of a jump table; places in a function where paths meet. Compilers need a fraction of it. */
enum { TABLE_MAX = 4096, BLOCKS_MAX = 1 << 15 };

/* A place where paths meet, or begin. */
struct block {
	uint32_t index;
	bool queued;
	struct derive_state state;
};

/* A path on which a call may not return. */
struct late_path {
	uint32_t index;
	struct derive_state state;
};

/* The function that is being followed. */
struct derive_function {
	struct derive *derive;
	uint32_t entry, end; /* end: where the symbol ends; 0 when that is not known */
	bool start; /* of the program */
	struct block *blocks;
	size_t block_count, block_capacity;
	struct index_map block_map;
	uint32_t *queue; /* numbers of blocks */
	size_t queue_count, queue_capacity;
	struct late_path *late;
	size_t late_count, late_capacity;
	uint32_t *seen; /* instructions */
	size_t seen_count, seen_capacity;
	uint32_t aligned[16]; /* instructions that round the stack pointer down */
	size_t aligned_count;
	struct derive_state jump_state; /* at jumps whose targets are not known */
	unsigned jumps;
	unsigned balanced, unbalanced; /* returns that agree, and that do not */
	bool moved; /* the stack pointer is used */
	bool abandoned; /* there is too much of it */
	bool outermost; /* some of it has no caller … */
	bool trapped; /* … and ends where nothing continues */
	bool careful; /* calls do not return when what follows looks like a function */
};

struct derive_function *derive_function_new(struct derive *derive)
{
	struct derive_function *function = mem_zalloc(1, sizeof *function);
	function->derive = derive;
	return function;
}

void derive_function_free(struct derive_function *function)
{
	index_map_release(&function->block_map);
	free(function->blocks);
	free(function->queue);
	free(function->late);
	free(function->seen);
	free(function);
}

/* --- paths --- */

static struct block *find_block(struct derive_function *function, uint32_t index)
{
	struct index_probe probe;
	uint64_t hash = hash_u64(index);
	for (uint32_t i = index_map_first(&function->block_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&function->block_map, &probe))
		if (function->blocks[i].index == index)
			return &function->blocks[i];
	return NULL;
}

static void enqueue(struct derive_function *function, struct block *block)
{
	if (block->queued)
		return;
	block->queued = true;
	MEM_ROOM(function->queue, function->queue_count, function->queue_capacity);
	function->queue[function->queue_count++] = (uint32_t)(block - function->blocks);
}

/* False when that is more work than is left. */
static bool spend(struct derive_function *function, uint32_t steps)
{
	struct derive *derive = function->derive;
	if (derive->steps_left < steps) {
		derive->steps_left = 0;
		function->abandoned = true;
		return false;
	}
	derive->steps_left -= steps;
	return true;
}

/* A path arrives. */
static void arrive(struct derive_function *function, uint32_t index, const struct derive_state *state)
{
	struct block *block = find_block(function, index);
	if (!block && function->block_count == BLOCKS_MAX) {
		function->abandoned = true;
	} else if (!block) {
		MEM_ROOM(function->blocks, function->block_count, function->block_capacity);
		index_map_insert(&function->block_map, hash_u64(index), (uint32_t)function->block_count);
		block = &function->blocks[function->block_count++];
		*block = (struct block){.index = index, .state = *state};
		enqueue(function, block);
	} else if (derive_state_merge(&block->state, state)) {
		enqueue(function, block);
	}
}

/* Behind calls that may not return, paths are followed last, and only where they contradict no others. */
static void arrive_late(struct derive_function *function, const struct late_path *path)
{
	const struct block *block = find_block(function, path->index);
	if (!block || !derive_state_contradicts(&block->state, &path->state, function->derive->arch))
		arrive(function, path->index, &path->state);
}

static void note_return(struct derive_function *function, const struct derive_state *state)
{
	bool known, balanced = derive_state_is_balanced(state, function->derive->arch, &known);
	function->balanced += balanced;
	function->unbalanced += (known || state->outermost) && !balanced;
}

/* To another function, or to code that has its own description. What has no caller ends instead. */
static void leave(struct derive_function *function, const struct derive_state *state)
{
	function->unbalanced += state->outermost && !function->start;
}

/* To code of another function that was followed before. What does not fit cannot both be right. */
static void join_other(struct derive_function *function, uint32_t index, const struct derive_state *state)
{
	const struct derive *derive = function->derive;
	struct unwind_rule rule = derive_state_rule(state, derive->arch), other;
	leave(function, state);
	other = derive->rules->rules[derive->numbers[index]];
	other.cfa &= ~UNWIND_CFA_DERIVED;
	if (other.cfa != UNWIND_CFA_SP || rule.cfa != UNWIND_CFA_SP)
		return;
	if (other.cfa_offset == rule.cfa_offset)
		function->balanced++; /* as if it went on to the other's "ret" itself */
	else if (!(derive->marks[function->entry] & MARK_ENTRY))
		function->unbalanced++;
}

static void jump_to(struct derive_function *function, uint64_t target, const struct derive_state *state)
{
	const struct derive *derive = function->derive;
	uint32_t index;
	bool known;
	if (!derive_index_of(derive, target, &index)) {
		leave(function, state);
		return;
	}
	uint16_t mark = derive->marks[index];
	bool again = index == function->entry && !derive_state_is_balanced(state, derive->arch, &known);
	if (mark & MARK_DONE)
		join_other(function, index, state);
	else if ((mark & MARK_ENTRY) && !again)
		leave(function, state);
	else
		arrive(function, index, state);
}

/* --- jump tables --- */

static int64_t table_entry(const uint8_t *bytes, size_t number, bool wide)
{
	int64_t value = 0;
	int32_t narrow;
	if (wide) {
		memcpy(&value, bytes + number * 8, 8);
		return value;
	}
	memcpy(&narrow, bytes + number * 4, 4);
	return narrow;
}

/* Where in the code of the function an entry of a table leads. */
static bool table_target(const struct derive_function *function, uint64_t address, uint32_t *ret_index)
{
	const struct derive *derive = function->derive;
	return derive_index_of(derive, address, ret_index) && (derive->marks[*ret_index] & MARK_BEGIN) &&
	       *ret_index >= function->entry && !(derive->marks[*ret_index] & MARK_ENTRY) &&
	       (!function->end || *ret_index < function->end);
}

/* How many bytes there are at an address before the next data that code refers to. */
static uint64_t bytes_before_next(const struct derive *derive, uint64_t address)
{
	size_t next = BISECT(derive->address_count, i, derive->addresses[i] <= address);
	return next < derive->address_count ? derive->addresses[next] - address : UINT64_MAX;
}

/* Entries are addresses (wide), or distances from the table; the first that leads elsewhere ends it. */
static bool follow_table(struct derive_function *function, uint64_t table, bool wide, const struct derive_state *state)
{
	const struct derive *derive = function->derive;
	size_t size = 0, i;
	const uint8_t *bytes = derive->bytes_at ? derive->bytes_at(derive->context, table, &size) : NULL;
	uint64_t max = bytes_before_next(derive, table);
	size_t count = bytes ? (size < max ? size : max) / (wide ? 8 : 4) : 0;
	uint32_t index, last = function->entry;
	for (i = 0; i < count && i < TABLE_MAX && spend(function, 1); i++) {
		uint64_t address = (uint64_t)table_entry(bytes, i, wide) + (wide ? 0 : table);
		if (!table_target(function, address, &index))
			break;
		/* Without symbols: a table that is read too far leads to other functions, which lie farther away. */
		if (!function->end && index > last && index - last > (1u << 16))
			break;
		last = index > last ? index : last;
		if (!(derive->marks[index] & MARK_DONE))
			arrive(function, index, state);
	}
	return i > 0;
}

static void jump_anywhere(struct derive_function *function, const struct instruction *instruction,
			  const struct derive_state *state)
{
	bool found = instruction->target && follow_table(function, instruction->target, true, state);
	for (size_t i = 0; i < REGISTERS && !found; i++) {
		uint64_t address = (uint64_t)state->registers[i].offset;
		if (state->registers[i].kind == VALUE_ADDRESS)
			found = follow_table(function, address, false, state) ||
				follow_table(function, address, true, state);
	}
	if (found)
		return;
	leave(function, state);
	if (!function->jumps++)
		function->jump_state = *state;
	else
		derive_state_merge(&function->jump_state, state);
}

/* --- one function --- */

static uint8_t base_of(struct derive_function *function, uint32_t index)
{
	size_t i = 0;
	while (i < function->aligned_count && function->aligned[i] != index)
		i++;
	if (i == sizeof function->aligned / sizeof *function->aligned)
		return 0;
	if (i == function->aligned_count)
		function->aligned[function->aligned_count++] = index;
	return (uint8_t)(i + 1);
}

static void note_rule(struct derive_function *function, uint32_t index, const struct derive_state *state)
{
	struct derive *derive = function->derive;
	struct unwind_rule rule = derive_state_rule(state, derive->arch);
	if (!(derive->marks[index] & MARK_CURRENT)) {
		derive->marks[index] |= MARK_CURRENT;
		MEM_ROOM(function->seen, function->seen_count, function->seen_capacity);
		function->seen[function->seen_count++] = index;
	}
	function->outermost = function->outermost || state->outermost;
	if (rule.cfa == UNWIND_CFA_STOP)
		derive->numbers[index] = UNWIND_RULE_STOP;
	else if (rule.cfa == UNWIND_CFA_INVALID)
		derive->numbers[index] = UNWIND_RULE_INVALID;
	else {
		function->moved = function->moved || rule.cfa != UNWIND_CFA_SP ||
				  rule.cfa_offset != -derive->arch->ra_slot;
		rule.cfa |= UNWIND_CFA_DERIVED;
		derive->numbers[index] = (uint16_t)rules_number(derive->rules, rule);
	}
}

/* Whether the path ends here: others continue from here, or did. */
static bool meets_others(struct derive_function *function, const struct block *from, uint32_t index, bool after_call,
			 const struct derive_state *state)
{
	const struct derive *derive = function->derive;
	uint16_t mark = derive->marks[index];
	if (index == from->index)
		return false;
	if (mark & (MARK_DONE | MARK_ENTRY)) {
		if ((mark & MARK_DONE) && !after_call)
			join_other(function, index, state);
		else
			leave(function, state);
		return true;
	}
	if (!(mark & MARK_TARGET) && !find_block(function, index))
		return false;
	if (after_call && !(mark & MARK_NEAR)) {
		leave(function, state);
	} else if (after_call && function->late_count == BLOCKS_MAX) {
		function->abandoned = true;
	} else if (after_call) {
		MEM_ROOM(function->late, function->late_count, function->late_capacity);
		function->late[function->late_count++] = (struct late_path){index, *state};
	} else {
		arrive(function, index, state);
	}
	return true;
}

/* What an instruction does, and where else it leads. False when it does not continue. */
static bool follow(struct derive_function *function, const struct instruction *instruction, uint32_t index,
		   uint64_t next, struct derive_state *state)
{
	const struct arch *arch = function->derive->arch;
	uint8_t base = instruction->kind == INSTRUCTION_ALIGN ? base_of(function, index) : 0;
	uint8_t compared = state->compared;
	if (instruction->kind == INSTRUCTION_CALL && instruction->target == next) {
		const struct instruction push = {.kind = INSTRUCTION_PUSH, .reg = REGISTER_NONE};
		derive_state_apply(state, arch, &push, 0);
		return true;
	}
	derive_state_apply(state, arch, instruction, base);
	switch (instruction->kind) {
	case INSTRUCTION_RETURN:
		note_return(function, state);
		break;
	case INSTRUCTION_TRAP:
		function->trapped = function->trapped || state->outermost;
		break;
	case INSTRUCTION_JUMP:
		jump_to(function, instruction->target, state);
		break;
	case INSTRUCTION_JUMP_ANYWHERE:
		jump_anywhere(function, instruction, state);
		break;
	case INSTRUCTION_BRANCH:
		jump_to(function, instruction->target, state);
		/* A loop that touches each page of a large frame ends where the stack pointer reaches a register. */
		if (instruction->equal && compared < REGISTERS && state->registers[compared].kind == VALUE_STACK)
			state->registers[arch->dwarf_sp] = state->registers[compared];
		break;
	}
	return instruction_goes_on(instruction);
}

/* How functions with a frame begin. */
static bool makes_frame(const struct derive *derive, const struct instruction *instruction)
{
	return instruction->kind == INSTRUCTION_PUSH || instruction->kind == INSTRUCTION_ENTER ||
	       (instruction->kind == INSTRUCTION_ADD && instruction->reg == derive->arch->dwarf_sp &&
		instruction->base == derive->arch->dwarf_sp && instruction->offset < 0);
}

/*
 * Whether a call that ends before `index` ends the function: it is followed by padding, and no jump leads to what comes
 * then. Compilers pad within functions only where jumps lead to.
 */
static bool ends_with_call(const struct derive_function *function, const struct derive_range *range, uint32_t index)
{
	const struct derive *derive = function->derive;
	uint32_t end = range->first + range->size, from = index;
	struct instruction instruction = {0};
	while (index < end && derive_decode(derive, range, index, &instruction) && instruction.padding)
		index += instruction.length;
	if (index == end)
		return true;
	/* Functions may follow without padding; and jumps may lead there as the last thing that other functions do. */
	if (function->careful && makes_frame(derive, &instruction))
		return true;
	bool aligned = (range->address + (index - range->first)) % 16 == 0;
	return aligned && index > from && !(derive->marks[index] & MARK_TARGET);
}

/* From a block on until paths part or meet. */
static void follow_block(struct derive_function *function, size_t number)
{
	struct derive *derive = function->derive;
	const struct block from = function->blocks[number]; /* they may move */
	struct derive_state state = from.state;
	uint32_t index = from.index;
	const struct derive_range *range = derive_range_of(derive, index);
	bool after_call = false;
	while (index - range->first < range->size && spend(function, 1)) {
		struct instruction instruction;
		if (meets_others(function, &from, index, after_call, &state))
			return;
		if (!derive_decode(derive, range, index, &instruction))
			break;
		after_call = instruction.kind == INSTRUCTION_CALL;
		if (after_call)
			derive_state_call(&state, derive->arch);
		note_rule(function, index, &state);
		uint64_t next = range->address + (index - range->first) + instruction.length;
		if (!follow(function, &instruction, index, next, &state))
			return;
		index += instruction.length;
		if (after_call && ends_with_call(function, range, index))
			break;
	}
	leave(function, &state);
}

static void follow_blocks(struct derive_function *function)
{
	while ((function->queue_count || function->late_count) && !function->abandoned) {
		if (!function->queue_count) {
			struct late_path path = function->late[--function->late_count];
			arrive_late(function, &path);
			continue;
		}
		size_t number = function->queue[--function->queue_count];
		function->blocks[number].queued = false;
		follow_block(function, number);
	}
}

/*
 * What lies within the function and was not reached is reached by jumps whose targets are not known: with the stack
 * pointer as it is there.
 */
static void follow_rest(struct derive_function *function)
{
	const struct derive *derive = function->derive;
	struct derive_state state = function->jump_state;
	if (!function->jumps || !spend(function, (function->end - function->entry) / 8))
		return;
	for (uint32_t index = function->entry; index < function->end; index++) {
		uint16_t mark = derive->marks[index];
		if ((mark & MARK_FIRST) && !(mark & (MARK_CURRENT | MARK_DONE | MARK_ENTRY))) {
			arrive(function, index, &state);
			follow_blocks(function);
		}
	}
}

/* Keeps the rules of the function, or forgets them all. */
static void conclude(struct derive_function *function, bool keep)
{
	struct derive *derive = function->derive;
	for (size_t i = 0; i < function->seen_count; i++) {
		uint32_t index = function->seen[i];
		derive->marks[index] &= (uint16_t)~MARK_CURRENT;
		if (keep)
			derive->marks[index] |= MARK_DONE;
		else
			derive->numbers[index] = UNWIND_RULE_INVALID;
	}
	function->seen_count = 0;
	derive->function_count += keep;
}

static void follow_function(struct derive_function *function, uint32_t entry, uint32_t end, bool start)
{
	struct derive_state state;
	index_map_clear(&function->block_map);
	function->entry = entry;
	function->end = end;
	function->start = start;
	function->block_count = function->queue_count = function->late_count = function->aligned_count = 0;
	function->jumps = function->balanced = function->unbalanced = 0;
	function->moved = function->abandoned = function->outermost = function->trapped = false;
	derive_state_enter(&state, function->derive->arch);
	state.outermost = start;
	arrive(function, entry, &state);
	follow_blocks(function);
}

static void begin_function(struct derive_function *function, uint32_t entry, uint32_t end, bool start)
{
	function->careful = false;
	follow_function(function, entry, end, start);
	if (!function->unbalanced || function->abandoned)
		return;
	conclude(function, false);
	function->careful = true;
	follow_function(function, entry, end, start);
}

/* A function that is known to begin there. */
void derive_function_known(struct derive_function *function, uint32_t entry, uint32_t end, bool start)
{
	struct derive *derive = function->derive;
	if (derive->marks[entry] & (MARK_DONE | MARK_TRIED))
		return;
	derive->marks[entry] |= MARK_TRIED;
	begin_function(function, entry, end, start);
	if (function->jumps && end) {
		follow_rest(function);
		if (function->unbalanced) { /* it was reached in another way */
			conclude(function, false);
			begin_function(function, entry, end, start);
		}
	}
	bool called = derive->marks[entry] & MARK_CALLED;
	bool ends = start || !function->outermost || function->trapped;
	conclude(function, ends && !function->unbalanced && !function->abandoned &&
				   (start || called || function->balanced || function->moved));
}

/* Code that may be a function. */
bool derive_function_perhaps(struct derive_function *function, uint32_t entry)
{
	bool named = function->derive->marks[entry] & MARK_LABEL;
	function->careful = true; /* else the next function's "ret" could be the evidence */
	follow_function(function, entry, 0, false);
	/* The frame pointer that it clears may be a variable of a function whose start was not found. */
	bool keep = !function->unbalanced && !function->abandoned && !function->outermost &&
		    (function->balanced || (named && function->moved));
	conclude(function, keep);
	return keep;
}
