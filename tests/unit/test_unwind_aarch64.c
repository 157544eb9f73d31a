/* Stacks of aarch64: tables and walks, on every machine; on aarch64 those of this program too. */
#include "unit.h"

#include "arch/arch.h"
#include "elf_maker.h"
#include "unwind/table.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

#define PROGRAM(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* Code of the made-up file, 0x100 bytes each, loaded at BIAS. */
enum {
	TEXT = 0x10000,
	LEAF = TEXT, /* nothing saved */
	FRAME = TEXT + 0x100, /* CFA = sp + 32, x29 and x30 below it */
	ONLY_LINK = TEXT + 0x200, /* CFA = sp + 16, x30 at CFA - 16 */
	BY_FP = TEXT + 0x300, /* CFA = x29 + 48, x29 and x30 at CFA - 48 */
	START = TEXT + 0x400, /* outermost */
	APART = TEXT + 0x500, /* CFA = sp + 64, x29 at CFA - 64, x30 at CFA - 8 */
	IN_X9 = TEXT + 0x600, /* CFA = x9 + 16, x29 and x30 below it */
	RESTORER = TEXT + 0x800, /* what signal handlers return to */
	NO_RULE = TEXT + 0x900,
	END = TEXT + 0xa00,
	X9 = 9,
	X29 = 29,
	X30,
};
static const uint64_t BIAS = 0xaaaa00000000, JIT = 0xffff80000000, STACK = 0xffffc0000000;

static size_t put_aarch64_cie(struct buf *out)
{
	struct buf body = {0};
	size_t offset = out->size;
	put_uint(&body, 0, 4);
	put_uint(&body, 1, 1);
	buf_add(&body, "zR", 3);
	/* Alignments 1 and -8, return address in x30, one byte more: absolute pointers; CFA = sp */
	buf_add(&body, (const uint8_t[]){1, 0x78, X30, 1, 0, 0x0c, 31, 0}, 8);
	put_entry(out, &body);
	buf_release(&body);
	return offset;
}

static struct unwind_table *make_table(void)
{
	static uint8_t text[END - TEXT];
	struct buf eh_frame = {0}, bytes = {0};
	struct elf_file *elf;
	struct unwind_table *table;
	size_t cie = put_aarch64_cie(&eh_frame);
	put_fde(&eh_frame, cie, LEAF, 0x100, PROGRAM(0));
	put_fde(&eh_frame, cie, FRAME, 0x100, PROGRAM(0x2d, 0x0e, 32, 0x9d, 4, 0x9e, 3)); /* with a signature */
	put_fde(&eh_frame, cie, ONLY_LINK, 0x100, PROGRAM(0x0e, 16, 0x9e, 2));
	put_fde(&eh_frame, cie, BY_FP, 0x100, PROGRAM(0x0c, X29, 48, 0x9d, 6, 0x9e, 5));
	put_fde(&eh_frame, cie, START, 0x100, PROGRAM(0x07, X30));
	put_fde(&eh_frame, cie, APART, 0x100, PROGRAM(0x0e, 64, 0x9d, 8, 0x9e, 1));
	put_fde(&eh_frame, cie, IN_X9, 0x100, PROGRAM(0x0c, X9, 16, 0x9d, 2, 0x9e, 1));
	memcpy(text + RESTORER - TEXT, "\x68\x11\x80\xd2\x01\x00\x00\xd4", 8); /* mov x8, #139; svc #0 */
	const struct elf_maker_section sections[] = {
		{".eh_frame", eh_frame.data, eh_frame.size, 0x400, SHF_ALLOC},
		{".text", text, sizeof text, TEXT, SHF_ALLOC | SHF_EXECINSTR},
	};
	elf_make(&bytes, TEXT, 0x10000, sections, 2);
	((Elf64_Ehdr *)bytes.data)->e_machine = EM_AARCH64;
	assert_int_equal(elf_open_bytes(&elf, bytes.data, bytes.size, NULL), 0);
	assert_int_equal(unwind_table_build(&table, elf, NULL, NULL), 0);
	elf_close(elf);
	buf_release(&eh_frame);
	buf_release(&bytes);
	return table;
}

static int set_up(void **state)
{
	*state = make_table();
	return 0;
}

static int tear_down(void **state)
{
	unwind_table_free(*state);
	return 0;
}

static struct unwind_place find(void *context, uint64_t ip)
{
	if (ip >= BIAS + TEXT && ip < BIAS + END)
		return (struct unwind_place){context, BIAS, true, BIAS + TEXT, BIAS + END};
	return (struct unwind_place){.mapped = ip >= JIT && ip < JIT + 0x10000};
}

/* Before FRAME + 0x44 there is "bl NO_RULE", before FRAME + 0x48 "blr x8". */
static bool read_code(void *context, uint64_t address, uint8_t *bytes, size_t size)
{
	uint64_t end = address + size;
	uint32_t call = 0xd503201f; /* nop */
	(void)context;
	memset(bytes, 0, size);
	if (end == BIAS + FRAME + 0x44)
		call = 0x94000000 | (NO_RULE - FRAME - 0x40) / 4;
	else if (end == BIAS + FRAME + 0x48)
		call = 0xd63f0100;
	memcpy(bytes + size - 4, &call, 4);
	return true;
}

enum { MOST = 16 };

static size_t walk(const struct unwind_table *table, struct unwind_registers registers, const uint64_t *words,
		   size_t count, uint64_t *addresses, enum unwind_end *ret_end)
{
	struct unwind_space space = {
		.context = (void *)table,
		.stack = (const uint8_t *)words,
		.stack_start = STACK,
		.stack_size = count * 8,
		.find = find,
		.read_code = read_code,
	};
	registers.kind = ARCH_AARCH64;
	registers.ip += BIAS;
	return unwind_stack(&space, &registers, addresses, NULL, MOST, ret_end);
}

/* Walks over words of a stack, and expects addresses of the file. */
#define EXPECT(registers, words, end, ...)                                                           \
	do {                                                                                         \
		const uint64_t expected[] = {__VA_ARGS__};                                           \
		uint64_t addresses[MOST];                                                            \
		enum unwind_end ended;                                                               \
		size_t count = walk(*state, registers, words, sizeof(words) / 8, addresses, &ended); \
		for (size_t i = 0; i < count && i < sizeof expected / 8; i++)                        \
			assert_int_equal(addresses[i], BIAS + expected[i]);                          \
		assert_int_equal(count, sizeof expected / 8);                                        \
		assert_int_equal(ended, end);                                                        \
	} while (0)

static struct unwind_registers linked(uint64_t ip, uint64_t link)
{
	return (struct unwind_registers){
		.ip = ip, .sp = STACK, .other[X30] = link ? BIAS + link : 0, .known = link ? 1u << X30 : 0};
}

static void return_addresses_are_in_x30_or_saved(void **state)
{
	const uint64_t words[] = {
		STACK + 8,
		BIAS + ONLY_LINK + 8,
		1,
		2, /* of FRAME */
		BIAS + START + 8,
		3, /* of ONLY_LINK */
		0,
	};
	EXPECT(linked(LEAF + 8, FRAME + 8), words, UNWIND_COMPLETE, LEAF + 8, FRAME + 8, ONLY_LINK + 8, START + 8);
}

/* Only what was interrupted has its return address there: in a caller x30 is what the call left. */
static void x30_is_not_used_twice(void **state)
{
	const uint64_t words[] = {0, BIAS + LEAF + 8, 0, 0, 0};
	EXPECT(linked(FRAME + 8, START + 8), words, UNWIND_BAD_RULE, FRAME + 8, LEAF + 8);
	EXPECT(linked(LEAF + 8, LEAF + 12), words, UNWIND_BAD_RULE, LEAF + 8, LEAF + 12);
	EXPECT(linked(LEAF + 8, 0), words, UNWIND_BAD_RULE, LEAF + 8);
}

static void frames_by_frame_pointer_and_other_registers(void **state)
{
	const uint64_t words[] = {
		STACK + 16, BIAS + BY_FP + 8, /* of IN_X9 */
		0,          BIAS + START + 8, 0, 0, 0, 0, /* of BY_FP */
	};
	struct unwind_registers registers = {.ip = IN_X9 + 8, .sp = STACK, .other[X9] = STACK, .known = 1u << X9};
	EXPECT(registers, words, UNWIND_COMPLETE, IN_X9 + 8, BY_FP + 8, START + 8);
}

static void registers_that_are_saved_apart_take_a_long_rule(void **state)
{
	const uint64_t words[] = {0, 1, 2, 3, 4, 5, 6, BIAS + START + 8, 0};
	EXPECT(linked(APART + 8, 0), words, UNWIND_COMPLETE, APART + 8, START + 8);
}

/* The kernel's frame: 128 bytes of siginfo, a ucontext with the registers from 184 on. */
static void signal_frames_are_left(void **state)
{
	uint64_t words[128] = {0};
	words[312 / 8 + X30] = BIAS + START + 8;
	words[312 / 8 + 31] = STACK + 100 * 8;
	words[312 / 8 + 32] = BIAS + LEAF + 4;
	EXPECT(linked(RESTORER, 0), words, UNWIND_COMPLETE, RESTORER, LEAF + 4, START + 8);
}

static void signatures_are_removed(void **state)
{
	const uint64_t signature = 0x00b5000000000000;
	const uint64_t words[] = {0, (BIAS + START + 8) | signature, 0, 0, 0};
	EXPECT(linked(FRAME + 8, 0), words, UNWIND_COMPLETE, FRAME + 8, START + 8);
}

/* Their frames begin anywhere below the variables of a function, so the stack pointer is not known after them. */
static void frame_pointers_lead_back_to_rules(void **state)
{
	const uint64_t words[] = {
		7,          7,
		STACK + 64, BIAS + FRAME + 8, /* JIT code, and variables of it */
		7,          7,
		7,          7,
		0,          BIAS + START + 8,
		0,          0, /* of FRAME */
		0,
	};
	struct unwind_registers registers = {.ip = JIT + 8 - BIAS, .sp = STACK, .fp = STACK + 16};
	EXPECT(registers, words, UNWIND_COMPLETE, JIT + 8 - BIAS, FRAME + 8, START + 8);
}

static void code_without_rules_returns_to_a_call_that_leads_there(void **state)
{
	const uint64_t words[] = {0, BIAS + START + 8, 0, 0, 0};
	EXPECT(linked(NO_RULE + 8, FRAME + 0x44), words, UNWIND_COMPLETE, NO_RULE + 8, FRAME + 0x44, START + 8);
	EXPECT(linked(NO_RULE + 8, FRAME + 0x48), words, UNWIND_NO_TABLE, NO_RULE + 8); /* a call of anything */
	EXPECT(linked(NO_RULE + 8, FRAME + 0x4c), words, UNWIND_NO_TABLE, NO_RULE + 8);
}

/* A file of another machine that is mapped says nothing about this one's code. */
static void tables_of_other_machines_are_not_used(void **state)
{
	const uint64_t words[] = {0, BIAS + START + 8, 0, 0};
	uint64_t addresses[MOST];
	enum unwind_end end;
	struct unwind_space space = {
		.context = *state,
		.stack = (const uint8_t *)words,
		.stack_start = STACK,
		.stack_size = sizeof words,
		.find = find,
	};
	struct unwind_registers registers = {.ip = BIAS + FRAME + 8, .sp = STACK};
	assert_int_equal(unwind_stack(&space, &registers, addresses, NULL, MOST, &end), 1);
	assert_int_equal(end, UNWIND_NO_TABLE);
}

static void tables_are_saved_and_loaded(void **state)
{
	const struct unwind_table *table = *state;
	struct unwind_table *loaded;
	struct buf bytes = {0};
	unwind_table_save(table, &bytes);
	assert_int_equal(unwind_table_load(&loaded, bytes.data, bytes.size, NULL), 0);
	assert_ptr_equal(loaded->arch, &arch_aarch64);
	assert_int_equal(loaded->rule_count, table->rule_count);
	assert_memory_equal(loaded->rules, table->rules, table->rule_count * sizeof *table->rules);
	unwind_table_free(loaded);
	buf_release(&bytes);
}

static void perf_registers_are_put_where_dwarf_has_them(void **state)
{
	(void)state;
	uint64_t values[33];
	struct unwind_registers registers;
	const uint64_t all = 0x1ffffffff;
	for (size_t i = 0; i < 33; i++)
		values[i] = 100 + i;
	assert_ptr_equal(arch_of_name("aarch64"), &arch_aarch64);
	assert_true(unwind_registers_from_perf(&registers, &arch_aarch64, PERF_SAMPLE_REGS_ABI_64, all, values));
	assert_int_equal(registers.kind, ARCH_AARCH64);
	assert_int_equal(registers.fp, 129);
	assert_int_equal(registers.sp, 131);
	assert_int_equal(registers.ip, 132);
	assert_int_equal(registers.other[X30], 130);
	assert_int_equal(registers.known, UINT32_MAX);
	assert_false(unwind_registers_from_perf(&registers, &arch_aarch64, PERF_SAMPLE_REGS_ABI_32, all, values));
	assert_false(unwind_registers_from_perf(&registers, &arch_aarch64, PERF_SAMPLE_REGS_ABI_64, all >> 1, values));
}

/* --- this program --- */

#ifdef __aarch64__
extern const char __executable_start[], etext[];

static struct {
	struct unwind_table *table;
	uint64_t expected[MOST], addresses[2 * MOST];
	size_t expected_count, count;
} here;

static struct unwind_place find_here(void *context, uint64_t ip)
{
	(void)context;
	uint64_t start = (uintptr_t)__executable_start, end = (uintptr_t)etext;
	if (ip < start || ip >= end)
		return (struct unwind_place){0};
	return (struct unwind_place){here.table, start, true, start, end};
}

static bool read_memory(void *context, uint64_t address, uint64_t *ret_value)
{
	(void)context;
	memcpy(ret_value, (const void *)(uintptr_t)address, 8);
	return true;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
	mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
	struct unwind_space space = {.find = find_here, .read = read_memory};
	struct unwind_registers registers;
	uint64_t values[33];
	enum unwind_end end;
	(void)number;
	(void)info;
	for (size_t i = 0; i < 31; i++)
		values[i] = machine->regs[i];
	values[31] = machine->sp;
	values[32] = machine->pc;
	if (unwind_registers_from_perf(&registers, NULL, PERF_SAMPLE_REGS_ABI_64, 0x1ffffffff, values))
		here.count = unwind_stack(&space, &registers, here.addresses, NULL, 2 * MOST, &end);
	machine->pc += 4;
}

/* Is interrupted with its return address in x30. */
static __attribute__((noinline)) int leaf(int value)
{
	__asm__ volatile("brk #0");
	return value + 1;
}

/* Notes where it returns to, and has more or less on its stack. */
static __attribute__((noinline)) int descend(int depth)
{
	volatile char local[40 * (depth + 1)];
	local[0] = (char)depth;
	here.expected[here.expected_count++] = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
	int result = depth ? descend(depth - 1) : leaf(depth);
	return result + local[0];
}

static void the_stack_of_this_program_is_followed(void **state)
{
	(void)state;
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;
	struct elf_file *elf;
	assert_int_equal(elf_open(&elf, "/proc/self/exe", NULL), 0);
	assert_int_equal(unwind_table_build(&here.table, elf, NULL, NULL), 0);
	elf_close(elf);
	assert_int_equal(sigaction(SIGTRAP, &action, &old), 0);
	descend(5);
	sigaction(SIGTRAP, &old, NULL);
	assert_int_equal(here.expected_count, 6);
	assert_true(here.count >= 2 + here.expected_count);
	assert_in_range(here.addresses[0], (uintptr_t)leaf, (uintptr_t)leaf + 64);
	assert_in_range(here.addresses[1], (uintptr_t)descend, (uintptr_t)descend + 512);
	for (size_t i = 0; i < here.expected_count; i++)
		assert_int_equal(here.addresses[2 + i], here.expected[here.expected_count - 1 - i]);
	unwind_table_free(here.table);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(return_addresses_are_in_x30_or_saved),
		cmocka_unit_test(x30_is_not_used_twice),
		cmocka_unit_test(frames_by_frame_pointer_and_other_registers),
		cmocka_unit_test(registers_that_are_saved_apart_take_a_long_rule),
		cmocka_unit_test(signal_frames_are_left),
		cmocka_unit_test(signatures_are_removed),
		cmocka_unit_test(frame_pointers_lead_back_to_rules),
		cmocka_unit_test(code_without_rules_returns_to_a_call_that_leads_there),
		cmocka_unit_test(tables_of_other_machines_are_not_used),
		cmocka_unit_test(tables_are_saved_and_loaded),
		cmocka_unit_test(perf_registers_are_put_where_dwarf_has_them),
#ifdef __aarch64__
		cmocka_unit_test(the_stack_of_this_program_is_followed),
#endif
	};
	return cmocka_run_group_tests_name("aarch64", tests, set_up, tear_down);
}
