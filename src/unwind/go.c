/* Reads functions and stack deltas from .gopclntab. */
#include "unwind/go.h"

#include "symbol/elf_symbols.h"

#include <stddef.h>

/* The header of .gopclntab; offsets are from its beginning. */
struct header {
	uint32_t magic;
	uint8_t zero[2], quantum, pointer_bytes;
	uint64_t function_count, file_count, text, names, units, files, deltas, functions;
};

/* The fields of a function that are read; the flag is behind fields that depend on the version. */
struct function {
	uint32_t entry;
	int32_t name;
	uint32_t arguments, deferreturn, deltas;
};

enum { MAGIC_1_18 = 0xfffffff0, MAGIC_1_20 = 0xfffffff1, FLAG_AT_1_18 = 37, FLAG_AT_1_20 = 41 };
enum { FLAG_TOP = 1, FLAG_WRITES_SP = 2 };

/* Assembly that changes stacks is short. */
enum { SWITCH_MAX = 1024, DWARF_RBP = 6 };

/* --- the table --- */

static bool read_function(const struct go_program *go, uint64_t offset, struct function *ret_function,
			  uint8_t *ret_flag)
{
	if (offset >= go->function_bytes || go->function_bytes - offset <= go->flag_at)
		return false;
	memcpy(ret_function, go->functions + offset, sizeof *ret_function);
	*ret_flag = go->functions[offset + go->flag_at];
	return true;
}

static bool has_name(const struct go_program *go, const struct function *function, const char *name)
{
	size_t size = strlen(name) + 1;
	return function->name >= 0 && (size_t)function->name < go->name_bytes &&
	       go->name_bytes - (size_t)function->name >= size && !memcmp(go->names + function->name, name, size);
}

/* The function with this index, by the pair of 32-bit numbers that the table has: its entry and where the rest lies. */
static uint32_t offset_of(const struct go_program *go, uint64_t index)
{
	uint32_t pair[2];
	memcpy(pair, go->functions + index * sizeof pair, sizeof pair);
	return pair[1];
}

/* How far the stack pointer went, from an address on; false at the end of the function. */
struct deltas {
	struct cursor cursor;
	uint64_t address;
	int64_t value;
	bool began;
};

static bool begin_deltas(const struct go_program *go, const struct function *function, struct deltas *ret_deltas)
{
	if (!function->deltas || function->deltas >= go->delta_bytes)
		return false;
	*ret_deltas = (struct deltas){
		.cursor = {.at = go->deltas + function->deltas, .end = go->deltas + go->delta_bytes},
		.address = go->text + function->entry,
		.value = -1,
	};
	return true;
}

/* Fills in the value and its first address; `address` is behind its last one then. */
static bool next_delta(const struct go_program *go, struct deltas *deltas, uint64_t *ret_from)
{
	uint64_t change = cursor_uleb(&deltas->cursor);
	if (!change && deltas->began)
		return false;
	deltas->began = true;
	deltas->value += (int64_t)(change >> 1) ^ -(int64_t)(change & 1);
	*ret_from = deltas->address;
	deltas->address += cursor_uleb(&deltas->cursor) * go->quantum;
	return !deltas->cursor.bad && deltas->address > *ret_from && deltas->value >= 0 &&
	       deltas->value < INT32_MAX / 2;
}

static bool code_at(const struct go_program *go, uint64_t address, const void *expected, size_t size)
{
	size_t there = 0;
	const uint8_t *code = elf_bytes_at(go->elf, address, &there);
	return code && there >= size && !memcmp(code, expected, size);
}

/* --- where it is --- */

/* goexit() is "nop; call …; nop" and begins the stacks of all goroutines: where it is not, nothing else is. */
static bool is_right(const struct go_program *go)
{
	for (uint64_t i = 0; i < go->count; i++) {
		struct function function;
		uint8_t flag;
		if (!read_function(go, offset_of(go, i), &function, &flag) || !(flag & FLAG_TOP) ||
		    !has_name(go, &function, "runtime.goexit"))
			continue;
		uint64_t address = go->text + function.entry;
		return code_at(go, address, "\x90\xe8", 2) && code_at(go, address + 6, "\x90", 1);
	}
	return false;
}

/* systemstack() compares the goroutine of the thread with the current one: "cmp N(%rbx), %rax". */
static uint8_t find_current(const struct go_program *go, uint64_t address)
{
	enum { SYSTEMSTACK_MAX = 128 };
	static const uint8_t compares[] = {0x48, 0x3b, 0x83};
	size_t size = 0;
	const uint8_t *code = elf_bytes_at(go->elf, address, &size);
	const uint8_t *end = code ? code + (size < SYSTEMSTACK_MAX ? size : SYSTEMSTACK_MAX) : NULL;
	const uint8_t *found = code ? memmem(code, (size_t)(end - code), compares, sizeof compares) : NULL;
	return found && end - found >= 7 && !found[4] && !found[5] && !found[6] ? found[3] : 0;
}

static uint8_t current_of(const struct go_program *go)
{
	for (uint64_t i = 0; i < go->count; i++) {
		struct function function;
		uint8_t flag;
		if (read_function(go, offset_of(go, i), &function, &flag) && (flag & FLAG_WRITES_SP) &&
		    has_name(go, &function, "runtime.systemstack"))
			return find_current(go, go->text + function.entry);
	}
	return 0;
}

static bool find_text(struct go_program *go, uint64_t in_header)
{
	struct elf_section text;
	if (in_header) {
		go->text = in_header;
		if (is_right(go))
			return true;
	}
	if (elf_symbols_address(go->elf, "runtime.text", &go->text) && is_right(go))
		return true;
	if (!elf_section(go->elf, ".text", &text))
		return false;
	go->text = text.address;
	return is_right(go);
}

bool go_open(struct go_program *ret_go, struct elf_file *elf)
{
	struct elf_section section;
	struct header header;
	if (elf_header(elf)->e_machine != EM_X86_64 ||
	    (!elf_section(elf, ".gopclntab", &section) && !elf_section(elf, ".data.rel.ro.gopclntab", &section)) ||
	    !section.data || section.size < sizeof header)
		return false;
	memcpy(&header, section.data, sizeof header);
	if ((header.magic != MAGIC_1_18 && header.magic != MAGIC_1_20) || header.pointer_bytes != 8 ||
	    !header.quantum || header.names >= section.size || header.deltas >= section.size ||
	    header.functions >= section.size || header.function_count > (section.size - header.functions) / 8)
		return false;
	struct go_program go = {
		.elf = elf,
		.table = section.data,
		.size = section.size,
		.functions = section.data + header.functions,
		.function_bytes = section.size - header.functions,
		.deltas = section.data + header.deltas,
		.delta_bytes = section.size - header.deltas,
		.names = section.data + header.names,
		.name_bytes = section.size - header.names,
		.count = header.function_count,
		.flag_at = header.magic == MAGIC_1_18 ? FLAG_AT_1_18 : FLAG_AT_1_20,
		.quantum = header.quantum,
	};
	if (!find_text(&go, header.text))
		return false;
	go.current_at = current_of(&go);
	*ret_go = go;
	return true;
}

void go_add_functions(const struct go_program *go, struct cfi *cfi)
{
	for (uint64_t i = 0; i < go->count; i++) {
		uint32_t offset = offset_of(go, i);
		struct function function;
		struct deltas deltas;
		uint64_t from;
		uint8_t flag;
		if (!read_function(go, offset, &function, &flag) || !begin_deltas(go, &function, &deltas))
			continue;
		while (next_delta(go, &deltas, &from))
			;
		uint64_t start = go->text + function.entry;
		if (deltas.address > start)
			cfi_add(cfi, (struct cfi_function){.start = start, .cie = CFI_GO, .program = offset},
				deltas.address - start);
	}
}

/* --- rules --- */

static struct unwind_rule rule_of(uint8_t cfa, int64_t value, bool saved)
{
	struct unwind_rule rule = {.cfa = cfa, .cfa_offset = (int32_t)value + 8};
	if (saved && value >= 8) {
		rule.fp = UNWIND_FP_AT_CFA;
		rule.fp_offset = -16;
	}
	return rule;
}

/* Before Go 1.21: "sub …, %rsp" and then "mov %rbp, N(%rsp)", to the same place. Returns its length; 0: no. */
static uint64_t late_save(const struct go_program *go, uint64_t address, int64_t value)
{
	uint8_t near[5] = {0x48, 0x89, 0x6c, 0x24, (uint8_t)(value - 8)}, far[8] = {0x48, 0x89, 0xac, 0x24};
	uint32_t distance = (uint32_t)value - 8;
	memcpy(far + 4, &distance, sizeof distance);
	if (value >= 8 && value - 8 < 128 && code_at(go, address, near, sizeof near))
		return sizeof near;
	return value >= 8 && code_at(go, address, far, sizeof far) ? sizeof far : 0;
}

/* From an address on, and to the end of the function, another rule holds than the distances say. */
struct special {
	uint64_t from; /* UINT64_MAX: nowhere */
	struct unwind_rule rule;
};

/*
 * A function that changes to another stack and clears the frame pointer ("mov $0, %rbp": mcall, morestack): a stack
 * begins there, as its caller may continue elsewhere. So it does where a new thread takes its own ("mov %rsi, %rsp":
 * clone).
 */
static struct special find_beginning(const struct go_program *go, const struct cfi_function *function)
{
	static const uint8_t clears[] = {0x48, 0xc7, 0xc5, 0, 0, 0, 0}, takes[] = {0x48, 0x89, 0xf4};
	struct special special = {.from = UINT64_MAX, .rule = {.cfa = UNWIND_CFA_STOP}};
	size_t there = 0;
	const uint8_t *code = elf_bytes_at(go->elf, function->start, &there);
	if (!code || there < function->size || function->size > SWITCH_MAX)
		return special;
	const uint8_t *cleared = memmem(code, function->size, clears, sizeof clears);
	const uint8_t *taken = memmem(code, function->size, takes, sizeof takes);
	if (cleared)
		special.from = function->start + (uint64_t)(cleared - code) + sizeof clears;
	else if (taken)
		special.from = function->start + (uint64_t)(taken - code) + sizeof takes;
	return special;
}

/* The byte of displacement behind instructions, where the code of a function has them; 0: it is not there. */
static uint8_t displacement(const uint8_t *code, size_t size, const char *instruction, size_t length)
{
	const uint8_t *found = memmem(code, size, instruction, length);
	return found && (size_t)(found - code) + length < size ? found[length] : 0;
}

/* From morestack() to the goroutine, by the offsets that its own code uses. */
static void lead_to_goroutine(const struct go_program *go, const struct cfi_function *function, struct special *special)
{
	size_t size = 0;
	const uint8_t *code = elf_bytes_at(go->elf, function->start, &size);
	if (!code || size < function->size || special->from == UINT64_MAX)
		return;
	size = function->size;
	/* mov …(%rdi), %rbx; mov (%rsp), %rax, and to …(%rdi); lea 8(%rsp), %rax, and to …(%rdi); mov %rbp, …(%rdi) */
	uint32_t m = displacement(code, size, "\x48\x8b\x5f", 3);
	uint32_t ip = displacement(code, size, "\x48\x8b\x04\x24\x48\x89\x47", 7);
	uint32_t sp = displacement(code, size, "\x48\x8d\x44\x24\x08\x48\x89\x47", 8);
	uint32_t fp = displacement(code, size, "\x48\x89\x6f", 3);
	if (!go->current_at || !m || !sp || !fp || ip != sp + 8)
		return;
	special->rule = (struct unwind_rule){
		.cfa = UNWIND_CFA_GO, .cfa_offset = (int32_t)(m | (uint32_t)go->current_at << 8 | sp << 16 | fp << 24)};
}

/*
 * One that keeps its frame pointer (systemstack, asmcgocall): that leads back to the first stack. Not by UNWIND_CFA_FP,
 * which leads up only: the other stack may lie anywhere.
 */
static struct special by_frame_pointer(const struct go_program *go, uint64_t saved_at)
{
	static const uint8_t sets[] = {0x48, 0x89, 0xe5}; /* mov %rsp, %rbp */
	struct special special = {
		.from = UINT64_MAX,
		.rule = {.cfa = UNWIND_CFA_REGISTER + DWARF_RBP,
			 .cfa_offset = 16,
			 .fp = UNWIND_FP_AT_CFA,
			 .fp_offset = -16},
	};
	if (code_at(go, saved_at, sets, sizeof sets))
		special.from = saved_at + sizeof sets;
	return special;
}

static void run_deltas(const struct go_program *go, struct deltas *deltas, struct special special, bool switches,
		       uint8_t cfa, go_sink sink, void *context)
{
	bool saved = false;
	uint64_t from;
	while (next_delta(go, deltas, &from) && from < special.from) {
		if (!saved && deltas->value == 8 && code_at(go, from - 1, "\x55", 1)) {
			saved = true;
			if (switches && special.from == UINT64_MAX)
				special = by_frame_pointer(go, from);
		}
		sink(context, from, rule_of(cfa, deltas->value, saved));
		uint64_t length = saved ? 0 : late_save(go, from, deltas->value);
		if (length && length < deltas->address - from) {
			saved = true;
			sink(context, from + length, rule_of(cfa, deltas->value, true));
		}
	}
	if (special.from != UINT64_MAX)
		sink(context, special.from, special.rule);
}

/*
 * Functions by which a thread leaves its goroutine for another one. newstack() calls them too, if a goroutine is to be
 * preempted: as in mcall(), it is not the caller any more.
 */
static bool leaves_goroutine(const struct go_program *go, const struct function *function)
{
	return has_name(go, function, "runtime.goschedImpl") || has_name(go, function, "runtime.preemptPark") ||
	       has_name(go, function, "runtime.schedule");
}

void go_run(const struct go_program *go, const struct cfi_function *function, go_sink sink, void *context)
{
	struct function read;
	struct deltas deltas;
	uint8_t flag;
	if (!read_function(go, function->program, &read, &flag) || !begin_deltas(go, &read, &deltas))
		return;
	/* A signal handler begins a stack for the runtime, but not for us, and a thread begins in clone. */
	if ((flag & FLAG_TOP) && !has_name(go, &read, "runtime.sigtramp") && !has_name(go, &read, "runtime.mstart")) {
		sink(context, function->start, (struct unwind_rule){.cfa = UNWIND_CFA_STOP});
		return;
	}
	/* Calls that the runtime puts between two instructions. */
	bool interrupted = has_name(go, &read, "runtime.asyncPreempt") || has_name(go, &read, "runtime.sigpanic");
	bool switches = flag & FLAG_WRITES_SP;
	struct special special = switches ? find_beginning(go, function) : (struct special){.from = UINT64_MAX};
	if (switches && has_name(go, &read, "runtime.morestack"))
		lead_to_goroutine(go, function, &special);
	uint8_t cfa = leaves_goroutine(go, &read) ? UNWIND_CFA_GO_LEFT :
		      interrupted                 ? UNWIND_CFA_SP | UNWIND_CFA_INTERRUPTED :
						    UNWIND_CFA_SP;
	run_deltas(go, &deltas, special, switches, cfa, sink, context);
}
