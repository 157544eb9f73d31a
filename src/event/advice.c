#include "event/advice.h"

#include <inttypes.h>

#define USUAL_HZ 99
#define STACK_BYTES_MOST 65528 /* the most that perf copies of a stack */
#define WICK_STACK_BYTES_MOST 63488 /* the most that wick record does */

static void advise_larger_copies(struct buf *out, const struct advice_facts *facts)
{
	uint32_t bytes = facts->stack_bytes;
	if (facts->by_wick && bytes < WICK_STACK_BYTES_MOST)
		buf_printf(out, "stack copies were too small: record with --stack-size %u", WICK_STACK_BYTES_MOST);
	else if (facts->by_wick)
		buf_printf(out, "stacks are larger than the largest stack copy (%u bytes)", WICK_STACK_BYTES_MOST);
	else if (bytes < STACK_BYTES_MOST)
		buf_printf(out, "stack copies (%u bytes) were too small: record with --call-graph dwarf,%u", bytes,
			   STACK_BYTES_MOST);
	else
		buf_printf(out, "stacks are larger than the largest stack copy of perf (%u bytes)", bytes);
}

void advice_on_truncated(struct buf *out, const struct advice_facts *facts)
{
	const uint64_t *ends = facts->ends;
	if (ends[STACK_FOREIGN])
		buf_str(out, "recorded on another architecture, with unknown registers: read it there, or record with "
			     "--call-graph fp");
	else if (ends[STACK_CUT] > ends[STACK_DEEP] && ends[STACK_CUT] >= ends[STACK_BROKEN])
		advise_larger_copies(out, facts);
	else if (ends[STACK_ABSENT] > ends[STACK_DEEP] && ends[STACK_ABSENT] >= ends[STACK_BROKEN])
		buf_str(out, "stack memory was swapped out or unmapped when the sample was taken");
	else if (ends[STACK_DEEP] >= ends[STACK_BROKEN] && ends[STACK_DEEP])
		buf_str(out, "deeper than the call chain limit of the kernel: sudo sysctl "
			     "kernel.perf_event_max_stack=1024, then record again");
	else if (ends[STACK_BROKEN] && facts->by_wick)
		buf_str(out, "in code without unwind tables or frame pointers, or in code that was changing its "
			     "stack");
	else if (ends[STACK_BROKEN] && !facts->stack_bytes)
		buf_str(out, "in code without frame pointers: record with --call-graph dwarf");
}

void advice_on_lost(struct buf *out, const struct advice_facts *facts)
{
	uint64_t half = facts->frequency / 2, fewer = !facts->frequency || half > USUAL_HZ ? USUAL_HZ : half;
	if (facts->each)
		buf_str(out, "too many events per second: record only every hundredth (-e EVENT -c 100)");
	else if (facts->by_wick)
		buf_printf(out, "record fewer samples (-F %" PRIu64 ")", fewer ? fewer : 1);
	else
		buf_str(out, "record with a larger buffer (-m 16M)");
}
