/* The Python frames of a thread, read from memory in user space. bpf/python.h does the same in the kernel. */
#ifndef WICK_RUNTIME_PYTHON_STACK_H
#define WICK_RUNTIME_PYTHON_STACK_H

#include "runtime/memory.h"
#include "runtime/python/layout.h"

#define PYTHON_THREADS_MAX 4096u /* that are looked at; links of hostile memory may form a circle */

/* Where glibc's struct pthread, to which pthread_self() points, has the thread ID. */
#if defined(__aarch64__)
#define PYTHON_PTHREAD_TID 0xd0u
#else
#define PYTHON_PTHREAD_TID 0x2d0u
#endif

struct python_frame {
	uint64_t address; /* of the frame itself; 0: not known */
	uint64_t code; /* address of the code object */
	uint32_t offset; /* of the instruction in the bytecode, in bytes */
	uint32_t first_line; /* of the code object, as a check that it is still the same */
	bool entry; /* called by native code: an evaluation frame of its own begins here */
	bool shown, doubtful; /* see runtime/python/moment.h */
};

enum python_end {
	PYTHON_END_WHOLE,
	PYTHON_END_NO_THREAD, /* the thread has no state in this interpreter */
	PYTHON_END_BROKEN, /* a pointer leads nowhere, or there are more frames than room */
};

/*
 * Fills frames, innermost first; returns how many. `runtime` is the address of _PyRuntime in the process, `tid` the
 * thread in its own pid namespace. The thread runs meanwhile: the frames may be those of a later moment.
 */
size_t python_stack_read(const struct target_memory *memory, const struct python_layout *layout, uint64_t runtime,
			 int32_t tid, struct python_frame *frames, size_t max, enum python_end *ret_end);
/* The same from a frame on, whose address is known. 0: there are none. */
size_t python_stack_follow(const struct target_memory *memory, const struct python_layout *layout, uint64_t frame,
			   struct python_frame *frames, size_t max, enum python_end *ret_end);

#endif
