/* Opens the perf map and jitdump of a process, and reads JIT code from its memory. */
#include "module/jit.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/regular_file.h"
#include "base/remote_memory.h"
#include "symbol/jitdump.h"
#include "symbol/perfmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK_NANOSECONDS 50000000ull /* how often it is checked whether a file of a running process has grown */
#define OLD_MAPS_MAX 16 /* that are kept because a map became shorter */

/* A jitdump as it was when it was read, with the unwind tables of its code by version. */
struct jit_dump {
	struct jitdump *dump;
	struct unwind_table **tables; /* by version - 1; NULL: not built */
	struct unwind_table *none; /* in `tables`: there is none; only its address is used */
};

struct jit {
	struct module_store *codes;
	int32_t pid;
	const char *path; /* of the perf map */
	uid_t user; /* whose files are believed, besides root's */
	pthread_mutex_t lock; /* guards the opening and building of what follows */
	bool map_tried, dump_tried;
	struct perfmap *map;
	struct perfmap **old_maps; /* what it was before it grew: their names may be in use */
	size_t old_map_count, old_map_capacity;
	struct jit_dump *dump; /* NULL: none */
	struct jit_dump **old_dumps; /* likewise */
	size_t old_dump_count, old_dump_capacity;
	off_t map_size, dump_size; /* of the files when they were read */
	struct timespec map_time; /* when the map was last changed then */
	uint64_t checked; /* when the size of the dump was looked at last */
};

/*
 * Who runs the process. Of one that may be gone, and its number another's, nothing is known but who reads the
 * recording, or called sudo to do so.
 */
static uid_t user_of(const struct module_store *codes, int32_t pid)
{
	char path[32];
	struct stat status;
	const char *caller = geteuid() ? NULL : getenv("SUDO_UID");
	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	if (codes->live && stat(path, &status) == 0)
		return status.st_uid;
	return caller && *caller >= '0' && *caller <= '9' ? (uid_t)strtoul(caller, NULL, 10) : geteuid();
}

struct jit *jit_new(struct module_store *codes, int32_t pid, const char *path)
{
	struct jit *jit = mem_zalloc(1, sizeof *jit);
	jit->codes = codes;
	jit->pid = pid;
	jit->path = path;
	jit->user = user_of(codes, pid);
	pthread_mutex_init(&jit->lock, NULL);
	return jit;
}

static void dump_free(struct jit_dump *dump)
{
	if (!dump)
		return;
	for (size_t i = 0; i < jitdump_facts(dump->dump).functions; i++)
		if (dump->tables[i] != (void *)&dump->none)
			unwind_table_free(dump->tables[i]);
	free(dump->tables);
	jitdump_close(dump->dump);
	free(dump);
}

void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	perfmap_close(jit->map);
	for (size_t i = 0; i < jit->old_map_count; i++)
		perfmap_close(jit->old_maps[i]);
	free(jit->old_maps);
	dump_free(jit->dump);
	for (size_t i = 0; i < jit->old_dump_count; i++)
		dump_free(jit->old_dumps[i]);
	free(jit->old_dumps);
	pthread_mutex_destroy(&jit->lock);
	free(jit);
}

/*
 * What the next map or dump may take. All of them together may take a quarter of the memory, and each of them half of
 * what is left: whoever writes large ones loses names, but nobody else loses much.
 */
static size_t allowance(struct jit *jit)
{
	size_t all = mem_limit() / 4, taken = atomic_load(&jit->codes->jit_bytes);
	return taken < all ? (all - taken) / 2 : 0;
}

static off_t size_of(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 ? status.st_size : 0;
}

/* --- the process --- */

/* What is behind the end of a mapping reads as zeros. */
static bool read_process(int32_t pid, uint64_t address, uint8_t *bytes, size_t size)
{
	memset(bytes, 0, size);
	return remote_memory_read(pid, address, bytes, size) > 0;
}

/* --- the dump --- */

/* The path of the dump whose mapping was seen last; false when none was. Stays. */
static bool dump_path(struct jit *jit, const char **ret_path)
{
	struct module_store *codes = jit->codes;
	bool found = false;
	pthread_mutex_lock(&codes->lock);
	for (size_t i = codes->dump_count; i-- > 0 && !found;) {
		found = codes->dumps[i].pid == jit->pid;
		*ret_path = codes->dumps[i].path;
	}
	pthread_mutex_unlock(&codes->lock);
	return found;
}

/* Under the lock. A dump that was used before is kept. */
static void open_dump(struct jit *jit, const char *path)
{
	struct jitdump *dump;
	jit->dump_size = size_of(path);
	if (jitdump_open(&dump, path, jit->user, allowance(jit), NULL))
		return;
	atomic_fetch_add(&jit->codes->jit_bytes, jitdump_bytes(dump));
	struct jit_dump *opened = mem_zalloc(1, sizeof *opened);
	opened->dump = dump;
	opened->tables = mem_zalloc(jitdump_facts(dump).functions, sizeof *opened->tables);
	if (jit->dump) {
		MEM_ROOM(jit->old_dumps, jit->old_dump_count, jit->old_dump_capacity);
		jit->old_dumps[jit->old_dump_count++] = jit->dump;
	}
	__atomic_store_n(&jit->dump, opened, __ATOMIC_RELEASE);
}

/* Once the mapping of the dump was seen. */
static struct jit_dump *dump_of(struct jit *jit)
{
	const char *path;
	if (!__atomic_load_n(&jit->dump_tried, __ATOMIC_ACQUIRE) && dump_path(jit, &path)) {
		pthread_mutex_lock(&jit->lock);
		if (!jit->dump_tried)
			open_dump(jit, path);
		__atomic_store_n(&jit->dump_tried, true, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&jit->lock);
	}
	return __atomic_load_n(&jit->dump, __ATOMIC_ACQUIRE);
}

/*
 * Reads the dump again when it has grown; while the process runs (`final` false) only when by a quarter at least: then
 * all readings together cost a few times the last.
 */
static void reread_dump(struct jit *jit, bool final)
{
	const char *path;
	if (!dump_path(jit, &path))
		return;
	pthread_mutex_lock(&jit->lock);
	if (size_of(path) > jit->dump_size + (final ? 0 : jit->dump_size / 4))
		open_dump(jit, path);
	pthread_mutex_unlock(&jit->lock);
}

/*
 * The dump, read again if it has grown: all of it when the process has ended, since runtimes write what they have in
 * memory then. One that has code without unwind information is not looked at each time.
 */
static struct jit_dump *later_dump_of(struct jit *jit, uint64_t address)
{
	struct jit_dump *dump = __atomic_load_n(&jit->dump, __ATOMIC_ACQUIRE);
	uint8_t byte;
	if (!jit->codes->live || !__atomic_load_n(&jit->dump_tried, __ATOMIC_RELAXED))
		return NULL;
	if (dump && !jitdump_facts(dump->dump).unwinding) {
		uint64_t checked = __atomic_load_n(&jit->checked, __ATOMIC_RELAXED),
			 time = clock_read(CLOCK_MONOTONIC_COARSE);
		if (time - checked < CHECK_NANOSECONDS)
			return NULL;
		__atomic_store_n(&jit->checked, time, __ATOMIC_RELAXED);
	}
	reread_dump(jit, !read_process(jit->pid, address, &byte, 1));
	return __atomic_load_n(&jit->dump, __ATOMIC_ACQUIRE);
}

uint32_t jit_version(struct jit *jit, uint64_t address, uint64_t time)
{
	/* Live, the dump is still being written: it is read at the end. */
	if (time == UINT64_MAX || jit->codes->live)
		return 0;
	struct jit_dump *dump = dump_of(jit);
	return dump ? jitdump_version(dump->dump, address, time) : 0;
}

/* --- unwinding --- */

/* A dump that is there but has no code yet may come to have it. */
bool jit_has_unwinding(struct jit *jit)
{
	struct jit_dump *dump = dump_of(jit);
	if (!dump || !jitdump_facts(dump->dump).unwinding)
		dump = later_dump_of(jit, 0);
	return dump ? jitdump_facts(dump->dump).unwinding : jit->dump_tried && !jit->dump;
}

static struct unwind_table *build_table(struct jit *jit, struct jit_dump *dump, const struct jitdump_code *code,
					uint32_t version)
{
	struct unwind_table **place = &dump->tables[version - 1], *table = __atomic_load_n(place, __ATOMIC_ACQUIRE);
	if (table)
		return table;
	pthread_mutex_lock(&jit->lock);
	table = *place;
	struct unwind_code described = {code->start, code->end, code->eh_frame, code->eh_frame_size,
					code->eh_frame_address};
	if (!table) {
		if (unwind_table_build_code(&table, &described, NULL))
			table = (void *)&dump->none;
		__atomic_store_n(place, table, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&jit->lock);
	return table;
}

static const struct unwind_table *table_of(struct jit *jit, struct jit_dump *dump, uint64_t address, uint64_t time,
					   struct jitdump_code *ret_code)
{
	uint32_t version = jitdump_version(dump->dump, address, time);
	if (!version || !jitdump_code(dump->dump, version, ret_code))
		return NULL;
	const struct unwind_table *table = build_table(jit, dump, ret_code, version);
	return table == (void *)&dump->none ? NULL : table;
}

const struct unwind_table *jit_unwind_table(struct jit *jit, uint64_t address, uint64_t time, uint64_t *ret_start,
					    uint64_t *ret_end)
{
	struct jitdump_code code;
	struct jit_dump *dump = dump_of(jit);
	const struct unwind_table *table = dump ? table_of(jit, dump, address, time, &code) : NULL;
	if (!table && (dump = later_dump_of(jit, address)))
		table = table_of(jit, dump, address, time, &code);
	if (table) {
		*ret_start = code.start;
		*ret_end = code.end;
	}
	return table;
}

/*
 * Python's trampolines, of which there is one per function (python -X perf): "sub $8, %rsp; call *%rcx; add $8, %rsp;
 * ret" and, in versions with frame pointers, "push %rbp; mov %rsp, %rbp; call *%rcx; pop %rbp; ret". They are known by
 * their size, also when their process has ended.
 */
static bool read_template(const struct perfmap *map, uint64_t address, uint8_t *bytes, size_t size)
{
	static const uint8_t plain[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3};
	static const uint8_t framed[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3};
	uint64_t start, end;
	const char *name = map ? perfmap_find_range(map, address, &start, &end) : NULL;
	if (map && !name) /* read with the byte before */
		name = perfmap_find_range(map, address + 1, &start, &end);
	if (!name || strncmp(name, "py::", 4) != 0)
		return false;
	bool is_plain = end - start == sizeof plain;
	if (!is_plain && end - start != sizeof framed)
		return false;
	for (size_t i = 0; i < size; i++) {
		uint64_t offset = address + i - start;
		bytes[i] = offset >= end - start ? 0 : is_plain ? plain[offset] : framed[offset];
	}
	return true;
}

static struct perfmap *map_of(struct jit *jit);
static struct perfmap *later_map_of(struct jit *jit);

bool jit_read_code(struct jit *jit, uint64_t address, uint8_t *bytes, size_t size)
{
	return (jit->codes->live && read_process(jit->pid, address, bytes, size)) ||
	       read_template(map_of(jit), address, bytes, size) ||
	       (jit->codes->live && read_template(later_map_of(jit), address, bytes, size));
}

/* --- names --- */

static bool open_map(struct jit *jit, struct perfmap **ret_map)
{
	if (perfmap_open(ret_map, jit->path, jit->user, allowance(jit), NULL))
		return false;
	atomic_fetch_add(&jit->codes->jit_bytes, perfmap_bytes(*ret_map));
	return true;
}

static struct perfmap *map_of(struct jit *jit)
{
	if (!__atomic_load_n(&jit->map_tried, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&jit->lock);
		if (!jit->map_tried) {
			struct perfmap *map = NULL;
			struct stat status;
			if (stat(jit->path, &status) == 0) {
				jit->map_size = status.st_size;
				jit->map_time = status.st_mtim;
			}
			if (open_map(jit, &map))
				__atomic_store_n(&jit->map, map, __ATOMIC_RELEASE);
			__atomic_store_n(&jit->map_tried, true, __ATOMIC_RELEASE);
		}
		pthread_mutex_unlock(&jit->lock);
	}
	return __atomic_load_n(&jit->map, __ATOMIC_ACQUIRE);
}

/* Java writes it from the beginning each time, so that it may be as long as before, or shorter. */
static bool map_changed(const struct jit *jit, const struct stat *status, bool final)
{
	if (final)
		return status->st_size != jit->map_size || status->st_mtim.tv_sec != jit->map_time.tv_sec ||
		       status->st_mtim.tv_nsec != jit->map_time.tv_nsec;
	return status->st_size > jit->map_size + jit->map_size / 4 ||
	       (status->st_size < jit->map_size && jit->old_map_count < OLD_MAPS_MAX);
}

/* As reread_dump(). */
static void reread_map(struct jit *jit, bool final)
{
	struct stat status;
	struct perfmap *map;
	pthread_mutex_lock(&jit->lock);
	if (stat(jit->path, &status) == 0 && map_changed(jit, &status, final)) {
		jit->map_size = status.st_size;
		jit->map_time = status.st_mtim;
		if (open_map(jit, &map)) {
			if (jit->map) {
				MEM_ROOM(jit->old_maps, jit->old_map_count, jit->old_map_capacity);
				jit->old_maps[jit->old_map_count++] = jit->map;
			}
			__atomic_store_n(&jit->map, map, __ATOMIC_RELEASE);
		}
	}
	pthread_mutex_unlock(&jit->lock);
}

static struct perfmap *later_map_of(struct jit *jit)
{
	reread_map(jit, false);
	return __atomic_load_n(&jit->map, __ATOMIC_ACQUIRE);
}

void jit_reread(struct jit *jit)
{
	if (jit->map_tried)
		reread_map(jit, true);
	if (jit->dump_tried)
		reread_dump(jit, true);
}

static bool find_in_map(const struct perfmap *map, uint64_t address, struct symbol_frame *ret_frame)
{
	uint64_t start = 0;
	const char *name = map ? perfmap_find(map, address, &start) : NULL;
	if (name)
		*ret_frame = (struct symbol_frame){.name = name, .start = start};
	return name;
}

/* Code that is gone by now: a map of Java has only what is there when it is written. */
static bool find_in_old_maps(struct jit *jit, uint64_t address, struct symbol_frame *ret_frame)
{
	bool found = false;
	pthread_mutex_lock(&jit->lock);
	for (size_t i = jit->old_map_count; i-- > 0 && !found;)
		found = find_in_map(jit->old_maps[i], address, ret_frame);
	pthread_mutex_unlock(&jit->lock);
	return found;
}

size_t jit_find(struct jit *jit, uint64_t address, uint32_t version, struct symbol_frame *ret_frame)
{
	struct jit_dump *dump = dump_of(jit);
	if (dump && !version)
		version = jitdump_version(dump->dump, address, UINT64_MAX);
	if (dump && version) {
		struct jitdump_frame frame = jitdump_frame(dump->dump, address, version);
		*ret_frame = (struct symbol_frame){
			.name = frame.name,
			.file = frame.file,
			.line = frame.line,
			.start = frame.start,
		};
		return 1;
	}
	if (find_in_map(map_of(jit), address, ret_frame))
		return 1;
	return jit->codes->live &&
	       (find_in_map(later_map_of(jit), address, ret_frame) || find_in_old_maps(jit, address, ret_frame));
}

int jit_open_map(const struct jit *jit)
{
	struct stat status;
	return jit->map ? regular_file_open_of(jit->path, jit->user, &status) : -1;
}

bool jit_is_named(const struct jit *jit)
{
	return jit->map || jit->dump;
}
