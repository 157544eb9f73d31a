/*
 * The order of delivery. perf writes its ring buffers one after the other, and a FINISHED_ROUND record after each pass
 * over all of them: whatever a later pass brings is newer than the newest record of the pass before the last one, so
 * up to there records can be delivered. Files of a folder are each in order by themselves; there the slowest file sets
 * the limit.
 */
#include "perfdata/reader.h"

#include <stdio.h>

/* More than this need not wait: even without rounds a record does not come that late. */
#define WAITING_MAX (2u << 20)
#define SPAN_MAX (256ull << 20) /* bytes between the first that waits and the last, in a file without rounds */
#define FOLDER_WAITING 65536u

static struct window *window_of(struct perfdata *data, uint64_t place)
{
	struct stream *stream = &data->streams[place >> PLACE_STREAM_SHIFT];
	return place & PLACE_PLAIN ? &stream->plain : &stream->window;
}

static int deliver(struct perfdata *data, uint64_t place)
{
	struct window *window = window_of(data, place);
	uint64_t offset = place & PLACE_OFFSET;
	struct record record;
	const uint8_t *bytes = window_at(window, offset, sizeof record.header, false, data->scratch);
	if (bytes) {
		memcpy(&record.header, bytes, sizeof record.header);
		bytes = record.header.size >= sizeof record.header ?
				window_at(window, offset, record.header.size, true, data->scratch) :
				NULL;
	}
	if (!bytes) { /* the file changed since */
		data->quality.malformed++;
		return 0;
	}
	window_touch(window, record.header.size);
	record.lasting = window->map && bytes != (const uint8_t *)data->scratch;
	record.body = (const uint64_t *)(bytes + sizeof record.header);
	record.words = (record.header.size - sizeof record.header) / 8;
	record.odd = record.header.size % 8;
	return records_deliver(data, &record);
}

static void note_waiting(struct perfdata *data, uint64_t place)
{
	struct window *window = window_of(data, place);
	if (window->waiting > (place & PLACE_OFFSET))
		window->waiting = place & PLACE_OFFSET;
}

/* Sets in the windows which bytes are still needed. */
static void note_all_waiting(struct perfdata *data)
{
	for (size_t i = 0; i < data->stream_count; i++)
		data->streams[i].window.waiting = data->streams[i].plain.waiting = UINT64_MAX;
	for (size_t i = data->order.head; i < data->order.count; i++)
		note_waiting(data, data->order.entries[i].place);
	for (size_t i = 0; i < data->stream_count; i++) {
		struct stream *stream = &data->streams[i];
		window_done(&stream->window, stream->position);
		window_done(&stream->plain, stream->plain_position);
	}
}

/* Delivers what is not after `limit`. */
static int flush(struct perfdata *data, uint64_t limit)
{
	int result = 0;
	order_sort(&data->order);
	for (const struct order_entry *entry; result >= 0 && (entry = order_next(&data->order, limit));) {
		if (entry->time < data->delivered_time)
			data->quality.out_of_order++;
		else
			data->delivered_time = entry->time;
		result = deliver(data, entry->place);
	}
	order_compact(&data->order);
	note_all_waiting(data);
	data->left_waiting = order_waiting(&data->order);
	return result;
}

static int flush_half(struct perfdata *data)
{
	order_sort(&data->order);
	const struct order *order = &data->order;
	return flush(data, order->entries[order->head + order_waiting(order) / 2].time);
}

static bool too_many_wait(const struct perfdata *data, const struct stream *stream)
{
	if (order_waiting(&data->order) >= WAITING_MAX)
		return true;
	if (data->seen_round || data->stream_count > 1)
		return false;
	return stream->window.end - stream->window.needed > SPAN_MAX ||
	       stream->plain.end - stream->plain.needed > SPAN_MAX;
}

/* Mappings without a time were there before the recording began, wherever their records are. */
static bool was_before(const struct perf_event_header *header)
{
	return header->type == PERF_RECORD_MMAP || header->type == PERF_RECORD_MMAP2;
}

int read_queue(struct perfdata *data, struct stream *stream, const struct perf_event_header *header,
	       const uint8_t *record, uint64_t place)
{
	uint64_t time = records_time(data, header, record);
	if (!time) {
		if (!order_waiting(&data->order) || was_before(header))
			return deliver(data, place);
		time = stream->last_time; /* its neighbours' */
	}
	stream->last_time = time;
	if (time > stream->batch_time)
		stream->batch_time = time;
	if (time > data->largest_time)
		data->largest_time = time;
	order_add(&data->order, time, place);
	note_waiting(data, place);
	return too_many_wait(data, stream) ? flush_half(data) : 0;
}

int read_round(struct perfdata *data)
{
	if (data->stream_count > 1)
		return 0;
	data->seen_round = true;
	int result = flush(data, data->round_limit);
	data->round_limit = data->largest_time;
	return result;
}

/* The stream that holds back the others. */
static struct stream *next_stream(struct perfdata *data)
{
	struct stream *next = NULL;
	for (size_t i = 0; i < data->stream_count; i++) {
		struct stream *stream = &data->streams[i];
		if (!stream->finished && (!next || stream->batch_time < next->batch_time))
			next = stream;
	}
	return next;
}

static int flush_folder(struct perfdata *data)
{
	if (data->stream_count == 1 || order_waiting(&data->order) < 2 * data->left_waiting + FOLDER_WAITING)
		return 0;
	uint64_t limit = UINT64_MAX;
	for (size_t i = 0; i < data->stream_count; i++) {
		const struct stream *stream = &data->streams[i];
		/* A batch back, since a ring buffer is not quite in order: interrupts nest. */
		if (!stream->finished && stream->earlier_batch_time < limit)
			limit = stream->earlier_batch_time;
	}
	return flush(data, limit);
}

static int read_all(struct perfdata *data)
{
	for (struct stream *stream; (stream = next_stream(data));) {
		int result = stream_advance(data, stream);
		if (result >= 0)
			result = flush_folder(data);
		if (result < 0)
			return result;
	}
	int result = flush(data, UINT64_MAX);
	if (result >= 0)
		result = deferred_flush(data, -1);
	return result < 0 ? result : records_finish(data);
}

int perfdata_read(struct perfdata *data, const struct event_sink *sink, struct err *err)
{
	data->sink = sink;
	data->scratch = mem_alloc(RECORD_SIZE_MAX);
	data->peek_scratch = mem_alloc(RECORD_SIZE_MAX);
	data->packed_scratch = mem_alloc(RECORD_SIZE_MAX);
	int result = read_all(data);
	for (size_t i = 0; i < data->stream_count; i++)
		window_rest(&data->streams[i].window);
	free(data->scratch);
	free(data->peek_scratch);
	free(data->packed_scratch);
	data->scratch = data->peek_scratch = NULL;
	data->packed_scratch = NULL;
	if (result < 0)
		return result;
	if (!data->sources.count)
		return err_set(err, ERR_FORMAT, "%s: cannot read records, because no event is described", data->name);
	return 0;
}
