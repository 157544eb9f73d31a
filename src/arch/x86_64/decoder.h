/* The parts of an instruction, between decode.c, which finds them, and writes.c. */
#ifndef WICK_ARCH_X86_64_DECODER_H
#define WICK_ARCH_X86_64_DECODER_H

#include "arch/instruction.h"

/* Numbers of registers in instructions. */
enum { RAX = 0, RCX = 1, RDX = 2, RBX = 3, RSP = 4, RBP = 5, RSI = 6, RDI = 7, R11 = 11 };

enum map { MAP_ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_5 = 5, MAP_6, MAP_XOP8 = 8, MAP_XOP9, MAP_XOP10 };

struct decoder {
	const uint8_t *at, *end;
	bool operand16, address32, repeat, repeat_not; /* prefixes 66, 67, f3, f2 */
	bool rex, wide, vector; /* a REX prefix; 64-bit operands; VEX, EVEX or XOP */
	uint8_t reg_high, index_high, base_high; /* 8, or 0: what prefixes add to registers */
	uint8_t third; /* the register in a VEX prefix */
	uint8_t map, opcode;
	bool has_modrm, has_sib, has_base, has_index;
	uint8_t mod, reg, rm; /* with what prefixes add */
	int32_t displacement;
	int64_t immediate;
};

/* The DWARF number of a register. */
static inline uint8_t x86_64_dwarf(unsigned number)
{
	static const uint8_t numbers[REGISTERS] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
	return numbers[number & 15];
}

/* The bit of a register in a set, such as `writes` of struct instruction. */
static inline uint32_t x86_64_bit(unsigned number)
{
	return 1u << x86_64_dwarf(number);
}

/* The general registers that an instruction changes. */
uint32_t x86_64_writes(const struct decoder *d);

#endif
