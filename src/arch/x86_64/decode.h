/* Decodes one x86-64 instruction. */
#ifndef WICK_ARCH_X86_64_DECODE_H
#define WICK_ARCH_X86_64_DECODE_H

#include "arch/instruction.h"

/*
 * Decodes the instruction at `address`, of which `size` bytes are there. False when it does not exist or continues
 * behind them. Knows all lengths of instructions of user space, with legacy, VEX, EVEX and XOP prefixes.
 */
bool decode_x86_64(const uint8_t *code, size_t size, uint64_t address, struct instruction *ret_instruction);

#endif
