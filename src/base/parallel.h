/* Work on several cores. */
#ifndef WICK_BASE_PARALLEL_H
#define WICK_BASE_PARALLEL_H

/* Cores this process may use (its affinity mask), at least 1. */
unsigned parallel_cores(void);

/*
 * Calls work(context, 0) … work(context, workers - 1), each in a thread of its own (worker 0 in the caller's), and
 * returns when all are done. Where a thread cannot be started its work is done by the caller afterwards, so `work` must
 * not wait for another worker to begin.
 */
void parallel_run(unsigned workers, void (*work)(void *context, unsigned worker), void *context);

#endif
