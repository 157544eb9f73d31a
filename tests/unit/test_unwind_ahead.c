/* What the instructions up to a return show, byte by byte. */
#include "unit.h"

#include "arch/x86_64/ahead.h"
#include "unwind/unwind.h"

#include <string.h>

static struct ahead look(const char *code, size_t size, size_t at, bool exact, int *ret_result)
{
	unsigned char bytes[AHEAD_BYTES] = {0};
	struct ahead ahead;
	size_t left = size - at < AHEAD_CODE ? size - at : AHEAD_CODE;
	if (at)
		bytes[0] = (unsigned char)code[at - 1];
	memcpy(bytes + AHEAD_BEFORE, code + at, left);
	*ret_result = ahead_begin(&ahead, bytes, exact);
	for (int i = 0; i < AHEAD_INSTRUCTIONS && *ret_result == AHEAD_MORE; i++)
		*ret_result = ahead_step(&ahead, bytes);
	return ahead;
}

#define CODE(text) text, sizeof text - 1

static void the_way_to_the_return_is_found(void **state)
{
	(void)state;
	static const struct {
		const char *code;
		size_t size, at;
		bool exact;
		int base, cfa, fp;
	} rows[] = {
		/* python 3.12: sub $8, %rsp; call *%rcx; add $8, %rsp; ret */
		{CODE("\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3"), 0, true, AHEAD_SP, 8, AHEAD_FP_SAME},
		{CODE("\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3"), 4, true, AHEAD_SP, 16, AHEAD_FP_SAME},
		{CODE("\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3"), 6, false, AHEAD_SP, 16, AHEAD_FP_SAME},
		{CODE("\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3"), 10, true, AHEAD_SP, 8, AHEAD_FP_SAME},
		/* with frame pointers: push %rbp; mov %rsp, %rbp; call *%rcx; pop %rbp; ret */
		{CODE("\x55\x48\x89\xe5\xff\xd1\x5d\xc3"), 0, true, AHEAD_SP, 8, AHEAD_FP_SAME},
		{CODE("\x55\x48\x89\xe5\xff\xd1\x5d\xc3"), 1, true, AHEAD_SP, 16, 0},
		{CODE("\x55\x48\x89\xe5\xff\xd1\x5d\xc3"), 6, false, AHEAD_SP, 16, 0},
		{CODE("\x55\x48\x89\xe5\xff\xd1\x5d\xc3"), 7, true, AHEAD_SP, 8, AHEAD_FP_SAME},
		{CODE("\xf3\x0f\x1e\xfa\x55\x48\x8b\xec"), 0, true, AHEAD_SP, 8, AHEAD_FP_SAME},
		/* leave; ret, and the same in two: mov %rbp, %rsp; pop %rbp */
		{CODE("\xc9\xc3"), 0, true, AHEAD_FP, 16, 0},
		{CODE("\x48\x89\xec\x5d\xc3"), 0, true, AHEAD_FP, 16, 0},
		/* lea -16(%rbp), %rsp; pop %rbx; pop %r12; pop %rbp; ret */
		{CODE("\x48\x8d\x65\xf0\x5b\x41\x5c\x5d\xc3"), 0, false, AHEAD_FP, 16, 0},
		/* Java: add $0x110, %rsp; pop %rbp; cmp 0x340(%r15), %rsp; ja; ret */
		{CODE("\x48\x81\xc4\x10\x01\x00\x00\x5d\x49\x3b\xa7\x40\x03\x00\x00\x0f\x87\x01\x00\x00\x00\xc3"), 0,
		 true, AHEAD_SP, 0x120, 0x110},
		{CODE("\x89\x84\x24\x00\xc0\xfe\xff\x55\x48\x8b\xec"), 0, true, AHEAD_SP, 8, AHEAD_FP_SAME},
		/* push %rbp; call; pop %rbp; ret: the same as before */
		{CODE("\x55\xe8\x00\x00\x00\x00\x5d\xc3"), 0, true, AHEAD_SP, 8, AHEAD_FP_SAME},
		{CODE("\x41\x57\x41\xff\xd3\x41\x5f\xf3\xc3"), 2, false, AHEAD_SP, 16, AHEAD_FP_SAME},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int result;
		struct ahead ahead = look(rows[i].code, rows[i].size, rows[i].at, rows[i].exact, &result);
		if (result != AHEAD_FOUND || ahead.base != rows[i].base || ahead.cfa != rows[i].cfa ||
		    ahead.fp != rows[i].fp)
			fail_msg("row %zu: result %d, base %d, cfa %d, fp %d", i, result, ahead.base, ahead.cfa,
				 ahead.fp);
	}
}

static void other_code_shows_nothing(void **state)
{
	(void)state;
	static const struct {
		const char *code;
		size_t size;
	} rows[] = {
		{CODE("")},
		{CODE("\x48\x83\xc4\x08")}, /* no ret */
		{CODE("\x5c\xc3")}, /* pop %rsp */
		{CODE("\xeb\x00\xc3")}, /* jmp */
		{CODE("\x50\xc3")}, /* returns to what it pushed */
		{CODE("\x5d\xc9\xc3")}, /* leave with the frame pointer of another */
		{CODE("\x48\x81\xc4\x00\x00\x00\x40\xc3")}, /* 1 GiB */
		{CODE("\x90\x90\x90\x90\x90\x90\x90\x90\xc3")}, /* too far */
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int result;
		look(rows[i].code, rows[i].size, 0, false, &result);
		if (result == AHEAD_FOUND)
			fail_msg("row %zu", i);
	}
}

static bool is_call(const char *code, size_t size)
{
	unsigned char bytes[8] = {0};
	memcpy(bytes + 8 - size, code, size);
	return ahead_is_call(ahead_word(bytes));
}

static void calls_are_known(void **state)
{
	(void)state;
	assert_true(is_call(CODE("\xe8\x01\x02\x03\x04")));
	assert_true(is_call(CODE("\xff\xd0")));
	assert_true(is_call(CODE("\x41\xff\xd7")));
	assert_true(is_call(CODE("\xff\x10")));
	assert_true(is_call(CODE("\xff\x50\x08")));
	assert_true(is_call(CODE("\xff\x14\xc8")));
	assert_true(is_call(CODE("\xff\x54\xc8\x10")));
	assert_true(is_call(CODE("\xff\x15\x01\x02\x03\x04")));
	assert_true(is_call(CODE("\xff\x97\x01\x02\x03\x04")));
	assert_true(is_call(CODE("\xff\x94\xc8\x01\x02\x03\x04")));
	assert_false(is_call(CODE("\xe9\x01\x02\x03\x04"))); /* jmp */
	assert_false(is_call(CODE("\xff\xe0")));
	assert_false(is_call(CODE("\xff\x35\x01\x02\x03\x04"))); /* push */
	assert_false(is_call(CODE("\xff\x14")));
	assert_false(is_call(CODE("\0\0\0\0\0\0\0\0")));
}

/* --- walks --- */

enum { TRAMPOLINE = 0x10000, CALLER = 0x20000, STACK = 0x700000 };

static struct unwind_place find(void *context, uint64_t ip)
{
	(void)context;
	return (struct unwind_place){.mapped = ip >= TRAMPOLINE && ip < CALLER + 0x1000};
}

/* The trampoline is called at CALLER + 0, and its own call returns to TRAMPOLINE + 6. */
static bool read_code(void *context, uint64_t address, uint8_t *bytes, size_t size)
{
	static const uint8_t trampoline[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3};
	static const uint8_t caller[] = {0xff, 0xd0, 0xc3};
	(void)context;
	memset(bytes, 0, size);
	for (size_t i = 0; i < size; i++) {
		uint64_t at = address + i;
		if (at >= TRAMPOLINE && at < TRAMPOLINE + sizeof trampoline)
			bytes[i] = trampoline[at - TRAMPOLINE];
		else if (at >= CALLER && at < CALLER + sizeof caller)
			bytes[i] = caller[at - CALLER];
	}
	return true;
}

static size_t walk(const uint64_t *words, size_t count, bool with_code, uint64_t *addresses)
{
	struct unwind_space space = {
		.stack = (const uint8_t *)words,
		.stack_start = STACK,
		.stack_size = count * sizeof *words,
		.find = find,
		.read_code = with_code ? read_code : NULL,
	};
	struct unwind_registers registers = {.ip = TRAMPOLINE + 6, .sp = STACK, .fp = 1};
	enum unwind_end end;
	return unwind_stack(&space, &registers, addresses, NULL, 4, &end);
}

static void a_trampoline_leads_to_its_caller(void **state)
{
	(void)state;
	uint64_t addresses[4];
	const uint64_t words[] = {CALLER + 2, CALLER + 2, 0, 0, 0};
	assert_int_equal(walk(words, 5, true, addresses), 2);
	assert_int_equal(addresses[1], CALLER + 2);
	assert_int_equal(walk(words, 5, false, addresses), 1);
	/* Not behind a call: it is no return address. */
	const uint64_t others[] = {CALLER + 2, CALLER + 3, 0, 0, 0};
	assert_int_equal(walk(others, 5, true, addresses), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_way_to_the_return_is_found),
		cmocka_unit_test(other_code_shows_nothing),
		cmocka_unit_test(calls_are_known),
		cmocka_unit_test(a_trampoline_leads_to_its_caller),
	};
	return cmocka_run_group_tests_name("unwinding by instructions", tests, NULL, NULL);
}
