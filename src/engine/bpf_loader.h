/* Builds unwind tables in a thread of its own: the most requested module first. */
#ifndef WICK_ENGINE_BPF_LOADER_H
#define WICK_ENGINE_BPF_LOADER_H

#include "module/module_code.h"

#include <pthread.h>

struct bpf_order {
	module_id module;
	uint32_t asked; /* how often */
};

struct bpf_loader {
	struct module_store *codes;
	pthread_t thread;
	bool started, stopping;
	int fd; /* an eventfd: readable when something is done */
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t changed;
	struct bpf_order *orders;
	size_t order_count, order_capacity;
	module_id *done;
	size_t done_count, done_capacity;
};

/* Without a descriptor (there are too many) its results are noticed a little later. */
void bpf_loader_init(struct bpf_loader *loader);
/* Where no thread can be started the work is done at once, by whoever asks. */
void bpf_loader_start(struct bpf_loader *loader, struct module_store *codes);
/* Ends the thread; what was requested and is not begun stays undone. */
void bpf_loader_stop(struct bpf_loader *loader);
void bpf_loader_release(struct bpf_loader *loader);
/* Requests the table of a module, or once more. */
void bpf_loader_ask(struct bpf_loader *loader, module_id module);
/* A module whose table has been built since, if there is one: module_code_unwind_table() now answers at once. */
bool bpf_loader_take(struct bpf_loader *loader, module_id *ret_module);

#endif
