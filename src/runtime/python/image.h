/* A file that contains a CPython interpreter: a program, libpython, or a program in which it is embedded. */
#ifndef WICK_RUNTIME_PYTHON_IMAGE_H
#define WICK_RUNTIME_PYTHON_IMAGE_H

#include "object/elf.h"
#include "runtime/python/layout.h"

#define PYTHON_EVAL_MAX 4u

struct python_range {
	uint64_t start, end;
};

struct python_image {
	struct python_layout layout;
	uint64_t runtime; /* _PyRuntime, in addresses of the file */
	/* The code of the evaluation loop, with parts that the compiler moved elsewhere. None: it is not known. */
	struct python_range eval[PYTHON_EVAL_MAX];
	size_t eval_count;
};

/* Cheap for files without an interpreter. False: there is none, or not one that is known. */
bool python_image_find(struct elf_file *elf, struct python_image *ret_image);

static inline bool python_image_evaluates(const struct python_image *image, uint64_t address)
{
	for (size_t i = 0; i < image->eval_count; i++)
		if (address >= image->eval[i].start && address < image->eval[i].end)
			return true;
	return false;
}

#endif
