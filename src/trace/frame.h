/*
 * A frame before it has a name. It is what recording knows: where the code is, or what an interpreter calls the code
 * that it executes. Names are found once per distinct frame, by the rule of its kind (symbolize/rules.h).
 */
#ifndef WICK_TRACE_FRAME_H
#define WICK_TRACE_FRAME_H

#include "process/process.h"
#include "trace/word.h"

enum trace_flags {
	TRACE_EXACT = 1, /* the address of an instruction, not one behind a call */
	TRACE_INVERTED = 2, /* in a stack that goes from callees to callers: inlined calls come first */
};

/* Compared member by member. What a kind does not use is 0, its module MODULE_NONE. */
struct trace_frame {
	uint64_t address; /* in the address space of the module; minus one for return addresses */
	module_id module;
	uint32_t version; /* of JIT code, see module_code_version() */
	uint8_t kind; /* enum trace_kind */
	uint8_t flags; /* enum trace_flags */
};

/* A frame of one sample. */
struct stack_frame {
	struct trace_frame frame;
	uint32_t id; /* of `frame` in a trace, for those who count stacks */
	bool unwound; /* by us; else the kernel found it */
	uint64_t ip; /* as it was recorded or found on the stack */
	uint64_t offset; /* `frame.address` as an offset in the mapped file; the same as `address` in other modules */
};

static inline bool trace_frame_equal(const struct trace_frame *a, const struct trace_frame *b)
{
	return a->address == b->address && a->module == b->module && a->version == b->version && a->kind == b->kind &&
	       a->flags == b->flags;
}

static inline bool trace_frame_is_exact(const struct trace_frame *frame)
{
	return frame->flags & TRACE_EXACT;
}

static inline bool stack_frame_is_kernel(const struct stack_frame *frame)
{
	return frame->frame.kind == TRACE_KERNEL;
}

static inline bool stack_frame_is_exact(const struct stack_frame *frame)
{
	return trace_frame_is_exact(&frame->frame);
}

#endif
