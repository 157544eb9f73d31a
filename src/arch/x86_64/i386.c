/* 32-bit programs on x86-64. Signal frames are described by the vDSO, and followed by its expressions. */
#include "arch/arch.h"

#include <string.h>

/* DWARF numbers of the psABI. */
enum { EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI, EIP };

static uint8_t column(uint64_t dwarf_register)
{
	switch (dwarf_register) {
	case EBP:
		return COLUMN_FP;
	case EIP:
		return COLUMN_RA;
	case EBX:
		return COLUMN_SAVED;
	case ESI:
	case EDI:
		return (uint8_t)(COLUMN_SAVED + 1 + dwarf_register - ESI);
	default:
		return COLUMN_NONE;
	}
}

/* esp + 4 + ((eip & 15) >= push) * 4 */
static bool is_plt_expression(const uint8_t *bytes, size_t size, uint8_t *ret_push)
{
	static const uint8_t expected[] = {0x74, 4, 0x78, 0, 0x3f, 0x1a, 0, 0x2a, 0x32, 0x24, 0x22};
	if (size != sizeof expected || memcmp(bytes, expected, 6) != 0 || memcmp(bytes + 7, expected + 7, 4) != 0)
		return false;
	if (bytes[6] < 0x30 || bytes[6] > 0x3f) /* DW_OP_lit0 … lit15 */
		return false;
	*ret_push = bytes[6] - 0x30;
	return true;
}

static bool is_plt(const uint8_t *code, size_t size, struct arch_plt *ret_plt)
{
	(void)code;
	(void)size;
	(void)ret_plt;
	return false; /* linkers describe it */
}

/* xor %ebp, %ebp */
static bool is_entry(const uint8_t *code, size_t size)
{
	return size >= 2 && code[0] == 0x31 && code[1] == 0xed;
}

static enum arch_call call_before(const uint8_t bytes[ARCH_CALL_BYTES], int64_t *ret_distance)
{
	(void)bytes;
	(void)ret_distance;
	return ARCH_CALL_NONE; /* there, code without rules goes by frame pointers */
}

static size_t find_nothing(const uint8_t *code, size_t size, size_t *ret_length)
{
	(void)code;
	*ret_length = 0;
	return size;
}

static bool is_address(const uint8_t *code, size_t size, int64_t *ret_distance)
{
	(void)code;
	(void)size;
	(void)ret_distance;
	return false;
}

/* By bit of enum perf_event_x86_regs. */
static const int8_t perf_registers[] = {EAX, EBX, ECX, EDX, ESI, EDI, EBP, ESP, EIP};

const struct arch arch_i386 = {
	.machine = EM_386,
	.kind = ARCH_I386,
	.word = 4,
	.dwarf_sp = ESP,
	.dwarf_fp = EBP,
	.dwarf_ra = EIP,
	.dwarf_ip = EIP,
	.result = EAX,
	.registers = 9,
	.saved = {EBX, ESI, EDI, 9, 9},
	.saved_mask = 1u << EBX | 1u << ESI | 1u << EDI,
	.ra_slot = -4,
	.signal_fp = INT16_MIN, /* not at a fixed place: there are two kinds of frames */
	.signal_sp = INT16_MIN,
	.signal_ip = INT16_MIN,
	.address_mask = UINT32_MAX,
	.column = column,
	.is_plt_expression = is_plt_expression,
	.is_plt = is_plt,
	.is_entry = is_entry,
	.call_before = call_before,
	.find_restorer = find_nothing,
	.find_fiber_end = find_nothing,
	.is_address = is_address,
	.perf_registers = perf_registers,
	.perf_register_count = sizeof perf_registers,
};
