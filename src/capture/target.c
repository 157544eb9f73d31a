/* Builds a target from processes, threads, a cgroup or CPUs, and starts its command. */
#include "capture/target.h"

#include "base/buf.h"
#include "system/proc_list.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU_MAX (1 << 20)

void target_init(struct target *target)
{
	*target = (struct target){.start_fd = -1, .failure_fd = -1, .cgroup = -1, .streams = {-1, -1, -1}};
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void target_release(struct target *target)
{
	bool waits = target->start_fd >= 0;
	close_fd(&target->start_fd); /* it reads the end of the pipe and ends */
	close_fd(&target->failure_fd);
	if (waits)
		while (waitpid(target->command, NULL, 0) < 0 && errno == EINTR)
			;
	close_fd(&target->cgroup);
	free(target->tids);
	free(target->pids);
	free(target->cpus);
	target_init(target);
}

static void add_cpu(struct target *target, int32_t cpu)
{
	for (size_t i = 0; i < target->cpu_count; i++)
		if (target->cpus[i] == cpu)
			return;
	MEM_ROOM(target->cpus, target->cpu_count, target->cpu_capacity);
	target->cpus[target->cpu_count++] = cpu;
}

/* "0,2-3"; false when it is something else. */
static bool parse_cpus(struct target *target, const char *list)
{
	do {
		char *end;
		if (!isdigit((unsigned char)*list))
			return false;
		long first = strtol(list, &end, 10), last = first;
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtol(end + 1, &end, 10);
		if (last < first || last > CPU_MAX || (*end && *end != ','))
			return false;
		for (long cpu = first; cpu <= last; cpu++)
			add_cpu(target, (int32_t)cpu);
		list = *end ? end + 1 : end;
	} while (*list);
	return true;
}

static bool read_online(char *line, size_t room)
{
	FILE *file = fopen("/sys/devices/system/cpu/online", "re");
	bool read = file && fgets(line, (int)room, file);
	if (file)
		fclose(file);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

bool target_online(struct target *target)
{
	char online[4096];
	return read_online(online, sizeof online) && parse_cpus(target, online);
}

int target_set_cpus(struct target *target, const char *list, struct err *err)
{
	char online[4096];
	struct target all = {0};
	target->cpu_count = 0;
	if (!read_online(online, sizeof online) || !parse_cpus(&all, online)) {
		long count = sysconf(_SC_NPROCESSORS_ONLN);
		for (int32_t cpu = 0; cpu < (count > 0 ? count : 1); cpu++)
			add_cpu(&all, cpu);
		snprintf(online, sizeof online, "0-%zu", all.cpu_count - 1);
	}
	int result = 0;
	if (list && !parse_cpus(target, list))
		result = err_set(err, ERR_USAGE, "CPUs must be numbers such as 0,2-3, not '%s'", list);
	for (size_t i = 0; i < target->cpu_count && !result; i++) {
		bool known = false;
		for (size_t j = 0; j < all.cpu_count; j++)
			known = known || all.cpus[j] == target->cpus[i];
		if (!known)
			result = err_set(err, ERR_USAGE, "CPU %d is not online; online are %s", (int)target->cpus[i],
					 online);
	}
	for (size_t i = 0; i < all.cpu_count && !list; i++)
		add_cpu(target, all.cpus[i]);
	free(all.cpus);
	return result;
}

static void add_tid(struct target *target, int32_t tid)
{
	MEM_ROOM(target->tids, target->tid_count, target->tid_capacity);
	target->tids[target->tid_count++] = tid;
}

static bool add_pid(struct target *target, int32_t pid)
{
	for (size_t i = 0; i < target->pid_count; i++)
		if (target->pids[i] == pid)
			return false;
	MEM_ROOM(target->pids, target->pid_count, target->pid_capacity);
	target->pids[target->pid_count++] = pid;
	return true;
}

static int add_process(struct target *target, int32_t pid, struct err *err)
{
	if (!add_pid(target, pid))
		return 0;
	struct proc_list threads = proc_list_threads(pid);
	if (!threads.directory)
		return err_set(err, ERR_SYSTEM, "process %d does not exist", (int)pid);
	for (int32_t tid; proc_list_next(&threads, &tid);)
		add_tid(target, tid);
	return 0;
}

int32_t target_process_of(int32_t tid)
{
	char path[64], line[256];
	int pid = -1;
	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (file)
		fclose(file);
	return pid;
}

static int add_thread(struct target *target, int32_t tid, struct err *err)
{
	int32_t pid = target_process_of(tid);
	if (pid < 0)
		return err_set(err, ERR_SYSTEM, "thread %d does not exist", (int)tid);
	target->by_thread = true;
	add_pid(target, pid);
	add_tid(target, tid);
	return 0;
}

static int add_list(struct target *target, const char *list, const char *what,
		    int (*add)(struct target *, int32_t, struct err *), struct err *err)
{
	const char *at = list;
	do {
		char *end;
		long number = isdigit((unsigned char)*at) ? strtol(at, &end, 10) : -1;
		if (number <= 0 || number > INT32_MAX || (*end && *end != ','))
			return err_set(err, ERR_USAGE, "a %s must be a number such as 1234, not '%s'", what, list);
		int result = add(target, (int32_t)number, err);
		if (result)
			return result;
		at = *end ? end + 1 : end;
	} while (*at);
	return 0;
}

int target_add_processes(struct target *target, const char *list, struct err *err)
{
	return add_list(target, list, "process", add_process, err);
}

int target_add_threads(struct target *target, const char *list, struct err *err)
{
	return add_list(target, list, "thread", add_thread, err);
}

void target_add_descendants(struct target *target)
{
	struct pid_list list = {0};
	for (size_t i = 0; i < target->pid_count; i++) {
		MEM_ROOM(list.items, list.count, list.capacity);
		list.items[list.count++] = target->pids[i];
	}
	size_t named = target->pid_count;
	target->descended_pids.from = named;
	target->descended_tids.from = target->tid_count;
	find_descendants(&list);
	for (size_t i = named; i < list.count; i++)
		(void)!add_process(target, list.items[i], NULL);
	target->descended_pids.to = target->pid_count;
	target->descended_tids.to = target->tid_count;
	pid_list_release(&list);
}

/* What ended since it was found is omitted. */
static int add_all(struct target *target, struct pid_list *list, const char *what, struct err *err)
{
	target->found = true;
	for (size_t i = 0; i < list->count; i++)
		(void)!add_process(target, list->items[i], NULL);
	pid_list_release(list);
	return target->tid_count ? 0 : err_set(err, ERR_SYSTEM, "no process %s", what);
}

int target_add_found(struct target *target, const struct find_filter *filter, const char *what, struct err *err)
{
	struct pid_list list = {0};
	find_processes(&list, filter);
	return add_all(target, &list, what, err);
}

int target_set_cgroup(struct target *target, int folder, bool by_kernel, struct err *err)
{
	struct pid_list list = {0};
	if (by_kernel) {
		target->cgroup = folder;
		return 0;
	}
	find_cgroup_processes(&list, folder);
	close(folder);
	return add_all(target, &list, "in this cgroup", err);
}

/* --- a command --- */

static _Noreturn void run_command(const struct target *target, char *const *arguments, const sigset_t *mask, int start,
				  int failure)
{
	char go;
	for (int fd = 0; fd < 3; fd++)
		if (target->streams[fd] >= 0)
			dup2(target->streams[fd], fd);
	/* What wick itself ignores must not be ignored by the command. */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (read(start, &go, 1) != 1)
		_exit(0);
	for (char *const *variable = target->environment; variable && *variable; variable++)
		putenv(*variable);
	execvp(arguments[0], arguments);
	int error = errno;
	(void)!write(failure, &error, sizeof error);
	_exit(127);
}

int target_start_command(struct target *target, char *const *arguments, const void *mask, struct err *err)
{
	int start[2], failure[2];
	if (pipe2(start, O_CLOEXEC))
		return err_set(err, ERR_SYSTEM, "cannot create a pipe: %s", strerror(errno));
	if (pipe2(failure, O_CLOEXEC)) {
		int error = errno;
		close(start[0]);
		close(start[1]);
		return err_set(err, ERR_SYSTEM, "cannot create a pipe: %s", strerror(error));
	}
	pid_t child = fork();
	if (child == 0) {
		close(start[1]); /* else it would never see the end of the pipe */
		run_command(target, arguments, mask, start[0], failure[1]);
	}
	int error = errno;
	close(start[0]);
	close(failure[1]);
	target->start_fd = start[1];
	target->failure_fd = failure[0];
	if (child < 0) {
		close_fd(&target->start_fd);
		close_fd(&target->failure_fd);
		return err_set(err, ERR_SYSTEM, "cannot start a process: %s", strerror(error));
	}
	target->command = child;
	if (!target->clock)
		add_tid(target, child);
	return 0;
}

int target_let_go(struct target *target, const char *name, int *ret_error, struct err *err)
{
	int error = 0;
	ssize_t done = write(target->start_fd, "", 1);
	close_fd(&target->start_fd);
	do
		done = read(target->failure_fd, &error, sizeof error); /* ends with the exec */
	while (done < 0 && errno == EINTR);
	close_fd(&target->failure_fd);
	if (done != sizeof error)
		return 0;
	while (waitpid(target->command, NULL, 0) < 0 && errno == EINTR)
		;
	target->command = 0;
	*ret_error = error;
	return err_set(err, ERR_OPEN, "cannot run %s: %s", name, strerror(error));
}
