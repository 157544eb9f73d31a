/*
 * usage: truth WHAT [MILLISECONDS [DETAIL]]: three() takes three quarters of the CPU time and one() a quarter, wherever
 * they are called from: loops, recursion (500 deep), threads (64), forks (a storm of children), execs (a chain of
 * DETAIL programs), plugin (DETAIL is loaded and unloaded again and again), signal (in a handler), jit (code in
 * anonymous memory, named in /tmp/perf-PID.map).
 */
#include "spin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 500, THREADS = 64, CHILDREN = 100, PROGRAMS = 20 };

static volatile uint64_t result;

/* The same instructions for both, so that they take the same time. */
__attribute__((noinline)) static void burn(void)
{
	uint64_t value = result;
	SPIN(value);
	result = value;
}

__attribute__((noinline)) void three(void)
{
	for (int i = 0; i < 3; i++)
		burn();
	result = result + 1; /* so that the call is not the last thing done */
}

__attribute__((noinline)) void one(void)
{
	burn();
	result = result + 1;
}

/* `milliseconds` of the thread's CPU time. */
__attribute__((noinline)) static void both(long milliseconds)
{
	for (long end = spin_clock() + milliseconds; spin_clock() < end;)
		for (int i = 0; i < 20; i++) {
			three();
			one();
		}
}

__attribute__((noinline)) static uint64_t descend(int depth)
{
	if (depth == 0)
		both(20);
	uint64_t below = depth ? descend(depth - 1) : 0;
	result = result + below;
	return below + 1;
}

static void *work(void *milliseconds)
{
	both((long)(intptr_t)milliseconds);
	return NULL;
}

static int threads(long milliseconds)
{
	pthread_t started[THREADS];
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&started[i], NULL, work, (void *)(intptr_t)(milliseconds / THREADS + 1)))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(started[i], NULL);
	return 0;
}

static int forks(long milliseconds)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();
		if (child == 0) {
			both(milliseconds / CHILDREN + 1);
			_exit(0);
		}
		if (child < 0 || (i % 4 == 3 && waitpid(child, NULL, 0) < 0))
			return 1;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static int execs(char **argv, long milliseconds, int left)
{
	char time[32], count[32];
	both(milliseconds / left);
	if (left == 1)
		return 0;
	snprintf(time, sizeof time, "%ld", milliseconds - milliseconds / left);
	snprintf(count, sizeof count, "%d", left - 1);
	execl(argv[0], argv[0], argv[1], time, count, (char *)NULL);
	return 1;
}

static int plugin(long milliseconds, const char *path)
{
	for (long end = spin_clock() + milliseconds; spin_clock() < end;) {
		void *loaded = dlopen(path, RTLD_NOW);
		void (*run)(int) = loaded ? (void (*)(int))dlsym(loaded, "plugin_both") : NULL;
		if (!run) {
			fprintf(stderr, "truth: %s\n", dlerror());
			return 1;
		}
		run(1000);
		dlclose(loaded);
	}
	return 0;
}

static void on_signal(int number)
{
	both(5);
	result = result + (uint64_t)number;
}

__attribute__((noinline)) static void interrupted(void)
{
	raise(SIGUSR1);
	result = result + 1;
}

static int handler(long milliseconds)
{
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
	for (long end = spin_clock() + milliseconds; spin_clock() < end;)
		interrupted();
	return 0;
}

/* push rbp; mov rbp, rsp; mov ecx, COUNT; again: dec ecx; jnz again; pop rbp; ret */
static void write_loop(unsigned char *code, uint32_t count)
{
	static const unsigned char loop[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0,    0,   0,
					     0,    0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};
	memcpy(code, loop, sizeof loop);
	memcpy(code + 5, &count, sizeof count);
}

static int jit(long milliseconds)
{
	enum { ROOM = 4096, ONE_AT = 64, COUNT = 20000 };
	unsigned char *code = mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "w");
	if (code == MAP_FAILED || !map)
		return 1;
	write_loop(code, 3 * COUNT);
	write_loop(code + ONE_AT, COUNT);
	fprintf(map, "%lx 40 three\n%lx 40 one\n", (unsigned long)code, (unsigned long)(code + ONE_AT));
	fclose(map);
	for (long end = spin_clock() + milliseconds; spin_clock() < end;)
		for (int i = 0; i < 20; i++) {
			((void (*)(void))code)();
			((void (*)(void))(code + ONE_AT))();
		}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "loops";
	long milliseconds = argc > 2 ? atol(argv[2]) : 400;
	if (!strcmp(what, "threads"))
		return threads(milliseconds);
	if (!strcmp(what, "forks"))
		return forks(milliseconds);
	if (!strcmp(what, "execs"))
		return execs(argv, milliseconds, argc > 3 ? atoi(argv[3]) : PROGRAMS);
	if (!strcmp(what, "plugin"))
		return argc < 4 ? 2 : plugin(milliseconds, argv[3]);
	if (!strcmp(what, "signal"))
		return handler(milliseconds);
	if (!strcmp(what, "jit"))
		return jit(milliseconds);
	if (!strcmp(what, "recursion"))
		for (long i = 0; i < milliseconds / 20 + 1; i++)
			descend(DEPTH);
	else
		both(milliseconds);
	return 0;
}
