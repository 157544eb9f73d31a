/*
 * The maps that all programs share. Sizes that depend on the target are set before loading. wick includes it for the
 * sizes of their elements.
 */
#ifndef WICK_BPF_MAPS_H
#define WICK_BPF_MAPS_H

#include "arch/x86_64/ahead.h"
#include "bpf/layout.h"

#define WINDOW_BYTES 2048u
#define ADDRESSES_MAX (LAYOUT_KERNEL_MAX + LAYOUT_FRAMES_MAX + LAYOUT_PYTHON_MAX * 2)
#define PYTHON_FRAME_BYTES 128u

#define STACK_CACHE_WORDS 128u
#define STACK_CACHE_BYTES 8192u

/* What a walk has read: see stack_cache.h. */
struct stack_cache_entry {
	__u64 fp; /* with ip and sp, which are in the key, what it began with */
	__u64 hash; /* of the words */
	__u64 user; /* the hash of the stack that was found */
	__u32 generation; /* of the process */
	__u32 epoch, second; /* when */
	__u32 bytes, count; /* of the words: how far they reach from the stack pointer, and how many */
	__u16 places[STACK_CACHE_WORDS]; /* in words from the stack pointer */
	__u32 zero;
};

/* What a program works with; one of each CPU and slot. */
struct scratch {
	/* The frame that is looked at. */
	__u64 ip, sp, fp;
	__u32 exact; /* ip is an instruction's own address */
	__u32 frame_pointer_steps; /* how many steps in a row led to it by frame pointers */
	__u32 registers_lost; /* those of the sample are not those of this frame */
	__u32 jumps; /* how often the stack pointer went down */
	/* The mapping of the last look-up. */
	__u32 part, zero;
	__u64 map_start, map_end, bias;
	/* The list of the process. */
	__u32 list_first, list_count;
	/* Stack memory that was read. */
	__u64 window_start;
	__u64 window_size;
	__u8 window[WINDOW_BYTES];
	__u64 registers[LAYOUT_REGISTERS]; /* of user space, as the sample found them */
	__u64 value; /* of the register that find_register() found */
	struct ahead ahead; /* what find_ahead() found */
	__u8 code[AHEAD_BYTES];
	__u64 caching; /* the words that are read are noted: */
	struct stack_cache_entry cached;
	/* The interpreter of the process, and the frame of it that is looked at: see python.h. */
	__u32 python; /* there is one */
	__u32 evaluates; /* a frame of the stack is in its evaluation loop */
	struct layout_range eval[LAYOUT_EVAL_MAX];
	__u64 thread_pointer, python_interpreter, python_thread, python_frame;
	__u64 python_inner; /* a state whose frames are known */
	__u64 python_alone; /* there is one interpreter only */
	__u64 python_task; /* of asyncio; 0: none, or nobody wants to know */
	__u8 python_bytes[PYTHON_FRAME_BYTES]; /* of the frame */
	/* What is sent of a new stack: these two. */
	struct layout_record record;
	__u64 addresses[ADDRESSES_MAX];
};

#ifdef __bpf__

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LAYOUT_SLOTS);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct { /* by CPU and slot */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LAYOUT_SLOTS);
	__type(key, __u32);
	__type(value, struct layout_copy);
} copies SEC(".maps");

struct slab {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, LAYOUT_SLAB_WORDS * 4);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, LAYOUT_SLABS_MAX);
	__uint(key_size, 4);
	__array(values, struct slab);
} slabs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LAYOUT_PARTS_MAX);
	__type(key, __u32);
	__type(value, struct layout_part);
} parts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LAYOUT_LIST_MAX);
	__type(key, __u32);
	__type(value, struct layout_mapping);
} mappings SEC(".maps");

struct { /* by process */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct layout_process);
} processes SEC(".maps");

struct { /* by process */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct layout_python);
} pythons SEC(".maps");

struct { /* by thread: where its interpreter keeps its state */
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} python_threads SEC(".maps");

/* Code objects that wick has read, or is about to. */
struct python_code_key {
	__u64 code;
	__u32 generation, first_line;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct python_code_key);
	__type(value, __u32);
} python_codes SEC(".maps");

/* All elements are made at once: memory cannot be allocated where samples are taken. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct layout_key);
	__type(value, struct layout_count);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LAYOUT_STATISTICS);
	__type(key, __u32);
	__type(value, __u64);
} statistics SEC(".maps");

static __always_inline void count_many(__u32 statistic, __u64 number)
{
	__u64 *value = bpf_map_lookup_elem(&statistics, &statistic);
	if (value)
		*value += number;
}

static __always_inline void count_one(__u32 statistic)
{
	count_many(statistic, 1);
}

static __always_inline struct scratch *scratch_of(__u32 slot)
{
	return bpf_map_lookup_elem(&scratches, &slot);
}

#endif
#endif
