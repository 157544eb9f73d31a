/* x86-64, by its psABI. */
#include "arch/arch.h"
#include "arch/x86_64/decode.h"

#include <string.h>

/* DWARF numbers of the psABI, figure 3.36. */
enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R12 = 12, R13, R14, R15, RIP };

static uint8_t column(uint64_t dwarf_register)
{
	switch (dwarf_register) {
	case RBP:
		return COLUMN_FP;
	case RIP:
		return COLUMN_RA;
	case RBX:
		return COLUMN_SAVED;
	case R12:
	case R13:
	case R14:
	case R15:
		return (uint8_t)(COLUMN_SAVED + 1 + dwarf_register - R12);
	default:
		return COLUMN_NONE;
	}
}

/* rsp + 8 + ((rip & 15) >= push) * 8 */
static bool is_plt_expression(const uint8_t *bytes, size_t size, uint8_t *ret_push)
{
	static const uint8_t expected[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22};
	if (size != sizeof expected || memcmp(bytes, expected, 6) != 0 || memcmp(bytes + 7, expected + 7, 4) != 0)
		return false;
	if (bytes[6] < 0x30 || bytes[6] > 0x3f) /* DW_OP_lit0 … lit15 */
		return false;
	*ret_push = bytes[6] - 0x30;
	return true;
}

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

/*
 * Entry 0 of a lazy PLT is "push [rip + …]; jmp …", the others are "jmp; push; jmp" or, with indirect branch
 * tracking, "endbr64; push; jmp". All other kinds (.plt.sec, .plt.got, those of static programs) only jump.
 */
static bool is_plt(const uint8_t *code, size_t size, struct arch_plt *ret_plt)
{
	struct arch_plt plt = {.entry_size = 16};
	if (size >= 32 && code[0] == 0xff && code[1] == 0x35) {
		plt.lazy = true;
		plt.first_push = 6;
		plt.entry_push = memcmp(code + 16, endbr64, 4) == 0 ? 9 : 11;
	} else if (size < 6) {
		return false;
	}
	*ret_plt = plt;
	return true;
}

/*
 * Either rbp is cleared first, as the psABI asks, or the stack pointer is kept for the loader. Shared libraries have an
 * entry point too, which is no more than the first byte of their text.
 */
static bool is_entry(const uint8_t *code, size_t size)
{
	static const uint8_t beginnings[][3] = {{0x31, 0xed}, {0x48, 0x31, 0xed}, {0x48, 0x89, 0xe7}};
	if (size >= sizeof endbr64 && memcmp(code, endbr64, sizeof endbr64) == 0) {
		code += sizeof endbr64;
		size -= sizeof endbr64;
	}
	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
		size_t length = beginnings[i][2] ? 3 : 2;
		if (size >= length && memcmp(code, beginnings[i], length) == 0)
			return true;
	}
	return false;
}

/* A call by register or memory: ff /2, and what its operand takes. */
static bool is_indirect_call(const uint8_t *code, size_t length)
{
	unsigned mode = code[1] >> 6, base = code[1] & 7;
	size_t needed = 2;
	if (code[0] != 0xff || (code[1] & 0x38) != 0x10)
		return false;
	if (mode != 3 && base == 4) {
		if (length == 2)
			return false;
		needed++;
		base = code[2] & 7;
	}
	if (mode == 1)
		needed++;
	else if (mode == 2 || (mode == 0 && base == 5))
		needed += 4;
	return needed == length;
}

static enum arch_call call_before(const uint8_t bytes[ARCH_CALL_BYTES], int64_t *ret_distance)
{
	const uint8_t *end = bytes + ARCH_CALL_BYTES;
	int32_t distance;
	if (end[-5] == 0xe8) {
		memcpy(&distance, end - 4, sizeof distance);
		*ret_distance = distance;
		return ARCH_CALL_DIRECT;
	}
	bool indirect = is_indirect_call(end - 2, 2) || is_indirect_call(end - 3, 3) || is_indirect_call(end - 4, 4) ||
			is_indirect_call(end - 6, 6) || is_indirect_call(end - 7, 7);
	return indirect ? ARCH_CALL_INDIRECT : ARCH_CALL_NONE;
}

/* "mov $15, %rax; syscall": debuggers know rt_sigreturn by these very bytes, so every C library has them. */
static size_t find_restorer(const uint8_t *code, size_t size, size_t *ret_length)
{
	static const uint8_t restorer[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	const uint8_t *found = memmem(code, size, restorer, sizeof restorer);
	*ret_length = sizeof restorer;
	return found ? (size_t)(found - code) : size;
}

/* "xor %rdi, %rdi; call _exit; hlt", as Boost.Context has it. */
static size_t find_fiber_end(const uint8_t *code, size_t size, size_t *ret_length)
{
	static const uint8_t begin[] = {0x48, 0x31, 0xff, 0xe8};
	enum { HLT_AT = 8, LENGTH };
	*ret_length = LENGTH;
	for (const uint8_t *at = code; (at = memmem(at, size - (size_t)(at - code), begin, sizeof begin)); at++)
		if (size - (size_t)(at - code) >= LENGTH && at[HLT_AT] == 0xf4)
			return (size_t)(at - code);
	return size;
}

/* lea distance(%rip), … */
static bool is_address(const uint8_t *code, size_t size, int64_t *ret_distance)
{
	int32_t distance;
	if (size < 7 || (code[0] != 0x48 && code[0] != 0x4c) || code[1] != 0x8d || (code[2] & 0xc7) != 0x05)
		return false;
	memcpy(&distance, code + 3, sizeof distance);
	*ret_distance = (int64_t)distance + 7;
	return true;
}

/* --- linkage code --- */

/* jmp *slot(%rip), after endbr64 and with a bnd prefix when those are there. */
static bool plt_slot(const uint8_t *entry, size_t size, uint64_t address, uint64_t *ret_slot)
{
	size_t at = 0;
	int32_t distance;
	if (size >= sizeof endbr64 && !memcmp(entry, endbr64, sizeof endbr64))
		at = sizeof endbr64;
	if (at < size && entry[at] == 0xf2)
		at++;
	if (size < at + 6 || entry[at] != 0xff || entry[at + 1] != 0x25)
		return false;
	memcpy(&distance, entry + at + 2, sizeof distance);
	*ret_slot = address + at + 6 + (uint64_t)(int64_t)distance;
	return true;
}

/* In .plt.got entries are 16 bytes apart where they begin with endbr64, though the section says 8. */
static size_t plt_entry_bytes(const uint8_t *entry, size_t left, size_t size)
{
	return size == 8 && left >= 16 && !memcmp(entry, endbr64, sizeof endbr64) ? 16 : size;
}

/* By bit of enum perf_event_x86_regs; flags and segments have no number here. */
static const int8_t perf_registers[] = {RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, RIP, -1, -1, -1,
					-1,  -1,  -1,  -1,  8,   9,   10,  11,  12,  13, 14, 15};

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.machine = EM_X86_64,
	.kind = ARCH_X86_64,
	.narrow = &arch_i386,
	.word = 8,
	.dwarf_sp = RSP,
	.dwarf_fp = RBP,
	.dwarf_ra = RIP,
	.dwarf_ip = RIP,
	.result = RAX,
	.registers = 17,
	.saved = {RBX, R12, R13, R14, R15},
	.saved_mask = 1u << RBX | 1u << R12 | 1u << R13 | 1u << R14 | 1u << R15,
	.ra_slot = -8,
	/* struct ucontext follows the return address of the handler, which is popped when the restorer runs. */
	.signal_fp = 120,
	.signal_sp = 160,
	.signal_ip = 168,
	.address_mask = UINT64_MAX,
	.column = column,
	.is_plt_expression = is_plt_expression,
	.is_plt = is_plt,
	.is_entry = is_entry,
	.call_before = call_before,
	.find_fiber_end = find_fiber_end,
	.is_address = is_address,
	.find_restorer = find_restorer,
	.decode = decode_x86_64,
	.call_opcode = 0xe8,
	.perf_registers = perf_registers,
	.perf_register_count = sizeof perf_registers,
	.relocations = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE},
	.plt_slot = plt_slot,
	.plt_entry_bytes = plt_entry_bytes,
	.plt_got_entry = 8,
};
