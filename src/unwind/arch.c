#include "unwind/arch.h"

const struct unwind_arch *unwind_arch_of(uint16_t machine)
{
	static const struct unwind_arch *const known[] = {&unwind_arch_x86_64, &unwind_arch_i386};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i]->machine == machine)
			return known[i];
	return NULL;
}
