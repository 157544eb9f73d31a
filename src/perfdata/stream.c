/*
 * One file or pipe of records: finds them, unpacks the compressed ones, acts on those of perf itself, queues the rest.
 */
#include "perfdata/reader.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Bytes of records after which another stream gets its turn. */
#define BATCH (128u << 10)

void stream_init(struct stream *stream, int fd, bool seekable, uint64_t start, uint64_t limit, size_t memory)
{
	*stream = (struct stream){.fd = fd, .seekable = seekable, .start = start, .position = start, .limit = limit};
	window_init(&stream->window, seekable ? fd : -1, start, memory);
	if (seekable)
		window_map(&stream->window);
}

void stream_release(struct stream *stream)
{
	window_release(&stream->window);
	if (stream->has_plain)
		window_release(&stream->plain);
	unpack_release(&stream->unpack);
	if (stream->fd > STDIN_FILENO)
		close(stream->fd);
}

/* Reads on until `want` bytes from the position are there; false at the end of the file. */
static bool fill(struct stream *stream, size_t want)
{
	while (stream->window.end - stream->position < want && !stream->ended) {
		if (stream->window.map) {
			stream->ended = !window_advance(&stream->window, stream->limit);
			continue;
		}
		size_t room;
		uint8_t *out = window_room(&stream->window, &room);
		if (room > stream->limit - stream->window.end)
			room = (size_t)(stream->limit - stream->window.end);
		ssize_t got = 0;
		if (room)
			got = stream->seekable ? pread(stream->fd, out, room, (off_t)stream->window.end) :
						 read(stream->fd, out, room);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) /* a file that cannot be read further is as good as one that ends here */
			stream->ended = true;
		else
			window_filled(&stream->window, (size_t)got);
	}
	return stream->window.end - stream->position >= want;
}

/* Payload behind a record. */
static bool skip(struct stream *stream, uint64_t size)
{
	while (size) {
		window_done(&stream->window, stream->position);
		uint64_t here = stream->window.end - stream->position;
		if (here > size)
			here = size;
		stream->position += here;
		size -= here;
		if (size && stream->seekable && size <= stream->limit - stream->position) {
			/* The bytes were not read, so it is not known here whether the file has them. */
			window_skip(&stream->window, stream->position + size);
			stream->position += size;
			return true;
		}
		if (size && !fill(stream, 1))
			return false;
	}
	return true;
}

static struct perf_event_header header_at(const uint8_t *bytes)
{
	struct perf_event_header header;
	memcpy(&header, bytes, sizeof header);
	return header;
}

/* Size of a record with this header; 0 when it cannot be one. */
static size_t size_of(const struct perf_event_header *header)
{
	if (header->type == 0 || header->type >= RECORD_TYPE_END || header->size < sizeof *header)
		return 0;
	if (header->type >= SIMPLEPERF_FIRST)
		return (size_t)header->misc << 16 | header->size;
	return header->size;
}

static void take_attr(struct perfdata *data, const uint8_t *body, size_t size)
{
	size_t attr_size = size >= 8 ? bytes_load32(body + 4) : 0;
	if (!attr_size)
		attr_size = ATTR_MIN;
	if (attr_size < ATTR_MIN || attr_size > size ||
	    !sources_add(&data->sources, body, attr_size, body + attr_size, (size - attr_size) / 8)) {
		data->quality.malformed++;
		return;
	}
	perfdata_name_sources(data, data->sources.count - 1);
}

static void take_event_update(struct perfdata *data, const uint8_t *body, size_t size)
{
	if (size < 16) {
		data->quality.malformed++;
		return;
	}
	uint32_t source = sources_find(&data->sources, bytes_load64(body + 8));
	if (bytes_load64(body) == EVENT_UPDATE_NAME && source != SOURCE_NONE)
		sources_name(&data->sources, source, (const char *)body + 16,
			     strnlen((const char *)body + 16, size - 16));
}

/* Records of perf itself. They have no time: what they say holds from where they stand in the file. */
static int take_user(struct perfdata *data, const struct perf_event_header *header, const uint8_t *record)
{
	const uint8_t *body = record + sizeof *header;
	size_t size = header->size - sizeof *header;
	switch (header->type) {
	case USER_ATTR:
		take_attr(data, body, size);
		return 0;
	case USER_BUILD_ID:
		perfdata_add_build_id(data, record, header->size);
		return 0;
	case USER_FINISHED_ROUND:
		return read_round(data);
	case USER_EVENT_UPDATE:
		take_event_update(data, body, size);
		return 0;
	case USER_FEATURE:
		if (size >= 8 && bytes_load64(body) < FEATURE_BITS)
			features_take(data, (unsigned)bytes_load64(body), body + 8, size - 8);
		return 0;
	case USER_AUXTRACE_INFO:
	case USER_AUXTRACE:
	case USER_AUXTRACE_ERROR:
		data->quality.aux_records++;
		return 0;
	default:
		data->quality.unknown_records += header->type > USER_LAST_KNOWN;
		return 0;
	}
}

static int take_record(struct perfdata *data, struct stream *stream, const uint8_t *record, uint64_t place)
{
	struct perf_event_header header = header_at(record);
	data->quality.records++;
	if (header.type >= USER_ATTR)
		return take_user(data, &header, record);
	switch (header.type) {
	case PERF_RECORD_AUX:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		data->quality.aux_records++;
		return 0;
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_TEXT_POKE:
		return 0;
	default:
		if (header.type > RECORD_CALLCHAIN_DEFERRED) {
			data->quality.unknown_records++;
			return 0;
		}
		return read_queue(data, stream, &header, record, place);
	}
}

/* The whole records that the plain window holds. */
static int take_plain(struct perfdata *data, struct stream *stream, bool *ret_sense)
{
	struct window *window = &stream->plain;
	uint64_t stream_bits = (uint64_t)(stream - data->streams) << PLACE_STREAM_SHIFT;
	while (stream->plain_position + sizeof(struct perf_event_header) <= window->end) {
		uint64_t at = stream->plain_position;
		struct perf_event_header header;
		if (!window_copy(window, at, sizeof header, &header) || !size_of(&header)) {
			*ret_sense = false;
			return 0;
		}
		size_t size = size_of(&header);
		if (header.type >= SIMPLEPERF_FIRST) {
			data->quality.records++;
			data->quality.unknown_records++;
			stream->plain_position += size; /* its end may still have to be unpacked */
			continue;
		}
		if (window->end - at < size)
			break;
		stream->plain_position += size;
		const uint8_t *record = window_at(window, at, size, false, data->peek_scratch);
		int result = record ? take_record(data, stream, record, stream_bits | PLACE_PLAIN | at) : 0;
		if (result < 0)
			return result;
	}
	return 0;
}

/* A compressed record: its bytes continue where those of the last one ended, also within a record. */
static int take_compressed(struct perfdata *data, struct stream *stream, const uint8_t *record, size_t size,
			   bool *ret_sense)
{
	struct perf_event_header header = header_at(record);
	size_t start = header.type == USER_COMPRESSED2 ? 16 : 8;
	if (size < start || (header.type == USER_COMPRESSED2 && bytes_load64(record + 8) > size - start)) {
		*ret_sense = false;
		return 0;
	}
	if (header.type == USER_COMPRESSED2)
		size = start + (size_t)bytes_load64(record + 8);
	if (!stream->has_plain) {
		window_init(&stream->plain, -1, 0, stream->window.max);
		stream->has_plain = true;
	}
	struct unpack_input input = {record + start, size - start, 0};
	size_t room, count = 0;
	do {
		window_done(&stream->plain, stream->plain_position);
		uint8_t *out = window_room(&stream->plain, &room);
		*ret_sense = unpack_some(&stream->unpack, &input, out, room, &count);
		if (!*ret_sense)
			return 0;
		window_filled(&stream->plain, count);
		int result = take_plain(data, stream, ret_sense);
		if (result < 0 || !*ret_sense)
			return result;
	} while (count == room);
	return 0;
}

/* What follows AUXTRACE and TRACING_DATA records without being counted in their size. */
static uint64_t payload_of(const struct perf_event_header *header, const uint8_t *record, size_t size)
{
	if (header->type == USER_AUXTRACE && size >= 16)
		return bytes_load64(record + 8);
	if (header->type == USER_TRACING_DATA && size >= 12)
		return bytes_load32(record + 8);
	return 0;
}

static int cut(struct perfdata *data, struct stream *stream, uint64_t offset)
{
	perfdata_cut(data, offset);
	stream->finished = true;
	return 0;
}

/* One record of the file. */
static int advance_one(struct perfdata *data, struct stream *stream)
{
	uint64_t at = stream->position;
	struct perf_event_header header;
	if (!fill(stream, sizeof header)) {
		stream->finished = true;
		bool expects_more = stream->limit != UINT64_MAX && stream->window.end < stream->limit;
		if (stream->window.end > at || expects_more)
			perfdata_cut(data, stream->window.end);
		return 0;
	}
	window_copy(&stream->window, at, sizeof header, &header);
	size_t size = size_of(&header);
	if (!size)
		return cut(data, stream, at);
	if (header.type >= SIMPLEPERF_FIRST) {
		data->quality.records++;
		data->quality.unknown_records++;
		return skip(stream, size) ? 0 : cut(data, stream, stream->window.end);
	}
	if (!fill(stream, size))
		return cut(data, stream, stream->window.end);
	stream->position += size;
	window_touch(&stream->window, size);
	const uint8_t *record = window_at(&stream->window, at, size, false, data->peek_scratch);
	if (!record)
		return cut(data, stream, at);
	if (header.type == USER_COMPRESSED || header.type == USER_COMPRESSED2) {
		bool sense = true;
		data->quality.records++;
		/* The records inside may need peek_scratch, so the compressed bytes must not be there. */
		if (record == (const uint8_t *)data->peek_scratch)
			record = memcpy(data->packed_scratch, record, size);
		int result = take_compressed(data, stream, record, size, &sense);
		return result < 0 || sense ? result : cut(data, stream, at);
	}
	uint64_t payload = payload_of(&header, record, size);
	uint64_t stream_bits = (uint64_t)(stream - data->streams) << PLACE_STREAM_SHIFT;
	int result = take_record(data, stream, record, stream_bits | at);
	if (result >= 0 && !skip(stream, payload))
		return cut(data, stream, stream->window.end);
	return result;
}

int stream_advance(struct perfdata *data, struct stream *stream)
{
	uint64_t from = stream->position;
	stream->earlier_batch_time = stream->batch_time;
	window_done(&stream->window, from);
	while (!stream->finished && stream->position - from < BATCH) {
		int result = advance_one(data, stream);
		if (result < 0)
			return result;
	}
	return 0;
}
