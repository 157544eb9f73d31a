/* Opening a perf.data: the header of a file, what there is of one in a pipe, the files of a folder. */
#include "base/buf.h"
#include "base/regular_file.h"
#include "perfdata/attr_name.h"
#include "perfdata/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOWS_MAX (32u << 20) /* bytes of ring buffers, shared by the files of a folder */
#define SECTION_MAX (64u << 20) /* larger sections of the header are not believed */
#define FACTS_MAX 65536u
#define BUILD_IDS_MAX (1u << 20)
#define ARENA_MAX (128u << 20) /* with more bytes of names and facts something is wrong */

bool perfdata_is(const void *bytes, size_t size)
{
	return size >= 8 && (memcmp(bytes, PERFDATA_MAGIC, 8) == 0 || memcmp(bytes, PERFDATA_MAGIC_SWAPPED, 8) == 0 ||
			     memcmp(bytes, PERFDATA_MAGIC_OLD, 8) == 0);
}

void perfdata_add_fact(struct perfdata *data, const char *name, const char *text, size_t length)
{
	if (data->fact_count >= FACTS_MAX || data->arena.total > ARENA_MAX)
		return;
	MEM_ROOM(data->facts, data->fact_count, data->fact_capacity);
	data->facts[data->fact_count++] = (struct perfdata_fact){
		.name = arena_copy(&data->arena, name, strlen(name)),
		.text = arena_copy(&data->arena, text, length),
	};
}

void perfdata_add_build_id(struct perfdata *data, const uint8_t *record, size_t size)
{
	enum { PID = 8, ID = 12, ID_SIZE = 32, PATH = 36 }; /* offsets in the record */
	if (size <= PATH || data->build_id_count >= BUILD_IDS_MAX || data->arena.total > ARENA_MAX) {
		data->quality.malformed++;
		return;
	}
	struct perfdata_build_id entry = {.pid = (int32_t)bytes_load32(record + PID), .misc = bytes_load16(record + 4)};
	const char *path = (const char *)record + PATH;
	entry.path = arena_copy(&data->arena, path, strnlen(path, size - PATH));
	entry.build_id.size = BUILD_ID_MAX;
	if (entry.misc & MISC_BUILD_ID_SIZE && record[ID_SIZE] < BUILD_ID_MAX)
		entry.build_id.size = record[ID_SIZE];
	memcpy(entry.build_id.bytes, record + ID, entry.build_id.size);
	MEM_ROOM(data->build_ids, data->build_id_count, data->build_id_capacity);
	data->build_ids[data->build_id_count++] = entry;
}

void perfdata_name_sources(struct perfdata *data, size_t first)
{
	for (size_t i = first; i < data->sources.count; i++) {
		struct event_source *source = &data->sources.items[i];
		if (data->sources.layouts[i].named)
			continue;
		const char *pmu = NULL;
		for (size_t j = 0; j < data->pmu_count; j++)
			if (data->pmus[j].type == source->attr.type)
				pmu = data->pmus[j].name;
		CLEANUP_BUF struct buf name = {0};
		event_name(&name, &source->attr, pmu);
		if (strcmp(source->name, name.data) != 0)
			source->name = arena_copy(&data->arena, name.data, name.size);
	}
}

void perfdata_cut(struct perfdata *data, uint64_t offset)
{
	if (!data->quality.cut_off || offset < data->quality.cut_at)
		data->quality.cut_at = offset;
	data->quality.cut_off = true;
}

/* A section of the header in memory. NULL when it does not lie within the file or is too large to be true. */
static uint8_t *read_section(int fd, uint64_t file_size, struct file_section section)
{
	if (section.size > SECTION_MAX || section.offset > file_size || section.size > file_size - section.offset)
		return NULL;
	uint8_t *bytes = mem_alloc(section.size + 1);
	if (regular_file_read(fd, section.offset, bytes, section.size))
		return bytes;
	free(bytes);
	return NULL;
}

static int read_attrs(struct perfdata *data, int fd, uint64_t file_size, const struct file_header *header,
		      struct err *err)
{
	uint64_t each = header->attr_size;
	if (each < ATTR_MIN + sizeof(struct file_section) || each > 65536 || header->attrs.size < each)
		return err_set(err, ERR_FORMAT, "%s: damaged header: it describes no event", data->name);
	CLEANUP_FREE uint8_t *attrs = read_section(fd, file_size, header->attrs);
	if (!attrs)
		return err_set(err, ERR_FORMAT, "%s: truncated before its first record", data->name);
	for (uint64_t i = 0; i < header->attrs.size / each; i++) {
		const uint8_t *attr = attrs + i * each;
		struct file_section ids_at;
		memcpy(&ids_at, attr + each - sizeof ids_at, sizeof ids_at);
		CLEANUP_FREE uint8_t *ids = read_section(fd, file_size, ids_at);
		if (!ids)
			ids_at.size = 0;
		if (!sources_add(&data->sources, attr, each - sizeof ids_at, ids, ids_at.size / 8))
			return err_set(err, ERR_FORMAT, "%s: too many events or event IDs", data->name);
	}
	return 0;
}

/* The table of sections follows the data, one entry per feature that is there. */
static void read_features(struct perfdata *data, int fd, uint64_t file_size, const struct file_header *header)
{
	uint64_t at = header->data.offset + header->data.size;
	for (unsigned feature = 0; feature < FEATURE_BITS; feature++) {
		struct file_section section;
		if (!(header->features[feature / 64] >> feature % 64 & 1))
			continue;
		if (!regular_file_read(fd, at, &section, sizeof section)) {
			perfdata_cut(data, file_size);
			return;
		}
		at += sizeof section;
		if (!features_wanted(feature))
			continue;
		CLEANUP_FREE uint8_t *bytes = read_section(fd, file_size, section);
		if (bytes)
			features_take(data, feature, bytes, section.size);
		else
			perfdata_cut(data, file_size);
	}
}

static void add_stream(struct perfdata *data, int fd, bool seekable, uint64_t start, uint64_t limit, size_t memory)
{
	stream_init(&data->streams[data->stream_count++], fd, seekable, start, limit, memory);
	if (limit != UINT64_MAX)
		data->total_bytes += limit - start;
}

/* Takes the descriptor over when it succeeds. */
static int open_file(struct perfdata *data, int fd, uint64_t file_size, size_t memory, struct err *err)
{
	struct file_header header = {0};
	if (!regular_file_read(fd, 0, &header, FILE_HEADER_MIN))
		return err_set(err, ERR_FORMAT, "%s: truncated within its header", data->name);
	if (header.size >= sizeof header && !regular_file_read(fd, 0, &header, sizeof header))
		return err_set(err, ERR_FORMAT, "%s: truncated within its header", data->name);
	if (header.size < FILE_HEADER_MIN)
		return err_set(err, ERR_FORMAT, "%s: damaged header", data->name);
	int result = read_attrs(data, fd, file_size, &header, err);
	if (result < 0)
		return result;
	if (header.data.offset > file_size || header.data.offset > PLACE_OFFSET)
		return err_set(err, ERR_FORMAT, "%s: truncated before its first record", data->name);
	uint64_t limit = file_size;
	/* perf writes the size of the data when it ends: 0 means that it did not come to that. */
	if (header.data.size == 0 || header.data.size > file_size - header.data.offset) {
		perfdata_cut(data, file_size);
	} else {
		limit = header.data.offset + header.data.size;
		read_features(data, fd, file_size, &header);
	}
	add_stream(data, fd, true, header.data.offset, limit, memory);
	return 0;
}

/* A file that comes through a pipe has its features behind the data, so it is stored first. */
static int store(struct perfdata *data, int fd, const void *head, size_t head_size, struct err *err)
{
	int copy = window_temporary();
	if (copy < 0)
		return err_set(err, ERR_IO, "%s: cannot create a temporary file: %s", data->name, strerror(errno));
	CLEANUP_FREE uint8_t *block = mem_alloc(1 << 20);
	const uint8_t *from = head;
	for (size_t count = head_size;;) {
		while (count) {
			ssize_t wrote = write(copy, from, count);
			if (wrote <= 0 && errno != EINTR) {
				close(copy);
				return err_set(err, ERR_IO, "%s: cannot write a temporary file: %s", data->name,
					       strerror(errno));
			}
			from += wrote > 0 ? wrote : 0;
			count -= wrote > 0 ? (size_t)wrote : 0;
		}
		ssize_t got = read(fd, block, 1 << 20);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return copy;
		from = block;
		count = (size_t)got;
	}
}

static void prefill(struct stream *stream, const uint8_t *bytes, size_t size)
{
	while (size) {
		size_t room;
		uint8_t *out = window_room(&stream->window, &room);
		if (room > size)
			room = size;
		memcpy(out, bytes, room);
		window_filled(&stream->window, room);
		bytes += room;
		size -= room;
	}
}

static int check_magic(const struct perfdata *data, const uint8_t *bytes, size_t size, struct err *err)
{
	if (size >= 8 && memcmp(bytes, PERFDATA_MAGIC_SWAPPED, 8) == 0)
		return err_set(err, ERR_UNSUPPORTED, "%s: recorded on a big-endian machine, which is not supported",
			       data->name);
	if (size >= 8 && memcmp(bytes, PERFDATA_MAGIC_OLD, 8) == 0)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s: written by perf before Linux 3.2, which is not "
			       "supported",
			       data->name);
	if (size < 8 || memcmp(bytes, PERFDATA_MAGIC, 8) != 0)
		return err_set(err, ERR_FORMAT, "%s: not a perf.data file", data->name);
	if (size < PIPE_HEADER_SIZE)
		return err_set(err, ERR_FORMAT, "%s: truncated within its header", data->name);
	return 0;
}

static int open_seekable(struct perfdata *data, int fd, uint64_t file_size, size_t memory, struct err *err)
{
	uint8_t start[PIPE_HEADER_SIZE];
	size_t size = file_size < sizeof start ? (size_t)file_size : sizeof start;
	if (!regular_file_read(fd, 0, start, size))
		return err_set(err, ERR_IO, "%s: cannot read: %s", data->name, strerror(errno));
	int result = check_magic(data, start, size, err);
	if (result < 0)
		return result;
	data->pipe_mode = bytes_load64(start + 8) == PIPE_HEADER_SIZE;
	if (!data->pipe_mode)
		return open_file(data, fd, file_size, memory, err);
	add_stream(data, fd, true, PIPE_HEADER_SIZE, file_size, memory);
	return 0;
}

static int open_pipe(struct perfdata *data, int fd, const void *head, size_t head_size, struct err *err)
{
	CLEANUP_BUF struct buf start = {0};
	buf_add(&start, head, head_size);
	while (start.size < PIPE_HEADER_SIZE) {
		ssize_t got = read(fd, buf_reserve(&start, PIPE_HEADER_SIZE), PIPE_HEADER_SIZE - start.size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(err, ERR_IO, "%s: cannot read: %s", data->name, strerror(errno));
		if (got == 0)
			break;
		start.size += (size_t)got;
	}
	int result = check_magic(data, (const uint8_t *)start.data, start.size, err);
	if (result < 0)
		return result;
	data->pipe_mode = bytes_load64(start.data + 8) == PIPE_HEADER_SIZE;
	if (data->pipe_mode) {
		add_stream(data, fd, false, 0, UINT64_MAX, WINDOWS_MAX);
		prefill(&data->streams[0], (const uint8_t *)start.data, start.size);
		data->streams[0].start = data->streams[0].position = PIPE_HEADER_SIZE;
		return 0;
	}
	int copy = store(data, fd, start.data, start.size, err);
	if (copy < 0)
		return copy;
	struct stat status;
	result = fstat(copy, &status) < 0 ? ERR_IO : open_file(data, copy, (uint64_t)status.st_size, WINDOWS_MAX, err);
	if (result < 0)
		close(copy);
	else if (fd > STDIN_FILENO)
		close(fd);
	return result;
}

static struct perfdata *new_data(const char *name)
{
	struct perfdata *data = mem_zalloc(1, sizeof *data);
	data->name = mem_strdup(name);
	data->arch = "";
	sources_init(&data->sources, &data->arena);
	return data;
}

static int opened(struct perfdata **ret_data, struct perfdata *data, int result)
{
	if (result < 0) {
		perfdata_close(data);
		return result;
	}
	perfdata_name_sources(data, 0);
	*ret_data = data;
	return 0;
}

int perfdata_open_fd(struct perfdata **ret_data, int fd, const char *name, const void *head, size_t head_size,
		     struct err *err)
{
	struct perfdata *data = new_data(name);
	data->streams = mem_zalloc(1, sizeof *data->streams);
	struct stat status;
	int result;
	if (fstat(fd, &status) < 0)
		result = err_set(err, ERR_OPEN, "%s: cannot read: %s", name, strerror(errno));
	else if (S_ISREG(status.st_mode))
		result = open_seekable(data, fd, (uint64_t)status.st_size, WINDOWS_MAX, err);
	else
		result = open_pipe(data, fd, head, head_size, err);
	if (result < 0 && fd > STDIN_FILENO)
		close(fd);
	return opened(ret_data, data, result);
}

/* One of the files in a folder: the first has the header, the others only records. */
static int open_member(struct perfdata *data, const char *folder, const char *member, size_t memory, struct err *err)
{
	CLEANUP_BUF struct buf path = {0};
	buf_printf(&path, "%s/%s", folder, member);
	struct stat status;
	int result = 0, fd = regular_file_open(path.data, true, &status);
	if (fd == -ENOTSUP)
		return err_set(err, ERR_FORMAT, "%s: not a regular file", path.data);
	if (fd < 0)
		return err_set(err, ERR_OPEN, "%s: cannot open: %s", path.data, strerror(-fd));
	if (data->stream_count == 0)
		result = open_seekable(data, fd, (uint64_t)status.st_size, memory, err);
	else
		add_stream(data, fd, true, 0, (uint64_t)status.st_size, memory);
	if (result < 0)
		close(fd);
	return result;
}

static int open_folder(struct perfdata **ret_data, const char *path, struct err *err)
{
	struct perfdata *data = new_data(path);
	size_t members = 0;
	char member[32];
	for (; members < STREAMS_MAX - 1; members++) {
		CLEANUP_BUF struct buf next = {0};
		buf_printf(&next, "%s/data.%zu", path, members);
		if (access(next.data, F_OK) < 0)
			break;
	}
	data->streams = mem_zalloc(members + 1, sizeof *data->streams);
	size_t memory = WINDOWS_MAX / (members + 1);
	while (memory & (memory - 1))
		memory &= memory - 1; /* rings are powers of two */
	int result = open_member(data, path, "data", memory, err);
	for (size_t i = 0; i < members && result >= 0; i++) {
		snprintf(member, sizeof member, "data.%zu", i);
		result = open_member(data, path, member, memory, err);
	}
	return opened(ret_data, data, result);
}

int perfdata_open(struct perfdata **ret_data, const char *path, struct err *err)
{
	if (strcmp(path, "-") == 0)
		return perfdata_open_fd(ret_data, STDIN_FILENO, "standard input", NULL, 0, err);
	struct stat status;
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return open_folder(ret_data, path, err);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_OPEN, "%s: cannot open: %s", path, strerror(errno));
	return perfdata_open_fd(ret_data, fd, path, NULL, 0, err);
}

void perfdata_close(struct perfdata *data)
{
	if (!data)
		return;
	for (size_t i = 0; i < data->stream_count; i++)
		stream_release(&data->streams[i]);
	for (size_t i = 0; i < data->held_count; i++)
		free(data->held[i].bytes);
	free(data->streams);
	free(data->held);
	free(data->chain);
	free(data->realigned);
	free(data->reads);
	index_map_release(&data->reads_by_id);
	free(data->pmus);
	free(data->facts);
	free(data->build_ids);
	order_release(&data->order);
	sources_release(&data->sources);
	arena_release(&data->arena);
	free(data->name);
	free(data);
}

const struct event_source *perfdata_sources(const struct perfdata *data, size_t *ret_count)
{
	*ret_count = data->sources.count;
	return data->sources.items;
}

const struct perfdata_fact *perfdata_facts(const struct perfdata *data, size_t *ret_count)
{
	*ret_count = data->fact_count;
	return data->facts;
}

const struct perfdata_build_id *perfdata_build_ids(const struct perfdata *data, size_t *ret_count)
{
	*ret_count = data->build_id_count;
	return data->build_ids;
}

const struct perfdata_quality *perfdata_quality(const struct perfdata *data)
{
	return &data->quality;
}

const char *perfdata_arch(const struct perfdata *data)
{
	return data->arch;
}

uint64_t perfdata_progress(const struct perfdata *data, uint64_t *ret_total)
{
	uint64_t done = 0;
	for (size_t i = 0; i < data->stream_count; i++)
		done += data->streams[i].position - data->streams[i].start;
	*ret_total = data->total_bytes;
	return done;
}
