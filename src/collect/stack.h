/* One sample → the addresses of its stack, each with the module it lies in. */
#ifndef WICK_COLLECT_STACK_H
#define WICK_COLLECT_STACK_H

#include "collect/batch.h"
#include "collect/stack_needs.h"
#include "event/stack_mark.h"
#include "module/module_code.h"
#include "trace/frame.h"

/* How stacks show the frames of an interpreter. */
enum interpreted_frames {
	INTERPRETED_MERGED, /* in place of those of its evaluation loop */
	INTERPRETED_ONLY, /* without native ones, where there are any */
	INTERPRETED_NATIVE, /* not: the evaluation loop is shown */
	INTERPRETED_OFF, /* and they are not looked for */
};

/* What an address is in a set of mappings, in one line of the cache. */
struct stack_place {
	_Alignas(64) uint64_t ip;
	uint64_t maps; /* serial number of the set, with two bits: exact, the kernel's; 0: not known, or not for long */
	struct stack_frame frame;
};

/* What a thread that makes stacks needs; one per thread. */
struct stack_maker {
	struct module_store *codes;
	struct module_code **known; /* by module: codes already found */
	size_t known_capacity;
	size_t max_depth;
	struct stack_frame *frames; /* the result, innermost first */
	size_t count, capacity;
	struct stack_frame *merged; /* room for interpreted_merge() */
	size_t merged_count, merged_capacity;
	uint64_t *addresses;
	bool *exact;
	struct stack_needs *needs; /* set by the owner: learns what was missing; NULL: nobody asks */
	uint64_t tail_start; /* address of what was read behind the copy */
	size_t tail_used; /* bytes of it that were needed */
	enum interpreted_frames python; /* set by the owner */
	bool elsewhere; /* what is read is not on the stack that was copied */
	uint64_t missing; /* address of the last word that was needed and is not there */
	bool foreign; /* set by the owner: registers are of a machine that is not known */
	const struct arch *machine; /* set by the owner: whose registers they are; NULL: of this one */
	bool marked; /* some call chain had the mark of a stack that is not whole */
	const struct batch_sample *sample;
	const struct mapping *last; /* where the last look-up ended: neighbours often lie in the same mapping */
	struct stack_place *places; /* by hash; of two with the same, the later one is kept */
	/* May be set: gives frames their number. */
	uint32_t (*identify)(void *context, const struct trace_frame *frame);
	void *identify_context;
};

void stack_maker_init(struct stack_maker *maker, struct module_store *codes, size_t max_depth);
void stack_maker_release(struct stack_maker *maker);
struct module_code *stack_maker_code(struct stack_maker *maker, module_id module);

/* Fills maker->frames. Where a stack ends at an address outside all code, that frame is its outermost one. */
enum stack_end stack_make(struct stack_maker *maker, const struct batch_sample *sample);

#endif
