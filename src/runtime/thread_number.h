/* The number that a thread has in its own pid namespace, which may be that of a container. */
#ifndef WICK_RUNTIME_THREAD_NUMBER_H
#define WICK_RUNTIME_THREAD_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* `tid` itself if it has no other, or is gone. `ret_only`: it is there, and has no other. */
int32_t thread_number_inside(int32_t pid, int32_t tid, bool *ret_only);

#endif
