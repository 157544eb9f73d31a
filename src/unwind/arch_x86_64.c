#include "unwind/arch.h"
#include "unwind/decode_x86_64.h"

#include <linux/perf_event.h>
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

/* "mov $15, %rax; syscall": debuggers know rt_sigreturn by these very bytes, so every C library has them. */
static size_t find_restorer(const uint8_t *code, size_t size, size_t *ret_length)
{
	static const uint8_t restorer[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	const uint8_t *found = memmem(code, size, restorer, sizeof restorer);
	*ret_length = sizeof restorer;
	return found ? (size_t)(found - code) : size;
}

const struct unwind_arch unwind_arch_x86_64 = {
	.machine = EM_X86_64,
	.dwarf_sp = RSP,
	.dwarf_fp = RBP,
	.dwarf_ra = RIP,
	.result = RAX,
	.registers = 17,
	.saved = {RBX, R12, R13, R14, R15},
	.saved_mask = 1u << RBX | 1u << R12 | 1u << R13 | 1u << R14 | 1u << R15,
	.ra_slot = -8,
	/* struct ucontext follows the return address of the handler, which is popped when the restorer runs. */
	.signal_fp = 120,
	.signal_sp = 160,
	.signal_ip = 168,
	.column = column,
	.is_plt_expression = is_plt_expression,
	.is_plt = is_plt,
	.is_entry = is_entry,
	.find_restorer = find_restorer,
	.decode = decode_x86_64,
	.call_opcode = 0xe8,
};

bool unwind_registers_are_of(const char *machine)
{
	return strcmp(machine, "x86_64") == 0;
}

bool unwind_registers_from_perf(struct unwind_registers *ret_registers, uint64_t abi, uint64_t mask,
				const uint64_t *values)
{
	/* By bit of the mask (enum perf_event_x86_regs): the DWARF number, or -1 for flags and segments. */
	static const int8_t dwarf[24] = {RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, RIP, -1, -1, -1,
					 -1,  -1,  -1,  -1,  8,   9,   10,  11,  12,  13, 14, 15};
	const uint32_t needed = 1u << RBP | 1u << RSP | 1u << RIP;
	struct unwind_registers registers = {0};
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return false;
	for (size_t next = 0; mask; mask &= mask - 1, next++) {
		unsigned bit = (unsigned)__builtin_ctzll(mask);
		if (bit >= sizeof dwarf || dwarf[bit] < 0)
			continue;
		registers.other[dwarf[bit]] = values[next];
		registers.known |= 1u << dwarf[bit];
	}
	if ((registers.known & needed) != needed)
		return false;
	registers.ip = registers.other[RIP];
	registers.sp = registers.other[RSP];
	registers.fp = registers.other[RBP];
	*ret_registers = registers;
	return true;
}
