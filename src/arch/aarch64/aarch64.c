/*
 * AArch64, by its psABI (AADWARF64). A call leaves the return address in x30, and functions that call others save it
 * beside the frame pointer, x29. Rules are not derived from code.
 */
#include "arch/arch.h"

#include <string.h>

/* DWARF numbers. */
enum { X0, X29 = 29, X30, SP, PC };

enum { INSTRUCTION = 4 }; /* bytes */

static uint32_t load(const uint8_t *code)
{
	uint32_t word;
	memcpy(&word, code, sizeof word);
	return word;
}

/* The lower `bits` of a number, with their sign. */
static int64_t extend(uint64_t value, unsigned bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* The number in adr (bytes) and adrp (pages). */
static int64_t adr_distance(uint32_t word)
{
	return extend((word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3), 21);
}

static uint8_t column(uint64_t dwarf_register)
{
	return dwarf_register == X29 ? COLUMN_FP : dwarf_register == X30 ? COLUMN_RA : COLUMN_NONE;
}

static bool is_plt_expression(const uint8_t *bytes, size_t size, uint8_t *ret_push)
{
	(void)bytes;
	(void)size;
	(void)ret_push;
	return false;
}

/* Entry 0 begins with "stp x16, x30, [sp, #-16]!", after a bti when that is there. The others only jump. */
static bool is_plt(const uint8_t *code, size_t size, struct arch_plt *ret_plt)
{
	size_t at = size >= INSTRUCTION && load(code) == 0xd503245f ? INSTRUCTION : 0;
	if (size < 2 * INSTRUCTION)
		return false;
	*ret_plt = (struct arch_plt){.entry_size = 16};
	if (size >= 32 && load(code + at) == 0xa9bf7bf0) {
		ret_plt->lazy = true;
		ret_plt->first_push = (uint8_t)(at + INSTRUCTION);
		ret_plt->entry_size = 32; /* of entry 0 */
	}
	return true;
}

/* x29 and x30 are cleared first. */
static bool is_entry(const uint8_t *code, size_t size)
{
	size_t at = size >= INSTRUCTION && (load(code) & 0xffffff3f) == 0xd503241f ? INSTRUCTION : 0; /* bti */
	return size >= at + INSTRUCTION && (load(code + at) == 0xd280001d || load(code + at) == 0xaa1f03fd);
}

/* bl, blr, and blr with pointer authentication. */
static enum arch_call call_before(const uint8_t bytes[ARCH_CALL_BYTES], int64_t *ret_distance)
{
	uint32_t word = load(bytes + ARCH_CALL_BYTES - INSTRUCTION);
	if ((word & 0xfc000000) == 0x94000000) {
		*ret_distance = extend(word, 26) * INSTRUCTION - INSTRUCTION;
		return ARCH_CALL_DIRECT;
	}
	return (word & 0xfefff000) == 0xd63f0000 ? ARCH_CALL_INDIRECT : ARCH_CALL_NONE;
}

/* adr */
static bool is_address(const uint8_t *code, size_t size, int64_t *ret_distance)
{
	if (size < INSTRUCTION || (load(code) & 0x9f000000) != 0x10000000)
		return false;
	*ret_distance = adr_distance(load(code));
	return true;
}

/* "mov x8, #139; svc #0": the kernel's own, in the vDSO, and those of C libraries. */
static size_t find_restorer(const uint8_t *code, size_t size, size_t *ret_length)
{
	static const uint8_t restorer[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
	const uint8_t *found = memmem(code, size, restorer, sizeof restorer);
	*ret_length = sizeof restorer;
	return found ? (size_t)(found - code) : size;
}

static size_t find_fiber_end(const uint8_t *code, size_t size, size_t *ret_length)
{
	(void)code;
	*ret_length = 0;
	return size;
}

/* --- linkage code --- */

/* adrp x16, page; ldr x17, [x16, #offset], after a bti when that is there. */
static bool plt_slot(const uint8_t *entry, size_t size, uint64_t address, uint64_t *ret_slot)
{
	size_t at = size >= INSTRUCTION && load(entry) == 0xd503245f ? INSTRUCTION : 0;
	if (size < at + 2 * INSTRUCTION)
		return false;
	uint32_t adrp = load(entry + at), ldr = load(entry + at + INSTRUCTION);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	*ret_slot = ((address + at) & ~(uint64_t)0xfff) + (uint64_t)adr_distance(adrp) * 4096 +
		    (uint64_t)(ldr >> 10 & 0xfff) * 8;
	return true;
}

static size_t plt_entry_bytes(const uint8_t *entry, size_t left, size_t size)
{
	(void)entry;
	(void)left;
	return size;
}

/* By bit of enum perf_event_arm_regs. */
static const int8_t perf_registers[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,  13,  14, 15, 16,
					17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, X29, X30, SP, PC};

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.machine = EM_AARCH64,
	.kind = ARCH_AARCH64,
	.word = 8,
	.dwarf_sp = SP,
	.dwarf_fp = X29,
	.dwarf_ra = X30,
	.dwarf_ip = PC,
	.links = true,
	.result = X0,
	.registers = X30 + 1,
	/* struct rt_sigframe: 128 bytes of siginfo, then a ucontext, whose registers begin at 184. */
	.signal_fp = 312 + X29 * 8,
	.signal_link = 312 + X30 * 8,
	.signal_sp = 312 + SP * 8,
	.signal_ip = 312 + PC * 8,
	.address_mask = (1ull << 48) - 1,
	.column = column,
	.is_plt_expression = is_plt_expression,
	.is_plt = is_plt,
	.is_entry = is_entry,
	.call_before = call_before,
	.is_address = is_address,
	.find_restorer = find_restorer,
	.find_fiber_end = find_fiber_end,
	.perf_registers = perf_registers,
	.perf_register_count = sizeof perf_registers,
	.relocations = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE},
	.plt_slot = plt_slot,
	.plt_entry_bytes = plt_entry_bytes,
	.plt_got_entry = 16,
};
