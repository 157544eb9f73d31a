/*
 * From frame to frame by the tables that wick loads, as src/unwind/walk.c does it outside. The functions that are not
 * static are verified once and not once per path that leads to them, so that a thousand frames stay cheap to verify;
 * they take numbers only and keep everything else in the scratch of the slot.
 */
#ifndef WICK_BPF_WALK_H
#define WICK_BPF_WALK_H

#include "bpf/ahead.h"
#include "bpf/lookup.h"

#define JUMPS_MAX 16 /* code with several stacks jumps between them a few times; a loop does it for ever */
#define FRAME_MAX (1u << 20) /* how far from the stack pointer a frame pointer may be and still be believed */
#define ARGUMENTS_MAX (1u << 16)
#define SEARCHED_WORDS 3 /* of the stack, for a return address */
#define CALLEE_MAX (1u << 16) /* how large the function is that returns */
#define STEPS_AT_ONCE 32

/* What a step says. */
enum { STEP_MORE, STEP_END };

const volatile __u32 max_depth = LAYOUT_FRAMES_MAX;

/* --- steps --- */

static __always_inline int stop(struct scratch *s, __u8 end)
{
	s->record.key.end = end;
	return STEP_END;
}

/* Down, or nowhere, is for frames that change stacks or have not used theirs. */
static __always_inline int may_jump(struct scratch *s, __u64 sp)
{
	return sp > s->sp || ++s->jumps <= JUMPS_MAX;
}

/* To the caller; `steps`: how many in a row led to it by frame pointers. */
static __always_inline int step_to(struct scratch *s, __u64 sp, __u64 fp, __u64 ip, __u32 steps)
{
	s->sp = sp;
	s->fp = fp;
	s->ip = ip;
	s->exact = 0;
	s->frame_pointer_steps = steps;
	return STEP_MORE;
}

/*
 * What the kernel leaves at the top of a new stack: the number of arguments, pointers to them further up, and 0. The
 * first instructions of the dynamic linker find it there, and have no unwind information.
 */
static __always_inline int at_process_start(struct scratch *s, __u32 slot)
{
	__u64 sp = s->sp, count = 0, argument = 0, last = 1;
	return !read_word(s, slot, sp, &count) && count > 0 && count < ARGUMENTS_MAX &&
	       !read_word(s, slot, sp + 8, &argument) && argument > sp &&
	       !read_word(s, slot, sp + 8 * (count + 1), &last) && last == 0;
}

/* The same in a 32-bit program: both are in one word of ours. */
static __always_inline int step_narrow(struct scratch *s, __u32 slot)
{
	__u64 fp = (__u32)s->fp, words = 0;
	if (fp == 0 && s->frame_pointer_steps > 1)
		return stop(s, LAYOUT_WHOLE);
	if (fp < s->sp || fp - s->sp > FRAME_MAX || fp % 4 != 0)
		return stop(s, LAYOUT_NO_TABLE);
	if (read_word(s, slot, fp, &words))
		return stop(s, LAYOUT_ABSENT);
	return step_to(s, fp + 8, (__u32)words, words >> 32, s->frame_pointer_steps + 1);
}

/*
 * Code that says nothing about itself. Where no chain of frame pointers led here, and in a file with a table, the
 * register may hold anything, 0 too.
 */
static __always_inline int step_by_frame_pointer(struct scratch *s, __u32 slot)
{
	__u64 fp = s->fp, caller_fp = 0, ra = 0;
	if (s->record.narrow)
		return step_narrow(s, slot);
	if (fp == 0 && ((s->part == LAYOUT_PART_NONE && s->frame_pointer_steps) || at_process_start(s, slot)))
		return stop(s, LAYOUT_WHOLE);
	if (fp < s->sp || fp - s->sp > FRAME_MAX || fp % 8 != 0)
		return stop(s, LAYOUT_NO_TABLE);
	if (read_word(s, slot, fp, &caller_fp) || read_word(s, slot, fp + 8, &ra))
		return stop(s, LAYOUT_ABSENT);
	s->registers_lost = 1;
	return step_to(s, fp + 16, caller_fp, ra, s->frame_pointer_steps + 1);
}

/*
 * By the instructions of code without unwind information. STEP_END when they do not show it: what they seem to show
 * must be behind a call.
 */
static __always_inline int step_ahead(struct scratch *s, __u32 slot)
{
	if (find_ahead(slot))
		return STEP_END;
	__u64 base = s->ahead.base == AHEAD_SP ? s->sp : s->fp, cfa = base + (__s64)s->ahead.cfa, fp = s->fp, ra = 0;
	if (cfa <= s->sp || cfa - s->sp > FRAME_MAX || read_word(s, slot, cfa - 8, &ra) || !follows_call(slot, ra))
		return STEP_END;
	if (s->ahead.fp != AHEAD_FP_SAME && read_word(s, slot, base + (__s64)s->ahead.fp, &fp))
		return STEP_END;
	s->registers_lost = 1;
	return step_to(s, cfa, fp, ra, 0);
}

/* Whether the last `length` of 8 bytes are a call by register or memory: ff /2, and what its operand takes. */
static __always_inline int is_indirect_call(__u64 bytes, __u32 length)
{
	__u64 code = bytes >> (8 - length) * 8;
	__u32 operand = code >> 8 & 0xff, mode = operand >> 6, base = operand & 7, needed = 2;
	if ((code & 0x38ff) != 0x10ff)
		return 0;
	if (mode != 3 && base == 4) {
		needed++;
		base = code >> 16 & 7;
	}
	if (mode == 1)
		needed++;
	else if (mode == 2 || (mode == 0 && base == 5))
		needed += 4;
	return needed == length;
}

/* What speaks for a word of the stack being the return address of the current function, as in src/unwind/walk.c. */
enum { EVIDENCE_NONE, EVIDENCE_CALL, EVIDENCE_CALL_HERE };

__noinline int evidence_of(__u32 slot, __u64 word)
{
	struct scratch *s = scratch_of(slot);
	__u64 bytes = 0;
	if (!s || bpf_probe_read_user(&bytes, sizeof bytes, (const void *)(word - sizeof bytes)))
		return EVIDENCE_NONE;
	if ((bytes >> 24 & 0xff) == 0xe8)
		return s->ip - (word + (__s64)(__s32)(bytes >> 32)) < CALLEE_MAX ? EVIDENCE_CALL_HERE : EVIDENCE_CALL;
	return is_indirect_call(bytes, 2) || is_indirect_call(bytes, 3) || is_indirect_call(bytes, 4) ||
			       is_indirect_call(bytes, 6) || is_indirect_call(bytes, 7) ?
		       EVIDENCE_CALL :
		       EVIDENCE_NONE;
}

static __always_inline int evidence_of_frame_pointer(struct scratch *s, __u32 slot)
{
	__u64 fp = s->fp, ra = 0;
	if (fp < s->sp || fp - s->sp > FRAME_MAX || fp % 8 != 0 || read_word(s, slot, fp + 8, &ra))
		return EVIDENCE_NONE;
	return evidence_of(slot, ra);
}

/* Whether code has rules, as far as it is known here. Keeps its mapping in the scratch. */
static __always_inline int is_described(struct scratch *s, __u32 slot, __u64 address)
{
	if (find_mapping(slot, address))
		return 0;
	return s->part == LAYOUT_PART_WANTED || (s->part < LAYOUT_PART_JIT && find_rule(s->part, address - s->bias));
}

/*
 * Looks for the return address of a function without rules in a file that has some: assembly, which pushes little. Goes
 * to the caller, with 0; -1 when none was found, or the frame pointer is better.
 */
__noinline int find_return(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	if (!s)
		return -1;
	__u64 start = s->map_start, end = s->map_end, bias = s->bias;
	__u32 part = s->part;
	int by_fp = evidence_of_frame_pointer(s, slot);
	for (__u32 i = 0; i < SEARCHED_WORDS; i++) {
		__u64 word = 0, place = s->sp + i * 8;
		OPAQUE(place);
		if ((i && by_fp) || read_word(s, slot, place, &word))
			break;
		int evidence = evidence_of(slot, word);
		if (evidence != EVIDENCE_CALL_HERE &&
		    (evidence == EVIDENCE_NONE || by_fp == EVIDENCE_CALL_HERE || !is_described(s, slot, word - 1)))
			continue;
		s->registers_lost |= i > 0;
		step_to(s, s->sp + i * 8 + 8, s->fp, word, 0);
		/* The mapping is looked up again: it may still be that of the callee. */
		s->map_start = s->map_end = 0;
		return 0;
	}
	s->map_start = start;
	s->map_end = end;
	s->bias = bias;
	s->part = part;
	return -1;
}

/*
 * Code without rules: by its instructions; in a file with some rules by its return address, if that is found; and else
 * by frame pointers.
 */
static __always_inline int step_without_rule(struct scratch *s, __u32 slot)
{
	if (s->record.narrow)
		return step_by_frame_pointer(s, slot);
	if (step_ahead(s, slot) == STEP_MORE)
		return STEP_MORE;
	if (s->part == LAYOUT_PART_JIT)
		return stop(s, LAYOUT_DIFFICULT);
	if (s->part != LAYOUT_PART_NONE && !s->frame_pointer_steps && !find_return(slot))
		return STEP_MORE;
	return step_by_frame_pointer(s, slot);
}

/* To a frame whose registers were saved at these addresses. Its stack is another one, which may lie anywhere. */
static __always_inline int step_saved(struct scratch *s, __u32 slot, __u64 ip_at, __u64 sp_at, __u64 fp_at)
{
	__u64 sp = 0, fp = 0, ip = 0;
	if (read_word(s, slot, fp_at, &fp) || read_word(s, slot, sp_at, &sp) || read_word(s, slot, ip_at, &ip))
		return stop(s, LAYOUT_ABSENT);
	if (!may_jump(s, sp))
		return stop(s, LAYOUT_BROKEN);
	s->registers_lost = 1;
	return step_to(s, sp, fp, ip, 0);
}

static __always_inline int step_signal(struct scratch *s, __u32 slot)
{
	__u64 from = s->sp;
	int result = step_saved(s, slot, from + LAYOUT_SIGNAL_IP, from + LAYOUT_SIGNAL_SP, from + LAYOUT_SIGNAL_FP);
	s->exact = 1;
	return result;
}

/* From Go's morestack() to the goroutine that grows its stack, as in src/unwind/walk.c. The register is r14. */
__noinline int step_go(__u32 slot, __u32 offsets)
{
	struct scratch *s = scratch_of(slot);
	if (!s)
		return STEP_END;
	__u64 go = s->registers[15], m = 0, first = 0, goroutine = 0;
	if (s->registers_lost || read_word(s, slot, go + (offsets & 0xff), &m) || read_word(s, slot, m, &first) ||
	    first != go || read_word(s, slot, m + (offsets >> 8 & 0xff), &goroutine) || !goroutine)
		return stop(s, LAYOUT_WHOLE);
	__u64 saved = goroutine + (offsets >> 16 & 0xff);
	return step_saved(s, slot, saved + 8, saved, goroutine + (offsets >> 24));
}

/* The same in a 32-bit program: eax, ecx and edx, which have the numbers 0 to 2, while nothing was called. */
static __always_inline int find_narrow_register(struct scratch *s, __u32 number)
{
	if (number > 2 || s->registers_lost || s->record.user_count > 1)
		return -1;
	s->value = number == 0 ? s->registers[0] : number == 1 ? s->registers[2] : s->registers[3];
	s->caching = 0;
	return 0;
}

/*
 * Finds the value that a register, given by its DWARF number, has in this frame, and keeps it in the scratch. 0, or -1
 * when it is not known. Registers that callees may change keep their value, as in src/unwind/walk.c.
 */
__noinline int find_register(__u32 slot, __u32 number)
{
	const __u32 callee_saved = 1u << 3 | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15;
	struct scratch *s = scratch_of(slot);
	if (s && number == LAYOUT_DWARF_FP && !s->record.narrow) {
		s->value = s->fp;
		return 0;
	}
	if (s && s->record.narrow)
		return find_narrow_register(s, number);
	if (!s || number > 15 || s->registers_lost || (s->record.user_count > 1 && callee_saved >> number & 1))
		return -1;
	/* DWARF has rdx and rbx the other way round, and the sample has rip before r8. */
	__u32 place = number == 1 ? 3 : number == 3 ? 1 : number < 8 ? number : number + 1;
	OPAQUE(place);
	if (place >= LAYOUT_REGISTERS)
		return -1;
	s->value = s->registers[place];
	s->caching = 0; /* it is not among what is compared */
	return 0;
}

/* The CFA where it is not the stack or frame pointer and an offset. 0, or what ends the walk. */
static __always_inline int rare_cfa(struct scratch *s, __u32 slot, __u32 kind, __s32 offset, __u64 *cfa)
{
	__u64 value = kind == LAYOUT_CFA_AT_SP ? s->sp : s->fp;
	if (kind == LAYOUT_CFA_PLT) {
		*cfa = s->sp + word_bytes(s) * ((s->ip & 15) >= (__u32)offset ? 2 : 1);
		return STEP_MORE;
	}
	if (kind >= LAYOUT_CFA_REGISTER && !find_register(slot, kind - LAYOUT_CFA_REGISTER)) {
		*cfa = s->value + (__s64)offset;
		return may_jump(s, *cfa) ? STEP_MORE : stop(s, LAYOUT_BROKEN);
	}
	if (kind != LAYOUT_CFA_AT_SP && kind != LAYOUT_CFA_AT_FP)
		return stop(s, LAYOUT_DIFFICULT);
	/* A step by frame pointers has read what the rule would read, as in src/unwind/walk.c. */
	if (kind == LAYOUT_CFA_AT_FP && s->frame_pointer_steps && !(__s16)offset) {
		*cfa = s->fp + (__s64)(offset >> 16);
		return may_jump(s, *cfa) ? STEP_MORE : stop(s, LAYOUT_BROKEN);
	}
	if (read_word(s, slot, value + (__s64)(__s16)offset, &value))
		return stop(s, LAYOUT_ABSENT);
	*cfa = as_word(s, value) + (__s64)(offset >> 16);
	return may_jump(s, *cfa) ? STEP_MORE : stop(s, LAYOUT_BROKEN);
}

static __always_inline int step_by_rule(struct scratch *s, __u32 slot, __u64 rule)
{
	__u32 kind = rule & 0x7f, fp_kind = rule >> 8 & 0xff;
	__s64 fp_offset = (__s16)(rule >> 16);
	__s32 offset = (__s32)(rule >> 32);
	__u64 cfa = 0, fp = s->fp, ra = 0;
	if (kind == LAYOUT_CFA_SP || kind == LAYOUT_CFA_FP) {
		cfa = (kind == LAYOUT_CFA_SP ? s->sp : s->fp) + (__s64)offset;
		if (cfa <= s->sp)
			return stop(s, LAYOUT_BROKEN);
	} else if (rare_cfa(s, slot, kind, offset, &cfa)) {
		return STEP_END;
	}
	if (read_word(s, slot, cfa - word_bytes(s), &ra))
		return stop(s, LAYOUT_ABSENT);
	__u64 place = (fp_kind == LAYOUT_FP_AT_CFA ? cfa : s->fp) + fp_offset;
	/* In an epilogue that has popped it the description may lag behind: below the stack pointer is nothing. */
	if (fp_kind != LAYOUT_FP_SAME && place >= s->sp && read_word(s, slot, place, &fp))
		return stop(s, LAYOUT_ABSENT);
	int result = step_to(s, cfa, as_word(s, fp), as_word(s, ra), 0);
	s->exact = (rule & LAYOUT_CFA_INTERRUPTED) != 0;
	return result;
}

/* Whether the frame is in the evaluation loop of the interpreter, which is looked at only where there is one. */
static __always_inline void note_evaluation(struct scratch *s)
{
	__u64 address = s->ip - !s->exact;
	for (__u32 i = 0; i < LAYOUT_EVAL_MAX; i++)
		if (address - s->eval[i].start < s->eval[i].size)
			s->evaluates = 1;
}

/* Notes the address of the frame; false when there is no more room. */
static __always_inline int note_address(struct scratch *s)
{
	struct layout_record *record = &s->record;
	__u32 at = record->kernel_count + record->user_count;
	__u64 address = trace_word(TRACE_NATIVE, s->ip, s->exact);
	if (record->user_count >= max_depth || at >= ADDRESSES_MAX)
		return 0;
	s->addresses[at] = address;
	record->user_count++;
	if (s->python)
		note_evaluation(s);
	record->key.user = hash_word(record->key.user, address);
	return 1;
}

/* Frame pointers that are none lead anywhere; but new JIT code, behind the times of the list, is called. */
static __always_inline int stop_outside(struct scratch *s, __u32 slot)
{
	return stop(s, s->frame_pointer_steps && !follows_call(slot, s->ip) ? LAYOUT_NO_TABLE : LAYOUT_UNKNOWN_CODE);
}

/* Notes the frame and goes to its caller. */
__noinline int step(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	if (!s)
		return STEP_END;
	__u64 address = s->ip - !s->exact;
	if (address - s->map_start >= s->map_end - s->map_start && find_mapping(slot, address)) {
		/* What is not in any code is no caller. */
		if (!s->record.user_count)
			note_address(s);
		return stop_outside(s, slot);
	}
	if (!note_address(s))
		return stop(s, LAYOUT_DEEP);
	int result;
	if (s->part == LAYOUT_PART_WANTED)
		return stop(s, LAYOUT_WANTED);
	__u64 rule = s->part >= LAYOUT_PART_JIT ? 0 : find_rule(s->part, address - s->bias);
	switch (rule & 0x7f) {
	case LAYOUT_CFA_INVALID:
		result = step_without_rule(s, slot);
		break;
	case LAYOUT_CFA_STOP:
		return stop(s, LAYOUT_WHOLE);
	case LAYOUT_CFA_SIGNAL:
		result = step_signal(s, slot);
		break;
	case LAYOUT_CFA_GO:
		result = step_go(slot, rule >> 32);
		break;
	default:
		result = step_by_rule(s, slot, rule);
	}
	if (result != STEP_MORE || s->ip)
		return result;
	/* Zeros end a stack only with evidence, as in src/unwind/walk.c. */
	if (s->frame_pointer_steps ? s->frame_pointer_steps > 1 : s->fp == 0)
		return stop(s, LAYOUT_WHOLE);
	return stop(s, s->frame_pointer_steps ? LAYOUT_NO_TABLE : LAYOUT_BROKEN);
}

/*
 * Some steps at a time: a loop over all that a stack may have would be verified round by round, which took most of the
 * time that loading takes.
 */
__noinline int steps(__u32 slot)
{
	for (__u32 i = 0; i < STEPS_AT_ONCE; i++)
		if (step(slot) == STEP_END)
			return STEP_END;
	return STEP_MORE;
}

/*
 * Unwinds from the registers in the scratch; appends to its addresses and sets the end and the hash of the key. The
 * list of the process must be known.
 */
static __always_inline void walk(struct scratch *s, __u32 slot)
{
	s->exact = 1;
	s->frame_pointer_steps = 0;
	s->registers_lost = 0;
	s->jumps = 0;
	s->map_start = s->map_end = 0;
	s->window_size = 0;
	s->window_start = 0;
	for (__u32 i = 0; i <= LAYOUT_FRAMES_MAX / STEPS_AT_ONCE; i++)
		if (steps(slot) == STEP_END)
			break;
	if (s->record.narrow) {
		if (s->record.key.end == LAYOUT_NO_TABLE || s->record.key.end == LAYOUT_BROKEN)
			s->record.key.end = LAYOUT_NARROW;
		return;
	}
	/* So looks a thread that has not run yet, behind the system call that gave it 0: wick can see that. */
	if (s->record.key.end != LAYOUT_WHOLE && s->record.user_count == 1 && s->registers[0] == 0)
		s->record.key.end = LAYOUT_DIFFICULT;
}

#endif
