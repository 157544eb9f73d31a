/* Parses jitdump records: code, moves, lines and unwind information. */
#include "symbol/jitdump.h"

#include "base/bisect.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/index_map.h"
#include "base/mem.h"
#include "base/regular_file.h"
#include "symbol/code_ranges.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JITDUMP_MAGIC 0x4a695444u
#define FLAG_ARCH_TIMESTAMP 1u
#define FILE_MAX ((size_t)256 << 20) /* what is beyond it is not read */

enum record_id { RECORD_LOAD, RECORD_MOVE, RECORD_DEBUG_INFO, RECORD_CLOSE, RECORD_UNWINDING };

struct file_header {
	uint32_t magic, version, total_size, machine, pad, pid;
	uint64_t timestamp, flags;
};

struct record {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct load {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct move {
	uint32_t pid, tid;
	uint64_t vma, old_address, new_address, size, index;
};

struct debug_info {
	uint64_t address, count;
};

struct debug_entry {
	uint64_t address;
	int32_t line, discriminator;
};

/* Then eh_frame, eh_frame_hdr and padding. */
struct unwinding {
	uint64_t size, header_size, mapped_size; /* `size` is of both */
};

struct line {
	uint64_t offset; /* from the start of the function */
	const char *file;
	uint32_t number;
};

struct function {
	const char *name;
	uint64_t size, code_index;
	const struct line *lines; /* ascending by offset */
	uint32_t line_count, eh_frame_size;
	const uint8_t *eh_frame; /* NULL: none */
};

struct jitdump {
	struct arena arena;
	struct jitdump_facts facts;
	struct function *functions;
	size_t count, capacity;
	struct index_map by_code_index;
	struct code_ranges ranges; /* value: index into functions */
};

/* What is gathered while reading. */
struct reading {
	struct jitdump *dump;
	const uint8_t *debug; /* the DEBUG_INFO that belongs to the next LOAD of its address; NULL: none */
	size_t debug_size;
	const uint8_t *unwinding; /* likewise */
	size_t unwinding_size;
	const uint8_t *last_eh_frame; /* code made of one template has the same, which is kept once */
	size_t last_eh_frame_size;
};

/* --- lines --- */

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/*
 * The entries are { address, line, discriminator, file name and NUL }; a name of one byte 0xff repeats the one before.
 * Those before the function are skipped.
 */
static void read_lines(struct reading *reading, struct function *function, uint64_t address)
{
	struct cursor cursor = cursor_over(reading->debug, reading->debug_size);
	struct debug_info header;
	reading->debug = NULL;
	if (!cursor_copy(&cursor, &header, sizeof header) || header.address != address)
		return;
	size_t max = cursor_left(&cursor) / (sizeof(struct debug_entry) + 1);
	max = header.count < max ? header.count : max;
	max = max < UINT32_MAX ? max : UINT32_MAX;
	struct line *lines = arena_alloc(&reading->dump->arena, (max + 1) * sizeof *lines, _Alignof(struct line));
	const char *file = NULL;
	uint32_t count = 0;
	for (size_t i = 0; i < max; i++) {
		struct debug_entry entry;
		const char *name = cursor_copy(&cursor, &entry, sizeof entry) ? cursor_string(&cursor) : NULL;
		if (!name)
			break;
		if (strcmp(name, "\xff") && (!file || strcmp(name, file)))
			file = arena_copy(&reading->dump->arena, name, strlen(name));
		if (entry.address >= address && entry.line >= 0)
			lines[count++] = (struct line){entry.address - address, file, (uint32_t)entry.line};
	}
	qsort(lines, count, sizeof *lines, compare_lines);
	function->lines = lines;
	function->line_count = count;
}

/* --- unwinding --- */

/* The header, which begins with its version, is behind .eh_frame; some writers may have it before. */
static void read_unwinding(struct reading *reading, struct function *function)
{
	enum { EH_FRAME_MIN = 8, HEADER_VERSION = 1 };
	struct unwinding header;
	memcpy(&header, reading->unwinding, sizeof header);
	const uint8_t *bytes = reading->unwinding + sizeof header;
	size_t room = reading->unwinding_size - sizeof header;
	reading->unwinding = NULL;
	if (header.size > room || header.header_size > header.size || header.size - header.header_size < EH_FRAME_MIN ||
	    header.size > UINT32_MAX)
		return;
	size_t size = header.size - header.header_size;
	static const uint8_t no_cie[4] = {0}; /* a CIE has 0 where FDEs have a pointer to it */
	bool header_first = header.header_size && bytes[0] == HEADER_VERSION && memcmp(bytes + 4, no_cie, 4) != 0;
	bytes += header_first ? header.header_size : 0;
	bool same = reading->last_eh_frame && reading->last_eh_frame_size == size &&
		    memcmp(reading->last_eh_frame, bytes, size) == 0;
	if (!same) {
		reading->last_eh_frame = (const uint8_t *)arena_copy(&reading->dump->arena, (const char *)bytes, size);
		reading->last_eh_frame_size = size;
	}
	function->eh_frame = reading->last_eh_frame;
	function->eh_frame_size = (uint32_t)size;
	reading->dump->facts.unwinding = true;
}

/* --- records --- */

static uint64_t hash_of_index(uint64_t code_index)
{
	return hash_u64(code_index);
}

static uint32_t function_of_index(const struct jitdump *dump, uint64_t code_index)
{
	struct index_probe probe;
	uint32_t i = index_map_first(&dump->by_code_index, hash_of_index(code_index), &probe);
	for (; i != INDEX_NONE; i = index_map_next(&dump->by_code_index, &probe))
		if (dump->functions[i].code_index == code_index)
			return i;
	return INDEX_NONE;
}

static void read_load(struct reading *reading, const struct record *record, const uint8_t *body, size_t size)
{
	struct jitdump *dump = reading->dump;
	struct cursor cursor = cursor_over(body, size);
	struct load load;
	const char *name = cursor_copy(&cursor, &load, sizeof load) ? cursor_string(&cursor) : NULL;
	if (!name || dump->count >= INDEX_NONE)
		return;
	struct function function = {
		.name = arena_copy(&dump->arena, name, strlen(name)), .size = load.size, .code_index = load.index};
	if (reading->debug)
		read_lines(reading, &function, load.address);
	if (reading->unwinding)
		read_unwinding(reading, &function);
	uint32_t index = (uint32_t)dump->count;
	if (!code_ranges_add(&dump->ranges, load.address, load.size, record->timestamp, index))
		return;
	MEM_ROOM(dump->functions, dump->count, dump->capacity);
	dump->functions[dump->count++] = function;
	/* Numbers are meant to be unique; of equal ones the first is the one that can move. */
	if (function_of_index(dump, load.index) == INDEX_NONE)
		index_map_insert(&dump->by_code_index, hash_of_index(load.index), index);
}

static void read_move(struct jitdump *dump, const struct record *record, const uint8_t *body, size_t size)
{
	struct move move;
	if (size < sizeof move)
		return;
	memcpy(&move, body, sizeof move);
	uint32_t index = function_of_index(dump, move.index);
	if (index != INDEX_NONE)
		code_ranges_add(&dump->ranges, move.new_address, move.size, record->timestamp, index);
}

static void read_record(struct reading *reading, const struct record *record, const uint8_t *body, size_t size)
{
	switch (record->id) {
	case RECORD_LOAD:
		read_load(reading, record, body, size);
		break;
	case RECORD_MOVE:
		read_move(reading->dump, record, body, size);
		break;
	case RECORD_DEBUG_INFO:
		if (size >= sizeof(struct debug_info)) {
			reading->debug = body;
			reading->debug_size = size;
		}
		break;
	case RECORD_UNWINDING:
		if (size >= sizeof(struct unwinding)) {
			reading->unwinding = body;
			reading->unwinding_size = size;
		}
		break;
	case RECORD_CLOSE:
	default:
		break;
	}
}

static void read_records(struct jitdump *dump, const uint8_t *bytes, size_t size)
{
	struct reading reading = {.dump = dump};
	for (size_t at = 0; at < size;) {
		struct record record;
		if (size - at < sizeof record) {
			dump->facts.cut = true;
			break;
		}
		memcpy(&record, bytes + at, sizeof record);
		if (record.total_size < sizeof record || record.total_size > size - at) {
			dump->facts.cut = true;
			break;
		}
		read_record(&reading, &record, bytes + at + sizeof record, record.total_size - sizeof record);
		at += record.total_size;
		if (record.id == RECORD_CLOSE)
			break;
	}
}

/* --- opening --- */

static int open_bytes(struct jitdump **ret_dump, const uint8_t *bytes, size_t size, const char *name, struct err *err)
{
	struct file_header header;
	if (size < sizeof header)
		return err_set(err, ERR_FORMAT, "%s: not a jitdump file (%zu bytes)", name, size);
	memcpy(&header, bytes, sizeof header);
	if (header.magic == __builtin_bswap32(JITDUMP_MAGIC))
		return err_set(err, ERR_FORMAT, "%s: big-endian jitdump files are not supported", name);
	if (header.magic != JITDUMP_MAGIC || header.total_size < sizeof header || header.total_size > size)
		return err_set(err, ERR_FORMAT, "%s: not a jitdump file", name);
	struct jitdump *dump = mem_zalloc(1, sizeof *dump);
	dump->facts.pid = header.pid;
	dump->facts.arch_clock = header.flags & FLAG_ARCH_TIMESTAMP;
	read_records(dump, bytes + header.total_size, size - header.total_size);
	dump->facts.functions = dump->ranges.count;
	if (!dump->ranges.count) {
		jitdump_close(dump);
		return err_set(err, ERR_EMPTY, "%s: contains no code", name);
	}
	code_ranges_finish(&dump->ranges);
	*ret_dump = dump;
	return 0;
}

int jitdump_open_bytes(struct jitdump **ret_dump, const void *bytes, size_t size, struct err *err)
{
	return open_bytes(ret_dump, bytes, size, "jitdump in memory", err);
}

bool jitdump_has_path(const char *path)
{
	const char *name = strrchr(path, '/');
	int pid, end = 0;
	return name && sscanf(name + 1, "jit-%d.dump%n", &pid, &end) == 1 && end && !name[1 + end];
}

/* Read, not mapped: the process may truncate the file at any moment. *size becomes what there is. */
static bool read_file(int fd, uint8_t *bytes, size_t *size)
{
	size_t done = 0;
	while (done < *size) {
		ssize_t count = read(fd, bytes + done, *size - done);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return false;
		if (!count)
			break;
		done += (size_t)count;
	}
	*size = done;
	return true;
}

int jitdump_open(struct jitdump **ret_dump, const char *path, uid_t user, size_t max, struct err *err)
{
	struct stat status;
	int fd = regular_file_open_of(path, user, &status);
	if (fd < 0)
		return regular_file_refused(path, fd, err);
	size_t size = (size_t)status.st_size;
	if (!size) {
		close(fd);
		return err_set(err, ERR_FORMAT, "%s: empty", path);
	}
	size_t room = max < FILE_MAX ? max : FILE_MAX;
	room = size < room ? size : room;
	uint8_t *bytes CLEANUP_FREE = mem_alloc(room);
	bool fine = read_file(fd, bytes, &room);
	int read_errno = errno;
	close(fd);
	if (!fine)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(read_errno));
	return open_bytes(ret_dump, bytes, room, path, err);
}

void jitdump_close(struct jitdump *dump)
{
	if (!dump)
		return;
	arena_release(&dump->arena);
	free(dump->functions);
	index_map_release(&dump->by_code_index);
	code_ranges_release(&dump->ranges);
	free(dump);
}

size_t jitdump_bytes(const struct jitdump *dump)
{
	return dump->arena.total + dump->capacity * sizeof *dump->functions + code_ranges_bytes(&dump->ranges);
}

struct jitdump_facts jitdump_facts(const struct jitdump *dump)
{
	return dump->facts;
}

uint32_t jitdump_version(const struct jitdump *dump, uint64_t address, uint64_t time)
{
	const struct code_range *range =
		code_ranges_find(&dump->ranges, address, dump->facts.arch_clock ? UINT64_MAX : time);
	return range ? (uint32_t)(range - dump->ranges.ranges) + 1 : 0;
}

struct jitdump_frame jitdump_frame(const struct jitdump *dump, uint64_t address, uint32_t version)
{
	const struct code_range *range = &dump->ranges.ranges[version - 1];
	const struct function *function = &dump->functions[range->value];
	struct jitdump_frame frame = {.name = function->name, .start = range->start};
	size_t next = BISECT(function->line_count, i, function->lines[i].offset <= address - range->start);
	if (next) {
		frame.file = function->lines[next - 1].file;
		frame.line = function->lines[next - 1].number;
	}
	return frame;
}

bool jitdump_code(const struct jitdump *dump, uint32_t version, struct jitdump_code *ret_code)
{
	const struct code_range *range = &dump->ranges.ranges[version - 1];
	const struct function *function = &dump->functions[range->value];
	*ret_code = (struct jitdump_code){
		.start = range->start,
		.end = range->end,
		.eh_frame = function->eh_frame,
		.eh_frame_size = function->eh_frame_size,
		.eh_frame_address = range->start + (function->size + 7) / 8 * 8,
	};
	return function->eh_frame != NULL;
}

bool jitdump_find(const struct jitdump *dump, uint64_t address, uint64_t time, struct jitdump_frame *ret_frame)
{
	uint32_t version = jitdump_version(dump, address, time);
	if (version)
		*ret_frame = jitdump_frame(dump, address, version);
	return version != 0;
}
