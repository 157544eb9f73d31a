/* .gnu_debugdata: an xz-compressed ELF file inside an ELF file, with the symbols of functions that are not exported. */
#ifndef WICK_OBJECT_DEBUGDATA_H
#define WICK_OBJECT_DEBUGDATA_H

#include "object/elf.h"

struct debugdata {
	struct elf_file *elf;
	uint8_t *bytes; /* of elf */
};

/* ERR_EMPTY when the file has none. On success end it with debugdata_release(). */
int debugdata_open(struct debugdata *ret_data, struct elf_file *elf, struct err *err);
/* Zero-initialised is allowed. */
void debugdata_release(struct debugdata *data);

#endif
