/* Maps the rings of all CPUs, opens their events, and reads records from them. */
#include "capture/rings.h"

#include "capture/rings_private.h"
#include "event/merge.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>

/* A record's place: the number of its ring, and where in it. */
#define PLACE_SHIFT 44
#define PLACE_OFFSET ((1ull << PLACE_SHIFT) - 1)

void rings_announce_samples(struct rings *rings)
{
	rings->announce_samples = true;
}

static void control(struct rings *rings, unsigned long request, bool tracking, bool samples)
{
	for (size_t i = 0; i < rings->event_count; i++) {
		bool is_tracking = rings->events[i].source == rings->tracking;
		if (is_tracking ? tracking : samples)
			ioctl(rings->events[i].fd, request, 0);
	}
}

void rings_enable_tracking(struct rings *rings)
{
	control(rings, PERF_EVENT_IOC_ENABLE, true, false);
}

void rings_enable_samples(struct rings *rings)
{
	control(rings, PERF_EVENT_IOC_ENABLE, false, true);
}

void rings_disable_samples(struct rings *rings)
{
	control(rings, PERF_EVENT_IOC_DISABLE, false, true);
}

void rings_enable_everywhere(struct rings *rings)
{
	for (size_t i = 0; i < rings->event_count; i++)
		if (rings->events[i].everywhere)
			ioctl(rings->events[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

void rings_disable(struct rings *rings)
{
	control(rings, PERF_EVENT_IOC_DISABLE, true, true);
}

/* --- draining --- */

static void copy_from_ring(const struct rings *rings, const struct ring *ring, uint64_t offset, void *to, size_t size)
{
	size_t index = (size_t)offset & (rings->size - 1);
	size_t first = rings->size - index < size ? rings->size - index : size;
	memcpy(to, ring->data + index, first);
	memcpy((uint8_t *)to + first, ring->data, size - first);
}

/* The record at an offset, in one piece and aligned. Records of odd size move those after them (perfdata/sample.c). */
static const struct perf_event_header *record_at(struct rings *rings, const struct ring *ring, uint64_t offset)
{
	size_t index = (size_t)offset & (rings->size - 1);
	struct perf_event_header header;
	copy_from_ring(rings, ring, offset, &header, sizeof header);
	if (index + header.size <= rings->size && offset % 8 == 0)
		return (const struct perf_event_header *)(ring->data + index);
	*(struct perf_event_header *)rings->scratch = header;
	if (header.size > sizeof header)
		copy_from_ring(rings, ring, offset, rings->scratch, header.size);
	return (const struct perf_event_header *)rings->scratch;
}

static const struct perf_event_header *record_at_place(struct rings *rings, uint64_t place)
{
	return record_at(rings, &rings->items[place >> PLACE_SHIFT], place & PLACE_OFFSET);
}

/* Adds the records that are new in a ring. */
static void look(struct rings *rings, size_t number, struct merge *merge)
{
	struct ring *ring = &rings->items[number];
	uint64_t last_time = merge->limit;
	if (!ring->page)
		return;
	uint64_t head = atomic_load_explicit((_Atomic __u64 *)&ring->page->data_head, memory_order_acquire);
	size_t room = rings->size < 4 * RING_RECORD_MAX ? rings->size / 4 : RING_RECORD_MAX;
	ring->full |= head - ring->needed > rings->size - room;
	while (ring->seen < head) {
		const struct perf_event_header *record = record_at(rings, ring, ring->seen);
		if (record->size < sizeof *record) { /* never written by a kernel; going on would not end */
			ring->seen = head;
			break;
		}
		uint64_t time = perfdata_live_time(rings->decoder, record);
		last_time = time ? time : last_time; /* its neighbour's */
		merge_add(merge, last_time, (uint64_t)number << PLACE_SHIFT | (ring->seen & PLACE_OFFSET));
		ring->seen += record->size;
	}
}

void rings_look(struct rings *rings, struct merge *merge)
{
	for (size_t i = 0; i < rings->count; i++)
		look(rings, i, merge);
}

void rings_announce(struct rings *rings, uint64_t place, const struct event_sink *early)
{
	const struct perf_event_header *record = record_at_place(rings, place);
	bool wanted = record->type == PERF_RECORD_SAMPLE ? rings->announce_samples : record->type != PERF_RECORD_LOST;
	if (!wanted)
		return;
	perfdata_live_sink(rings->decoder, early);
	perfdata_live_deliver(rings->decoder, record);
}

static int deliver_lost(struct rings *rings, size_t number, const struct perf_event_header *record,
			const struct event_sink *sink)
{
	uint64_t body[2]; /* an event, which wrote next, and how many records were dropped before */
	if (record->size < sizeof *record + sizeof body)
		return 0;
	memcpy(body, record + 1, sizeof body);
	return losses_record(&rings->losses, number, perfdata_live_time(rings->decoder, record), body[1], sink);
}

/* When there is room again, so that nothing more is dropped for now. */
static int check_full(struct rings *rings, uint64_t time, const struct event_sink *sink)
{
	int result = 0;
	for (size_t i = 0; i < rings->count && result >= 0; i++) {
		if (rings->items[i].full)
			result = losses_check(&rings->losses, i, time, sink);
		rings->items[i].full = false;
	}
	return result;
}

int rings_last_losses(struct rings *rings, uint64_t time, const struct event_sink *sink)
{
	return losses_last(&rings->losses, time, sink);
}

int rings_deliver(struct rings *rings, uint64_t place, const struct event_sink *sink)
{
	const struct perf_event_header *record = record_at_place(rings, place);
	if (record->type == PERF_RECORD_LOST)
		return deliver_lost(rings, (size_t)(place >> PLACE_SHIFT), record, sink);
	perfdata_live_sink(rings->decoder, sink);
	return perfdata_live_deliver(rings->decoder, record);
}

/* Gives the kernel back what is before the first record that waits. */
static void free_space(struct rings *rings, const struct merge *merge)
{
	uint64_t place;
	for (size_t i = 0; i < rings->count; i++)
		rings->items[i].needed = rings->items[i].seen;
	for (size_t at = 0; merge_next_waiting(merge, &at, &place);) {
		struct ring *ring = &rings->items[place >> PLACE_SHIFT];
		if (ring->needed > (place & PLACE_OFFSET))
			ring->needed = place & PLACE_OFFSET;
	}
	for (size_t i = 0; i < rings->count; i++)
		if (rings->items[i].page)
			atomic_store_explicit((_Atomic __u64 *)&rings->items[i].page->data_tail, rings->items[i].needed,
					      memory_order_release);
}

int rings_release(struct rings *rings, const struct merge *merge, const struct event_sink *sink, bool last)
{
	free_space(rings, merge);
	int result = check_full(rings, merge->limit, sink);
	perfdata_live_sink(rings->decoder, sink);
	return result < 0 || !last ? result : perfdata_live_finish(rings->decoder);
}
