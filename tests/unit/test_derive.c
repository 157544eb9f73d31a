/* Rules derived from instructions: each line is one instruction and the rule before it. */
#include "unit.h"

#include "unwind/derive.h"

#define CODE(bytes) bytes, sizeof(bytes) - 1
#define RULE(kind, offset, how, at)                                                                        \
	{                                                                                                  \
		.cfa = (kind) | UNWIND_CFA_DERIVED, .fp = (how), .fp_offset = (at), .cfa_offset = (offset) \
	}
#define SP(offset) RULE(UNWIND_CFA_SP, offset, UNWIND_FP_SAME, 0)
#define SAVED(base, offset, at) RULE(UNWIND_CFA_##base, offset, UNWIND_FP_AT_CFA, at)
#define REGISTER(number, offset) RULE(UNWIND_CFA_REGISTER + (number), offset, UNWIND_FP_SAME, 0)
#define STOP                           \
	{                              \
		.cfa = UNWIND_CFA_STOP \
	}
#define NONE                              \
	{                                 \
		.cfa = UNWIND_CFA_INVALID \
	}
#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { TEXT = 0x10000 };

struct line {
	const char *code;
	size_t size;
	struct unwind_rule rule; /* before it */
};

static const struct line frame_pointer[] = {
	{CODE("\x55"), SP(8)}, /* push %rbp */
	{CODE("\x48\x89\xe5"), SAVED(SP, 16, -16)}, /* mov %rsp,%rbp */
	{CODE("\x48\x83\xec\x20"), SAVED(FP, 16, -16)}, /* sub $0x20,%rsp */
	{CODE("\xff\xd0"), SAVED(FP, 16, -16)}, /* call *%rax */
	{CODE("\x48\x29\xc4"), SAVED(FP, 16, -16)}, /* sub %rax,%rsp */
	{CODE("\xff\xd0"), SAVED(FP, 16, -16)}, /* call *%rax */
	{CODE("\xc9"), SAVED(FP, 16, -16)}, /* leave */
	{CODE("\xc3"), SP(8)}, /* ret */
};

static const struct line return_in_the_middle[] = {
	{CODE("\x41\x54"), SP(8)}, /* push %r12 */
	{CODE("\x55"), SP(16)}, /* push %rbp */
	{CODE("\x48\x83\xec\x18"), SAVED(SP, 24, -24)}, /* sub $0x18,%rsp */
	{CODE("\x85\xff"), SAVED(SP, 48, -24)}, /* test %edi,%edi */
	{CODE("\x74\x0a"), SAVED(SP, 48, -24)}, /* je 1f */
	{CODE("\x89\xfd"), SAVED(SP, 48, -24)}, /* mov %edi,%ebp */
	{CODE("\x48\x83\xc4\x18"), SAVED(SP, 48, -24)}, /* add $0x18,%rsp */
	{CODE("\x5d"), SAVED(SP, 24, -24)}, /* pop %rbp */
	{CODE("\x41\x5c"), SP(16)}, /* pop %r12 */
	{CODE("\xc3"), SP(8)}, /* ret */
	{CODE("\xff\xd6"), SAVED(SP, 48, -24)}, /* call *%rsi */
	{CODE("\x48\x83\xc4\x18"), SAVED(SP, 48, -24)}, /* add $0x18,%rsp */
	{CODE("\x5d"), SAVED(SP, 24, -24)}, /* pop %rbp */
	{CODE("\x41\x5c"), SP(16)}, /* pop %r12 */
	{CODE("\xff\xe0"), SP(8)}, /* jmp *%rax */
};

static const struct line saved_by_moves[] = {
	{CODE("\x48\x83\xec\x28"), SP(8)}, /* sub $0x28,%rsp */
	{CODE("\x48\x89\x6c\x24\x10"), SP(48)}, /* mov %rbp,0x10(%rsp) */
	{CODE("\x89\xfd"), SAVED(SP, 48, -32)}, /* mov %edi,%ebp */
	{CODE("\xff\xd0"), SAVED(SP, 48, -32)}, /* call *%rax */
	{CODE("\x48\x8b\x6c\x24\x10"), SAVED(SP, 48, -32)}, /* mov 0x10(%rsp),%rbp */
	{CODE("\x48\x83\xc4\x28"), SAVED(SP, 48, -32)}, /* add $0x28,%rsp */
	{CODE("\xc3"), SP(8)}, /* ret */
};

static const struct line aligned_by_gcc[] = {
	{CODE("\x4c\x8d\x54\x24\x08"), SP(8)}, /* lea 0x8(%rsp),%r10 */
	{CODE("\x48\x83\xe4\xe0"), SP(8)}, /* and $-32,%rsp */
	{CODE("\x41\xff\x72\xf8"), REGISTER(10, 0)}, /* push -8(%r10) */
	{CODE("\x55"), REGISTER(10, 0)}, /* push %rbp */
	{CODE("\x48\x89\xe5"), REGISTER(10, 0)}, /* mov %rsp,%rbp */
	{CODE("\x41\x52"), RULE(UNWIND_CFA_REGISTER + 10, 0, UNWIND_FP_AT_FP, 0)}, /* push %r10 */
	{CODE("\x48\x83\xec\x40"), RULE(UNWIND_CFA_AT_FP, 0xfff8, UNWIND_FP_AT_FP, 0)}, /* sub $0x40,%rsp */
	{CODE("\xff\xd0"), RULE(UNWIND_CFA_AT_FP, 0xfff8, UNWIND_FP_AT_FP, 0)}, /* call *%rax */
	{CODE("\x4c\x8b\x55\xf8"), RULE(UNWIND_CFA_AT_FP, 0xfff8, UNWIND_FP_AT_FP, 0)}, /* mov -8(%rbp),%r10 */
	{CODE("\xc9"), RULE(UNWIND_CFA_AT_FP, 0xfff8, UNWIND_FP_AT_FP, 0)}, /* leave */
	{CODE("\x49\x8d\x62\xf8"), REGISTER(10, 0)}, /* lea -8(%r10),%rsp */
	{CODE("\xc3"), SP(8)}, /* ret */
};

static const struct line aligned_by_clang[] = {
	{CODE("\x55"), SP(8)}, /* push %rbp */
	{CODE("\x48\x89\xe5"), SAVED(SP, 16, -16)}, /* mov %rsp,%rbp */
	{CODE("\x48\x83\xe4\xc0"), SAVED(FP, 16, -16)}, /* and $-64,%rsp */
	{CODE("\x48\x81\xec\x80\x00\x00\x00"), SAVED(FP, 16, -16)}, /* sub $0x80,%rsp */
	{CODE("\xff\xd0"), SAVED(FP, 16, -16)}, /* call *%rax */
	{CODE("\x48\x89\xec"), SAVED(FP, 16, -16)}, /* mov %rbp,%rsp */
	{CODE("\x5d"), SAVED(FP, 16, -16)}, /* pop %rbp */
	{CODE("\xc3"), SP(8)}, /* ret */
};

static const struct line aligned_by_assembly[] = {
	{CODE("\x48\x89\xe0"), SP(8)}, /* mov %rsp,%rax */
	{CODE("\x48\x83\xec\x60"), SP(8)}, /* sub $0x60,%rsp */
	{CODE("\x48\x83\xe4\xe0"), SP(104)}, /* and $-32,%rsp */
	{CODE("\x48\x89\x44\x24\x50"), REGISTER(0, 8)}, /* mov %rax,0x50(%rsp) */
	{CODE("\xff\xd2"), RULE(UNWIND_CFA_AT_SP, 0x50 | 8 << 16, UNWIND_FP_SAME, 0)}, /* call *%rdx */
	{CODE("\x48\x8b\x64\x24\x50"),
	 RULE(UNWIND_CFA_AT_SP, 0x50 | 8 << 16, UNWIND_FP_SAME, 0)}, /* mov 0x50(%rsp),%rsp */
	{CODE("\xc3"), SP(8)}, /* ret */
};

static const struct line touched_page_by_page[] = {
	{CODE("\x4c\x8d\x9c\x24\x00\xc0\xff\xff"), SP(8)}, /* lea -0x4000(%rsp),%r11 */
	{CODE("\x48\x81\xec\x00\x10\x00\x00"), REGISTER(11, 0x4008)}, /* sub $0x1000,%rsp */
	{CODE("\x48\x83\x0c\x24\x00"), REGISTER(11, 0x4008)}, /* orq $0,(%rsp) */
	{CODE("\x4c\x39\xdc"), REGISTER(11, 0x4008)}, /* cmp %r11,%rsp */
	{CODE("\x75\xef"), REGISTER(11, 0x4008)}, /* jne 1b */
	{CODE("\x48\x83\xec\x38"), SP(0x4008)}, /* sub $0x38,%rsp */
	{CODE("\xff\xd0"), SP(0x4040)}, /* call *%rax */
	{CODE("\x48\x81\xc4\x38\x40\x00\x00"), SP(0x4040)}, /* add $0x4038,%rsp */
	{CODE("\xc3"), SP(8)}, /* ret */
};

static const struct line clone_thread[] = {
	{CODE("\xb8\x38\x00\x00\x00"), SP(8)}, /* mov $56,%eax */
	{CODE("\x0f\x05"), SP(8)}, /* syscall */
	{CODE("\x85\xc0"), SP(8)}, /* test %eax,%eax */
	{CODE("\x75\x07"), SP(8)}, /* jne 1f */
	{CODE("\x31\xed"), SP(8)}, /* xor %ebp,%ebp */
	{CODE("\x5f"), STOP}, /* pop %rdi */
	{CODE("\x41\xff\xd1"), STOP}, /* call *%r9 */
	{CODE("\xf4"), STOP}, /* hlt */
	{CODE("\xc3"), SP(8)}, /* ret */
};

static const struct line unbalanced[] = {
	{CODE("\x53"), NONE}, /* push %rbx */
	{CODE("\x85\xff"), NONE}, /* test %edi,%edi */
	{CODE("\x74\x01"), NONE}, /* je 1f */
	{CODE("\xc3"), NONE}, /* ret */
	{CODE("\x5b"), NONE}, /* pop %rbx */
	{CODE("\xc3"), NONE}, /* ret */
};

static const struct line meets_unequal[] = {
	{CODE("\x53"), SP(8)}, /* push %rbx */
	{CODE("\x85\xff"), SP(16)}, /* test %edi,%edi */
	{CODE("\x74\x01"), SP(16)}, /* je 1f */
	{CODE("\x5b"), SP(16)}, /* pop %rbx */
	{CODE("\x90"), NONE}, /* nop */
	{CODE("\xc3"), NONE}, /* ret */
};

static const struct line switches_stacks[] = {
	{CODE("\x55"), SP(8)}, /* push %rbp */
	{CODE("\x53"), SAVED(SP, 16, -16)}, /* push %rbx */
	{CODE("\x48\x89\x27"), SAVED(SP, 24, -16)}, /* mov %rsp,(%rdi) */
	{CODE("\x48\x8b\x26"), SAVED(SP, 24, -16)}, /* mov (%rsi),%rsp */
	{CODE("\x5b"), NONE}, /* pop %rbx */
	{CODE("\x5d"), NONE}, /* pop %rbp */
	{CODE("\xc3"), NONE}, /* ret */
};

static const struct line loses_frame_pointer[] = {
	{CODE("\x53"), SP(8)}, /* push %rbx */
	{CODE("\x89\xfd"), SP(16)}, /* mov %edi,%ebp */
	{CODE("\xff\xd0"), NONE}, /* call *%rax */
	{CODE("\x5b"), NONE}, /* pop %rbx */
	{CODE("\xc3"), NONE}, /* ret */
};

static const struct line clears_a_variable[] = {
	{CODE("\x53"), NONE}, /* push %rbx */
	{CODE("\x31\xed"), NONE}, /* xor %ebp,%ebp */
	{CODE("\xff\xd0"), NONE}, /* call *%rax */
	{CODE("\xeb\xfc"), NONE}, /* jmp to the call */
};

static const struct line after_no_return[] = {
	{CODE("\x53"), SP(8)}, /* push %rbx */
	{CODE("\x85\xff"), SP(16)}, /* test %edi,%edi */
	{CODE("\x74\x06"), SP(16)}, /* je 1f */
	{CODE("\x5b"), SP(16)}, /* pop %rbx */
	{CODE("\x85\xf6"), SP(8)}, /* test %esi,%esi */
	{CODE("\x75\x03"), SP(8)}, /* jne 2f */
	{CODE("\xc3"), SP(8)}, /* ret */
	{CODE("\xff\xd0"), SP(16)}, /* call *%rax */
	{CODE("\x89\xf8"), SP(8)}, /* mov %edi,%eax */
	{CODE("\xc3"), SP(8)}, /* ret */
};

static const struct line meets_with_frame_pointer[] = {
	{CODE("\x55"), SP(8)}, /* push %rbp */
	{CODE("\x48\x89\xe5"), SAVED(SP, 16, -16)}, /* mov %rsp,%rbp */
	{CODE("\x85\xff"), SAVED(FP, 16, -16)}, /* test %edi,%edi */
	{CODE("\x74\x01"), SAVED(FP, 16, -16)}, /* je 1f */
	{CODE("\x57"), SAVED(FP, 16, -16)}, /* push %rdi */
	{CODE("\xff\xd0"), SAVED(FP, 16, -16)}, /* call *%rax */
	{CODE("\xc9"), SAVED(FP, 16, -16)}, /* leave */
	{CODE("\xc3"), SP(8)}, /* ret */
};

static const struct line entered[] = {
	{CODE("\xc8\x10\x00\x00"), SP(8)}, /* enter $0x10,$0 */
	{CODE("\xff\xd0"), SAVED(FP, 16, -16)}, /* call *%rax */
	{CODE("\xc9"), SAVED(FP, 16, -16)}, /* leave */
	{CODE("\xc3"), SP(8)}, /* ret */
};

static const struct line stores_beside_the_frame_pointer[] = {
	{CODE("\x55"), SP(8)}, /* push %rbp */
	{CODE("\x48\x89\xe5"), SAVED(SP, 16, -16)}, /* mov %rsp,%rbp */
	{CODE("\xc7\x45\xfc\x00\x00\x00\x00"), SAVED(FP, 16, -16)}, /* movl $0,-4(%rbp) */
	{CODE("\x66\x89\x45\xfe"), SAVED(FP, 16, -16)}, /* mov %ax,-2(%rbp) */
	{CODE("\xff\xd0"), SAVED(FP, 16, -16)}, /* call *%rax */
	{CODE("\xc9"), SAVED(FP, 16, -16)}, /* leave */
	{CODE("\xc3"), SP(8)}, /* ret */
};

/* The return address is taken off the stack and put below what follows it, as V8's code does. */
static const struct line moves_return[] = {
	{CODE("\x58"), NONE}, /* pop %rax */
	{CODE("\x52"), NONE}, /* push %rdx */
	{CODE("\x50"), NONE}, /* push %rax */
	{CODE("\x55"), NONE}, /* push %rbp */
	{CODE("\x48\x89\xe5"), NONE}, /* mov %rsp,%rbp */
	{CODE("\xff\xd2"), NONE}, /* call *%rdx */
	{CODE("\xc9"), NONE}, /* leave */
	{CODE("\x59"), NONE}, /* pop %rcx */
	{CODE("\x48\x8d\x24\xc4"), NONE}, /* lea (%rsp,%rax,8),%rsp */
	{CODE("\x51"), NONE}, /* push %rcx */
	{CODE("\xc3"), NONE}, /* ret */
};

/* --- running it --- */

struct run {
	struct rules rules;
	struct derive derive;
	struct buf code;
	const uint8_t *data; /* at address 0 */
	size_t data_size;
};

struct expected_row {
	uint64_t address;
	uint32_t number;
};

struct rows {
	struct expected_row items[256];
	size_t count;
};

static void take_row(void *context, uint64_t address, uint32_t rule)
{
	struct rows *rows = context;
	assert_true(rows->count < COUNT(rows->items));
	assert_true(!rows->count || address >= rows->items[rows->count - 1].address);
	rows->items[rows->count++] = (struct expected_row){address, rule};
}

static const uint8_t *data_at(void *context, uint64_t address, size_t *ret_size)
{
	const struct run *run = context;
	if (address >= run->data_size)
		return NULL;
	*ret_size = run->data_size - address;
	return run->data + address;
}

static void add_lines(struct run *run, const struct line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_add(&run->code, lines[i].code, lines[i].size);
}

/* All code is added. Then entries can be. */
static void begin(struct run *run)
{
	rules_init(&run->rules, &arch_x86_64);
	derive_init(&run->derive, &arch_x86_64, &run->rules);
	run->derive.bytes_at = data_at;
	run->derive.context = run;
	assert_true(derive_add_range(&run->derive, TEXT, (const uint8_t *)run->code.data, run->code.size));
}

static struct unwind_rule rule_at(const struct run *run, uint64_t address)
{
	struct rows rows = {0};
	uint32_t number = UNWIND_RULE_INVALID;
	derive_rows(&run->derive, 0, take_row, &rows);
	for (size_t i = 0; i < rows.count && rows.items[i].address <= address; i++)
		number = rows.items[i].number;
	return run->rules.rules[number];
}

static void check_lines(const struct run *run, uint64_t address, const struct line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct unwind_rule rule = rule_at(run, address), expected = lines[i].rule;
		if (memcmp(&rule, &expected, sizeof rule) != 0)
			fail_msg("line %zu: cfa %#x%+d fp %u%+d, not cfa %#x%+d fp %u%+d", i, rule.cfa, rule.cfa_offset,
				 rule.fp, rule.fp_offset, expected.cfa, expected.cfa_offset, expected.fp,
				 expected.fp_offset);
		address += lines[i].size;
	}
}

static void end(struct run *run)
{
	derive_release(&run->derive);
	rules_release(&run->rules);
	buf_release(&run->code);
}

static void check_function(const struct line *lines, size_t count)
{
	struct run run = {0};
	add_lines(&run, lines, count);
	begin(&run);
	derive_add_entry(&run.derive, TEXT, run.code.size, DERIVE_FUNCTION);
	derive_run(&run.derive);
	check_lines(&run, TEXT, lines, count);
	end(&run);
}
#define CHECK(lines) check_function(lines, COUNT(lines))

static void frames_are_followed(void **state)
{
	(void)state;
	CHECK(frame_pointer);
	CHECK(entered);
	CHECK(return_in_the_middle);
	CHECK(saved_by_moves);
	CHECK(meets_with_frame_pointer);
	CHECK(stores_beside_the_frame_pointer);
}

static void aligned_stack_pointers_are_found_where_they_were_kept(void **state)
{
	(void)state;
	CHECK(aligned_by_gcc);
	CHECK(aligned_by_clang);
	CHECK(aligned_by_assembly);
}

static void a_loop_that_touches_each_page_of_a_frame_ends_at_a_known_place(void **state)
{
	(void)state;
	CHECK(touched_page_by_page);
}

static void a_cleared_frame_pointer_is_the_start_of_a_thread(void **state)
{
	(void)state;
	CHECK(clone_thread);
}

static void what_is_not_known_has_no_rules(void **state)
{
	(void)state;
	CHECK(unbalanced);
	CHECK(meets_unequal);
	CHECK(switches_stacks);
	CHECK(loses_frame_pointer);
	CHECK(clears_a_variable);
	CHECK(moves_return);
}

static void calls_need_not_return(void **state)
{
	(void)state;
	CHECK(after_no_return);
}

/* The second function has no symbol: it begins behind the padding. */
static void functions_without_symbols_are_found(void **state)
{
	(void)state;
	static const char padding[] = "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00\x90\x90\x90\x90\x90\x90\x90";
	struct run run = {0};
	add_lines(&run, saved_by_moves, COUNT(saved_by_moves));
	size_t fill = 16 - run.code.size % 16;
	buf_add(&run.code, padding + (sizeof padding - 1 - fill), fill);
	uint64_t second = TEXT + run.code.size;
	add_lines(&run, return_in_the_middle, COUNT(return_in_the_middle));
	begin(&run);
	derive_run(&run.derive);
	check_lines(&run, TEXT, saved_by_moves, COUNT(saved_by_moves));
	check_lines(&run, second, return_in_the_middle, COUNT(return_in_the_middle));
	/* Padding has the rule of the "ret" before it. */
	assert_int_equal(rule_at(&run, second - 1).cfa_offset, 8);
	assert_int_equal(run.derive.function_count, 2);
	end(&run);
}

/* Without evidence: no "ret" is reached, nobody calls it, and it has no symbol. */
static void code_that_only_jumps_is_no_function(void **state)
{
	(void)state;
	static const uint8_t code[] = {0x48, 0x83, 0xc5, 0x10, /* add $16,%rbp */
				       0xff, 0x65, 0x00}; /* jmp *(%rbp) */
	struct run run = {0};
	buf_add(&run.code, code, sizeof code);
	begin(&run);
	derive_run(&run.derive);
	assert_int_equal(run.derive.function_count, 0);
	assert_int_equal(rule_at(&run, TEXT).cfa, UNWIND_CFA_INVALID);
	end(&run);
}

/* A part of a function whose start is not known, then a function: call; call; push; call; pop; ret. */
static void a_ret_of_the_next_function_is_no_evidence(void **state)
{
	(void)state;
	static const uint8_t code[] = {0xff, 0xd0, 0xff, 0xd0, 0x53, 0xff, 0xd0, 0x5b, 0xc3};
	struct run run = {0};
	buf_add(&run.code, code, sizeof code);
	begin(&run);
	derive_run(&run.derive);
	assert_int_equal(rule_at(&run, TEXT).cfa, UNWIND_CFA_INVALID);
	assert_int_equal(rule_at(&run, TEXT + 2).cfa, UNWIND_CFA_INVALID);
	end(&run);
}

static void a_program_begins_without_a_caller(void **state)
{
	(void)state;
	static const uint8_t code[] = {0x48, 0x89, 0xe7, /* mov %rsp,%rdi */
				       0x48, 0x83, 0xe4, 0xf0, /* and $-16,%rsp */
				       0xe8, 1,    0,    0,    0, /* call 2f */
				       0xf4, /* hlt */
				       0x53, 0xff, 0xd0, 0x5b, 0xc3}; /* 2: push %rbx; call *%rax; pop %rbx; ret */
	struct run run = {0};
	buf_add(&run.code, code, sizeof code);
	begin(&run);
	derive_add_entry(&run.derive, TEXT, 0, DERIVE_START);
	derive_run(&run.derive);
	assert_int_equal(rule_at(&run, TEXT).cfa, UNWIND_CFA_STOP);
	assert_int_equal(rule_at(&run, TEXT + 11).cfa, UNWIND_CFA_STOP);
	assert_int_equal(rule_at(&run, TEXT + 13).cfa_offset, 8);
	assert_int_equal(rule_at(&run, TEXT + 14).cfa_offset, 16);
	end(&run);
}

static void jump_tables_are_followed(void **state)
{
	(void)state;
	enum { TABLE = 0x40, CASE = 19 };
	uint8_t code[] = {0x53, /* push %rbx */
			  0x53, /* push %rbx */
			  0x48, 0x8d, 0x15, 0,    0, 0, 0, /* lea table(%rip),%rdx */
			  0x48, 0x63, 0x04, 0x82, /* movslq (%rdx,%rax,4),%rax */
			  0x48, 0x01, 0xd0, /* add %rdx,%rax */
			  0x3e, 0xff, 0xe0, /* notrack jmp *%rax */
			  0x5b, /* pop %rbx */
			  0x5b, /* pop %rbx */
			  0xc3}; /* ret */
	int32_t to_table = TABLE - (TEXT + 9), entries[3] = {TEXT + CASE - TABLE, TEXT + CASE - TABLE, 0};
	memcpy(code + 5, &to_table, sizeof to_table);
	uint8_t data[TABLE + sizeof entries] = {0};
	memcpy(data + TABLE, entries, sizeof entries);
	for (int with_table = 0; with_table < 2; with_table++) {
		struct run run = {.data = data, .data_size = with_table ? sizeof data : 0};
		buf_add(&run.code, code, sizeof code);
		begin(&run);
		derive_add_entry(&run.derive, TEXT, 0, DERIVE_FUNCTION);
		derive_run(&run.derive);
		assert_int_equal(rule_at(&run, TEXT + CASE).cfa_offset, with_table ? 24 : 0);
		assert_int_equal(rule_at(&run, TEXT + CASE + 1).cfa_offset, with_table ? 16 : 0);
		assert_int_equal(rule_at(&run, TEXT + CASE + 2).cfa_offset, with_table ? 8 : 0);
		end(&run);
	}
}

/* An endless chain of branches costs no more than the code is long. */
static void work_is_bounded(void **state)
{
	(void)state;
	struct run run = {0};
	for (int i = 0; i < 100000; i++) {
		buf_char(&run.code, 0x53); /* push %rbx */
		buf_add(&run.code, "\x75\xfd", 2); /* jne to it */
	}
	begin(&run);
	derive_add_entry(&run.derive, TEXT, 0, DERIVE_FUNCTION);
	derive_run(&run.derive);
	assert_true(run.derive.steps_left < run.code.size * 8);
	end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_followed),
		cmocka_unit_test(aligned_stack_pointers_are_found_where_they_were_kept),
		cmocka_unit_test(a_loop_that_touches_each_page_of_a_frame_ends_at_a_known_place),
		cmocka_unit_test(a_cleared_frame_pointer_is_the_start_of_a_thread),
		cmocka_unit_test(what_is_not_known_has_no_rules),
		cmocka_unit_test(calls_need_not_return),
		cmocka_unit_test(functions_without_symbols_are_found),
		cmocka_unit_test(code_that_only_jumps_is_no_function),
		cmocka_unit_test(a_ret_of_the_next_function_is_no_evidence),
		cmocka_unit_test(a_program_begins_without_a_caller),
		cmocka_unit_test(jump_tables_are_followed),
		cmocka_unit_test(work_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
