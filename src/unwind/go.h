/*
 * Functions of Go programs. Their .debug_frame does not mention the frame pointer, and stripped programs have none. The
 * runtime has a table of its own in every program (.gopclntab): how far the stack pointer is from where it was, which
 * functions begin a stack, and which change to another one.
 */
#ifndef WICK_UNWIND_GO_H
#define WICK_UNWIND_GO_H

#include "unwind/cfi.h"

/*
 * A goroutine that grows its stack does so on the stack of its thread, in morestack(). What it was doing is in its
 * struct g: Go code has that of the current stack in r14, here g0 of the thread, which leads to the struct m of the
 * thread, and that to the goroutine. The offsets, which depend on the version, are bytes of UNWIND_CFA_GO.
 */
enum { GO_REGISTER = 14 };
struct go_offsets {
	uint8_t m; /* in struct g */
	uint8_t current; /* in struct m: the goroutine. g0 is its first member. */
	uint8_t sp, fp; /* in struct g: of the goroutine. The instruction pointer follows the stack pointer. */
};

static inline struct go_offsets go_offsets_of(int32_t cfa_offset)
{
	uint32_t bytes = (uint32_t)cfa_offset;
	return (struct go_offsets){(uint8_t)bytes, (uint8_t)(bytes >> 8), (uint8_t)(bytes >> 16),
				   (uint8_t)(bytes >> 24)};
}

/* Reads from the file, which must stay open. */
struct go_program {
	struct elf_file *elf;
	const uint8_t *table, *functions, *deltas, *names; /* in .gopclntab */
	size_t size, function_bytes, delta_bytes, name_bytes; /* until its end */
	uint64_t count; /* of functions */
	uint64_t text; /* where offsets of functions start */
	uint8_t flag_at, quantum;
	uint8_t current_at; /* offset of the goroutine in struct m; 0: not known */
};

/* False when it is not a Go program, or one of a version that is not known. */
bool go_open(struct go_program *ret_go, struct elf_file *elf);
/* Adds all functions, as CFI_GO. */
void go_add_functions(const struct go_program *go, struct cfi *cfi);

/* Takes the rule that holds from an address on. */
typedef void (*go_sink)(void *context, uint64_t address, struct unwind_rule rule);
void go_run(const struct go_program *go, const struct cfi_function *function, go_sink sink, void *context);

#endif
