/* The tables of real files beside what libdw makes of the same files, address by address. */
#include "unit.h"

#include "base/hash.h"
#include "unwind/table.h"

#include <stdio.h>

#if __has_include(<elfutils/libdw.h>)
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { POINTS_MAX = 60000, RSP = 7, RBP = 6, RIP = 16 };

/* A made-up thread: registers that point into its stack, and memory that depends on the address alone. */
static bool read_made_up(void *context, uint64_t address, uint64_t *ret_value)
{
	(void)context;
	*ret_value = 0x7f0000000000 + (hash_u64(address) & 0xfffffff8);
	return true;
}

static uint64_t memory(uint64_t address)
{
	uint64_t value;
	read_made_up(NULL, address, &value);
	return value;
}

static struct unwind_registers made_up_registers(uint64_t ip)
{
	struct unwind_registers registers = {.ip = ip, .sp = 0x7e0000000000, .fp = 0x7e0000010000, .known = 0x1ffff};
	for (unsigned i = 0; i < 17; i++)
		registers.other[i] = 0x7e0000020000 + i * 0x1000;
	registers.other[RSP] = registers.sp;
	registers.other[RBP] = registers.fp;
	registers.other[RIP] = ip;
	return registers;
}

static struct unwind_place everywhere(void *context, uint64_t ip)
{
	(void)ip;
	return (struct unwind_place){.table = context, .mapped = true, .end = UINT64_MAX};
}

/* The operations of libdw on the made-up thread. False for one that this does not know. */
static bool evaluate(const Dwarf_Op *ops, size_t count, const struct unwind_registers *registers, uint64_t cfa,
		     uint64_t *ret_value, bool *ret_is_value)
{
	uint64_t stack[32] = {0};
	size_t depth = 0;
	*ret_is_value = false;
	for (size_t i = 0; i < count; i++) {
		const Dwarf_Op *op = &ops[i];
		uint64_t a = depth > 1 ? stack[depth - 2] : 0, b = depth > 0 ? stack[depth - 1] : 0;
		if (depth > 30)
			return false;
		if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
			stack[depth++] = registers->other[op->atom - DW_OP_breg0] + op->number;
		else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
			stack[depth++] = op->atom - DW_OP_lit0;
		else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
			stack[depth++] = registers->other[op->atom - DW_OP_reg0], *ret_is_value = true;
		else if (op->atom == DW_OP_regx)
			stack[depth++] = registers->other[op->number], *ret_is_value = true;
		else if (op->atom == DW_OP_bregx)
			stack[depth++] = registers->other[op->number] + op->number2;
		else if (op->atom == DW_OP_call_frame_cfa)
			stack[depth++] = cfa;
		else if (op->atom == DW_OP_plus_uconst)
			stack[depth - 1] = b + op->number;
		else if (op->atom == DW_OP_deref)
			stack[depth - 1] = memory(b);
		else if (op->atom == DW_OP_plus)
			stack[--depth - 1] = a + b;
		else if (op->atom == DW_OP_mul)
			stack[--depth - 1] = a * b;
		else if (op->atom == DW_OP_and)
			stack[--depth - 1] = a & b;
		else if (op->atom == DW_OP_shl)
			stack[--depth - 1] = a << b;
		else if (op->atom == DW_OP_ge)
			stack[--depth - 1] = (int64_t)a >= (int64_t)b;
		else if (op->atom == DW_OP_stack_value)
			*ret_is_value = true;
		else
			return false;
	}
	if (!depth)
		return false;
	*ret_value = stack[depth - 1];
	return true;
}

enum answer { UNKNOWN, UNDEFINED, VALUE };

static enum answer ask_register(Dwarf_Frame *frame, int number, const struct unwind_registers *registers, uint64_t cfa,
				uint64_t *ret_value)
{
	Dwarf_Op memory_ops[3], *ops;
	size_t count;
	bool is_value;
	if (dwarf_frame_register(frame, number, memory_ops, &ops, &count) != 0)
		return UNKNOWN;
	if (count == 0) {
		*ret_value = registers->other[number];
		return ops ? UNDEFINED : VALUE; /* libdw.h: ops is NULL for "same value" */
	}
	if (!evaluate(ops, count, registers, cfa, ret_value, &is_value))
		return UNKNOWN;
	/* What was saved below the stack pointer has been popped: wick says so, libdw believes the entry. */
	if (!is_value && number == RBP && *ret_value < registers->sp)
		*ret_value = registers->fp;
	else if (!is_value)
		*ret_value = memory(*ret_value);
	return VALUE;
}

struct tally {
	size_t agree, differ, without;
};

static void compare(struct tally *tally, const char *path, Dwarf_CFI *cfi, struct unwind_table *table, uint64_t address)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t count;
	struct unwind_registers before = made_up_registers(address), after = before;
	uint64_t cfa = 0, fp = 0, ra = 0;
	bool is_value, exact = true;
	if (dwarf_cfi_addrframe(cfi, address, &frame) != 0) {
		tally->without++;
		return;
	}
	struct unwind_space space = {.context = table, .read = read_made_up, .find = everywhere};
	enum unwind_end end = UNWIND_BAD_RULE;
	bool stepped = unwind_step(&space, &after, &exact, &end);
	bool known = dwarf_frame_cfa(frame, &ops, &count) == 0 && evaluate(ops, count, &before, 0, &cfa, &is_value);
	enum answer ra_answer = known ? ask_register(frame, RIP, &before, cfa, &ra) : UNKNOWN;
	enum answer fp_answer = known ? ask_register(frame, RBP, &before, cfa, &fp) : UNKNOWN;
	bool agree;
	if (ra_answer == UNDEFINED)
		agree = !stepped && end == UNWIND_COMPLETE;
	else
		agree = known && ra_answer == VALUE && stepped && after.sp == cfa && after.ip == ra &&
			(fp_answer == VALUE ? after.fp == fp : fp_answer == UNDEFINED);
	if (!agree && tally->differ++ < 10)
		print_message("# %s %#llx: libdw cfa %#llx ra %#llx fp %#llx, wick %d/%d cfa %#llx ra %#llx fp %#llx\n",
			      path, (unsigned long long)address, (unsigned long long)cfa, (unsigned long long)ra,
			      (unsigned long long)fp, stepped, (int)end, (unsigned long long)after.sp,
			      (unsigned long long)after.ip, (unsigned long long)after.fp);
	tally->agree += agree;
	free(frame);
}

/* At the first and last byte of rows, spread over all of them. */
static void compare_rows(struct tally *tally, const char *path, Dwarf_CFI *cfi, struct unwind_table *table)
{
	const struct unwind_rows *rows = &table->rows;
	size_t stride = rows->count / (POINTS_MAX / 2) + 1, seen = 0;
	for (uint32_t page = 0; page < rows->pages; page++) {
		uint64_t start = rows->base + ((uint64_t)page << rows->shift);
		for (uint32_t i = rows->first[page]; i < rows->first[page + 1]; i++) {
			uint64_t address = (start & ~0xffffull) + (rows->rows[i] >> 16);
			if (seen++ % stride)
				continue;
			/* Behind a function its last rule covers the padding, where libdw has nothing. */
			if ((rows->rows[i] & 0xffff) != UNWIND_RULE_INVALID)
				compare(tally, path, cfi, table, address);
			if (i)
				compare(tally, path, cfi, table, address - 1);
		}
	}
}

/* Files that are there on some machines only do not count as skipped tests: at least the C library is everywhere. */
static bool compare_file(const char *path, struct tally *total)
{
	struct elf_file *elf;
	struct unwind_table *table;
	struct tally tally = {0};
	if (elf_open(&elf, path, NULL))
		return false;
	assert_int_equal(unwind_table_build(&table, elf, NULL, NULL), 0);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	elf_version(EV_CURRENT);
	Elf *theirs = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Dwarf_CFI *cfi = dwarf_getcfi_elf(theirs);
	assert_non_null(cfi);
	compare_rows(&tally, path, cfi, table);
	dwarf_cfi_end(cfi);
	elf_end(theirs);
	close(fd);
	unwind_table_free(table);
	elf_close(elf);
	print_message("# %s: %zu agree, %zu differ, %zu not known to libdw\n", path, tally.agree, tally.differ,
		      tally.without);
	total->agree += tally.agree;
	total->differ += tally.differ;
	return true;
}

static void tables_agree_with_libdw_at_every_sampled_address(void **state)
{
	(void)state;
	static const char *const paths[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/lib64/libc.so.6",
		"/lib64/ld-linux-x86-64.so.2",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
		"/usr/bin/perl",
		"/usr/bin/gdb",
		"/usr/bin/node",
		"/proc/self/exe",
	};
	struct tally total = {0};
	size_t files = 0;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		files += compare_file(paths[i], &total);
	assert_true(files >= 2);
	assert_true(total.agree > 10000);
	assert_int_equal(total.differ, 0);
}
#else
static void tables_agree_with_libdw_at_every_sampled_address(void **state)
{
	(void)state;
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_agree_with_libdw_at_every_sampled_address),
	};
	return cmocka_run_group_tests_name("unwind beside libdw", tests, NULL, NULL);
}
