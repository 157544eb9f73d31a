/*
 * usage: short threads|processes COUNT MICROSECONDS [stop]: starts threads or processes one after the other, each of
 * which computes for so long and ends. Writes the CPU time of all in nanoseconds to standard output.
 *
 * short serve SOCKET MICROSECONDS [stop]: a server with four threads that take requests; half of each is computed in a
 * thread that is started for it. Ends at the request to, and writes its CPU time. short load SOCKET COUNT: so many
 * requests, four at a time, then the request to end.
 *
 * With "stop" it stops itself as by SIGSTOP, while its first thread runs, and writes the CPU time from then on.
 */
#include "spin.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static long life, earlier;
static int stops;
static volatile uint64_t result;

static long nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

__attribute__((noinline)) static void compute(void)
{
	for (long end = nanoseconds() + life * 1000; nanoseconds() < end;)
		for (int i = 0; i < 1000; i++)
			result = spin_mix(result + (uint64_t)i);
}

static long cpu_time(void)
{
	struct rusage usage[2];
	long sum = 0;
	getrusage(RUSAGE_SELF, &usage[0]);
	getrusage(RUSAGE_CHILDREN, &usage[1]);
	for (int i = 0; i < 2; i++)
		sum += (usage[i].ru_utime.tv_sec + usage[i].ru_stime.tv_sec) * 1000000000 +
		       (usage[i].ru_utime.tv_usec + usage[i].ru_stime.tv_usec) * 1000;
	return sum;
}

/* Once, if it should. */
static void stop(void)
{
	if (!stops)
		return;
	stops = 0;
	raise(SIGSTOP);
	earlier = cpu_time();
}

static void *thread(void *context)
{
	stop();
	compute();
	return context;
}

static void start(int threads)
{
	pthread_t id;
	pid_t child;
	if (threads) {
		if (pthread_create(&id, NULL, thread, NULL) == 0)
			pthread_join(id, NULL);
		return;
	}
	stop();
	child = fork();
	if (child == 0) {
		compute();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

/* --- a server and its clients --- */

enum { POOL = 4 };

static int listener;

static int open_socket(const char *path, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	strncpy(address->sun_path, path, sizeof address->sun_path - 1);
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static void *take_requests(void *context)
{
	for (;;) {
		char request = 'q';
		int connection = accept(listener, NULL, NULL);
		if (connection < 0 || read(connection, &request, 1) != 1 || request == 'q') {
			shutdown(listener, SHUT_RDWR); /* the others end too */
			close(connection);
			return context;
		}
		compute();
		start(1);
		(void)!write(connection, &request, 1);
		close(connection);
	}
}

static int serve(const char *path)
{
	struct sockaddr_un address;
	pthread_t threads[POOL];
	listener = open_socket(path, &address);
	if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 64))
		return 1;
	life /= 2;
	stop();
	for (int i = 0; i < POOL; i++)
		if (pthread_create(&threads[i], NULL, take_requests, NULL))
			return 1;
	for (int i = 0; i < POOL; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", cpu_time() - earlier);
	return 0;
}

static int ask(const char *path, char request)
{
	struct sockaddr_un address;
	int connection = open_socket(path, &address);
	int failed = connect(connection, (struct sockaddr *)&address, sizeof address) ||
		     write(connection, &request, 1) != 1 || (read(connection, &request, 1) != 1 && request != 'q');
	close(connection);
	return failed;
}

static int load(const char *path, long count)
{
	int failed = 0, status;
	for (int i = 0; i < POOL; i++)
		if (fork() == 0) {
			for (long done = 0; done < count / POOL; done++)
				failed |= ask(path, 'r');
			_exit(failed);
		}
	while (wait(&status) > 0)
		failed |= status;
	return failed | ask(path, 'q');
}

int main(int argc, char **argv)
{
	stops = argc == 5 && strcmp(argv[4], "stop") == 0;
	if (argc != 4 + stops)
		return 2;
	if (strcmp(argv[1], "load") == 0)
		return load(argv[2], atol(argv[3])) != 0;
	life = atol(argv[3]);
	if (strcmp(argv[1], "serve") == 0)
		return serve(argv[2]);
	for (long i = 0; i < atol(argv[2]); i++)
		start(strcmp(argv[1], "threads") == 0);
	printf("%ld\n", cpu_time() - earlier);
	return 0;
}
