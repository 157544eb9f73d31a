/* What functions of loaded BPF programs are called. Only in builds with libbpf. */
#ifndef WICK_ENGINE_BPF_SYMBOLS_H
#define WICK_ENGINE_BPF_SYMBOLS_H

#include "module/module_code.h"

struct bpf_object;

/*
 * Emits the functions of the object's programs, called as in /proc/kallsyms. They are sampled as all code of the kernel
 * is, and the names that are kept of the kernel cannot have them: without this all of /proc/kallsyms would be read.
 */
void bpf_symbols_emit(const struct bpf_object *object, struct module_store *codes);

#endif
