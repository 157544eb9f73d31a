/* The thread that maps pages ahead of the reader and releases those behind it. */
#include "perfdata/pager.h"

#include "base/mem.h"
#include "base/parallel.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#define SMALL (64u << 20) /* a file that is read before a thread has begun to help */
#define STEP (2ull << 20) /* bytes at once */
#define AHEAD (16ull << 20)
#define AROUND (64u << 10) /* bytes that the kernel maps when one of them is looked at, unless this is changed */

struct pager {
	const uint8_t *map;
	uint64_t size;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t moved;
	uint64_t at, needed; /* of the reader */
	bool ended;
};

/* Waits for something to do: to map the step before `*ret_to`, to give back what is before `*ret_needed`, or both. */
static bool next_task(struct pager *pager, uint64_t mapped, uint64_t freed, uint64_t *ret_to, uint64_t *ret_needed)
{
	pthread_mutex_lock(&pager->lock);
	for (;;) {
		uint64_t goal = pager->at + AHEAD < pager->size ? (pager->at + AHEAD) & ~(STEP - 1) : pager->size;
		uint64_t needed = pager->needed & ~(STEP - 1);
		*ret_to = goal > mapped ? (mapped > pager->at ? mapped : pager->at & ~(STEP - 1)) + STEP : mapped;
		*ret_needed = needed > freed ? needed : freed;
		if (pager->ended || *ret_to > mapped || *ret_needed > freed)
			break;
		pthread_cond_wait(&pager->moved, &pager->lock);
	}
	bool ended = pager->ended;
	pthread_mutex_unlock(&pager->lock);
	return !ended;
}

/* MADV_POPULATE_READ would do the same, but walks through all pages one by one. */
static void look_at(const struct pager *pager, uint64_t from, uint64_t to)
{
	for (; from < to; from += AROUND)
		(void)*(const volatile uint8_t *)(pager->map + from);
}

static void *turn_pages(void *context)
{
	struct pager *pager = context;
	uint64_t mapped = 0, freed = 0, to, needed;
	while (next_task(pager, mapped, freed, &to, &needed)) {
		if (to > mapped) {
			look_at(pager, to - STEP, to < pager->size ? to : pager->size);
			mapped = to;
		}
		if (needed > freed) {
			uint64_t from = freed > PAGER_LATE ? freed - PAGER_LATE : 0;
			madvise((void *)(pager->map + from), (size_t)(needed - from), MADV_DONTNEED);
			freed = needed;
		}
	}
	return NULL;
}

struct pager *pager_new(const uint8_t *map, size_t size)
{
	if (size < SMALL || parallel_cores() < 2)
		return NULL;
	struct pager *pager = mem_zalloc(1, sizeof *pager);
	*pager = (struct pager){.map = map, .size = size};
	pthread_mutex_init(&pager->lock, NULL);
	pthread_cond_init(&pager->moved, NULL);
	if (pthread_create(&pager->thread, NULL, turn_pages, pager) == 0)
		return pager;
	pthread_cond_destroy(&pager->moved);
	pthread_mutex_destroy(&pager->lock);
	free(pager);
	return NULL;
}

void pager_follow(struct pager *pager, uint64_t at, uint64_t needed)
{
	pthread_mutex_lock(&pager->lock);
	pager->at = at;
	pager->needed = needed;
	pthread_cond_signal(&pager->moved);
	pthread_mutex_unlock(&pager->lock);
}

void pager_free(struct pager *pager)
{
	if (!pager)
		return;
	pthread_mutex_lock(&pager->lock);
	pager->ended = true;
	pthread_cond_signal(&pager->moved);
	pthread_mutex_unlock(&pager->lock);
	pthread_join(pager->thread, NULL);
	pthread_cond_destroy(&pager->moved);
	pthread_mutex_destroy(&pager->lock);
	free(pager);
}
