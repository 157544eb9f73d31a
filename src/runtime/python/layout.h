/*
 * Where a version of CPython keeps what a profiler needs: offsets in its structures. From 3.13 on the interpreter
 * describes itself in a table; before, there is a row for each version.
 */
#ifndef WICK_RUNTIME_PYTHON_LAYOUT_H
#define WICK_RUNTIME_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which Python frames have an evaluation frame on the native stack: see python_frame.entry. */
enum python_entry {
	PYTHON_ENTRY_EACH, /* every one has (up to 3.10) */
	PYTHON_ENTRY_FLAG, /* those with a flag (3.11) */
	PYTHON_ENTRY_SHIM, /* those that a shim frame, which belongs to no function, called (3.12) */
};

/* What a frame says about where it is. */
enum python_position {
	PYTHON_POSITION_BYTES, /* offset in the bytecode (up to 3.9) */
	PYTHON_POSITION_UNITS, /* the same in units of two bytes (3.10) */
	PYTHON_POSITION_POINTER, /* the address of an instruction (3.11) */
};

#define PYTHON_NO_OFFSET 0xffffu
#define PYTHON_OWNER_SHIM 3 /* of a frame */
#define PYTHON_STATUS_ACTIVE 0x10 /* of a thread: attached, which in builds with a GIL means that it holds it */
#define PYTHON_FRAME_BYTES 128u /* all members of a frame that are read lie below */

struct python_layout {
	uint32_t version; /* 0x030b for 3.11 */
	bool free_threaded;
	uint8_t entry; /* enum python_entry */
	uint8_t position; /* enum python_position */
	uint32_t runtime_interpreters; /* the first interpreter */
	uint32_t interpreter_next, interpreter_threads;
	uint32_t interpreter_modules; /* the dictionary sys.modules */
	uint16_t thread_next, thread_id; /* thread_id: pthread_self(), which is the thread pointer */
	uint16_t thread_native_id; /* in the pid namespace of the process; PYTHON_NO_OFFSET: none */
	/* Who holds the GIL: the state that the runtime names (up to 3.11), or a bit of the thread's own state. */
	uint16_t runtime_holder; /* PYTHON_NO_OFFSET from 3.12 on */
	uint16_t thread_status; /* a byte: PYTHON_STATUS_ACTIVE; PYTHON_NO_OFFSET up to 3.11 */
	/* Free-threaded: whether there is a GIL at all, 32 bits of the interpreter of the thread. */
	uint16_t thread_interpreter;
	uint32_t interpreter_gil;
	uint16_t thread_frame; /* the frame, or what points to it: */
	uint16_t cframe_frame; /* PYTHON_NO_OFFSET: nothing lies between */
	uint16_t cframe_previous; /* of the evaluation that called; the innermost may be about to begin */
	uint16_t frame_code, frame_back, frame_position;
	uint16_t frame_owner; /* a byte: the flag or the owner; PYTHON_NO_OFFSET where every frame is an entry */
	/* Free-threaded from 3.14: each thread runs a copy of the bytecode. PYTHON_NO_OFFSET where there are none. */
	uint16_t frame_bytecode; /* 32 bits: which copy the frame runs; 0 is the bytecode in the code object */
	uint16_t code_bytecodes; /* a pointer to the addresses of the copies; before them stands how many there are */
	uint16_t code_file, code_name, code_qualname; /* qualname: PYTHON_NO_OFFSET up to 3.10 */
	uint16_t code_first_line; /* 32 bits */
	uint16_t code_lines; /* a bytes object: the table of lines */
	uint16_t code_instructions; /* where the bytecode begins in the code object (3.11), else PYTHON_NO_OFFSET */
	uint16_t code_string; /* a bytes object: the bytecode (up to 3.10), else PYTHON_NO_OFFSET */
	uint16_t generator_code; /* of a coroutine or generator that has not ended */
	uint16_t string_length, string_state, string_ascii, string_compact; /* the last two: where characters begin */
	uint16_t bytes_size, bytes_data;
};

/* The layout of 3.8 to 3.12; `version` as above. False when it is not known. */
bool python_layout_of_version(uint32_t version, struct python_layout *ret_layout);
/* By the table at the beginning of _PyRuntime (3.13 and later). False when it is none, or of a version not known. */
bool python_layout_of_table(const uint8_t *table, size_t size, struct python_layout *ret_layout);

#endif
