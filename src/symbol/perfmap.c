/* Parses a perf map file into code ranges. */
#include "symbol/perfmap.h"

#include "base/buf.h"
#include "base/regular_file.h"
#include "symbol/code_ranges.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is beyond it is not read: names and offsets are 32-bit, and no program makes that much code. */
#define FILE_MAX ((size_t)256 << 20)
#define READ_STEP ((size_t)1 << 20)
#define RANGE_BYTES 100 /* about what a line takes besides its text */

struct perfmap {
	struct buf text; /* the file, with a NUL behind each name */
	struct code_ranges ranges; /* value: offset of the name; time: number of the line */
	size_t bad_lines;
};

/* Hex digits, 1 to 16 of them, with or without 0x. Returns what follows, NULL when there are none. */
static const char *parse_hex(const char *at, const char *end, uint64_t *ret_value)
{
	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	while (end - at > 1 && at[0] == '0')
		at++;
	uint64_t value = 0;
	int digits = 0;
	for (; at < end; at++, digits++) {
		char c = *at | 0x20;
		if (*at >= '0' && *at <= '9')
			value = value << 4 | (uint64_t)(*at - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	if (!digits || digits > 16)
		return NULL;
	*ret_value = value;
	return at;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

static bool parse_line(struct perfmap *map, char *line, char *end, uint64_t number)
{
	uint64_t start, size;
	while (end > line && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	const char *at = parse_hex(skip_blanks(line, end), end, &start);
	if (!at || at == end || (*at != ' ' && *at != '\t'))
		return false;
	at = parse_hex(skip_blanks(at, end), end, &size);
	if (!at || at == end || (*at != ' ' && *at != '\t'))
		return false;
	at = skip_blanks(at, end);
	if (at == end)
		return false;
	*end = '\0';
	return code_ranges_add(&map->ranges, start, size, number, (uint32_t)(at - map->text.data));
}

static int parse(struct perfmap **ret_map, struct perfmap *map, size_t max, struct err *err)
{
	char *end = map->text.data + map->text.size;
	uint64_t number = 0;
	for (char *line = map->text.data; line < end && map->text.size + map->ranges.count * RANGE_BYTES < max;) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		char *line_end = newline ? newline : end;
		if (line_end > line && !parse_line(map, line, line_end, number++))
			map->bad_lines++;
		line = line_end + 1;
	}
	if (!map->ranges.count) {
		perfmap_close(map);
		return err_set(err, ERR_EMPTY, "no entry in the perf map");
	}
	code_ranges_finish(&map->ranges);
	*ret_map = map;
	return 0;
}

int perfmap_open_bytes(struct perfmap **ret_map, const void *bytes, size_t size, size_t max, struct err *err)
{
	struct perfmap *map = mem_zalloc(1, sizeof *map);
	buf_add(&map->text, bytes, size < FILE_MAX ? size : FILE_MAX);
	return parse(ret_map, map, max, err);
}

/* Read, not mapped: the process may write or cut the file at any moment. */
static bool read_all(int fd, size_t max, struct buf *text)
{
	while (text->size < max) {
		char *room = buf_reserve(text, READ_STEP);
		ssize_t count = read(fd, room, READ_STEP);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return false;
		text->size += (size_t)count;
		if (!count || memchr(room, 0, (size_t)count))
			break; /* no text from here on: a hole of any size */
	}
	buf_reserve(text, 0);
	text->data[text->size] = '\0';
	return true;
}

int perfmap_open(struct perfmap **ret_map, const char *path, uid_t user, size_t max, struct err *err)
{
	struct stat status;
	int fd = regular_file_open_of(path, user, &status);
	if (fd < 0)
		return regular_file_refused(path, fd, err);
	struct perfmap *map = mem_zalloc(1, sizeof *map);
	bool fine = read_all(fd, max / 2 < FILE_MAX ? max / 2 : FILE_MAX, &map->text);
	int read_errno = errno;
	close(fd);
	if (!fine) {
		perfmap_close(map);
		return err_set(err, ERR_IO, "%s: %s", path, strerror(read_errno));
	}
	return parse(ret_map, map, max, err);
}

void perfmap_close(struct perfmap *map)
{
	if (!map)
		return;
	buf_release(&map->text);
	code_ranges_release(&map->ranges);
	free(map);
}

size_t perfmap_bytes(const struct perfmap *map)
{
	return map->text.capacity + code_ranges_bytes(&map->ranges);
}

size_t perfmap_count(const struct perfmap *map)
{
	return map->ranges.count;
}

size_t perfmap_bad_lines(const struct perfmap *map)
{
	return map->bad_lines;
}

const char *perfmap_find_range(const struct perfmap *map, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	const struct code_range *range = code_ranges_find(&map->ranges, address, UINT64_MAX);
	if (!range)
		return NULL;
	*ret_start = range->start;
	*ret_end = range->end;
	return map->text.data + range->value;
}

const char *perfmap_find(const struct perfmap *map, uint64_t address, uint64_t *ret_start)
{
	uint64_t start, end;
	const char *name = perfmap_find_range(map, address, &start, &end);
	if (name && ret_start)
		*ret_start = start;
	return name;
}
