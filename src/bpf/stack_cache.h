/*
 * Stacks that were met before. Threads wait again and again at the same places, and to follow a stack takes most of
 * what a switch costs. What a walk finds depends on the registers it begins with, the words of the stack that it reads,
 * and the tables: so it is noted which words these were. When all of them are the same, so is the stack. Only its hash
 * is kept: whoever needs the addresses walks.
 */
#ifndef WICK_BPF_STACK_CACHE_H
#define WICK_BPF_STACK_CACHE_H

#include "bpf/walk.h"

/* Written by wick whenever tables or mappings have changed. */
volatile __u32 tables_epoch = 0;

struct stack_cache_key {
	__u64 ip, sp;
	__u32 tid, zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct stack_cache_key);
	__type(value, struct stack_cache_entry);
} stack_cache SEC(".maps");

static __always_inline struct stack_cache_key stack_cache_key_of(const struct scratch *s)
{
	return (struct stack_cache_key){
		.ip = s->registers[ARCH_AT_IP], .sp = s->registers[ARCH_AT_SP], .tid = s->record.key.tid};
}

/* Before a walk whose stack may be cached. */
static __always_inline void stack_cache_begin(struct scratch *s)
{
	s->cached.fp = s->fp;
	s->cached.hash = s->cached.bytes = s->cached.count = 0;
	s->cached.epoch = tables_epoch;
	s->cached.second = second_of(s);
	s->caching = 1;
}

/* After it, when the stack is whole. */
static __always_inline void stack_cache_keep(struct scratch *s)
{
	struct stack_cache_key key = stack_cache_key_of(s);
	if (s->caching && s->cached.count) {
		s->cached.user = s->record.key.user;
		s->cached.generation = s->record.key.generation;
		bpf_map_update_elem(&stack_cache, &key, &s->cached, BPF_ANY);
	}
	s->caching = 0;
}

/*
 * 1 when the stack of user space is one that was met before, and the key is complete. Once a second it is walked
 * nevertheless: tables that no walk needs give way to others.
 */
__noinline int stack_cache_find(__u32 slot)
{
	struct scratch *s = scratch_of(slot);
	if (!s || !s->ip)
		return 0;
	struct stack_cache_key key = stack_cache_key_of(s);
	struct stack_cache_entry *known = bpf_map_lookup_elem(&stack_cache, &key);
	struct layout_process *process = bpf_map_lookup_elem(&processes, &s->record.key.pid);
	if (!known || !process || known->fp != s->fp || known->epoch != tables_epoch || known->second != second_of(s) ||
	    known->generation != process->generation)
		return 0;
	__u64 *words = s->addresses + LAYOUT_KERNEL_MAX, hash = 0;
	__u32 bytes = known->bytes, count = known->count;
	if (bytes > STACK_CACHE_BYTES || bpf_probe_read_user(words, bytes, (const void *)s->registers[ARCH_AT_SP]))
		return 0;
	for (__u32 i = 0; i < STACK_CACHE_WORDS && i < count; i++)
		hash = hash_word(hash, words[known->places[i] & (STACK_CACHE_BYTES / 8 - 1)]);
	if (hash != known->hash)
		return 0;
	s->record.key.user = known->user;
	s->record.key.end = LAYOUT_WHOLE;
	s->record.key.generation = known->generation;
	return 1;
}

#endif
