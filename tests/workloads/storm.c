/*
 * usage: storm THREADS MAPPINGS MILLISECONDS PLUGIN
 *
 * Prints "ready" and waits for a line of input. Then the threads map pages of the plugin as code and unmap them, as fast
 * as they can, as many times as said. In the middle of this the plugin is loaded, and a child is started that changes its
 * name and loads it too. At the end it prints "calm", and both work in the plugin for so many milliseconds of CPU time.
 */
#include "spin.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_bool calm;
static atomic_long mapped;
static const char *path;

static void fail(const char *what)
{
	fprintf(stderr, "storm: %s failed\n", what);
	exit(1);
}

static void *map_and_unmap(void *unused)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int file = open(path, O_RDONLY);
	if (file < 0)
		fail("open");
	for (unsigned i = 0; !calm; i++) {
		void *code = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, (off_t)(i % 2 * page));
		if (code == MAP_FAILED)
			fail("mmap");
		munmap(code, page);
		mapped++;
	}
	close(file);
	return unused;
}

static void rest(void)
{
	struct timespec millisecond = {0, 1000000};
	nanosleep(&millisecond, NULL);
}

typedef void work_function(int times);

static work_function *load(void)
{
	void *plugin = dlopen(path, RTLD_NOW);
	work_function *work = plugin ? (work_function *)dlsym(plugin, "plugin_work") : NULL;
	if (!work)
		fail("dlopen");
	return work;
}

__attribute__((noinline)) static void use(work_function *work, long milliseconds)
{
	for (long end = spin_clock() + milliseconds; spin_clock() < end;)
		work(100);
	__asm__ volatile("" ::: "memory");
}

/* Waits until all is calm, which the parent signals by closing its end of the pipe. */
static int live_as_child(const int pipe[2], long milliseconds)
{
	char byte;
	work_function *work = load();
	prctl(PR_SET_NAME, "lull");
	close(pipe[1]);
	if (read(pipe[0], &byte, 1) != 0)
		fail("read");
	use(work, milliseconds);
	return 0;
}

int main(int argc, char **argv)
{
	enum { THREADS_MAX = 64 };
	pthread_t threads[THREADS_MAX];
	int count = argc > 4 ? atoi(argv[1]) : 0, end[2];
	long mappings = argc > 4 ? atol(argv[2]) : 0, milliseconds = argc > 4 ? atol(argv[3]) : 0;
	char line[16];
	if (count < 1 || count > THREADS_MAX || pipe(end))
		fail("start");
	path = argv[4];
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof line, stdin))
		fail("read");
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, map_and_unmap, NULL))
			fail("pthread_create");
	while (mapped < mappings / 2)
		rest();
	pid_t child = fork();
	if (child == 0)
		return live_as_child(end, milliseconds);
	work_function *work = load();
	while (mapped < mappings)
		rest();
	calm = true;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	puts("calm");
	fflush(stdout);
	close(end[1]);
	use(work, milliseconds);
	return waitpid(child, NULL, 0) != child;
}
