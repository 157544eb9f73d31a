/* Sizes the maps, sets the constants, loads the programs, and explains failures. */
#include "engine/bpf_load.h"

#include "base/mem.h"
#include "bpf/layout.h"
#include "engine/bpf_symbols.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <wick.skel.h>

#define LOG_BYTES (1u << 20)
#define ROOM_MIN 64u
#define RECORDS_MIN (256u << 10) /* some of the largest copies */
#define RECORDS_MAX (32u << 20)
#define ITERATOR_BYTES 4608u /* a multiple of what iterators write */

struct bpf_programs {
	struct wick_bpf *skeleton;
	struct bpf_maps maps;
	struct bpf_slabs slabs;
};

/* What libbpf would write to the terminal; the kernel's own words come by the log. */
static int be_silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static struct bpf_program *program_of_source(const struct wick_bpf *skeleton, size_t source)
{
	struct bpf_program *const programs[ENGINE_SOURCES_MAX] = {
		skeleton->progs.take_0,
		skeleton->progs.take_1,
		skeleton->progs.take_2,
		skeleton->progs.take_3,
	};
	return source < ENGINE_SOURCES_MAX ? programs[source] : NULL;
}

/* The last line of the verifier's log that is about the failure. */
static void reason_of_log(const char *log, char *reason, size_t room)
{
	const char *end = log + strlen(log), *found = NULL;
	while (end > log && !found) {
		const char *line = end;
		while (line > log && line[-1] != '\n')
			line--;
		bool is_reason = end > line && strncmp(line, "processed ", 10) && strncmp(line, "verification ", 13) &&
				 strncmp(line, "stack depth", 11);
		if (is_reason)
			found = line;
		else
			end = line > log ? line - 1 : log;
	}
	int length = found ? (int)(end - found) : 0;
	snprintf(reason, room, "%.*s", length < 200 ? length : 200, found ? found : "");
}

static bool kernel_has_its_types(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool loaded = btf && !libbpf_get_error(btf);
	if (loaded)
		btf__free(btf);
	return loaded;
}

static int refused(int error, const char *log, struct err *err)
{
	char reason[256];
	reason_of_log(log, reason, sizeof reason);
	if (!*reason && !kernel_has_its_types())
		return err_set(err, ERR_SYSTEM,
			       "cannot read kernel types: /sys/kernel/btf/vmlinux is missing or damaged; in a "
			       "container, mount the host's /sys/kernel/btf");
	switch (error) {
	case EPERM:
		return err_set(err, ERR_SYSTEM,
			       "permission denied for BPF programs (lockdown, seccomp, or missing CAP_BPF and "
			       "CAP_PERFMON; see wick doctor)%s%s",
			       *reason ? ": " : "", reason);
	case ENOMEM:
		return err_set(err, ERR_SYSTEM,
			       "not enough memory for BPF maps; raise the limit of locked memory (ulimit -l) or "
			       "of the cgroup");
	case ENOSYS:
		return err_set(err, ERR_SYSTEM, "this kernel does not support BPF (CONFIG_BPF_SYSCALL)");
	default:
		return err_set(err, ERR_SYSTEM, "the kernel rejected the BPF programs: %s%s",
			       *reason ? reason : strerror(error),
			       strstr(reason, "bpf_probe_read") ? "; it may be locked down (lockdown=confidentiality)" :
								  "");
	}
}

/* What there is room for in so much memory, when it is so much in the usual. */
static uint32_t room_in(uint32_t usual, const struct engine_options *options)
{
	uint64_t room = (uint64_t)usual * options->kernel_memory / ENGINE_MEMORY_USUAL;
	return room > ROOM_MIN ? (uint32_t)room : ROOM_MIN;
}

/*
 * Thousands of usual copies, which come before the first tables are there, or a hundred of the largest; more where
 * there are more CPUs to write them. A power of two.
 */
static uint32_t record_room(unsigned cpus, const struct engine_options *options)
{
	uint32_t wanted = room_in(8u << 20, options), room = RECORDS_MIN;
	while (room < RECORDS_MAX && (room * 2 <= wanted || (room >= 8u << 20 && room < cpus * (512u << 10))))
		room *= 2;
	return room;
}

static void size_maps(struct bpf_programs *programs, const struct engine_options *options)
{
	struct wick_bpf *skeleton = programs->skeleton;
	struct bpf_maps *maps = &programs->maps;
	const struct capture_options *capture = options->capture;
	bool many = options->many_processes;
	int cpus = libbpf_num_possible_cpus();
	maps->cpus = cpus > 0 ? (unsigned)cpus : 1;
	maps->mapping_room = room_in(many ? 131072 : 32768, options);
	maps->process_room = room_in(many ? 16384 : 4096, options);
	maps->count_room = room_in(many ? 65536 : 32768, options);
	maps->record_room = record_room(maps->cpus, options);
	bpf_map__set_max_entries(skeleton->maps.mappings, maps->mapping_room);
	bpf_map__set_max_entries(skeleton->maps.processes, maps->process_room);
	bpf_map__set_max_entries(skeleton->maps.pythons, room_in(many ? 4096 : 1024, options));
	bpf_map__set_max_entries(skeleton->maps.python_codes, room_in(many ? 16384 : 8192, options));
	bpf_map__set_max_entries(skeleton->maps.python_threads, room_in(many ? 8192 : 2048, options));
	bpf_map__set_max_entries(skeleton->maps.counts, maps->count_room);
	bpf_map__set_max_entries(skeleton->maps.records, maps->record_room);
	bpf_map__set_max_entries(skeleton->maps.copies, maps->cpus * LAYOUT_SLOTS);
	skeleton->rodata->cpu_count = maps->cpus;
	skeleton->rodata->fault_sources = options->faults;
	skeleton->rodata->pid_namespace = options->pid_namespace;
	skeleton->rodata->max_depth = capture->max_depth ? capture->max_depth : LAYOUT_FRAMES_MAX;
	skeleton->rodata->copy_bytes = LAYOUT_COPY_MAX; /* few stacks are copied: there is room for all of them */
	skeleton->rodata->wakes_for_copies = !options->many_processes;
	skeleton->rodata->timeline = capture->timeline;
	skeleton->rodata->unaggregated = options->unaggregated;
	skeleton->rodata->switch_sources = options->switches;
}

/* 128 MiB in the usual; the tables of all files of a machine were 41 MB. */
static int open_slabs(struct bpf_programs *programs, const struct engine_options *options)
{
	uint64_t room = options->kernel_memory * (1ull << 20) / 5 * 4 / (LAYOUT_SLAB_WORDS * 4);
	int error = bpf_slabs_open(&programs->slabs, room < UINT32_MAX ? (uint32_t)room : UINT32_MAX);
	return error ? -error : bpf_map__reuse_fd(programs->skeleton->maps.slabs, programs->slabs.outer);
}

static void set_waits(struct bpf_programs *programs, const struct engine_options *options)
{
	struct wick_bpf *skeleton = programs->skeleton;
	const struct engine_waits *waits = &options->waits;
	const struct capture_options *capture = options->capture;
	struct bpf_program *const scheduler[] = {skeleton->progs.wait_switch, skeleton->progs.wait_waking,
						 skeleton->progs.wait_fork};
	for (size_t i = 0; i < sizeof scheduler / sizeof *scheduler; i++)
		bpf_program__set_autoload(scheduler[i], waits->counted);
	if (!waits->counted)
		return;
	bpf_map__set_max_entries(skeleton->maps.stack_cache, room_in(4096, options));
	bpf_map__set_max_entries(skeleton->maps.threads, room_in(options->many_processes ? 65536 : 16384, options));
	programs->maps.waits_source = waits->source;
	skeleton->rodata->counts_waits = true;
	skeleton->rodata->counts_running = waits->running;
	skeleton->rodata->waits_source = waits->source;
	skeleton->rodata->clock_sources = waits->clocks;
	skeleton->rodata->kept_sources = waits->kept;
	skeleton->rodata->from_exec = waits->from_exec;
	skeleton->rodata->reports_unseen = waits->unseen;
	skeleton->rodata->follows_children = waits->children;
	skeleton->rodata->follows_all = capture->whole_system;
	skeleton->rodata->except_pid = capture->whole_system ? (uint32_t)getpid() : 0;
	skeleton->rodata->min_block = capture->min_block;
	skeleton->rodata->max_block = capture->max_block;
}

static void set_members(struct bpf_programs *programs, const struct engine_options *options)
{
	struct wick_bpf *skeleton = programs->skeleton;
	const struct engine_members *members = &options->members;
	bpf_program__set_autoload(skeleton->progs.member_fork, members->sources && members->children);
	bpf_program__set_autoload(skeleton->progs.member_free, members->sources);
	bpf_program__set_autoload(skeleton->progs.list_times, members->sources);
	if (!members->sources)
		return;
	bpf_map__set_max_entries(skeleton->maps.members, room_in(16384, options));
	skeleton->rodata->cpu_sources = members->sources;
	skeleton->rodata->members_are_threads = members->threads;
}

static void note_maps(struct bpf_programs *programs)
{
	const struct wick_bpf *skeleton = programs->skeleton;
	struct bpf_maps *maps = &programs->maps;
	maps->slabs = &programs->slabs;
	maps->parts = bpf_map__fd(skeleton->maps.parts);
	maps->mappings = bpf_map__fd(skeleton->maps.mappings);
	maps->processes = bpf_map__fd(skeleton->maps.processes);
	maps->pythons = bpf_map__fd(skeleton->maps.pythons);
	maps->counts = bpf_map__fd(skeleton->maps.counts);
	maps->records = bpf_map__fd(skeleton->maps.records);
	maps->statistics = bpf_map__fd(skeleton->maps.statistics);
	maps->members = skeleton->rodata->cpu_sources ? bpf_map__fd(skeleton->maps.members) : -1;
	maps->threads = skeleton->rodata->counts_waits ? bpf_map__fd(skeleton->maps.threads) : -1;
}

/* A kernel that loads programs may still not let them run where samples are taken: better known before the rest. */
static int try_attaching(struct bpf_programs *programs, struct err *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return 0; /* whatever it is, it is said when the real ones are opened */
	int result = bpf_programs_attach(programs, 0, fd, err);
	close(fd);
	return result;
}

int bpf_programs_load(struct bpf_programs **ret_programs, const struct engine_options *options, struct err *err)
{
	CLEANUP_FREE char *log = mem_zalloc(1, LOG_BYTES);
	struct bpf_object_open_opts open_options = {
		.sz = sizeof open_options, .kernel_log_buf = log, .kernel_log_size = LOG_BYTES};
	libbpf_set_print(be_silent);
	struct bpf_programs *programs = mem_zalloc(1, sizeof *programs);
	programs->skeleton = wick_bpf__open_opts(&open_options);
	if (!programs->skeleton) {
		int error = errno;
		free(programs);
		return err_set(err, ERR_SYSTEM, "cannot open the BPF programs: %s", strerror(error));
	}
	size_maps(programs, options);
	set_waits(programs, options);
	bpf_program__set_autoload(programs->skeleton->progs.list_registers,
				  options->switches && options->waits.unseen && !options->waits.from_exec);
	set_members(programs, options);
	for (size_t i = 0; i < ENGINE_SOURCES_MAX; i++)
		bpf_program__set_autoload(program_of_source(programs->skeleton, i),
					  i < options->capture->events->count);
	int failed = open_slabs(programs, options);
	if (!failed)
		failed = wick_bpf__load(programs->skeleton);
	if (!failed) {
		note_maps(programs);
		failed = wick_bpf__attach(programs->skeleton);
	}
	if (failed) {
		bpf_programs_free(programs);
		return refused(-failed, log, err);
	}
	failed = try_attaching(programs, err);
	if (failed)
		bpf_programs_free(programs);
	else
		*ret_programs = programs;
	return failed;
}

void bpf_programs_free(struct bpf_programs *programs)
{
	if (!programs)
		return;
	wick_bpf__destroy(programs->skeleton);
	bpf_slabs_release(&programs->slabs);
	free(programs);
}

struct bpf_maps bpf_programs_maps(const struct bpf_programs *programs)
{
	return programs->maps;
}

int bpf_programs_attach(struct bpf_programs *programs, size_t source, int event_fd, struct err *err)
{
	int fd = bpf_program__fd(program_of_source(programs->skeleton, source));
	if (ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, fd) < 0)
		return err_set(err, ERR_SYSTEM, "cannot attach a BPF program to this event: %s", strerror(errno));
	return 0;
}

/* Calls `add` for each element, of `size` bytes, that the program of an iterator writes. */
static void iterate(const struct bpf_link *link, size_t size, void (*add)(void *context, const void *element),
		    void *context)
{
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	uint64_t room[ITERATOR_BYTES / 8]; /* aligned for elements */
	char *bytes = (char *)room;
	size_t held = 0; /* a read may end within an element */
	ssize_t got;
	while (fd >= 0 && (got = read(fd, bytes + held, sizeof room - held)) > 0) {
		held += (size_t)got;
		size_t used = held - held % size;
		for (size_t at = 0; at < used; at += size)
			add(context, bytes + at);
		memmove(bytes, bytes + used, held - used);
		held -= used;
	}
	if (fd >= 0)
		close(fd);
}

struct iteration {
	void (*add_registers)(void *context, const struct layout_registers *found);
	void (*add_time)(void *context, const struct layout_time *found);
	void *context;
};

static void add_registers(void *context, const void *element)
{
	const struct iteration *iteration = context;
	iteration->add_registers(iteration->context, element);
}

static void add_time(void *context, const void *element)
{
	const struct iteration *iteration = context;
	iteration->add_time(iteration->context, element);
}

void bpf_programs_registers(const struct bpf_programs *programs,
			    void (*add)(void *context, const struct layout_registers *found), void *context)
{
	struct iteration iteration = {.add_registers = add, .context = context};
	iterate(programs->skeleton->links.list_registers, sizeof(struct layout_registers), add_registers, &iteration);
}

void bpf_programs_times(const struct bpf_programs *programs,
			void (*add)(void *context, const struct layout_time *found), void *context)
{
	struct iteration iteration = {.add_time = add, .context = context};
	iterate(programs->skeleton->links.list_times, sizeof(struct layout_time), add_time, &iteration);
}

void bpf_programs_hold_members(struct bpf_programs *programs, bool hold)
{
	programs->skeleton->bss->members_held = hold;
}

uint64_t bpf_programs_statistic(const struct bpf_programs *programs, uint32_t which)
{
	CLEANUP_FREE uint64_t *values = mem_zalloc(programs->maps.cpus, sizeof *values);
	uint64_t sum = 0;
	if (bpf_map_lookup_elem(programs->maps.statistics, &which, values))
		return 0;
	for (unsigned i = 0; i < programs->maps.cpus; i++)
		sum += values[i];
	return sum;
}

void bpf_programs_await(struct bpf_programs *programs, int32_t pid)
{
	programs->skeleton->bss->awaited = (uint32_t)pid;
}

void bpf_programs_began(struct bpf_programs *programs, uint64_t time)
{
	programs->skeleton->bss->began = time;
}

void bpf_programs_ended(struct bpf_programs *programs, uint64_t time)
{
	programs->skeleton->bss->ended = time;
}

void bpf_programs_tables_changed(struct bpf_programs *programs)
{
	programs->skeleton->bss->tables_epoch++;
}

void bpf_programs_cost(const struct bpf_programs *programs, uint64_t *ret_runs, uint64_t *ret_nanoseconds)
{
	*ret_runs = *ret_nanoseconds = 0;
	for (size_t i = 0; i < ENGINE_SOURCES_MAX; i++) {
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof info;
		int fd = bpf_program__fd(program_of_source(programs->skeleton, i));
		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
			continue;
		*ret_runs += info.run_cnt;
		*ret_nanoseconds += info.run_time_ns;
	}
}

void bpf_programs_emit_symbols(const struct bpf_programs *programs, struct module_store *codes)
{
	bpf_symbols_emit(programs->skeleton->obj, codes);
}

/* "memlock:\t4198400" of the descriptor's fdinfo. */
static size_t bytes_of_map(int fd)
{
	char path[64], line[256];
	size_t bytes = 0;
	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "memlock: %zu", &bytes) == 1)
			break;
	if (file)
		fclose(file);
	return bytes;
}

size_t bpf_programs_bytes(const struct bpf_programs *programs)
{
	struct bpf_map *map;
	size_t bytes = 0;
	bpf_object__for_each_map(map, programs->skeleton->obj) bytes += bytes_of_map(bpf_map__fd(map));
	return bytes;
}
