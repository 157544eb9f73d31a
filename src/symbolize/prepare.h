/*
 * Names addresses while samples still come, on a thread of its own, so that little is left to do at the end: files are
 * open then, tables made, and names of functions put into the form in which they are shown. The answers are not kept.
 */
#ifndef WICK_SYMBOLIZE_PREPARE_H
#define WICK_SYMBOLIZE_PREPARE_H

#include "module/module_code.h"

struct preparer;

/* NULL when there can be no thread: everything is done at the end then. */
struct preparer *preparer_new(struct module_store *codes);
/* `address` as module_code_find() has it. From any thread; does not wait. NULL is allowed. */
void preparer_add(struct preparer *preparer, module_id module, uint64_t address);
/* Lets it begin with what was added. NULL is allowed. */
void preparer_go(struct preparer *preparer);
/* Leaves out what has not been begun with, and releases everything. NULL is allowed. */
void preparer_stop(struct preparer *preparer);

#endif
