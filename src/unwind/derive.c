/* Finds the functions of undescribed code, and collects their rules. */
#include "unwind/derive_function.h"

#include "base/mem.h"

#include <string.h>

/* Jumps over more than this lead to parts that compilers split off, behind which other such parts lie. */
enum { NEAR_MAX = 32 << 10 };
/* How much work: instructions per byte of code, and in all, over all that is tried. Compilers need a fraction of it. */
enum { STEPS_PER_BYTE = 8, STEPS_MAX = 1 << 25, TRIES_MIN = 8192 };

void derive_init(struct derive *derive, const struct arch *arch, struct rules *rules)
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
	if (size > DERIVE_BYTES_MAX - derive->size)
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

const struct derive_range *derive_range_of(const struct derive *derive, uint32_t index)
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

bool derive_index_of(const struct derive *derive, uint64_t address, uint32_t *ret_index)
{
	const struct derive_range *range = range_of_address(derive, address);
	if (range)
		*ret_index = range->first + (uint32_t)(address - range->address);
	return range;
}

bool derive_decode(const struct derive *derive, const struct derive_range *range, uint32_t index,
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
	if (!derive_index_of(derive, address, &index))
		return;
	MEM_ROOM(derive->entries, derive->entry_count, derive->entry_capacity);
	derive->entries[derive->entry_count++] = (struct derive_entry){index, (uint8_t)kind, size};
}

/* --- the first look at all code, in the order of addresses --- */
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
		if (derive_index_of(derive, instruction->target, &index))
			derive_add_entry(derive, instruction->target, 0, DERIVE_LABEL);
		else if (instruction->target)
			note_address(derive, instruction->target);
		break;
	case INSTRUCTION_BRANCH:
	case INSTRUCTION_JUMP:
		if (derive_index_of(derive, instruction->target, &index))
			derive->marks[index] |= MARK_TARGET | (distance <= NEAR_MAX ? MARK_NEAR : 0);
		break;
	}
}

/* Instructions do not continue across the start of a function: there reading begins again. */
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
		if (!derive_decode(derive, range, index, &instruction)) {
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
		leads_on = instruction_goes_on(&instruction);
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

/* --- all functions --- */

static void derive_entries(struct derive *derive, struct derive_function *function, bool starts)
{
	for (size_t i = 0; i < derive->entry_count; i++) {
		const struct derive_entry *entry = &derive->entries[i];
		const struct derive_range *range = derive_range_of(derive, entry->index);
		uint32_t left = range->first + range->size - entry->index;
		uint32_t end = entry->size && entry->size <= left ? entry->index + (uint32_t)entry->size : 0;
		bool certain = derive->marks[entry->index] & MARK_ENTRY;
		if (certain && starts == (entry->kind == DERIVE_START))
			derive_function_known(function, entry->index, end, starts);
	}
}

/* Those that failed: what they lead to may have rules by now, which makes them functions. */
static void forget_tries(struct derive *derive)
{
	for (size_t i = 0; i < derive->entry_count; i++)
		derive->marks[derive->entries[i].index] &= (uint16_t)~MARK_TRIED;
}

/* Code of another kind, such as Haskell's, which has no functions on this stack, is not tried to its end. */
static void try_marked(const struct derive *derive, struct derive_function *function, uint16_t wanted)
{
	uint32_t tries = 0, successes = 0;
	for (uint32_t i = 0; i < derive->size && (tries < TRIES_MIN || successes >= tries / 16); i++)
		if ((derive->marks[i] & wanted) && !(derive->marks[i] & (MARK_DONE | MARK_ENTRY))) {
			tries++;
			successes += derive_function_perhaps(function, i);
		}
}

static int compare_addresses(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

void derive_run(struct derive *derive)
{
	if (!derive->size)
		return;
	derive->marks = mem_zalloc(derive->size, sizeof *derive->marks);
	derive->numbers = mem_zalloc(derive->size, sizeof *derive->numbers);
	derive->steps_left = (uint64_t)derive->size * STEPS_PER_BYTE;
	if (derive->steps_left > STEPS_MAX)
		derive->steps_left = STEPS_MAX;
	mark_symbols(derive);
	size_t symbols = derive->entry_count;
	for (size_t i = 0; i < derive->range_count; i++)
		look_through(derive, &derive->ranges[i]);
	if (derive->address_count)
		qsort(derive->addresses, derive->address_count, sizeof *derive->addresses, compare_addresses);
	mark_found(derive, symbols);
	struct derive_function *function = derive_function_new(derive);
	derive_entries(derive, function, true);
	derive_entries(derive, function, false);
	try_marked(derive, function, MARK_LABEL);
	try_marked(derive, function, MARK_FIRST);
	forget_tries(derive);
	derive_entries(derive, function, false);
	derive_function_free(function);
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
		if (!derive_decode(derive, range, index, &instruction))
			instruction = (struct instruction){.length = 1};
		next = index + instruction.length;
		if (!done && (instruction.padding || !known))
			continue;
		known = done && derive->numbers[index] != UNWIND_RULE_INVALID;
		sink(context, range->address + (index - range->first),
		     done ? derive->numbers[index] : UNWIND_RULE_INVALID);
	}
}
