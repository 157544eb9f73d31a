/* Converts LBR call stacks to call chains. */
#include "event/branches.h"

size_t branches_chain_max(const struct event_sample *sample)
{
	return sample->chain_count + sample->branch_count + 2;
}

size_t branches_chain(const struct event_sample *sample, uint64_t *chain)
{
	size_t count = 0;
	for (size_t i = 0; i < sample->chain_count && sample->chain[i] != (uint64_t)PERF_CONTEXT_USER; i++)
		chain[count++] = sample->chain[i];
	if (!sample->branch_count)
		return count;
	chain[count++] = (uint64_t)PERF_CONTEXT_USER;
	/* In the kernel the innermost function of user space is only known by where it was entered. */
	chain[count++] = sample->mode == MODE_USER ? sample->ip : sample->branches[0].to;
	for (size_t i = 0; i < sample->branch_count; i++)
		if (sample->branches[i].from)
			chain[count++] = sample->branches[i].from + 1;
	return count;
}
