/* Maps files behind a SIGBUS handler that replaces lost pages by zeros. */
#include "base/guarded_map.h"

#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The ranges that the signal handler looks through. A signal may come at any moment in any thread, so the list only
 * grows: ranges are reused, never freed. One with `start` 0 is free.
 */
struct guarded_range {
	_Atomic uintptr_t start, end;
	atomic_bool taken, lost;
	struct guarded_range *next;
};
static _Atomic(struct guarded_range *) ranges;

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static struct guarded_range *range_at(uintptr_t address)
{
	for (struct guarded_range *range = atomic_load(&ranges); range; range = range->next) {
		uintptr_t start = atomic_load(&range->start);
		if (start && address >= start && address < atomic_load(&range->end))
			return range;
	}
	return NULL;
}

static struct sigaction previous;

/* What is missing from here on is replaced by zeros. Any other SIGBUS is left to who was there before. */
static void take_bus_error(int number, siginfo_t *info, void *context)
{
	(void)context;
	int kept = errno;
	uintptr_t address = (uintptr_t)info->si_addr;
	struct guarded_range *range = info->si_code == BUS_ADRERR ? range_at(address) : NULL;
	uintptr_t page = address & ~(uintptr_t)(page_size() - 1);
	if (!range || mmap((void *)page, atomic_load(&range->end) - page, PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		sigaction(number, &previous, NULL); /* it comes again at once */
	else
		atomic_store(&range->lost, true);
	errno = kept;
}

/* Again where someone else has installed a handler since: it gets what is not ours. */
static void install(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct sigaction now,
		action = {.sa_sigaction = take_bus_error, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
	sigemptyset(&action.sa_mask);
	pthread_mutex_lock(&lock);
	if (sigaction(SIGBUS, NULL, &now) == 0 && now.sa_sigaction != take_bus_error) {
		previous = now;
		sigaction(SIGBUS, &action, NULL);
	}
	pthread_mutex_unlock(&lock);
}

static struct guarded_range *take_range(void)
{
	for (struct guarded_range *range = atomic_load(&ranges); range; range = range->next)
		if (!atomic_exchange(&range->taken, true))
			return range;
	struct guarded_range *range = mem_zalloc(1, sizeof *range);
	atomic_init(&range->taken, true);
	range->next = atomic_load(&ranges);
	while (!atomic_compare_exchange_weak(&ranges, &range->next, range))
		;
	return range;
}

/* Of the pages of the file, and of those behind them. */
static size_t mapped_size(size_t size)
{
	size_t page = page_size();
	return (size + page - 1) / page * page + GUARDED_MAP_SPARE;
}

int guarded_map_open(struct guarded_map *map, int fd, size_t size)
{
	install();
	if (!size || size > SIZE_MAX / 2)
		return -EINVAL;
	void *start = mmap(NULL, mapped_size(size), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (start == MAP_FAILED)
		return -errno;
	if (mmap(start, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
		int error = errno;
		munmap(start, mapped_size(size));
		return -error;
	}
	struct guarded_range *range = take_range();
	atomic_store(&range->lost, false);
	atomic_store(&range->end, (uintptr_t)start + mapped_size(size) - GUARDED_MAP_SPARE);
	atomic_store(&range->start, (uintptr_t)start);
	*map = (struct guarded_map){.bytes = start, .size = size, .range = range};
	return 0;
}

void guarded_map_close(struct guarded_map *map)
{
	if (!map->bytes)
		return;
	atomic_store(&map->range->start, 0);
	munmap((void *)map->bytes, mapped_size(map->size));
	atomic_store(&map->range->taken, false);
	*map = (struct guarded_map){0};
}

bool guarded_map_lost_bytes(const struct guarded_map *map)
{
	return map->range && atomic_load(&map->range->lost);
}
