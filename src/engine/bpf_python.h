/* What the programs in the kernel need of the Python interpreter of a process. */
#ifndef WICK_ENGINE_BPF_PYTHON_H
#define WICK_ENGINE_BPF_PYTHON_H

#include "bpf/layout.h"
#include "runtime/python/image.h"
#include "runtime/python/live.h"

/* `bias` is the run-time address minus that in the file; `tasks` may be NULL. */
struct layout_python bpf_python_layout(const struct python_image *image, uint64_t bias,
				       const struct python_tasks *tasks);

/* Bytes that must be free behind a record, for tasks of asyncio. */
size_t bpf_python_room(const struct python_live *live);
/*
 * Gives the Python frames of a record that has just come their functions. Those of a copied stack are read now, and
 * stay behind it: the record may move. Returns it.
 */
struct layout_record *bpf_python_name(struct python_live *live, struct layout_record *record, size_t size);
/* The words of a copied stack; bpf_python_copy_bytes() is where they end. */
const uint64_t *bpf_python_copy_words(const struct layout_copy *copy);
size_t bpf_python_copy_bytes(const struct layout_copy *copy);
/* A copy with room for `bytes` of the stack, and with words. All else is 0. The caller frees it. */
struct layout_copy *bpf_python_copy_new(uint32_t bytes, const uint64_t *words, uint32_t count);

#endif
