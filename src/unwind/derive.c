#include "unwind/derive.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

/* Marks of bytes. */
enum {
	MARK_BEGIN = 1, /* an instruction begins here, if code is read from the start of the range on */
	MARK_ENTRY = 2, /* a function begins here */
	MARK_CALLED = 4, /* … and is called */
	MARK_LABEL = 8, /* perhaps a function begins here */
	MARK_TARGET = 16, /* a jump leads here */
	MARK_DONE = 32, /* belongs to a function with rules */
	MARK_CURRENT = 64, /* belongs to the function that is being followed */
	MARK_FIRST = 128, /* what is before does not lead here: perhaps a function begins */
	MARK_NEAR = 256, /* a jump from code close by leads here */
};

/* Jumps over more than this lead to parts that compilers split off, behind which other such parts lie. */
enum { NEAR_MOST = 32 << 10 };

/* How much work: instructions per byte of code, over all that is tried; entries of a jump table. */
enum { STEPS_PER_BYTE = 16, TABLE_MOST = 4096 };

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
struct function {
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
	bool careful; /* calls do not return when what follows looks like a function */
};

void derive_init(struct derive *derive, const struct unwind_arch *arch, struct rules *rules)
{
	*derive = (struct derive){.arch = arch, .rules = rules};
}

void derive_release(struct derive *derive)
{
	free(derive->ranges);
	free(derive->entries);
	free(derive->addresses);
	free(derive->marks);
	free(derive->numbers);
}

bool derive_add_range(struct derive *derive, uint64_t address, const uint8_t *code, size_t size)
{
	if (size > DERIVE_BYTES_MOST - derive->size)
		return false;
	MEM_ROOM(derive->ranges, derive->range_count, derive->range_capacity);
	derive->ranges[derive->range_count++] = (struct derive_range){address, code, (uint32_t)size, derive->size};
	derive->size += (uint32_t)size;
	return true;
}

/* --- addresses and indexes --- */

static const struct derive_range *range_of_address(const struct derive *derive, uint64_t address)
{
	size_t low = 0, high = derive->range_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct derive_range *range = &derive->ranges[middle];
		if (address < range->address)
			high = middle;
		else if (address - range->address >= range->size)
			low = middle + 1;
		else
			return range;
	}
	return NULL;
}

static const struct derive_range *range_of_index(const struct derive *derive, uint32_t index)
{
	size_t low = 0, high = derive->range_count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (index < derive->ranges[middle].first)
			high = middle;
		else
			low = middle;
	}
	return &derive->ranges[low];
}

static bool index_of(const struct derive *derive, uint64_t address, uint32_t *ret_index)
{
	const struct derive_range *range = range_of_address(derive, address);
	if (range)
		*ret_index = range->first + (uint32_t)(address - range->address);
	return range;
}

static bool decode_in(const struct derive *derive, const struct derive_range *range, uint32_t index,
		      struct instruction *ret_instruction)
{
	uint32_t offset = index - range->first;
	return derive->arch->decode(range->code + offset, range->size - offset, range->address + offset,
				    ret_instruction);
}

bool derive_has(const struct derive *derive, uint64_t address)
{
	return range_of_address(derive, address);
}

void derive_add_entry(struct derive *derive, uint64_t address, uint64_t size, enum derive_entry_kind kind)
{
	uint32_t index;
	if (!index_of(derive, address, &index))
		return;
	MEM_ROOM(derive->entries, derive->entry_count, derive->entry_capacity);
	derive->entries[derive->entry_count++] = (struct derive_entry){index, (uint8_t)kind, size};
}

/* --- the first look at all code, in the order of addresses --- */

static bool goes_on(const struct instruction *instruction)
{
	return instruction->kind != INSTRUCTION_RETURN && instruction->kind != INSTRUCTION_JUMP &&
	       instruction->kind != INSTRUCTION_JUMP_ANYWHERE && instruction->kind != INSTRUCTION_TRAP;
}

static void note_address(struct derive *derive, uint64_t address)
{
	MEM_ROOM(derive->addresses, derive->address_count, derive->address_capacity);
	derive->addresses[derive->address_count++] = address;
}

static void note_target(struct derive *derive, const struct instruction *instruction, uint64_t next)
{
	uint64_t distance = instruction->target < next ? next - instruction->target : instruction->target - next;
	uint32_t index;
	switch (instruction->kind) {
	case INSTRUCTION_CALL:
		if (instruction->target && instruction->target != next)
			derive_add_entry(derive, instruction->target, 0, DERIVE_CALLED);
		break;
	case INSTRUCTION_ADDRESS:
	case INSTRUCTION_JUMP_ANYWHERE:
		if (index_of(derive, instruction->target, &index))
			derive_add_entry(derive, instruction->target, 0, DERIVE_LABEL);
		else if (instruction->target)
			note_address(derive, instruction->target);
		break;
	case INSTRUCTION_BRANCH:
	case INSTRUCTION_JUMP:
		if (index_of(derive, instruction->target, &index))
			derive->marks[index] |= MARK_TARGET | (distance <= NEAR_MOST ? MARK_NEAR : 0);
		break;
	}
}

/* Instructions do not go on across the start of a function: there reading begins again. */
static uint32_t length_up_to_entry(const struct derive *derive, uint32_t index, uint32_t length)
{
	for (uint32_t i = 1; i < length; i++)
		if (derive->marks[index + i] & MARK_ENTRY)
			return i;
	return length;
}

static void look_through(struct derive *derive, const struct derive_range *range)
{
	bool leads_on = false, padded = false;
	uint32_t end = range->first + range->size, length;
	for (uint32_t index = range->first; index < end; index += length) {
		struct instruction instruction;
		uint64_t address = range->address + (index - range->first);
		if (!decode_in(derive, range, index, &instruction)) {
			length = 1;
			leads_on = false;
			continue;
		}
		length = length_up_to_entry(derive, index, instruction.length);
		if (length < instruction.length)
			continue;
		derive->marks[index] |= MARK_BEGIN;
		if (instruction.padding) {
			padded = true;
			leads_on = leads_on && instruction.kind != INSTRUCTION_TRAP;
			continue;
		}
		if (!leads_on || (padded && address % 16 == 0))
			derive->marks[index] |= MARK_FIRST;
		note_target(derive, &instruction, address + length);
		leads_on = goes_on(&instruction);
		padded = false;
	}
}

static void mark_symbols(struct derive *derive)
{
	for (size_t i = 0; i < derive->entry_count; i++) {
		const struct derive_entry *entry = &derive->entries[i];
		if (entry->kind != DERIVE_PERHAPS_CALLED)
			derive->marks[entry->index] |= entry->kind == DERIVE_LABEL ? MARK_LABEL : MARK_ENTRY;
	}
}

/* What was found on the way (the entries from `first` on) counts only where instructions begin. */
static void mark_found(struct derive *derive, size_t first)
{
	for (size_t i = 0; i < derive->entry_count; i++) {
		const struct derive_entry *entry = &derive->entries[i];
		uint16_t *mark = &derive->marks[entry->index];
		bool begins = *mark & MARK_BEGIN, found = i >= first;
		if (begins && ((entry->kind == DERIVE_CALLED && found) ||
			       (entry->kind == DERIVE_PERHAPS_CALLED && (*mark & MARK_FIRST))))
			*mark |= MARK_ENTRY | MARK_CALLED;
		else if (begins && entry->kind == DERIVE_LABEL && found && !(*mark & MARK_TARGET))
			*mark |= MARK_LABEL;
	}
}

/* --- paths --- */

static struct block *find_block(struct function *function, uint32_t index)
{
	struct index_probe probe;
	uint64_t hash = hash_u64(index);
	for (uint32_t i = index_map_first(&function->block_map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&function->block_map, &probe))
		if (function->blocks[i].index == index)
			return &function->blocks[i];
	return NULL;
}

static void enqueue(struct function *function, struct block *block)
{
	if (block->queued)
		return;
	block->queued = true;
	MEM_ROOM(function->queue, function->queue_count, function->queue_capacity);
	function->queue[function->queue_count++] = (uint32_t)(block - function->blocks);
}

/* A path arrives. */
static void arrive(struct function *function, uint32_t index, const struct derive_state *state)
{
	struct block *block = find_block(function, index);
	if (!block) {
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
static void arrive_late(struct function *function, const struct late_path *path)
{
	const struct block *block = find_block(function, path->index);
	if (!block || !derive_state_contradicts(&block->state, &path->state, function->derive->arch))
		arrive(function, path->index, &path->state);
}

static void note_return(struct function *function, const struct derive_state *state)
{
	bool known, balanced = derive_state_is_balanced(state, function->derive->arch, &known);
	function->balanced += balanced;
	function->unbalanced += (known || state->outermost) && !balanced;
}

/* To another function, or to code that has its own description. What has no caller ends instead. */
static void leave(struct function *function, const struct derive_state *state)
{
	function->unbalanced += state->outermost && !function->start;
}

/* To code of another function that was followed before. What does not fit cannot both be right. */
static void join_other(struct function *function, uint32_t index, const struct derive_state *state)
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

static void jump_to(struct function *function, uint64_t target, const struct derive_state *state)
{
	const struct derive *derive = function->derive;
	uint32_t index;
	bool known;
	if (!index_of(derive, target, &index)) {
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
static bool table_target(const struct function *function, uint64_t address, uint32_t *ret_index)
{
	const struct derive *derive = function->derive;
	return index_of(derive, address, ret_index) && (derive->marks[*ret_index] & MARK_BEGIN) &&
	       *ret_index >= function->entry && !(derive->marks[*ret_index] & MARK_ENTRY) &&
	       (!function->end || *ret_index < function->end);
}

/* How many bytes there are at an address before the next data that code refers to. */
static uint64_t bytes_before_next(const struct derive *derive, uint64_t address)
{
	size_t low = 0, high = derive->address_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (derive->addresses[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < derive->address_count ? derive->addresses[low] - address : UINT64_MAX;
}

/* Entries are addresses (wide), or distances from the table; the first that leads elsewhere ends it. */
static bool follow_table(struct function *function, uint64_t table, bool wide, const struct derive_state *state)
{
	const struct derive *derive = function->derive;
	size_t size = 0, i;
	const uint8_t *bytes = derive->bytes_at ? derive->bytes_at(derive->context, table, &size) : NULL;
	uint64_t most = bytes_before_next(derive, table);
	size_t count = bytes ? (size < most ? size : most) / (wide ? 8 : 4) : 0;
	uint32_t index, last = function->entry;
	for (i = 0; i < count && i < TABLE_MOST; i++) {
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

static void jump_anywhere(struct function *function, const struct instruction *instruction,
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

static uint8_t base_of(struct function *function, uint32_t index)
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

static void note_rule(struct function *function, uint32_t index, const struct derive_state *state)
{
	struct derive *derive = function->derive;
	struct unwind_rule rule = derive_state_rule(state, derive->arch);
	if (!(derive->marks[index] & MARK_CURRENT)) {
		derive->marks[index] |= MARK_CURRENT;
		MEM_ROOM(function->seen, function->seen_count, function->seen_capacity);
		function->seen[function->seen_count++] = index;
	}
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

/* Whether the path ends here: others go on from here, or did. */
static bool meets_others(struct function *function, const struct block *from, uint32_t index, bool after_call,
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
	} else if (after_call) {
		MEM_ROOM(function->late, function->late_count, function->late_capacity);
		function->late[function->late_count++] = (struct late_path){index, *state};
	} else {
		arrive(function, index, state);
	}
	return true;
}

/* What an instruction does, and where else it leads. False when it does not go on. */
static bool follow(struct function *function, const struct instruction *instruction, uint32_t index, uint64_t next,
		   struct derive_state *state)
{
	const struct unwind_arch *arch = function->derive->arch;
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
	return goes_on(instruction);
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
static bool ends_with_call(const struct function *function, const struct derive_range *range, uint32_t index)
{
	const struct derive *derive = function->derive;
	uint32_t end = range->first + range->size, from = index;
	struct instruction instruction = {0};
	while (index < end && decode_in(derive, range, index, &instruction) && instruction.padding)
		index += instruction.length;
	if (index == end)
		return true;
	if ((range->address + (index - range->first)) % 16 != 0)
		return false;
	/* Functions may follow without padding; and jumps may lead there as the last thing that other functions do. */
	if ((derive->marks[index] & MARK_TARGET) || index == from)
		return function->careful && makes_frame(derive, &instruction);
	return true;
}

/* From a block on until paths part or meet. */
static void follow_block(struct function *function, size_t number)
{
	struct derive *derive = function->derive;
	const struct block from = function->blocks[number]; /* they may move */
	struct derive_state state = from.state;
	uint32_t index = from.index;
	const struct derive_range *range = range_of_index(derive, index);
	bool after_call = false;
	while (index - range->first < range->size && derive->steps_left > 0) {
		struct instruction instruction;
		if (meets_others(function, &from, index, after_call, &state))
			return;
		if (!decode_in(derive, range, index, &instruction))
			break;
		derive->steps_left--;
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

static void follow_blocks(struct function *function)
{
	while (function->queue_count || function->late_count) {
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
static void follow_rest(struct function *function)
{
	const struct derive *derive = function->derive;
	struct derive_state state = function->jump_state;
	if (!function->jumps)
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
static void conclude(struct function *function, bool keep)
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

static void follow_function(struct function *function, uint32_t entry, uint32_t end, bool start)
{
	struct derive_state state;
	index_map_clear(&function->block_map);
	function->entry = entry;
	function->end = end;
	function->start = start;
	function->block_count = function->queue_count = function->late_count = function->aligned_count = 0;
	function->jumps = function->balanced = function->unbalanced = 0;
	function->moved = false;
	derive_state_enter(&state, function->derive->arch);
	state.outermost = start;
	arrive(function, entry, &state);
	follow_blocks(function);
}

static void begin_function(struct function *function, uint32_t entry, uint32_t end, bool start)
{
	function->careful = false;
	follow_function(function, entry, end, start);
	if (!function->unbalanced)
		return;
	conclude(function, false);
	function->careful = true;
	follow_function(function, entry, end, start);
}

/* A function that is known to begin there. */
static void derive_function(struct function *function, uint32_t entry, uint32_t end, bool start)
{
	struct derive *derive = function->derive;
	if (derive->marks[entry] & MARK_DONE)
		return;
	begin_function(function, entry, end, start);
	if (function->jumps && end) {
		follow_rest(function);
		if (function->unbalanced) { /* it was reached in another way */
			conclude(function, false);
			begin_function(function, entry, end, start);
		}
	}
	bool called = derive->marks[entry] & MARK_CALLED;
	conclude(function, !function->unbalanced && (start || called || function->balanced || function->moved));
}

/* Code that may be a function. */
static void try_function(struct function *function, uint32_t entry)
{
	bool named = function->derive->marks[entry] & MARK_LABEL;
	begin_function(function, entry, 0, false);
	conclude(function, !function->unbalanced && (function->balanced || (named && function->moved)));
}

/* --- all functions --- */

static void derive_entries(struct function *function, bool starts)
{
	struct derive *derive = function->derive;
	for (size_t i = 0; i < derive->entry_count; i++) {
		const struct derive_entry *entry = &derive->entries[i];
		const struct derive_range *range = range_of_index(derive, entry->index);
		uint32_t left = range->first + range->size - entry->index;
		uint32_t end = entry->size && entry->size <= left ? entry->index + (uint32_t)entry->size : 0;
		bool certain = derive->marks[entry->index] & MARK_ENTRY;
		if (certain && starts == (entry->kind == DERIVE_START))
			derive_function(function, entry->index, end, starts);
	}
}

static void try_marked(struct function *function, uint16_t wanted)
{
	struct derive *derive = function->derive;
	for (uint32_t i = 0; i < derive->size; i++)
		if ((derive->marks[i] & wanted) && !(derive->marks[i] & (MARK_DONE | MARK_ENTRY)))
			try_function(function, i);
}

static int compare_addresses(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

void derive_run(struct derive *derive)
{
	struct function function = {.derive = derive};
	if (!derive->size)
		return;
	derive->marks = mem_zalloc(derive->size, sizeof *derive->marks);
	derive->numbers = mem_zalloc(derive->size, sizeof *derive->numbers);
	derive->steps_left = (uint64_t)derive->size * STEPS_PER_BYTE;
	mark_symbols(derive);
	size_t symbols = derive->entry_count;
	for (size_t i = 0; i < derive->range_count; i++)
		look_through(derive, &derive->ranges[i]);
	if (derive->address_count)
		qsort(derive->addresses, derive->address_count, sizeof *derive->addresses, compare_addresses);
	mark_found(derive, symbols);
	derive_entries(&function, true);
	derive_entries(&function, false);
	try_marked(&function, MARK_LABEL);
	try_marked(&function, MARK_FIRST);
	index_map_release(&function.block_map);
	free(function.blocks);
	free(function.queue);
	free(function.late);
	free(function.seen);
}

/* Padding takes the rule of what is before, so that it costs no rows. */
void derive_rows(const struct derive *derive, size_t number, derive_sink sink, void *context)
{
	const struct derive_range *range = &derive->ranges[number];
	bool known = false;
	uint32_t next = range->first;
	sink(context, range->address, UNWIND_RULE_INVALID);
	for (uint32_t index = range->first; index < range->first + range->size; index++) {
		bool done = derive->marks[index] & MARK_DONE;
		if (!done && (index < next || !(derive->marks[index] & MARK_BEGIN)))
			continue;
		struct instruction instruction;
		if (!decode_in(derive, range, index, &instruction))
			instruction = (struct instruction){.length = 1};
		next = index + instruction.length;
		if (!done && (instruction.padding || !known))
			continue;
		known = done && derive->numbers[index] != UNWIND_RULE_INVALID;
		sink(context, range->address + (index - range->first),
		     done ? derive->numbers[index] : UNWIND_RULE_INVALID);
	}
}
