/* Code of a file that its call frame information does not describe. */
#ifndef WICK_UNWIND_UNDESCRIBED_H
#define WICK_UNWIND_UNDESCRIBED_H

#include "unwind/cfi.h"
#include "unwind/derive.h"

/*
 * Adds the code that no function of `cfi`, which must be sorted, covers, and where functions begin in it; then derives
 * its rules. `debug` (may be NULL) is a separate debug file, for its symbols.
 */
void undescribed_derive(struct derive *derive, const struct cfi *cfi, struct elf_file *elf, struct elf_file *debug);

#endif
