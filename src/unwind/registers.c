/* The registers of a perf sample as the unwinder wants them. */
#include "arch/native.h"
#include "unwind/unwind.h"

#include <linux/perf_event.h>

bool unwind_registers_from_perf(struct unwind_registers *ret_registers, const struct arch *machine, uint64_t abi,
				uint64_t mask, const uint64_t *values)
{
	const struct arch *arch = machine ? machine : &ARCH_NATIVE;
	uint64_t found = 0;
	if (abi == PERF_SAMPLE_REGS_ABI_32)
		arch = arch->narrow;
	if (!arch || (abi != PERF_SAMPLE_REGS_ABI_64 && abi != PERF_SAMPLE_REGS_ABI_32))
		return false;
	const uint64_t needed = 1ull << arch->dwarf_fp | 1ull << arch->dwarf_sp | 1ull << arch->dwarf_ip;
	struct unwind_registers registers = {.kind = arch->kind};
	for (size_t next = 0; mask; mask &= mask - 1, next++) {
		unsigned bit = (unsigned)__builtin_ctzll(mask);
		if (bit >= arch->perf_register_count || arch->perf_registers[bit] < 0)
			continue;
		registers.other[arch->perf_registers[bit]] = values[next];
		found |= 1ull << arch->perf_registers[bit];
	}
	if ((found & needed) != needed)
		return false;
	registers.known = (uint32_t)found;
	registers.ip = registers.other[arch->dwarf_ip];
	registers.sp = registers.other[arch->dwarf_sp];
	registers.fp = registers.other[arch->dwarf_fp];
	*ret_registers = registers;
	return true;
}
