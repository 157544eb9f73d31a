/* Reads the stacks of waiting threads from /proc at the start of a recording. */
#include "recorder/sleepers.h"

#include "base/buf.h"
#include "base/id_map.h"
#include "base/mem.h"
#include "base/remote_memory.h"
#include "base/strpool.h"
#include "engine/engine.h"
#include "system/proc_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 65536u
#define FRAMES_MAX 64u /* of the kernel; /proc shows no more */
#define HELD_MAX (64u << 20) /* bytes of stacks; threads beyond that lose their user part */
#define INTERPRETED_MAX 2048u /* words of one stack */

struct kernel_frame {
	str_id name; /* function, as /proc/PID/stack has it */
	uint64_t offset;
};

struct sleeper {
	int32_t pid, tid;
	uint64_t turns; /* how often it got a CPU */
	size_t first_frame, frame_count;
	uint64_t registers[ENGINE_REGISTERS]; /* of user space; the stack pointer is 0 when they are not known */
	bool all_registers;
	size_t stack, stack_size; /* in `bytes` */
	size_t interpreted, interpreted_count; /* in `words` */
	bool asleep;
};

struct sleepers {
	struct sleeper *items;
	size_t count, capacity;
	struct id_map map; /* of the items, by thread */
	struct kernel_frame *frames;
	size_t frame_count, frame_capacity;
	struct strpool names;
	uint64_t *addresses; /* by name; 0: not found */
	struct buf bytes;
	sleepers_read *read; /* NULL: not */
	void *read_context;
	uint64_t *words;
	size_t word_count, word_capacity;
	char *line; /* of getline() */
	size_t line_capacity;
};

/* --- who is there --- */

static FILE *open_file(const struct sleeper *sleeper, const char *name)
{
	char path[96];
	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)sleeper->pid, (int)sleeper->tid, name);
	return fopen(path, "re");
}

/* How often the thread got a CPU; false: it is gone, or the kernel does not count. */
static bool read_turns(const struct sleeper *sleeper, uint64_t *ret_turns)
{
	FILE *file = open_file(sleeper, "schedstat");
	bool read = file && fscanf(file, "%*u %*u %" SCNu64, ret_turns) == 1;
	if (file)
		fclose(file);
	return read;
}

static void note_thread(struct sleepers *sleepers, int32_t pid, int32_t tid)
{
	struct sleeper sleeper = {.pid = pid, .tid = tid};
	if (sleepers->count >= THREADS_MAX || !read_turns(&sleeper, &sleeper.turns))
		return;
	id_map_add(&sleepers->map, tid);
	MEM_ROOM(sleepers->items, sleepers->count, sleepers->capacity);
	sleepers->items[sleepers->count++] = sleeper;
}

static void note_process(struct sleepers *sleepers, int32_t pid)
{
	if (pid == getpid())
		return;
	struct proc_list threads = proc_list_threads(pid);
	for (int32_t tid; proc_list_next(&threads, &tid);)
		note_thread(sleepers, pid, tid);
}

struct sleepers *sleepers_note(const int32_t *pids, size_t count)
{
	struct sleepers *sleepers = mem_zalloc(1, sizeof *sleepers);
	strpool_init(&sleepers->names);
	for (size_t i = 0; pids && i < count; i++)
		note_process(sleepers, pids[i]);
	if (pids)
		return sleepers;
	struct proc_list processes = proc_list_processes();
	for (int32_t pid; proc_list_next(&processes, &pid);)
		note_process(sleepers, pid);
	return sleepers;
}

void sleepers_free(struct sleepers *sleepers)
{
	if (!sleepers)
		return;
	strpool_release(&sleepers->names);
	id_map_release(&sleepers->map);
	buf_release(&sleepers->bytes);
	free(sleepers->items);
	free(sleepers->frames);
	free(sleepers->addresses);
	free(sleepers->words);
	free(sleepers->line);
	free(sleepers);
}

/* --- where they are --- */

void sleepers_registers(void *context, int32_t tid, const uint64_t *values)
{
	struct sleepers *sleepers = context;
	uint32_t at = id_map_find(&sleepers->map, tid);
	if (at == INDEX_NONE)
		return;
	memcpy(sleepers->items[at].registers, values, sizeof sleepers->items[at].registers);
	sleepers->items[at].all_registers = true;
}

void sleepers_set_interpreter(struct sleepers *sleepers, sleepers_read *read, void *context)
{
	sleepers->read = read;
	sleepers->read_context = context;
}

/* "[<0>] do_epoll_wait+0x72e/0x7d0", and " [module]" behind it. */
static bool parse_frame(struct sleepers *sleepers, const char *line, struct kernel_frame *ret_frame)
{
	const char *name = strstr(line, "] ");
	const char *plus = name ? strchr(name, '+') : NULL;
	if (!plus || sscanf(plus, "+0x%" SCNx64 "/", &ret_frame->offset) != 1)
		return false;
	name += 2;
	ret_frame->name = strpool_add(&sleepers->names, name, (size_t)(plus - name));
	return true;
}

static void read_kernel_stack(struct sleepers *sleepers, struct sleeper *sleeper)
{
	FILE *file = open_file(sleeper, "stack");
	struct kernel_frame frame;
	sleeper->first_frame = sleepers->frame_count;
	while (file && sleeper->frame_count < FRAMES_MAX &&
	       getline(&sleepers->line, &sleepers->line_capacity, file) > 0) {
		if (!parse_frame(sleepers, sleepers->line, &frame))
			continue;
		MEM_ROOM(sleepers->frames, sleepers->frame_count, sleepers->frame_capacity);
		sleepers->frames[sleepers->frame_count++] = frame;
		sleeper->frame_count++;
	}
	if (file)
		fclose(file);
}

/*
 * "202 0x7ffd… 0x80 … SP PC" in a system call, "-1 SP PC" elsewhere in the kernel, "running" on a CPU. False: it runs.
 * Who may not look sees nothing.
 */
static bool read_registers(struct sleepers *sleepers, struct sleeper *sleeper)
{
	FILE *file = open_file(sleeper, "syscall");
	bool read = file && getline(&sleepers->line, &sleepers->line_capacity, file) > 0;
	if (file)
		fclose(file);
	if (!read)
		return true;
	if (!strncmp(sleepers->line, "running", 7))
		return false;
	char *ip = strrchr(sleepers->line, ' '), *sp;
	if (!ip)
		return true;
	*ip = '\0';
	sp = strrchr(sleepers->line, ' ');
	if (sp && !sleeper->all_registers) {
		sleeper->registers[ARCH_AT_SP] = strtoull(sp + 1, NULL, 16);
		sleeper->registers[ARCH_AT_IP] = strtoull(ip + 1, NULL, 16);
	}
	return true;
}

static void read_user_stack(struct sleepers *sleepers, struct sleeper *sleeper, uint32_t max)
{
	uint64_t at = sleeper->registers[ARCH_AT_SP];
	if (!at || sleepers->bytes.size + max > HELD_MAX)
		return;
	long got = remote_memory_read(sleeper->pid, at, buf_reserve(&sleepers->bytes, max), max);
	sleeper->stack = sleepers->bytes.size;
	sleeper->stack_size = got > 0 ? (size_t)got : 0;
	sleepers->bytes.size += sleeper->stack_size;
}

static void read_interpreted(struct sleepers *sleepers, struct sleeper *sleeper)
{
	if (!sleepers->read || sleepers->word_count * sizeof *sleepers->words > HELD_MAX)
		return;
	sleepers->words = mem_grow(sleepers->words, &sleepers->word_capacity, sleepers->word_count + INTERPRETED_MAX,
				   sizeof *sleepers->words);
	sleeper->interpreted = sleepers->word_count;
	sleeper->interpreted_count = sleepers->read(sleepers->read_context, sleeper->pid, sleeper->tid,
						    sleepers->words + sleepers->word_count, INTERPRETED_MAX);
	sleepers->word_count += sleeper->interpreted_count;
}

static void look(struct sleepers *sleepers, struct sleeper *sleeper, uint32_t stack_bytes, bool kernel)
{
	uint64_t turns;
	if (!read_registers(sleepers, sleeper))
		return;
	if (kernel)
		read_kernel_stack(sleepers, sleeper);
	read_user_stack(sleepers, sleeper, stack_bytes);
	if (sleeper->stack_size)
		read_interpreted(sleepers, sleeper);
	bool still = read_turns(sleeper, &turns) && turns == sleeper->turns;
	sleeper->asleep = still && (sleeper->frame_count || sleeper->stack_size);
}

/* --- addresses of the kernel's functions --- */

/* The file has a line of each function, and takes longer to make than to read: once for all names. */
static void find_addresses(struct sleepers *sleepers)
{
	FILE *file = sleepers->frame_count ? fopen("/proc/kallsyms", "re") : NULL;
	sleepers->addresses = mem_zalloc(sleepers->names.count + 1, sizeof *sleepers->addresses);
	ssize_t length;
	while (file && (length = getline(&sleepers->line, &sleepers->line_capacity, file)) > 0) {
		char *type, *name;
		uint64_t address = strtoull(sleepers->line, &type, 16);
		if (type[0] != ' ' || !type[1] || type[2] != ' ')
			continue;
		name = type + 3;
		str_id id = strpool_find(&sleepers->names, name, strcspn(name, "\t\n"));
		if (id != INDEX_NONE && !sleepers->addresses[id])
			sleepers->addresses[id] = address;
	}
	if (file)
		fclose(file);
}

/* --- emitting --- */

/* Of a thread that is known from /proc only: its frame pointer is not known, and 0 leads nowhere. */
#define FEW_REGISTERS (1ull << ARCH_AT_FP | 1ull << ARCH_AT_SP | 1ull << ARCH_AT_IP)

static int emit(const struct sleepers *sleepers, const struct sleeper *sleeper, uint64_t cgroup,
		const struct event_sink *sink)
{
	uint64_t chain[FRAMES_MAX + 1] = {(uint64_t)PERF_CONTEXT_KERNEL};
	size_t count = 1;
	for (size_t i = 0; i < sleeper->frame_count; i++) {
		const struct kernel_frame *frame = &sleepers->frames[sleeper->first_frame + i];
		if (sleepers->addresses[frame->name])
			chain[count++] = sleepers->addresses[frame->name] + frame->offset;
	}
	struct event_sample sample = {
		.mode = count > 1 ? MODE_KERNEL : MODE_USER,
		.pid = sleeper->pid,
		.tid = sleeper->tid,
		.cpu = UINT32_MAX,
		.cgroup = cgroup,
		.ip = count > 1 ? chain[1] : sleeper->registers[ARCH_AT_IP],
		.chain = chain,
		.chain_count = count > 1 ? count : 0,
	};
	const uint64_t *registers = sleeper->registers;
	const uint64_t few[] = {registers[ARCH_AT_FP], registers[ARCH_AT_SP], registers[ARCH_AT_IP]};
	if (sleeper->stack_size) {
		bool all = sleeper->all_registers;
		sample.user = (struct event_registers){
			.abi = PERF_SAMPLE_REGS_ABI_64,
			.mask = all ? ENGINE_REGISTER_MASK : FEW_REGISTERS,
			.values = all ? registers : few,
		};
		sample.stack = (const uint8_t *)sleepers->bytes.data + sleeper->stack;
		sample.stack_size = sample.stack_asked = sleeper->stack_size;
		sample.interpreted = sleepers->words + sleeper->interpreted;
		sample.interpreted_count = sleeper->interpreted_count;
		sample.interpreted_late = true;
	}
	return sink_asleep(sink, &sample);
}

int sleepers_emit(struct sleepers *sleepers, uint32_t stack_bytes, bool kernel, struct cgroups *cgroups,
		  const struct event_sink *sink)
{
	int result = 0;
	for (size_t i = 0; i < sleepers->count; i++)
		look(sleepers, &sleepers->items[i], stack_bytes, kernel);
	find_addresses(sleepers);
	for (size_t i = 0; i < sleepers->count && result >= 0; i++)
		if (sleepers->items[i].asleep)
			result = emit(sleepers, &sleepers->items[i],
				      cgroups_of_process(cgroups, sleepers->items[i].pid), sink);
	return result;
}
