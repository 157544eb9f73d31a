/* The kernel in a store of modules. Private to src/module/; others use module_code.h. */
#ifndef WICK_MODULE_MODULE_KERNEL_H
#define WICK_MODULE_MODULE_KERNEL_H

#include "module/module_code.h"

struct kernel;

/* Opened on first use, by any thread, with the symbols that records have brought so far. */
struct kernel *module_store_kernel(struct module_store *codes);
void module_store_close_kernel(struct module_store *codes);

#endif
