/* Walks over stacks that are written out word by word. */
#include "unit.h"

#include "elf_maker.h"
#include "unwind/table.h"

#include <linux/perf_event.h>

#define PROGRAM(...) (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

/* Code of the made-up file, 0x100 bytes each, loaded at BIAS. */
enum {
	TEXT = 0x10000,
	LEAF = TEXT, /* CFA = rsp + 8 */
	SMALL = TEXT + 0x100, /* CFA = rsp + 24, rbp at CFA - 16 */
	FRAME = TEXT + 0x200, /* CFA = rbp + 16, rbp at CFA - 16 */
	START = TEXT + 0x300, /* outermost */
	RESTORER = TEXT + 0x400, /* signal frame */
	IN_RBX = TEXT + 0x500, /* CFA = rbx + 16 */
	SAVES_RBX = TEXT + 0x600, /* CFA = rsp + 16, rbx at CFA - 16 */
	IN_R9 = TEXT + 0x700, /* CFA = rsp + r9 * 8 */
	PLT = TEXT + 0x800,
	STORED = TEXT + 0x900, /* CFA stored at rsp + 8, plus 8 */
	NO_RULE = TEXT + 0xa00,
	RA_IN_RDI = TEXT + 0xc00, /* CFA = rsp, return address in rdi */
	AT_FP = TEXT + 0xd00, /* CFA stored at rbp, plus 16; rbp at CFA - 16 */
	END = TEXT + 0xe00,
};
static const uint64_t BIAS = 0x7f1200000000, JIT = 0x7f3400000000, NARROW = 0x8048000, STACK = 0x7ffc00000000;

static struct unwind_table *make_table(void)
{
	struct buf eh_frame = {0}, bytes = {0};
	struct elf_file *elf;
	struct unwind_table *table;
	size_t cie = put_cie(&eh_frame, "zR", 0), signal = put_cie(&eh_frame, "zRS", 0);
	put_fde(&eh_frame, cie, LEAF, 0x100, PROGRAM(0));
	put_fde(&eh_frame, cie, SMALL, 0x100, PROGRAM(0x0e, 24, 0x86, 2));
	put_fde(&eh_frame, cie, FRAME, 0x100, PROGRAM(0x0c, 6, 16, 0x86, 2));
	put_fde(&eh_frame, cie, START, 0x100, PROGRAM(0x07, 16));
	put_fde(&eh_frame, signal, RESTORER, 0x100,
		PROGRAM(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0, 0x10, 16, 3, 0x77, 0xa8, 1));
	put_fde(&eh_frame, cie, IN_RBX, 0x100, PROGRAM(0x0c, 3, 16));
	put_fde(&eh_frame, cie, SAVES_RBX, 0x100, PROGRAM(0x0e, 16, 0x83, 2));
	put_fde(&eh_frame, cie, IN_R9, 0x100, PROGRAM(0x0f, 7, 0x77, 0, 0x79, 0, 0x38, 0x1e, 0x22));
	put_fde(&eh_frame, cie, PLT, 0x100,
		PROGRAM(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	put_fde(&eh_frame, cie, STORED, 0x100, PROGRAM(0x0f, 5, 0x77, 8, 0x06, 0x23, 8));
	put_fde(&eh_frame, cie, RA_IN_RDI, 0x100, PROGRAM(0x0e, 0, 0x09, 16, 5));
	put_fde(&eh_frame, cie, AT_FP, 0x100, PROGRAM(0x0f, 5, 0x76, 0, 0x06, 0x40, 0x22, 0x86, 2));
	struct elf_maker_section section = {".eh_frame", eh_frame.data, eh_frame.size, 0x400, SHF_ALLOC};
	elf_make(&bytes, TEXT, 0x10000, &section, 1);
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
	if ((ip >= JIT && ip < JIT + 0x10000) || (ip >= NARROW && ip < NARROW + 0x1000))
		return (struct unwind_place){.mapped = true};
	return (struct unwind_place){0};
}

/* What is before addresses that end with 5: calls of several kinds. */
static bool read_code(void *context, uint64_t address, uint8_t *bytes, size_t size)
{
	static const uint8_t calls[][8] = {
		{0, 0, 0, 0xe8, 1, 2, 3, 4}, /* call rel32 */
		{0, 0, 0, 0, 0, 0, 0xff, 0xd0}, /* call *%rax */
		{0, 0, 0, 0, 0, 0xff, 0x50, 0x18}, /* call *0x18(%rax) */
		{0, 0, 0, 0, 0xff, 0x54, 0x24, 8}, /* call *8(%rsp) */
		{0, 0, 0xff, 0x15, 1, 2, 3, 4}, /* call *rel32(%rip) */
		{0, 0xff, 0x94, 0x24, 1, 2, 3, 4}, /* call *disp32(%rsp) */
	};
	uint64_t end = address + size;
	(void)context;
	memset(bytes, 0x90, size);
	if (end == BIAS + NO_RULE + 0x25)
		memcpy(bytes, "\0\0\0\xe8\x0b\0\0\0", size); /* call NO_RULE + 0x30 */
	else if (end % 16 == 5)
		memcpy(bytes, calls[end / 16 % (sizeof calls / sizeof *calls)], size);
	else if (end % 16 == 6)
		memcpy(bytes, "\0\0\0\0\xff\x50\x24\x08", size); /* one byte too many */
	return true;
}

enum { MOST = 16 };

struct walked {
	size_t count;
	uint64_t addresses[MOST];
	bool exact[MOST];
	enum unwind_end end;
};

static struct walked walk_at(void **state, struct unwind_registers registers, const void *bytes, size_t size,
			     uint64_t start)
{
	struct unwind_space space = {
		.context = *state,
		.stack = bytes,
		.stack_start = start,
		.stack_size = size,
		.find = find,
		.read_code = read_code,
	};
	struct walked walked = {0};
	walked.count = unwind_stack(&space, &registers, walked.addresses, walked.exact, MOST, &walked.end);
	return walked;
}

static struct walked walk(void **state, struct unwind_registers registers, const uint64_t *words, size_t count)
{
	return walk_at(state, registers, words, count * sizeof *words, STACK);
}

#define WALK(registers, ...) \
	walk(state, registers, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

static void check(const struct walked *walked, enum unwind_end end, const uint64_t *addresses, size_t count)
{
	assert_int_equal(walked->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(walked->addresses[i], addresses[i]);
	assert_int_equal(walked->end, end);
}

#define CHECK(walked, end, ...) \
	check(&(walked), end, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

static struct unwind_registers at(uint64_t ip)
{
	return (struct unwind_registers){.ip = ip, .sp = STACK, .fp = 0x1234};
}

static void frames_by_stack_pointer_and_frame_pointer_alternate(void **state)
{
	struct unwind_registers registers = at(BIAS + LEAF + 5);
	struct walked walked = WALK(registers, BIAS + SMALL + 9, /* leaf's return */
				    7, STACK + 48, BIAS + FRAME + 8, /* small: local, rbp, return */
				    1, 2, 0x99, BIAS + START + 3); /* frame: locals; rbp; return */
	CHECK(walked, UNWIND_COMPLETE, BIAS + LEAF + 5, BIAS + SMALL + 9, BIAS + FRAME + 8, BIAS + START + 3);
	assert_true(walked.exact[0]);
	assert_false(walked.exact[1]);
}

static void a_return_address_is_looked_up_one_byte_before(void **state)
{
	struct unwind_registers registers = at(BIAS + LEAF);
	/* The call is the last instruction of SMALL (it does not return): FRAME begins right behind. */
	struct walked walked = WALK(registers, BIAS + FRAME, 7, 0x99, BIAS + START + 3);
	CHECK(walked, UNWIND_COMPLETE, BIAS + LEAF, BIAS + FRAME, BIAS + START + 3);
}

static void signal_frames_lead_to_the_interrupted_instruction(void **state)
{
	uint64_t words[64] = {0};
	words[0] = BIAS + RESTORER + 1; /* the handler returns */
	words[1 + 120 / 8] = 0x77; /* rbp */
	words[1 + 160 / 8] = STACK + 40 * 8; /* rsp */
	words[1 + 168 / 8] = BIAS + FRAME; /* rip: the very first byte of FRAME, whose rule must be used */
	words[40] = 0;
	struct unwind_registers registers = at(BIAS + LEAF + 1);
	struct walked walked = walk(state, registers, words, 64);
	/* rbp = 0x77 is below the stack: FRAME cannot be left, which shows that its rule was asked, not SMALL's */
	CHECK(walked, UNWIND_LOOP, BIAS + LEAF + 1, BIAS + RESTORER + 1, BIAS + FRAME);
	assert_false(walked.exact[1]);
	assert_true(walked.exact[2]);
	/* With the first byte of SMALL: its rule too, not that of LEAF. */
	words[1 + 168 / 8] = BIAS + SMALL;
	words[42] = BIAS + START + 1;
	walked = walk(state, registers, words, 64);
	CHECK(walked, UNWIND_COMPLETE, BIAS + LEAF + 1, BIAS + RESTORER + 1, BIAS + SMALL, BIAS + START + 1);
}

static void a_handler_may_have_a_stack_of_its_own_above_the_other(void **state)
{
	uint64_t words[64] = {0};
	words[32] = BIAS + RESTORER + 1;
	words[33 + 160 / 8] = STACK + 8;
	words[33 + 168 / 8] = BIAS + LEAF + 1;
	words[1] = BIAS + START + 1;
	struct unwind_registers registers = at(BIAS + LEAF + 1);
	registers.sp = STACK + 32 * 8;
	struct walked walked = walk(state, registers, words, 64);
	CHECK(walked, UNWIND_COMPLETE, BIAS + LEAF + 1, BIAS + RESTORER + 1, BIAS + LEAF + 1, BIAS + START + 1);
}

static void code_without_table_goes_by_frame_pointers_and_back(void **state)
{
	struct unwind_registers registers = at(BIAS + SMALL + 5);
	registers.fp = STACK + 1000; /* not used: SMALL has saved its caller's */
	struct walked walked = WALK(registers, 1, STACK + 40, JIT + 0x50, /* SMALL */
				    2, 3, STACK + 56, JIT + 0x90, /* JIT: two locals, frame */
				    STACK + 80, BIAS + FRAME + 7, /* JIT: frame */
				    5, 0x99, BIAS + START + 3); /* FRAME */
	CHECK(walked, UNWIND_COMPLETE, BIAS + SMALL + 5, JIT + 0x50, JIT + 0x90, BIAS + FRAME + 7, BIAS + START + 3);
}

static void code_without_table_ends_where_the_frame_pointer_is_0(void **state)
{
	struct unwind_registers registers = at(JIT + 8);
	registers.fp = STACK + 8;
	struct walked walked = WALK(registers, 1, 0, JIT + 0x60, 5, 6);
	CHECK(walked, UNWIND_COMPLETE, JIT + 8, JIT + 0x60);
	walked = WALK(registers, 1, STACK + 24, JIT + 0x60, 7, 0); /* the chain leads to a return address of 0 */
	CHECK(walked, UNWIND_COMPLETE, JIT + 8, JIT + 0x60);
	walked = WALK(registers, 1, 7, 0); /* one step is no chain */
	CHECK(walked, UNWIND_NO_TABLE, JIT + 8);
	registers.fp = 0; /* no chain led here: it may be a number */
	walked = WALK(registers, 1, 2, 3);
	CHECK(walked, UNWIND_NO_TABLE, JIT + 8);
	/* In a file with a table the register may hold anything where it says nothing, also 0. */
	registers = at(BIAS + NO_RULE + 8);
	registers.fp = 0;
	walked = WALK(registers, 1, 2, 3);
	CHECK(walked, UNWIND_NO_TABLE, BIAS + NO_RULE + 8);
}

static void the_first_code_of_a_process_ends_at_its_arguments(void **state)
{
	struct unwind_registers registers = at(BIAS + NO_RULE + 8);
	registers.fp = 0;
	struct walked walked = WALK(registers, 2, STACK + 64, STACK + 72, 0);
	CHECK(walked, UNWIND_COMPLETE, BIAS + NO_RULE + 8);
	walked = WALK(registers, 2, STACK + 64, STACK + 72, 1); /* more than it says */
	CHECK(walked, UNWIND_NO_TABLE, BIAS + NO_RULE + 8);
	walked = WALK(registers, 0, 0, 0, 0);
	CHECK(walked, UNWIND_NO_TABLE, BIAS + NO_RULE + 8);
	walked = WALK(registers, 2, 5, 6, 0); /* no pointers */
	CHECK(walked, UNWIND_NO_TABLE, BIAS + NO_RULE + 8);
	walked = WALK(registers, 9, STACK + 64, STACK + 72, 0); /* behind the copy */
	CHECK(walked, UNWIND_NO_TABLE, BIAS + NO_RULE + 8);
}

static void frame_pointers_that_lead_nowhere_are_not_followed(void **state)
{
	struct unwind_registers registers = at(JIT + 8);
	registers.fp = STACK - 16; /* below */
	struct walked walked = WALK(registers, 1, 2, 3, 4);
	CHECK(walked, UNWIND_NO_TABLE, JIT + 8);
	registers.fp = STACK + (1ull << 40); /* far above */
	walked = WALK(registers, 1, 2, 3, 4);
	CHECK(walked, UNWIND_NO_TABLE, JIT + 8);
	registers.fp = STACK + 8; /* to no code */
	walked = WALK(registers, 1, 2, 0x55, 4);
	CHECK(walked, UNWIND_NO_TABLE, JIT + 8);
	registers.fp = STACK + 24; /* behind the copy */
	walked = WALK(registers, 1, 2, 3, 4);
	CHECK(walked, UNWIND_NO_MEMORY, JIT + 8);
}

static void ends_say_why(void **state)
{
	struct unwind_registers registers = at(BIAS + SMALL + 5);
	struct walked walked = WALK(registers, 1, 2);
	CHECK(walked, UNWIND_NO_MEMORY, BIAS + SMALL + 5);
	walked = WALK(registers, 1, 2, 0x5555);
	CHECK(walked, UNWIND_NO_CODE, BIAS + SMALL + 5);
	walked = WALK(registers, 1, 0, 0); /* a thread's start without description: the stack was begun with zeros */
	CHECK(walked, UNWIND_COMPLETE, BIAS + SMALL + 5);
	walked = WALK(registers, 1, 2, 0); /* a zero alone is no evidence */
	CHECK(walked, UNWIND_NO_CODE, BIAS + SMALL + 5);
	registers = at(0x5555);
	walked = WALK(registers, 1, 2);
	CHECK(walked, UNWIND_NO_CODE, 0x5555);
	registers = at(BIAS + FRAME + 5);
	registers.fp = STACK - 64;
	walked = WALK(registers, 1, 2);
	CHECK(walked, UNWIND_LOOP, BIAS + FRAME + 5);
}

static void a_new_thread_that_has_not_run_has_no_caller(void **state)
{
	/* Behind the system call of clone(): a little further its table says that this is where stacks begin. */
	struct unwind_registers registers = at(BIAS + START - 0x10);
	registers.fp = STACK + 0x1000;
	struct walked walked = WALK(registers, 0);
	CHECK(walked, UNWIND_NO_MEMORY, BIAS + START - 0x10);
	registers.known = 1; /* rax is 0 */
	walked = WALK(registers, 0);
	CHECK(walked, UNWIND_COMPLETE, BIAS + START - 0x10);
	registers.other[0] = 77; /* the other thread, which continues */
	walked = WALK(registers, 0);
	CHECK(walked, UNWIND_NO_MEMORY, BIAS + START - 0x10);
	registers = at(BIAS + START - 0x80);
	registers.known = 1;
	walked = WALK(registers, 0);
	assert_int_not_equal(walked.end, UNWIND_COMPLETE);
}

static void deep_stacks_stop_at_the_limit_and_say_so(void **state)
{
	uint64_t words[MOST + 1];
	for (size_t i = 0; i < MOST; i++)
		words[i] = BIAS + LEAF + 1 + i;
	struct walked walked = walk(state, at(BIAS + LEAF + 1), words, MOST);
	assert_int_equal(walked.count, MOST);
	assert_int_equal(walked.end, UNWIND_TOO_DEEP);
	/* One that fits exactly is complete. */
	words[MOST - 2] = BIAS + START + 1;
	walked = walk(state, at(BIAS + LEAF + 1), words, MOST);
	assert_int_equal(walked.count, MOST);
	assert_int_equal(walked.end, UNWIND_COMPLETE);
}

static void code_without_rules_has_a_return_address_behind_a_call(void **state)
{
	for (uint64_t i = 0; i < 6; i++) {
		uint64_t caller = BIAS + SMALL + 16 * i + 5;
		struct walked walked = WALK(at(BIAS + NO_RULE + 8), caller, 7, 0x99, BIAS + START + 3);
		CHECK(walked, UNWIND_COMPLETE, BIAS + NO_RULE + 8, caller, BIAS + START + 3);
	}
	/* It has pushed two registers; the frame pointer would lead past its caller. */
	struct unwind_registers registers = at(BIAS + NO_RULE + 8);
	registers.fp = STACK + 32;
	struct walked walked = WALK(registers, 1, 2, BIAS + SMALL + 5, 7, 0x99, BIAS + START + 3);
	CHECK(walked, UNWIND_COMPLETE, BIAS + NO_RULE + 8, BIAS + SMALL + 5, BIAS + START + 3);
	/* Assembly that calls this very code has no rules either. */
	walked = WALK(at(BIAS + NO_RULE + 0x38), BIAS + NO_RULE + 0x25, 3, BIAS + SMALL + 5, 7, 0x99, BIAS + START + 3);
	CHECK(walked, UNWIND_COMPLETE, BIAS + NO_RULE + 0x38, BIAS + NO_RULE + 0x25, BIAS + SMALL + 5,
	      BIAS + START + 3);
	/* No call, no rule, too far: the frame pointer is left. */
	walked = WALK(registers, BIAS + SMALL + 7, BIAS + NO_RULE + 5, 3, BIAS + SMALL + 5, 0x99, BIAS + START + 3);
	CHECK(walked, UNWIND_COMPLETE, BIAS + NO_RULE + 8, BIAS + START + 3);
	registers.fp = 1;
	walked = WALK(registers, BIAS + SMALL + 6, 0, 0, BIAS + SMALL + 5);
	CHECK(walked, UNWIND_NO_TABLE, BIAS + NO_RULE + 8);
}

static void frame_pointers_have_read_what_a_rule_would_read(void **state)
{
	struct unwind_registers registers = at(BIAS + AT_FP + 1);
	registers.fp = STACK;
	struct walked walked = WALK(registers, STACK + 16, 1, 0x99, BIAS + START + 3);
	CHECK(walked, UNWIND_COMPLETE, BIAS + AT_FP + 1, BIAS + START + 3);
	registers.ip = JIT + 8;
	walked = WALK(registers, STACK + 16, BIAS + AT_FP + 1, 0x99, BIAS + START + 3);
	CHECK(walked, UNWIND_COMPLETE, JIT + 8, BIAS + AT_FP + 1, BIAS + START + 3);
}

static void narrow_stacks_have_frame_pointers_of_4_bytes(void **state)
{
	/* Code below 4 GB, without tables. */
	const uint64_t stack = 0xffff0000;
	struct unwind_registers registers = {.ip = NARROW + 8, .sp = stack, .fp = stack + 8, .kind = ARCH_I386};
	uint32_t halves[] = {1, 2, (uint32_t)stack + 20, NARROW + 16, 3, 0, NARROW + 24, 4};
	struct walked walked = walk_at(state, registers, halves, sizeof halves, stack);
	CHECK(walked, UNWIND_COMPLETE, NARROW + 8, NARROW + 16, NARROW + 24);
	/* One step proves nothing. */
	halves[2] = 0;
	walked = walk_at(state, registers, halves, sizeof halves, stack);
	CHECK(walked, UNWIND_NO_TABLE, NARROW + 8, NARROW + 16);
}

static void a_stack_that_stands_still_is_a_loop(void **state)
{
	/* CFA = the word at rsp + 8, plus 8, which is rsp again */
	struct unwind_registers registers = at(BIAS + STORED + 1);
	uint64_t words[] = {BIAS + STORED + 1, 0, STACK}, addresses[64];
	enum unwind_end end;
	registers.sp = STACK + 8;
	struct unwind_space space = {.context = *state,
				     .stack = (uint8_t *)words,
				     .stack_start = STACK,
				     .stack_size = sizeof words,
				     .find = find};
	size_t count = unwind_stack(&space, &registers, addresses, NULL, 64, &end);
	assert_int_equal(end, UNWIND_LOOP);
	assert_true(count < 32);
}

static void saved_registers_are_followed_to_the_rule_that_needs_them(void **state)
{
	struct unwind_registers registers = at(BIAS + SAVES_RBX + 5);
	registers.known = 1 << 3;
	registers.other[3] = 0xbad;
	struct walked walked = WALK(registers, STACK + 32, BIAS + IN_RBX + 1, /* SAVES_RBX: rbx, return */
				    1, 2, 3, BIAS + START + 1); /* IN_RBX: CFA = rbx + 16 */
	CHECK(walked, UNWIND_COMPLETE, BIAS + SAVES_RBX + 5, BIAS + IN_RBX + 1, BIAS + START + 1);
	/* Where it is untouched its value stays. */
	registers = at(BIAS + LEAF + 5);
	registers.known = 1 << 3;
	registers.other[3] = STACK + 8;
	walked = WALK(registers, BIAS + IN_RBX + 1, 1, BIAS + START + 1);
	CHECK(walked, UNWIND_COMPLETE, BIAS + LEAF + 5, BIAS + IN_RBX + 1, BIAS + START + 1);
	/* Where it is not known the rule cannot be followed. */
	registers.known = 0;
	walked = WALK(registers, BIAS + IN_RBX + 1, 1, BIAS + START + 1);
	CHECK(walked, UNWIND_BAD_RULE, BIAS + LEAF + 5, BIAS + IN_RBX + 1);
	/* A rule above the first frame that needs r9 is that of assembly, which knows that callees leave it alone. */
	registers = at(BIAS + LEAF + 5);
	registers.known = 1 << 9;
	registers.other[9] = 2;
	walked = WALK(registers, BIAS + IN_R9 + 1, 1, BIAS + START + 1);
	CHECK(walked, UNWIND_COMPLETE, BIAS + LEAF + 5, BIAS + IN_R9 + 1, BIAS + START + 1);
}

static void rare_rules_are_followed(void **state)
{
	struct unwind_registers registers = at(BIAS + IN_R9 + 5);
	registers.known = 1 << 9;
	registers.other[9] = 3;
	struct walked walked = WALK(registers, 1, 2, BIAS + START + 1);
	CHECK(walked, UNWIND_COMPLETE, BIAS + IN_R9 + 5, BIAS + START + 1);
	registers = at(BIAS + PLT + 16 + 10); /* before the push */
	walked = WALK(registers, BIAS + START + 1, 0x55);
	CHECK(walked, UNWIND_COMPLETE, BIAS + PLT + 26, BIAS + START + 1);
	registers = at(BIAS + PLT + 16 + 11); /* behind it */
	walked = WALK(registers, 0x55, BIAS + START + 2);
	CHECK(walked, UNWIND_COMPLETE, BIAS + PLT + 27, BIAS + START + 2);
	registers = at(BIAS + STORED + 3);
	walked = WALK(registers, 1, STACK + 24, 2, BIAS + START + 3);
	CHECK(walked, UNWIND_COMPLETE, BIAS + STORED + 3, BIAS + START + 3);
	registers = at(BIAS + RA_IN_RDI + 3); /* vfork */
	registers.known = 1 << 5;
	registers.other[5] = BIAS + LEAF + 9;
	walked = WALK(registers, BIAS + START + 1);
	CHECK(walked, UNWIND_COMPLETE, BIAS + RA_IN_RDI + 3, BIAS + LEAF + 9, BIAS + START + 1);
}

static bool read_word(void *context, uint64_t address, uint64_t *ret_value)
{
	(void)context;
	*ret_value = address == STACK + 16 ? BIAS + START + 1 : 0x99;
	return address >= STACK && address < STACK + 24;
}

static void memory_comes_from_the_reader_where_the_copy_ends(void **state)
{
	struct unwind_registers registers = at(BIAS + SMALL + 5);
	uint64_t words[] = {1, 2}, addresses[4];
	struct unwind_space space = {
		.context = *state, .stack = (uint8_t *)words, .stack_start = STACK, .stack_size = 16, .find = find};
	enum unwind_end end;
	assert_int_equal(unwind_stack(&space, &registers, addresses, NULL, 4, &end), 1);
	assert_int_equal(end, UNWIND_NO_MEMORY);
	space.read = read_word;
	assert_int_equal(unwind_stack(&space, &registers, addresses, NULL, 4, &end), 2);
	assert_int_equal(end, UNWIND_COMPLETE);
	assert_int_equal(unwind_stack(&space, &registers, addresses, NULL, 0, &end), 0);
	assert_int_equal(end, UNWIND_TOO_DEEP);
}

static void perf_registers_are_put_where_dwarf_has_them(void **state)
{
	(void)state;
	uint64_t values[24];
	struct unwind_registers registers;
	for (unsigned i = 0; i < 24; i++)
		values[i] = 100 + i;
	/* What perf record --call-graph dwarf requests: all but ds, es, fs, gs. */
	const uint64_t mask = 0xff0fff;
	assert_true(unwind_registers_from_perf(&registers, &arch_x86_64, PERF_SAMPLE_REGS_ABI_64, mask, values));
	assert_int_equal(registers.fp, 106);
	assert_int_equal(registers.sp, 107);
	assert_int_equal(registers.ip, 108);
	assert_int_equal(registers.other[3], 101); /* rbx */
	assert_int_equal(registers.other[1], 103); /* rdx */
	assert_int_equal(registers.other[8], 112); /* r8: the 13th of the mask */
	assert_int_equal(registers.other[15], 119);
	assert_int_equal(registers.known, 0x1ffff);
	assert_int_equal(registers.kind, ARCH_X86_64);
	assert_true(unwind_registers_from_perf(&registers, &arch_x86_64, PERF_SAMPLE_REGS_ABI_32, mask, values));
	assert_int_equal(registers.fp, 106);
	assert_int_equal(registers.other[6], 104); /* esi */
	assert_int_equal(registers.known, 0x1ff);
	assert_int_equal(registers.kind, ARCH_I386);
	assert_false(unwind_registers_from_perf(&registers, &arch_x86_64, PERF_SAMPLE_REGS_ABI_NONE, mask, values));
	assert_false(unwind_registers_from_perf(&registers, &arch_x86_64, PERF_SAMPLE_REGS_ABI_64, mask & ~(1ull << 7),
						values));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_by_stack_pointer_and_frame_pointer_alternate),
		cmocka_unit_test(a_return_address_is_looked_up_one_byte_before),
		cmocka_unit_test(signal_frames_lead_to_the_interrupted_instruction),
		cmocka_unit_test(a_handler_may_have_a_stack_of_its_own_above_the_other),
		cmocka_unit_test(code_without_table_goes_by_frame_pointers_and_back),
		cmocka_unit_test(code_without_table_ends_where_the_frame_pointer_is_0),
		cmocka_unit_test(the_first_code_of_a_process_ends_at_its_arguments),
		cmocka_unit_test(frame_pointers_that_lead_nowhere_are_not_followed),
		cmocka_unit_test(ends_say_why),
		cmocka_unit_test(a_new_thread_that_has_not_run_has_no_caller),
		cmocka_unit_test(deep_stacks_stop_at_the_limit_and_say_so),
		cmocka_unit_test(code_without_rules_has_a_return_address_behind_a_call),
		cmocka_unit_test(frame_pointers_have_read_what_a_rule_would_read),
		cmocka_unit_test(narrow_stacks_have_frame_pointers_of_4_bytes),
		cmocka_unit_test(a_stack_that_stands_still_is_a_loop),
		cmocka_unit_test(saved_registers_are_followed_to_the_rule_that_needs_them),
		cmocka_unit_test(rare_rules_are_followed),
		cmocka_unit_test(memory_comes_from_the_reader_where_the_copy_ends),
		cmocka_unit_test(perf_registers_are_put_where_dwarf_has_them),
	};
	return cmocka_run_group_tests_name("unwind walks", tests, set_up, tear_down);
}
