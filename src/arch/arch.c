/* The machines that are known. */
#include "arch/arch.h"

#include <string.h>

static const struct arch *const known[] = {&arch_x86_64, &arch_i386, &arch_aarch64};

const struct arch *arch_of_machine(uint16_t machine)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i]->machine == machine)
			return known[i];
	return NULL;
}

const struct arch *arch_of_name(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i]->name && strcmp(known[i]->name, name) == 0)
			return known[i];
	return NULL;
}
