/* One process reads at a time, into memory that it shares with this one; the next one takes over when it is lost. */
#include "base/remote_memory.h"

#include "base/clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE CLOCK_SECOND
#define SLOW (CLOCK_SECOND / 20) /* what takes longer adds up, to two seconds for a process */
#define SLOW_MAX (2 * CLOCK_SECOND)
#define TRUST CLOCK_SECOND /* how long it is believed that a process belongs to this user */

enum {
	READERS = 4,
	PROCESSES_MAX = 64,
	PAGE = 4096,
	PAGES_MAX = REMOTE_MEMORY_MAX / PAGE + 1,
};

/* Shared. A request is there when the first number is ahead of the second. */
struct exchange {
	atomic_uint asked, answered;
	int32_t pid; /* 0: that is all */
	uint64_t address, size;
	long result;
	uint8_t bytes[REMOTE_MEMORY_MAX];
};

/* What is known about a process. */
struct known {
	int32_t pid;
	bool trusted;
	uint64_t checked; /* when it was looked at */
	uint64_t waited;
};

static struct {
	pthread_mutex_t lock; /* guards all, also an exchange */
	atomic_bool begun;
	pid_t pids[READERS];
	struct exchange *exchanges[READERS];
	unsigned current; /* READERS: all are lost */
	struct known known[PROCESSES_MAX];
	size_t known_count, replaced;
} readers = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Page by page: what comes before one that is missing is read. */
static long read_pages(int32_t pid, uint64_t address, void *bytes, size_t size)
{
	struct iovec here = {bytes, 0}, there[PAGES_MAX];
	size_t count = 0;
	for (; here.iov_len < size && count < PAGES_MAX; count++) {
		uint64_t at = address + here.iov_len;
		size_t left = size - here.iov_len, page = PAGE - at % PAGE;
		there[count] = (struct iovec){(void *)(uintptr_t)at, page < left ? page : left};
		here.iov_len += there[count].iov_len;
	}
	ssize_t got = process_vm_readv(pid, &here, 1, there, count, 0);
	return got < 0 ? -errno : (long)got;
}

/* --- in the other processes --- */

static void wait_while(atomic_uint *word, unsigned value, const struct timespec *timeout)
{
	syscall(SYS_futex, word, FUTEX_WAIT, value, timeout, NULL, 0);
}

static void wake(atomic_uint *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static _Noreturn void serve(struct exchange *exchange, pid_t parent, void (*give_up)(void))
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "wick-reader");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	syscall(SYS_close_range, 0, ~0u, 0);
	if (getppid() != parent)
		_exit(0);
	give_up();
	for (;;) {
		unsigned answered = atomic_load(&exchange->answered);
		while (atomic_load(&exchange->asked) == answered)
			wait_while(&exchange->asked, answered, NULL);
		if (!exchange->pid)
			_exit(0);
		uint64_t size = exchange->size;
		exchange->result = size > REMOTE_MEMORY_MAX ?
					   -EINVAL :
					   read_pages(exchange->pid, exchange->address, exchange->bytes, size);
		atomic_store(&exchange->answered, answered + 1);
		wake(&exchange->answered);
	}
}

void remote_memory_begin(void (*give_up)(void))
{
	pid_t parent = getpid();
	for (unsigned i = 0; i < READERS; i++) {
		readers.exchanges[i] = mmap(NULL, sizeof(struct exchange), PROT_READ | PROT_WRITE,
					    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		readers.pids[i] = readers.exchanges[i] == MAP_FAILED ? -1 : fork();
		if (readers.pids[i] == 0)
			serve(readers.exchanges[i], parent, give_up);
		if (readers.pids[i] < 0)
			return;
	}
	atomic_store(&readers.begun, true);
}

void remote_memory_end(void)
{
	if (!atomic_exchange(&readers.begun, false))
		return;
	for (unsigned i = readers.current; i < READERS; i++) {
		readers.exchanges[i]->pid = 0;
		atomic_fetch_add(&readers.exchanges[i]->asked, 1);
		wake(&readers.exchanges[i]->asked);
		waitpid(readers.pids[i], NULL, 0);
	}
}

/* --- in this one --- */

/* Of this user, and no container's. */
static bool belongs_to_us(int32_t pid)
{
	char path[40], line[256];
	struct stat own, other;
	unsigned user[4], self = geteuid();
	bool found = false;
	snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
	if (stat("/proc/self/ns/mnt", &own) || stat(path, &other) || own.st_ino != other.st_ino)
		return false;
	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof line, file))
		found = sscanf(line, "Uid: %u %u %u %u", &user[0], &user[1], &user[2], &user[3]) == 4;
	if (file)
		fclose(file);
	for (int i = 0; i < 4 && found; i++)
		found = user[i] == self;
	return found;
}

static struct known *look_up(int32_t pid)
{
	size_t i = 0;
	while (i < readers.known_count && readers.known[i].pid != pid)
		i++;
	if (i == readers.known_count) {
		if (i < PROCESSES_MAX)
			readers.known_count++;
		else
			i = readers.replaced++ % PROCESSES_MAX;
		readers.known[i] = (struct known){.pid = pid};
	}
	struct known *known = &readers.known[i];
	if (!known->checked || clock_now() - known->checked > TRUST) {
		known->trusted = belongs_to_us(pid);
		known->checked = clock_now();
	}
	return known;
}

static bool wait_for_answer(struct exchange *exchange, unsigned asked)
{
	uint64_t until = clock_now() + PATIENCE;
	for (;;) {
		unsigned answered = atomic_load(&exchange->answered);
		uint64_t now = clock_now();
		if (answered == asked || now >= until)
			return answered == asked;
		struct timespec left = {.tv_sec = (time_t)((until - now) / CLOCK_SECOND),
					.tv_nsec = (long)((until - now) % CLOCK_SECOND)};
		wait_while(&exchange->answered, answered, &left);
	}
}

/* Under the lock. */
static long ask(struct known *known, uint64_t address, void *bytes, size_t size)
{
	if (readers.current == READERS || known->waited > SLOW_MAX)
		return -ETIMEDOUT;
	struct exchange *exchange = readers.exchanges[readers.current];
	uint64_t start = clock_now();
	exchange->pid = known->pid;
	exchange->address = address;
	exchange->size = size;
	unsigned asked = atomic_fetch_add(&exchange->asked, 1) + 1;
	wake(&exchange->asked);
	bool answered = wait_for_answer(exchange, asked);
	uint64_t waited = clock_now() - start;
	if (waited > SLOW)
		known->waited += waited;
	if (!answered) {
		known->waited = SLOW_MAX + 1;
		readers.current++;
		return -ETIMEDOUT;
	}
	long result = exchange->result;
	if (result > 0 && (size_t)result <= size)
		memcpy(bytes, exchange->bytes, (size_t)result);
	return result > (long)size ? -EIO : result;
}

long remote_memory_read(int32_t pid, uint64_t address, void *bytes, size_t size)
{
	if (size > REMOTE_MEMORY_MAX)
		size = REMOTE_MEMORY_MAX;
	if (!atomic_load(&readers.begun))
		return read_pages(pid, address, bytes, size);
	pthread_mutex_lock(&readers.lock);
	struct known *known = look_up(pid);
	bool trusted = known->trusted;
	long result = trusted ? 0 : ask(known, address, bytes, size);
	pthread_mutex_unlock(&readers.lock);
	return trusted ? read_pages(pid, address, bytes, size) : result;
}
