/* The code that the kernel maps into every process: it is no file, and this process has it too. */
#ifndef WICK_SYMBOL_VDSO_H
#define WICK_SYMBOL_VDSO_H

#include "object/elf.h"

/*
 * The image with this build-id (size 0: any): this process's own, else perf's copy. NULL: neither matches. The caller
 * closes it.
 */
struct elf_file *vdso_open(const struct build_id *build_id);

#endif
