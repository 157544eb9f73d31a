/* 64 threads that come and go, four times. */
#include <pthread.h>
#include <stdint.h>

#define THREADS 64

static volatile uint64_t sum;

__attribute__((noinline)) void spin(void)
{
	for (unsigned i = 0; i < 10000000; i++)
		sum += i;
}

static void *work(void *argument)
{
	spin();
	return argument;
}

int main(void)
{
	for (unsigned round = 0; round < 4; round++) {
		pthread_t threads[THREADS];
		for (unsigned i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, work, NULL);
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
