/*
 * The frames of a CPython interpreter, as src/runtime/python/stack.c reads them in user space. A process has an entry
 * in `pythons` that says where its interpreter keeps them. They are looked at only when a frame of the native stack is
 * in the evaluation loop. All memory is the process's own and may hold anything: every loop is bounded.
 */
#ifndef WICK_BPF_PYTHON_H
#define WICK_BPF_PYTHON_H

#include "arch/bpf.h"
#include "bpf/kernel.h"
#include "bpf/lookup.h"

#define PYTHON_AT_ONCE 8 /* rounds of a loop: each is verified separately, which takes time when programs are loaded */
#define PYTHON_THREADS_MAX 1024u
#define PYTHON_STATES_MAX 4 /* of one thread, in as many interpreters */
#define PYTHON_OWNER_SHIM 3
#define PYTHON_STATUS_ACTIVE 0x10
#define PYTHON_DICTIONARY_KEYS 32 /* of a dictionary, 3.8 to 3.13 */
#define PYTHON_DICTIONARY_ENTRY 24 /* bytes of an item: hash, key and value */
#define PYTHON_DICTIONARY_PLACES 5 /* of one with few items */
#define PYTHON_CODE_MASK (~7ull) /* pointers to code objects are tagged in some versions */

enum { PYTHON_ON, PYTHON_FOUND, PYTHON_END, PYTHON_BROKEN };

static __always_inline int read_pointer(__u64 address, __u64 *value)
{
	return bpf_probe_read_user(value, sizeof *value, (const void *)address);
}

/* Notes the code of the evaluation loop, which the walk compares addresses with. */
__noinline int python_begin(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	struct layout_python *python = s ? bpf_map_lookup_elem(&pythons, &s->record.key.pid) : 0;
	if (!python)
		return 0;
	__builtin_memcpy(s->eval, python->eval, sizeof s->eval);
	s->python = 1;
	return 0;
}

/* --- the state of the thread --- */

/* The innermost frame of the thread whose state is in the scratch; 0: it has none, or cannot be read. */
static __always_inline __u64 python_first_frame(const struct scratch *s, const struct layout_python *python)
{
	__u64 frame = 0;
	if (read_pointer(s->python_thread + python->thread_frame, &frame))
		return 0;
	if (frame && python->cframe_frame != LAYOUT_NO_OFFSET && read_pointer(frame + python->cframe_frame, &frame))
		return 0;
	return frame;
}

/* Whether the state in the scratch is that of the running thread, and it has frames, the first of which it notes. */
static __always_inline int python_is_thread(struct scratch *s, const struct layout_python *python)
{
	__u64 id = 0;
	if (read_pointer(s->python_thread + python->thread_id, &id) || id != s->thread_pointer)
		return 0;
	s->python_frame = python_first_frame(s, python);
	return s->python_frame != 0;
}

/* Whether the state in the scratch is the current one of its thread. None is while the thread has released the GIL. */
static __always_inline int python_is_current(const struct scratch *s, const struct layout_python *python)
{
	__u64 holder = 0;
	__u8 status = 0;
	if (python->runtime_holder != LAYOUT_NO_OFFSET)
		return !read_pointer(python->runtime + python->runtime_holder, &holder) && holder == s->python_thread;
	return !bpf_probe_read_user(&status, sizeof status, (const void *)(s->python_thread + python->thread_status)) &&
	       status & PYTHON_STATUS_ACTIVE;
}

/* Goes to the next state of a thread, of this interpreter or the first of the next one. */
static __always_inline int python_next_thread(struct scratch *s, const struct layout_python *python)
{
	if (s->python_thread)
		return read_pointer(s->python_thread + python->thread_next, &s->python_thread) ? PYTHON_BROKEN :
												 PYTHON_ON;
	__u64 interpreter = s->python_interpreter;
	if (!interpreter)
		return PYTHON_END;
	if (read_pointer(interpreter + python->interpreter_threads, &s->python_thread) ||
	    read_pointer(interpreter + python->interpreter_next, &s->python_interpreter))
		return PYTHON_BROKEN;
	return PYTHON_ON;
}

/* Some states at a time, as steps() in walk.h. */
__noinline int python_search_some(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	struct layout_python *python = s ? bpf_map_lookup_elem(&pythons, &s->record.key.pid) : 0;
	if (!python)
		return PYTHON_END;
	for (__u32 i = 0; i < PYTHON_AT_ONCE; i++) {
		int next = python_next_thread(s, python);
		if (next != PYTHON_ON)
			return next;
		if (s->python_thread && s->python_thread != s->python_inner && python_is_thread(s, python))
			return PYTHON_FOUND;
	}
	return PYTHON_ON;
}

/* The next state of the running thread that has frames, and is not the inner one. */
__noinline int python_search(__u32 slot)
{
	for (__u32 i = 0; i < PYTHON_THREADS_MAX / PYTHON_AT_ONCE; i++) {
		int result = python_search_some(slot);
		if (result != PYTHON_ON)
			return result;
	}
	return PYTHON_BROKEN;
}

/* Begins to look for states. Notes whether there is only one interpreter. */
__noinline int python_search_begin(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	struct layout_python *python = s ? bpf_map_lookup_elem(&pythons, &s->record.key.pid) : 0;
	__u64 next = 0;
	if (!python)
		return PYTHON_END;
	s->python_thread = 0;
	s->python_alone = 1;
	if (read_pointer(python->runtime + python->runtime_interpreters, &s->python_interpreter))
		return PYTHON_BROKEN;
	if (s->python_interpreter && !read_pointer(s->python_interpreter + python->interpreter_next, &next) && next)
		s->python_alone = 0;
	return PYTHON_ON;
}

/* Of the states that are left to look at, the current one; if there is none, the first. */
__noinline int python_search_current(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	struct layout_python *python = s ? bpf_map_lookup_elem(&pythons, &s->record.key.pid) : 0;
	__u64 first_thread = 0, first_frame = 0;
	int result = PYTHON_END;
	if (!python)
		return PYTHON_END;
	for (__u32 i = 0; i < PYTHON_STATES_MAX; i++) {
		result = python_search(slot);
		if (result != PYTHON_FOUND || s->python_alone || python_is_current(s, python))
			break;
		if (!first_thread) {
			first_thread = s->python_thread;
			first_frame = s->python_frame;
		}
		result = PYTHON_END;
	}
	if (result == PYTHON_FOUND || !first_thread)
		return result;
	s->python_thread = first_thread;
	s->python_frame = first_frame;
	return PYTHON_FOUND;
}

/*
 * Finds the first frame of the running thread. PYTHON_END: it has none. A thread that calls code of another interpreter
 * has a state in both.
 */
__noinline int python_find_thread(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	struct layout_python *python = s ? bpf_map_lookup_elem(&pythons, &s->record.key.pid) : 0;
	if (!python)
		return PYTHON_END;
	__u32 tid = s->record.key.tid;
	s->thread_pointer = arch_thread_pointer(bpf_get_current_task_btf());
	s->python_inner = 0;
	int result = python_search_begin(slot);
	if (result != PYTHON_ON)
		return result;
	__u64 *known = bpf_map_lookup_elem(&python_threads, &tid);
	s->python_thread = known ? *known : 0;
	if (s->python_thread && python_is_thread(s, python) && (s->python_alone || python_is_current(s, python)))
		return PYTHON_FOUND;
	s->python_thread = 0;
	result = python_search_current(slot);
	if (result == PYTHON_FOUND) {
		__u64 thread = s->python_thread;
		bpf_map_update_elem(&python_threads, &tid, &thread, BPF_ANY);
	}
	return result;
}

/*
 * An evaluation that begins has announced itself before it says which frame it evaluates: the one that called it has
 * frames. PYTHON_FOUND, or nothing is known about it.
 */
__noinline int python_find_previous(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	struct layout_python *python = s ? bpf_map_lookup_elem(&pythons, &s->record.key.pid) : 0;
	__u64 cframe = 0;
	if (!python || python->cframe_frame == LAYOUT_NO_OFFSET)
		return PYTHON_BROKEN;
	if (read_pointer(s->python_thread + python->thread_frame, &cframe) ||
	    read_pointer(cframe + python->cframe_previous, &cframe) || !cframe ||
	    read_pointer(cframe + python->cframe_frame, &s->python_frame) || !s->python_frame)
		return PYTHON_BROKEN;
	return PYTHON_FOUND;
}

/* --- the GIL --- */

/* Whether the thread whose state is in the scratch holds the GIL. */
static __always_inline __u32 python_gil(const struct scratch *s, const struct layout_python *python)
{
	__u64 interpreter = 0;
	__u32 enabled = 0;
	if (python->free_threaded) {
		if (read_pointer(s->python_thread + python->thread_interpreter, &interpreter) ||
		    bpf_probe_read_user(&enabled, sizeof enabled,
					(const void *)(interpreter + python->interpreter_gil)))
			return LAYOUT_GIL_UNKNOWN;
		if (!enabled)
			return LAYOUT_GIL_NONE;
	}
	return python_is_current(s, python) ? LAYOUT_GIL_HELD : LAYOUT_GIL_RELEASED;
}

__noinline int python_note_gil(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	struct layout_python *python = s ? bpf_map_lookup_elem(&pythons, &s->record.key.pid) : 0;
	if (python)
		s->record.key.gil = python_gil(s, python);
	return 0;
}

/* --- asyncio --- */

/* In a dictionary of one item, removed and added again, the item is in any of the first places. */
static __always_inline __u64 python_only_value(const struct layout_python *python)
{
	__u64 keys = 0, only = 0;
	if (read_pointer(python->current_tasks + PYTHON_DICTIONARY_KEYS, &keys))
		return 0;
	for (__u32 i = 0; i < PYTHON_DICTIONARY_PLACES; i++) {
		__u64 value = 0;
		if (read_pointer(keys + python->tasks_first + i * PYTHON_DICTIONARY_ENTRY, &value))
			return 0;
		if (value && only)
			return 0;
		only = value ? value : only;
	}
	return only;
}

__noinline int python_note_task(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	struct layout_python *python = s ? bpf_map_lookup_elem(&pythons, &s->record.key.pid) : 0;
	if (!python)
		return 0;
	s->python_task = 0;
	if (python->current_tasks)
		s->python_task = python_only_value(python);
	else if (python->thread_task != LAYOUT_NO_OFFSET)
		read_pointer(s->python_thread + python->thread_task, &s->python_task);
	return 0;
}

/* --- frames --- */

static __always_inline __u64 python_word(const struct scratch *s, __u32 offset)
{
	return *(const __u64 *)(s->python_bytes + (offset & (PYTHON_FRAME_BYTES - 8)));
}

/* Where the bytecode is that the frame in the scratch runs: free-threaded interpreters have a copy for each thread. */
static __always_inline __u64 python_bytecode(const struct scratch *s, const struct layout_python *python, __u64 code)
{
	__u64 own = code + python->code_instructions, list = 0, count = 0, copy = 0;
	__u32 at = python->frame_bytecode;
	if (!python->free_threaded || at == LAYOUT_NO_OFFSET)
		return own;
	__u32 number = (__u32)(python_word(s, at & ~7u) >> (at & 4) * 8);
	if (!number || read_pointer(code + python->code_bytecodes, &list) || read_pointer(list, &count) ||
	    number >= count || read_pointer(list + 8 + 8ull * number, &copy))
		return own;
	return copy;
}

/* The offset of the instruction in the bytecode. */
static __always_inline __u32 python_offset(const struct scratch *s, const struct layout_python *python, __u64 code)
{
	__u64 position = python_word(s, python->frame_position);
	if (python->position == LAYOUT_POSITION_POINTER)
		return (__u32)(position - python_bytecode(s, python, code));
	/* 32 bits, in the other half of the word where the offset is not a multiple of 8 */
	position = python->frame_position & 4 ? position >> 32 : position;
	return python->position == LAYOUT_POSITION_UNITS ? (__u32)position * 2 : (__u32)position;
}

/* Adds a frame to the words of the record. False when there is no room. */
static __always_inline int python_push(struct scratch *s, __u64 first, __u64 second)
{
	__u64 at = (__u64)s->record.kernel_count + s->record.user_count + s->record.python_count;
	OPAQUE(at);
	if (at > ADDRESSES_MAX - 2 || s->record.python_count >= LAYOUT_PYTHON_MAX * 2)
		return 0;
	s->addresses[at] = first;
	s->addresses[at + 1] = second;
	s->record.python_count += 2;
	s->record.key.user = hash_word(hash_word(s->record.key.user, first), second);
	return 1;
}

/* The frame that was added last was called by native code. */
static __always_inline void python_mark_entry(struct scratch *s)
{
	__u64 at = (__u64)s->record.kernel_count + s->record.user_count + s->record.python_count - 2;
	OPAQUE(at);
	if (at < ADDRESSES_MAX && s->record.python_count)
		s->addresses[at] |= 1ull << TRACE_WORD_EXACT;
}

/* Adds the frame in the scratch, and goes to its caller. */
static __always_inline int python_step(struct scratch *s, const struct layout_python *python)
{
	__u32 first_line = 0;
	__u64 size = python->frame_bytes;
	OPAQUE(size);
	if (size > PYTHON_FRAME_BYTES)
		size = PYTHON_FRAME_BYTES;
	if (bpf_probe_read_user(s->python_bytes, (__u32)size, (const void *)s->python_frame))
		return PYTHON_END;
	__u64 code = python_word(s, python->frame_code) & PYTHON_CODE_MASK & TRACE_WORD_ADDRESS;
	__u8 owner = s->python_bytes[python->frame_owner & (PYTHON_FRAME_BYTES - 1)];
	s->python_frame = python_word(s, python->frame_back);
	if (python->entry == LAYOUT_ENTRY_SHIM && owner == PYTHON_OWNER_SHIM) {
		python_mark_entry(s);
		return s->python_frame ? PYTHON_ON : PYTHON_FOUND;
	}
	if (bpf_probe_read_user(&first_line, sizeof first_line, (const void *)(code + python->code_first_line)))
		return PYTHON_END;
	__u32 entry = python->entry == LAYOUT_ENTRY_EACH || (python->entry == LAYOUT_ENTRY_FLAG && owner);
	__u64 second = python_offset(s, python, code) | (__u64)first_line << 32;
	if (!python_push(s, trace_word(TRACE_PYTHON, code, entry), second))
		return PYTHON_END;
	return s->python_frame ? PYTHON_ON : PYTHON_FOUND;
}

__noinline int python_steps(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	struct layout_python *python = s ? bpf_map_lookup_elem(&pythons, &s->record.key.pid) : 0;
	if (!python)
		return PYTHON_END;
	for (__u32 i = 0; i < PYTHON_AT_ONCE; i++) {
		int result = python_step(s, python);
		if (result != PYTHON_ON)
			return result;
	}
	return PYTHON_ON;
}

/* Looks for a frame, from number `from` on, of a code object that wick does not know. */
__noinline int python_find_new(__u32 slot, __u32 from)
{
	struct scratch *s = scratch_of(slot);
	if (!s)
		return PYTHON_END;
	for (__u32 i = 0; i < PYTHON_AT_ONCE; i++) {
		__u64 at = (__u64)s->record.kernel_count + s->record.user_count + (from + i) * 2;
		__u32 one = 1;
		OPAQUE(at);
		if ((from + i) * 2 >= s->record.python_count || at > ADDRESSES_MAX - 2)
			return PYTHON_END;
		struct python_code_key key = {
			.code = s->addresses[at] & TRACE_WORD_ADDRESS,
			.generation = s->record.key.generation,
			.first_line = s->addresses[at + 1] >> 32,
		};
		if (!bpf_map_lookup_elem(&python_codes, &key)) {
			bpf_map_update_elem(&python_codes, &key, &one, BPF_ANY);
			return PYTHON_FOUND;
		}
	}
	return PYTHON_ON;
}

/*
 * 1 when wick must look at a new stack at once: it has a code object that was not seen before, which may be freed soon,
 * as those of modules are when they have been imported.
 */
__noinline int python_is_urgent(__u32 slot)
{
	for (__u32 i = 0; i < LAYOUT_PYTHON_MAX / PYTHON_AT_ONCE; i++) {
		int result = python_find_new(slot, i * PYTHON_AT_ONCE);
		if (result != PYTHON_ON)
			return result == PYTHON_FOUND;
	}
	return 0;
}

/* Appends the frames from that in the scratch on. */
__noinline int python_follow(__u32 slot)
{
	int result = PYTHON_ON;
	for (__u32 i = 0; i <= LAYOUT_PYTHON_MAX / PYTHON_AT_ONCE && result == PYTHON_ON; i++)
		result = python_steps(slot);
	return result;
}

/* Appends the frames of the other states of the thread, in interpreters from which it called the inner one. */
__noinline int python_follow_outer(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	if (!s)
		return PYTHON_END;
	s->python_inner = s->python_thread;
	int result = python_search_begin(slot);
	for (__u32 i = 0; i < PYTHON_STATES_MAX && result == PYTHON_ON; i++) {
		result = python_search(slot);
		if (result == PYTHON_FOUND)
			result = python_follow(slot) == PYTHON_FOUND ? PYTHON_ON : PYTHON_BROKEN;
	}
	return result == PYTHON_BROKEN ? PYTHON_BROKEN : PYTHON_FOUND;
}

/* Appends the frames of the interpreter to the stack. What the interpreter did is not among what is cached. */
static __always_inline void python_walk(struct scratch *s, __u32 slot)
{
	s->caching = 0;
	int result = python_find_thread(slot);
	if (result == PYTHON_END)
		return;
	if (result == PYTHON_FOUND) {
		python_note_gil(slot);
		python_note_task(slot);
		result = python_follow(slot);
	}
	if (result != PYTHON_FOUND && !s->record.python_count && python_find_previous(slot) == PYTHON_FOUND)
		result = python_follow(slot);
	if (result == PYTHON_FOUND && !s->python_alone)
		result = python_follow_outer(slot);
	if (result == PYTHON_FOUND && s->python_task)
		python_push(s, trace_word(TRACE_PYTHON, s->python_task & TRACE_WORD_ADDRESS, 0),
			    (__u64)LAYOUT_TASK_LINE << 32);
	if (result == PYTHON_FOUND)
		return;
	if (s->record.key.end == LAYOUT_WHOLE)
		s->record.key.end = LAYOUT_INTERPRETER;
	else if (s->record.key.end >= LAYOUT_UNKNOWN_PROCESS)
		s->record.python_count = 0; /* wick reads them */
}

#endif
