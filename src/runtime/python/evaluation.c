/*
 * Finds the evaluation loop: a function whose rare parts, or all but its entry, compilers put elsewhere.
 *
 * Where symbols are stripped, such a part has no name. It is where a jump leads that leaves the function, and its call
 * frame information begins with the frame that the function has built. Where another function is called in this way
 * instead (a tail call), there is no frame yet.
 */
#include "runtime/python/evaluation.h"

#include "arch/arch.h"
#include "base/bisect.h"
#include "symbol/elf_symbols.h"
#include "unwind/cfi.h"

#include <string.h>

#define LOOP "_PyEval_EvalFrameDefault"

enum {
	CODE_MAX = 1 << 20, /* bytes of a range that are decoded; there are 40 to 60 KiB in release builds */
	PROGRAM_MAX = 64 << 10, /* bytes of the call frame information of a part */
	TARGETS_MAX = 8, /* places in a function that are looked at: a part may also have code without the frame */
	FUNCTIONS_MAX = 64, /* functions that jumps lead to */
};

struct lead {
	uint64_t function;
	unsigned targets;
};

struct finder {
	struct elf_file *elf;
	const struct arch *arch;
	struct python_range *ranges;
	size_t count;
	struct cfi cfi;
	struct cfi_section eh_frame;
	struct symtab *symbols;
	struct lead leads[FUNCTIONS_MAX];
	size_t lead_count;
};

/* --- by symbols --- */

static uint64_t range_size(const struct python_range *range)
{
	return range->end - range->start;
}

/* When there are too many the smallest one is dropped. */
static void add_range(struct finder *finder, uint64_t start, uint64_t size)
{
	struct python_range range = {start, start + size};
	size_t smallest = 0;
	if (range.end <= range.start)
		return;
	for (size_t i = 0; i < finder->count; i++) {
		if (finder->ranges[i].start == start)
			return;
		if (range_size(&finder->ranges[i]) < range_size(&finder->ranges[smallest]))
			smallest = i;
	}
	if (finder->count < PYTHON_EVAL_MAX)
		finder->ranges[finder->count++] = range;
	else if (size > range_size(&finder->ranges[smallest]))
		finder->ranges[smallest] = range;
}

/*
 * Whether it is a suffix of a compiler, such as .cold, .lto_priv.0 and .llvm.123. Except .part: that is code the loop
 * calls, with a frame of its own.
 */
static bool is_suffix(const char *suffix)
{
	enum { SUFFIX_MAX = 64 };
	return !*suffix ||
	       (*suffix == '.' && strnlen(suffix, SUFFIX_MAX + 1) <= SUFFIX_MAX && !strstr(suffix, ".part"));
}

static bool take_symbol(void *context, const struct elf_symbol *symbol)
{
	if (is_suffix(symbol->name + strlen(LOOP)))
		add_range(context, symbol->address, symbol->size);
	return true;
}

static void find_symbols(struct finder *finder)
{
	struct elf_symbol symbol;
	if (elf_symbols_exported(finder->elf, LOOP, &symbol))
		add_range(finder, symbol.address, symbol.size);
	elf_symbols_with_prefix(finder->elf, ".symtab", STT_FUNC, LOOP, take_symbol, finder);
}

/* --- by jumps --- */

static bool read_functions(struct finder *finder)
{
	struct elf_section section;
	struct cfi *cfi = &finder->cfi;
	if (!elf_section(finder->elf, ".eh_frame", &section) || !section.data)
		return false;
	for (size_t i = 0; i < elf_segment_count(finder->elf) && cfi->range_count < CFI_RANGES_MAX; i++) {
		const Elf64_Phdr *segment = elf_segment(finder->elf, i);
		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    segment->p_memsz <= UINT64_MAX - segment->p_vaddr)
			cfi->executable[cfi->range_count++] =
				(struct cfi_range){segment->p_vaddr, segment->p_vaddr + segment->p_memsz};
	}
	cfi->arch = finder->arch;
	finder->eh_frame = (struct cfi_section){section.data, section.size, .address = section.address};
	cfi_read(cfi, &finder->eh_frame);
	cfi_sort(cfi);
	return cfi->function_count != 0;
}

static const struct cfi_function *function_of(const struct finder *finder, uint64_t address)
{
	const struct cfi *cfi = &finder->cfi;
	size_t next = BISECT(cfi->function_count, i, cfi->functions[i].start <= address);
	const struct cfi_function *function = next ? &cfi->functions[next - 1] : NULL;
	return function && address - function->start < function->size ? function : NULL;
}

struct frame_question {
	const struct arch *arch;
	uint64_t address;
	bool has_frame;
};

/* The state in a CIE is not that of every function: assemblers share one among parts with frames of the same size. */
static bool is_entry(const struct arch *arch, const struct cfi_rule *cfa)
{
	return cfa->how == UNWIND_HOW_REGISTER && cfa->dwarf_register == arch->dwarf_sp &&
	       cfa->value == (arch->links ? 0 : arch->word);
}

static void take_state(void *context, uint64_t address, const struct cfi_cie *cie, const struct cfi_state *state)
{
	struct frame_question *question = context;
	(void)cie;
	if (address <= question->address)
		question->has_frame = state && !is_entry(question->arch, &state->cfa);
}

static bool has_name(const struct finder *finder, const struct cfi_function *function, uint64_t address)
{
	const struct symtab_symbol *symbol = symtab_find(finder->symbols, address);
	return (symbol && symbol->start >= function->start) || symtab_find_start(finder->symbols, function->start);
}

/* Whether one more jump to this function is looked at: a hostile file has very many. */
static bool may_try(struct finder *finder, uint64_t function)
{
	size_t i = 0;
	while (i < finder->lead_count && finder->leads[i].function != function)
		i++;
	if (i == FUNCTIONS_MAX)
		return false;
	if (i == finder->lead_count)
		finder->leads[finder->lead_count++] = (struct lead){.function = function};
	return finder->leads[i].targets++ < TARGETS_MAX;
}

static void follow_jump(struct finder *finder, uint64_t target)
{
	struct frame_question question = {.arch = finder->arch, .address = target};
	for (size_t i = 0; i < finder->count; i++)
		if (target >= finder->ranges[i].start && target < finder->ranges[i].end)
			return;
	const struct cfi_function *function = function_of(finder, target);
	if (!function || function->program_size > PROGRAM_MAX || !may_try(finder, function->start) ||
	    has_name(finder, function, target))
		return;
	cfi_run(&finder->cfi, function, take_state, &question);
	if (question.has_frame)
		add_range(finder, function->start, function->size);
}

static void follow_jumps(struct finder *finder, struct python_range range)
{
	struct instruction instruction;
	size_t size = 0;
	const uint8_t *code = elf_bytes_at(finder->elf, range.start, &size);
	if (!code)
		return;
	if (size > range.end - range.start)
		size = range.end - range.start;
	if (size > CODE_MAX)
		size = CODE_MAX;
	for (size_t at = 0; at < size;) {
		if (!finder->arch->decode(code + at, size - at, range.start + at, &instruction)) {
			at++;
			continue;
		}
		at += instruction.length;
		if (instruction.kind == INSTRUCTION_JUMP || instruction.kind == INSTRUCTION_BRANCH)
			follow_jump(finder, instruction.target);
	}
}

static void find_parts(struct finder *finder)
{
	finder->symbols = symtab_new();
	if (!elf_symbols_add(finder->symbols, finder->elf, ".symtab"))
		elf_symbols_add(finder->symbols, finder->elf, ".dynsym");
	symtab_finish(finder->symbols);
	/* Parts may lead to other parts. */
	for (size_t i = 0; i < finder->count; i++)
		follow_jumps(finder, finder->ranges[i]);
	symtab_free(finder->symbols);
}

size_t python_evaluation_find(struct elf_file *elf, struct python_range ranges[PYTHON_EVAL_MAX])
{
	struct finder finder = {.elf = elf, .arch = arch_of_machine(elf_header(elf)->e_machine), .ranges = ranges};
	find_symbols(&finder);
	if (finder.count && finder.arch && finder.arch->decode && read_functions(&finder))
		find_parts(&finder);
	cfi_release(&finder.cfi);
	return finder.count;
}
