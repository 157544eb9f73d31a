/* Tables of Go programs: a .gopclntab that is written out byte by byte, and the code that it describes. */
#include "unit.h"

#include "elf_maker.h"
#include "unwind/table.h"

#include <string.h>

/* elf_make() puts the first section behind the headers, and the segment begins with the file. */
enum { TEXT = 0x10000, HEADERS = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), CODE = TEXT + HEADERS, FUNCTION = 64 };
enum { FLAG_TOP = 1, FLAG_WRITES_SP = 2, QUANTUM = 1 };

/* Each begins at the next multiple of FUNCTION. */
static const struct made_function {
	const char *name, *code;
	size_t size;
	uint8_t flag;
	uint8_t deltas[16]; /* pairs: change of the value as a zigzag number, bytes */
} functions[] = {
	/* nop; call; nop */
	{"runtime.goexit", "\x90\xe8\0\0\0\0\x90", 7, FLAG_TOP, {2, 7}},
	/* push %rbp; mov %rsp, %rbp; sub $16, %rsp; nop; add $16, %rsp; pop %rbp; ret */
	{"main.work",
	 "\x55\x48\x89\xe5\x48\x83\xec\x10\x90\x48\x83\xc4\x10\x5d\xc3",
	 15,
	 0,
	 {2, 1, 16, 7, 32, 5, 31, 1, 15, 1}},
	/* sub $24, %rsp; mov %rbp, 16(%rsp); … */
	{"main.old", "\x48\x83\xec\x18\x48\x89\x6c\x24\x10\x90", 10, 0, {2, 4, 48, 6}},
	/* push %rbp; mov %rsp, %rbp; cmp 0xb8(%rbx), %rax; mov 0x38(%rdx), %rsp; call *%rdi; pop %rbp; ret */
	{"runtime.systemstack",
	 "\x55\x48\x89\xe5\x48\x3b\x83\xb8\0\0\0\x48\x8b\x62\x38\xff\xd7\x5d\xc3",
	 19,
	 FLAG_WRITES_SP,
	 {2, 1, 16, 17, 15, 1}},
	/* mov 0x38(%rbx), %rsp; mov $0, %rbp; call *%rdi; ret */
	{"runtime.mcall", "\x48\x8b\x63\x38\x48\xc7\xc5\0\0\0\0\xff\xd7\xc3", 14, FLAG_WRITES_SP, {2, 14}},
	/* mov 0x30(%rdi), %rbx; mov (%rsp), %rax; mov %rax, 0x40(%rdi); lea 8(%rsp), %rax; mov %rax, 0x38(%rdi);
	   mov %rbp, 0x60(%rdi); mov $0, %rbp; call *%rdi; ret */
	{"runtime.morestack",
	 "\x48\x8b\x5f\x30\x48\x8b\x04\x24\x48\x89\x47\x40\x48\x8d\x44\x24\x08\x48\x89\x47\x38"
	 "\x48\x89\x6f\x60\x48\xc7\xc5\0\0\0\0\xff\xd7\xc3",
	 35,
	 FLAG_WRITES_SP,
	 {2, 35}},
	/* mov %rsi, %rsp; call *%r12; nop */
	{"runtime.clone", "\x48\x89\xf4\x41\xff\xd4\x90", 7, FLAG_WRITES_SP, {2, 7}},
	{"runtime.asyncPreempt", "\x55\x90\x90\x90", 4, 0, {2, 1, 16, 3}},
	/* mov $15, %rax; syscall; int3: the handler returns to it */
	{"runtime.sigreturn__sigaction", "\x48\xc7\xc0\x0f\0\0\0\x0f\x05\xcc", 10, 0, {2, 10}},
	{"runtime.sigtramp", "\x90\x90", 2, FLAG_TOP, {2, 2}},
	/* push %rbp; … */
	{"runtime.schedule", "\x55\x90\x90\x90", 4, 0, {2, 1, 16, 3}},
};
enum { COUNT = sizeof functions / sizeof *functions };

static void put_functions(struct buf *out, const uint32_t *names, const uint32_t *deltas, size_t function_bytes)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		put_uint(out, i * FUNCTION, 4);
		put_uint(out, COUNT * 8 + i * function_bytes, 4);
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		put_uint(out, i * FUNCTION, 4);
		put_uint(out, names[i], 4);
		put_uint(out, 0, 8);
		put_uint(out, deltas[i], 4);
		put_uint(out, 0, 8);
		for (size_t filler = 28; filler < function_bytes - 3; filler++)
			buf_char(out, 0);
		put_uint(out, functions[i].flag, 1);
		put_uint(out, 0, 2);
	}
}

static void put_table(struct buf *out, uint32_t magic, uint64_t text)
{
	struct buf names = {0}, deltas = {0}, table = {0};
	uint32_t name_at[COUNT], delta_at[COUNT];
	enum { HEADER = 72 };
	put_uint(&deltas, 0, 1); /* offset 0 stands for none */
	for (size_t i = 0; i < COUNT; i++) {
		name_at[i] = (uint32_t)names.size;
		delta_at[i] = (uint32_t)deltas.size;
		buf_add(&names, functions[i].name, strlen(functions[i].name) + 1);
		buf_add(&deltas, functions[i].deltas, strlen((const char *)functions[i].deltas) + 1);
	}
	put_functions(&table, name_at, delta_at, magic == 0xfffffff0 ? 40 : 44);
	put_uint(out, magic, 4);
	buf_add(out, (const uint8_t[]){0, 0, QUANTUM, 8}, 4);
	put_uint(out, COUNT, 8);
	put_uint(out, 0, 8);
	put_uint(out, text, 8);
	put_uint(out, HEADER, 8);
	put_uint(out, 0, 8);
	put_uint(out, 0, 8);
	put_uint(out, HEADER + names.size, 8);
	put_uint(out, HEADER + names.size + deltas.size, 8);
	buf_add(out, names.data, names.size);
	buf_add(out, deltas.data, deltas.size);
	buf_add(out, table.data, table.size);
	buf_release(&names);
	buf_release(&deltas);
	buf_release(&table);
}

/* NULL when there is nothing to build one of. `keep` bytes of the table are there. */
static struct unwind_table *build(uint32_t magic, uint64_t text, size_t keep)
{
	struct buf code = {0}, table = {0}, bytes = {0};
	struct unwind_table *built = NULL;
	struct elf_file *elf;
	for (size_t i = 0; i < COUNT; i++) {
		buf_add(&code, functions[i].code, functions[i].size);
		while (code.size % FUNCTION)
			buf_char(&code, (char)0xcc);
	}
	put_table(&table, magic, text);
	struct elf_maker_section sections[] = {
		{".text", code.data, code.size, CODE, SHF_ALLOC | SHF_EXECINSTR},
		{".gopclntab", table.data, keep < table.size ? keep : table.size, 0x800000, SHF_ALLOC},
	};
	elf_make(&bytes, TEXT, HEADERS + code.size, sections, 2);
	assert_int_equal(elf_open_bytes(&elf, bytes.data, bytes.size, NULL), 0);
	if (unwind_table_build(&built, elf, NULL, NULL))
		built = NULL;
	elf_close(elf);
	buf_release(&code);
	buf_release(&table);
	buf_release(&bytes);
	return built;
}

static void check(const struct unwind_table *table, size_t function, uint64_t offset, int cfa, int cfa_offset,
		  bool saved)
{
	uint64_t address = CODE + function * FUNCTION + offset;
	struct unwind_rule rule = table->rules[unwind_rows_find(&table->rows, address)];
	assert_int_equal(rule.cfa, cfa);
	assert_int_equal(rule.cfa_offset, cfa_offset);
	assert_int_equal(rule.fp, saved ? UNWIND_FP_AT_CFA : UNWIND_FP_SAME);
	assert_int_equal(rule.fp_offset, saved ? -16 : 0);
}

static void check_table(struct unwind_table *table)
{
	assert_non_null(table);
	check(table, 0, 1, UNWIND_CFA_STOP, 0, false);
	check(table, 1, 0, UNWIND_CFA_SP, 8, false);
	check(table, 1, 1, UNWIND_CFA_SP, 16, true);
	check(table, 1, 8, UNWIND_CFA_SP, 32, true);
	check(table, 1, 13, UNWIND_CFA_SP, 16, true);
	check(table, 1, 14, UNWIND_CFA_SP, 8, false);
	check(table, 1, 40, UNWIND_CFA_INVALID, 0, false);
	check(table, 2, 4, UNWIND_CFA_SP, 32, false);
	check(table, 2, 9, UNWIND_CFA_SP, 32, true);
	check(table, 3, 1, UNWIND_CFA_SP, 16, true);
	check(table, 3, 16, UNWIND_CFA_REGISTER + 6, 16, true);
	check(table, 4, 3, UNWIND_CFA_SP, 8, false);
	check(table, 4, 12, UNWIND_CFA_STOP, 0, false);
	check(table, 5, 3, UNWIND_CFA_SP, 8, false);
	check(table, 5, 33, UNWIND_CFA_GO, 0x6038b830, false);
	check(table, 6, 5, UNWIND_CFA_STOP, 0, false);
	check(table, 7, 2, UNWIND_CFA_SP | UNWIND_CFA_INTERRUPTED, 16, true);
	check(table, 8, (uint64_t)-1, UNWIND_CFA_SIGNAL, 0, false);
	check(table, 9, 1, UNWIND_CFA_SP, 8, false);
	check(table, 10, 2, UNWIND_CFA_GO_LEFT, 16, true);
	unwind_table_free(table);
}

static void functions_have_rules_from_their_table(void **state)
{
	(void)state;
	check_table(build(0xfffffff1, CODE, SIZE_MAX));
	check_table(build(0xfffffff0, CODE, SIZE_MAX));
}

static void the_address_of_the_text_is_found_without_the_header(void **state)
{
	(void)state;
	check_table(build(0xfffffff1, 0, SIZE_MAX));
	check_table(build(0xfffffff1, 0x1234, SIZE_MAX));
}

/* Memory: struct g at 0x1000 (g0) and 0x3000, struct m at 0x2000, the stack of the goroutine at 0x4000. */
static bool read_memory(void *context, uint64_t address, uint64_t *ret_value)
{
	const uint64_t work = CODE + FUNCTION + 14;
	static const uint64_t words[][2] = {{0x1030, 0x2000}, {0x2000, 0x1000}, {0x20b8, 0x3000},   {0x3038, 0x4000},
					    {0x3030, 0x2000}, {0x3060, 0x77},   {0x4008, CODE + 1}, {0x9000, 1}};
	(void)context;
	*ret_value = address == 0x3040 ? work : 0;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (words[i][0] == address)
			*ret_value = words[i][1];
	return address >= 0x1000;
}

static struct unwind_place find(void *context, uint64_t ip)
{
	return (struct unwind_place){.table = context, .mapped = ip >= CODE};
}

static void a_goroutine_that_grows_its_stack_is_found(void **state)
{
	(void)state;
	struct unwind_table *table = build(0xfffffff1, CODE, SIZE_MAX);
	struct unwind_space space = {.context = table, .read = read_memory, .find = find};
	const uint64_t grows = CODE + 5 * FUNCTION + 34, work = CODE + FUNCTION + 14;
	struct unwind_registers registers = {.ip = grows, .sp = 0x9000, .known = 1 << 14};
	uint64_t addresses[8];
	enum unwind_end end;
	registers.other[14] = 0x1000;
	assert_int_equal(unwind_stack(&space, &registers, addresses, NULL, 8, &end), 3);
	assert_int_equal(end, UNWIND_COMPLETE);
	assert_int_equal(addresses[1], work);
	assert_int_equal(addresses[2], CODE + 1);
	/* The same in schedule(), which morestack() led to: the thread has left the goroutine. */
	const uint64_t stack[] = {0, grows};
	struct unwind_space left = space;
	left.stack = (const uint8_t *)stack;
	left.stack_start = 0x9000;
	left.stack_size = sizeof stack;
	registers.ip = CODE + 10 * FUNCTION + 2;
	assert_int_equal(unwind_stack(&left, &registers, addresses, NULL, 8, &end), 2);
	assert_int_equal(end, UNWIND_COMPLETE);
	assert_int_equal(addresses[1], grows);
	registers.ip = grows;
	registers.other[14] = 0x3000; /* not g0 of the thread */
	assert_int_equal(unwind_stack(&space, &registers, addresses, NULL, 8, &end), 1);
	assert_int_equal(end, UNWIND_COMPLETE);
	registers.other[14] = 0x10; /* a copy of the stack has no more */
	assert_int_equal(unwind_stack(&space, &registers, addresses, NULL, 8, &end), 1);
	assert_int_equal(end, UNWIND_OTHER_STACK);
	unwind_table_free(table);
}

/* Return addresses in main.work: behind calls of itself, by address, by register, or of a wrapper; and others. */
enum { WORK = CODE + FUNCTION, DIRECT = WORK + 9, INDIRECT, WRAPPED, WRONG, NO_CALL };
enum { ON_SYSTEM_STACK = CODE + 3 * FUNCTION + 17, BEGINNING = CODE + 1, WITHOUT_FRAME = WORK + 15 };
enum { WRAPPER = 0x900000, ELSEWHERE = 0xa00000 };

static void put_jump(uint8_t *to, uint8_t instruction, uint64_t behind, uint64_t target)
{
	int32_t distance = (int32_t)(target - behind);
	to[0] = instruction;
	memcpy(to + 1, &distance, sizeof distance);
}

static bool read_calls(void *context, uint64_t address, uint8_t *bytes, size_t size)
{
	uint64_t behind = address + size;
	(void)context;
	memset(bytes, 0x90, size);
	if (address == WRAPPER)
		put_jump(bytes + 3, 0xe9, WRAPPER + 8, WORK);
	else if (behind == INDIRECT)
		memcpy(bytes + size - 2, "\xff\xd0", 2);
	else if (behind >= DIRECT && behind < NO_CALL)
		put_jump(bytes + size - 5, 0xe8, behind,
			 behind == DIRECT  ? WORK :
			 behind == WRAPPED ? WRAPPER :
					     ELSEWHERE);
	return true;
}

/*
 * main.work on the stack of the thread, which was copied, called by systemstack(), whose frame pointer leads to the
 * stack of the goroutine.
 */
static void a_chain_continues_on_the_stack_of_a_goroutine(void **state)
{
	(void)state;
	enum { STACK = 0x9000, GOROUTINE = 0x4000, MISSING = GOROUTINE + 8 };
	struct unwind_table *table = build(0xfffffff1, CODE, SIZE_MAX);
	const uint64_t copy[] = {0, 0, GOROUTINE, ON_SYSTEM_STACK};
	struct unwind_space space = {
		.context = table,
		.stack = (const uint8_t *)copy,
		.stack_start = STACK,
		.stack_size = sizeof copy,
		.read_code = read_calls,
		.find = find,
	};
	struct unwind_registers registers = {.ip = WORK + 8, .sp = STACK, .fp = STACK + 16};
	static const struct {
		size_t count;
		uint64_t missing, chain[8];
	} cases[] = {
		{5, MISSING, {WORK + 8, ON_SYSTEM_STACK, DIRECT, DIRECT, INDIRECT, WRAPPED, BEGINNING}},
		{1, MISSING, {WORK + 8, ON_SYSTEM_STACK, BEGINNING, DIRECT}},
		{0, MISSING, {WORK + 8, ON_SYSTEM_STACK, DIRECT, DIRECT, INDIRECT}}, /* no beginning */
		{0, MISSING, {WORK + 8, ON_SYSTEM_STACK}},
		{0, MISSING, {WORK + 8}},
		{0, MISSING, {WORK + 8, DIRECT, DIRECT, BEGINNING}}, /* not of this stack */
		{0, MISSING + 8, {WORK + 8, ON_SYSTEM_STACK, DIRECT, BEGINNING}}, /* not what the rule needs */
		{0, MISSING, {WORK + 8, ON_SYSTEM_STACK, DIRECT, WRONG, BEGINNING}},
		{0, MISSING, {WORK + 8, ON_SYSTEM_STACK, DIRECT, NO_CALL, BEGINNING}},
		/* The frame pointer is that of its caller, which the chain skips. */
		{0, MISSING, {WORK + 8, ON_SYSTEM_STACK, WITHOUT_FRAME, BEGINNING}},
		{0, MISSING, {WORK + 8, ON_SYSTEM_STACK, 0x77, BEGINNING}},
	};
	uint64_t addresses[8];
	enum unwind_end end;
	assert_int_equal(unwind_stack(&space, &registers, addresses, NULL, 8, &end), 2);
	assert_int_equal(end, UNWIND_OTHER_STACK);
	/* Both may be on the heap, close to each other. */
	bool elsewhere = false;
	struct unwind_space near = space;
	const uint64_t near_copy[] = {0, 0, STACK + 0x8000, ON_SYSTEM_STACK};
	near.stack = (const uint8_t *)near_copy;
	near.ret_elsewhere = &elsewhere;
	assert_int_equal(unwind_stack(&near, &registers, addresses, NULL, 8, &end), 2);
	assert_int_equal(end, UNWIND_OTHER_STACK);
	assert_true(elsewhere);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t first = 0, count = 0;
		while (count < 8 && cases[i].chain[count])
			count++;
		assert_int_equal(unwind_continue(&space, &registers, cases[i].missing, cases[i].chain, count, &first),
				 cases[i].count);
		assert_int_equal(first, cases[i].count ? 2 : first);
	}
	unwind_table_free(table);
}

static void what_is_unknown_or_damaged_is_left_alone(void **state)
{
	(void)state;
	struct unwind_table *table = build(0xfffffffb, CODE, SIZE_MAX);
	check(table, 1, 8, UNWIND_CFA_INVALID, 0, false);
	unwind_table_free(table);
	for (size_t keep = 0; keep < 800; keep++)
		unwind_table_free(build(0xfffffff1, CODE, keep));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_rules_from_their_table),
		cmocka_unit_test(the_address_of_the_text_is_found_without_the_header),
		cmocka_unit_test(a_goroutine_that_grows_its_stack_is_found),
		cmocka_unit_test(a_chain_continues_on_the_stack_of_a_goroutine),
		cmocka_unit_test(what_is_unknown_or_damaged_is_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
