/*
 * A thread that goes through a mapped file with its reader: pages are mapped before he comes to them, and given back
 * when he has left them, so that he does not wait for either and the memory that counts as his stays small. Giving back
 * too early costs a page fault, nothing else.
 */
#ifndef WICK_PERFDATA_PAGER_H
#define WICK_PERFDATA_PAGER_H

#include <stddef.h>
#include <stdint.h>

/* Bytes behind what was given back where somebody may have looked at a page once more: they are given back again. */
#define PAGER_LATE (128ull << 20)

struct pager;

/* NULL where nothing is won by it: the file is small, there is one core, or no thread can be had. */
struct pager *pager_new(const uint8_t *map, size_t size);
void pager_free(struct pager *pager);
/* Says that the reader has come to `at`, and may ask again for what is from `needed` on. */
void pager_follow(struct pager *pager, uint64_t at, uint64_t needed);

#endif
