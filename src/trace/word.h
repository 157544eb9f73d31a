/*
 * A frame in one word of 64 bits, as it crosses from the kernel to wick and is part of call chains that are already
 * unwound (event_sample.unwound). Addresses of user space have 57 bits at most, so the kind of the frame and whether
 * the address is exact are above them. A native return address is the same word with and without a tag.
 *
 * Addresses of the kernel have all of these bits set: they need no tag, and bpf_get_stack() can write them.
 *
 * A frame of an interpreter is two words, beside those of the native stack: the code object or function with its tag,
 * exact where native code called it, then the bytecode offset or line.
 *
 * Compiled for BPF and for the machine.
 */
#ifndef WICK_TRACE_WORD_H
#define WICK_TRACE_WORD_H

#include <linux/types.h>

enum trace_kind {
	TRACE_NATIVE, /* code of a file, or at an address in no mapping (module MODULE_NONE) */
	TRACE_KERNEL,
	TRACE_JIT, /* JIT code in memory */
	/* Interpreters: `address` is the code object or method, `version` the line or the bytecode offset in it. */
	TRACE_PYTHON,
	TRACE_JAVA,
	TRACE_NODE,
	TRACE_TEXT, /* `address` is a string of the trace, which is the name */
	TRACE_TRUNCATED, /* the part of a stack that is missing */
	TRACE_KINDS,
};

#define TRACE_WORD_BITS 57u /* of the address */
#define TRACE_WORD_ADDRESS ((1ull << TRACE_WORD_BITS) - 1)
#define TRACE_WORD_EXACT 63u /* the bit of an address that is that of an instruction, not one behind a call */
/* In the second word of a frame of an interpreter: see runtime/python/moment.h. */
#define TRACE_WORD_DOUBTFUL (1ull << 63)
#define TRACE_WORD_SHOWN (1ull << 62)
#define TRACE_WORD_KINDS 0x3fu /* mask of the kind, between both */

/* `exact` is 0 or 1. */
static inline __attribute__((always_inline)) __u64 trace_word(enum trace_kind kind, __u64 address, __u32 exact)
{
	return address | (__u64)kind << TRACE_WORD_BITS | (__u64)exact << TRACE_WORD_EXACT;
}

static inline __attribute__((always_inline)) enum trace_kind trace_word_kind(__u64 word)
{
	if (word >> TRACE_WORD_BITS == ~0ull >> TRACE_WORD_BITS)
		return TRACE_KERNEL;
	__u64 kind = word >> TRACE_WORD_BITS & TRACE_WORD_KINDS;
	return kind < TRACE_KINDS && kind != TRACE_KERNEL ? (enum trace_kind)kind : TRACE_NATIVE;
}

static inline __attribute__((always_inline)) __u64 trace_word_address(__u64 word)
{
	return trace_word_kind(word) == TRACE_KERNEL ? word : word & TRACE_WORD_ADDRESS;
}

static inline __attribute__((always_inline)) int trace_word_is_exact(__u64 word)
{
	return word >> TRACE_WORD_EXACT != 0;
}

#endif
