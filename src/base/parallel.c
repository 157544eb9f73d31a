/* Starts worker threads and waits for them. */
#include "base/parallel.h"

#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <unistd.h>

/* The kernel's mask may be wider than a cpu_set_t, which it then refuses with EINVAL; hence the doubling. */
unsigned parallel_cores(void)
{
	for (size_t bits = CPU_SETSIZE; bits <= (size_t)1 << 20; bits *= 2) {
		cpu_set_t *set = CPU_ALLOC(bits);
		if (!set)
			break;
		int got = sched_getaffinity(0, CPU_ALLOC_SIZE(bits), set);
		int error = errno;
		int count = got ? 0 : CPU_COUNT_S(CPU_ALLOC_SIZE(bits), set);
		CPU_FREE(set);
		if (count > 0)
			return (unsigned)count;
		if (!got || error != EINVAL)
			break;
	}
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (unsigned)online : 1;
}

struct parallel_worker {
	void (*work)(void *context, unsigned worker);
	void *context;
	pthread_t thread;
	unsigned number;
	bool started;
};

static void *worker_main(void *argument)
{
	struct parallel_worker *worker = argument;
	worker->work(worker->context, worker->number);
	return NULL;
}

void parallel_run(unsigned workers, void (*work)(void *context, unsigned worker), void *context)
{
	if (!workers)
		return;
	CLEANUP_FREE struct parallel_worker *all = mem_zalloc(workers, sizeof *all);
	for (unsigned i = 1; i < workers; i++) {
		all[i] = (struct parallel_worker){.work = work, .context = context, .number = i};
		all[i].started = !pthread_create(&all[i].thread, NULL, worker_main, &all[i]);
	}
	work(context, 0);
	for (unsigned i = 1; i < workers; i++)
		if (!all[i].started)
			work(context, i);
	for (unsigned i = 1; i < workers; i++)
		if (all[i].started)
			pthread_join(all[i].thread, NULL);
}
