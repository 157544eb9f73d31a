/* Puts the frames of an interpreter into a native stack, in place of those of its evaluation loop. */
#ifndef WICK_COLLECT_INTERPRETED_H
#define WICK_COLLECT_INTERPRETED_H

#include "collect/stack.h"

/*
 * maker->frames from `first` on are the native frames of a sample with interpreted ones; `whole`: none is missing. Each
 * frame of the evaluation loop is replaced by the functions that it evaluated.
 */
void interpreted_merge(struct stack_maker *maker, size_t first, bool whole);
/*
 * The same where it is known which frames, from `first` on, are those of the evaluation loop. `switched`: the native
 * stack has been switched, so that outer ones belong to others.
 */
void interpreted_merge_marked(struct stack_maker *maker, size_t first, const bool *evaluates, bool whole,
			      bool switched);
/*
 * The same for functions that were read after the sample was taken. Where they do not fit, INTERPRETED_UNKNOWN stands
 * for those that are not known.
 */
void interpreted_merge_late(struct stack_maker *maker, size_t first, const bool *evaluates, bool whole, bool switched);

/* The frame at an address of a recording that has functions as mappings (runtime/interpreted.h); false: it is none. */
bool interpreted_frame_at(struct stack_maker *maker, const char *path, uint64_t address, struct stack_frame *ret_frame);

#endif
