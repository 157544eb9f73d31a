/* Where code without unwind information returns to, by its instructions; see arch/x86_64/ahead.h. */
#ifndef WICK_BPF_AHEAD_H
#define WICK_BPF_AHEAD_H

#include "arch/x86_64/ahead.h"
#include "bpf/maps.h"

__noinline int find_ahead_step(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	return s ? ahead_step(&s->ahead, s->code) : AHEAD_FAILED;
}

/* Reads the code at the ip of the frame, and keeps what it shows in the scratch. 0, or -1 when it shows nothing. */
__noinline int find_ahead(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	if (!s || bpf_probe_read_user(s->code, AHEAD_BEFORE + AHEAD_CODE, (const void *)(s->ip - AHEAD_BEFORE)))
		return -1;
	int result = ahead_begin(&s->ahead, s->code, s->exact);
	for (int i = 0; i < AHEAD_INSTRUCTIONS && result == AHEAD_MORE; i++)
		result = find_ahead_step(slot);
	return result == AHEAD_FOUND ? 0 : -1;
}

/* 1 when the instruction before an address is a call. */
__noinline int follows_call(__u32 slot, __u64 address)
{
	struct scratch *s = scratch_of(slot);
	if (!s || bpf_probe_read_user(s->code, 8, (const void *)(address - 8)))
		return 0;
	return ahead_is_call(ahead_word(s->code));
}

#endif
