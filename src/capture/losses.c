/* Reads the counts of lost records per event, and separates samples from other records. */
#include "capture/losses.h"

#include "base/mem.h"

#include <string.h>
#include <unistd.h>

void losses_init(struct losses *losses, size_t rings, bool counted)
{
	*losses = (struct losses){.counted = counted, .ring_count = rings};
	losses->rings = mem_zalloc(rings, sizeof *losses->rings);
}

void losses_release(struct losses *losses)
{
	free(losses->rings);
	free(losses->events);
	*losses = (struct losses){0};
}

void losses_clear(struct losses *losses)
{
	losses->event_count = 0;
	memset(losses->rings, 0, losses->ring_count * sizeof *losses->rings);
}

void losses_add(struct losses *losses, size_t ring, int fd, bool samples)
{
	if (ring >= losses->ring_count) {
		losses->rings = mem_realloc(losses->rings, ring + 1, sizeof *losses->rings);
		memset(losses->rings + losses->ring_count, 0, (ring + 1 - losses->ring_count) * sizeof *losses->rings);
		losses->ring_count = ring + 1;
	}
	MEM_ROOM(losses->events, losses->event_count, losses->event_capacity);
	losses->events[losses->event_count++] = (struct losses_event){fd, ring, samples};
	losses->rings[ring].samples |= samples;
	losses->rings[ring].others |= !samples;
}

static uint64_t lost_of(const struct losses_event *event)
{
	struct {
		uint64_t value, lost;
	} answer;
	return read(event->fd, &answer, sizeof answer) == sizeof answer ? answer.lost : 0;
}

void losses_remove(struct losses *losses, int fd)
{
	for (size_t i = 0; i < losses->event_count; i++) {
		struct losses_event event = losses->events[i];
		if (event.fd != fd)
			continue;
		struct losses_ring *ring = &losses->rings[event.ring];
		*(event.samples ? &ring->closed_samples : &ring->closed_others) += losses->counted ? lost_of(&event) :
												     0;
		losses->events[i] = losses->events[--losses->event_count];
		return;
	}
}

static int give(struct losses_ring *ring, enum event_lost_kind kind, uint64_t time, uint64_t count,
		const struct event_sink *sink)
{
	struct event_lost lost = {.kind = kind, .time = time, .count = count, .source = UINT32_MAX};
	if (kind == LOST_OTHERS)
		ring->emitted_others += count;
	else
		ring->emitted_samples += count;
	return count ? sink_lost(sink, &lost) : 0;
}

/* What is in `all` and was not reported yet. */
static int give_rest(struct losses_ring *ring, const struct losses_ring *all, uint64_t time,
		     const struct event_sink *sink)
{
	int result = 0;
	if (all->emitted_others > ring->emitted_others)
		result = give(ring, LOST_OTHERS, time, all->emitted_others - ring->emitted_others, sink);
	if (all->emitted_samples > ring->emitted_samples && result >= 0)
		result = give(ring, LOST_SAMPLES, time, all->emitted_samples - ring->emitted_samples, sink);
	return result;
}

static void count(struct losses_ring *all, const struct losses_event *event)
{
	*(event->samples ? &all->emitted_samples : &all->emitted_others) += lost_of(event);
}

int losses_check(struct losses *losses, size_t number, uint64_t time, const struct event_sink *sink)
{
	const struct losses_ring *ring = &losses->rings[number];
	struct losses_ring all = {.emitted_samples = ring->closed_samples, .emitted_others = ring->closed_others};
	for (size_t i = 0; i < losses->event_count && losses->counted; i++)
		if (losses->events[i].ring == number)
			count(&all, &losses->events[i]);
	return give_rest(&losses->rings[number], &all, time, sink);
}

int losses_record(struct losses *losses, size_t number, uint64_t time, uint64_t dropped, const struct event_sink *sink)
{
	struct losses_ring *ring = &losses->rings[number];
	if (losses->counted)
		return losses_check(losses, number, time, sink);
	if (ring->samples && ring->others)
		return give(ring, LOST_ANY, time, dropped, sink);
	return give(ring, ring->samples ? LOST_SAMPLES : LOST_OTHERS, time, dropped, sink);
}

int losses_last(struct losses *losses, uint64_t time, const struct event_sink *sink)
{
	struct losses_ring *all CLEANUP_FREE = mem_zalloc(losses->ring_count + 1, sizeof *all);
	int result = 0;
	for (size_t i = 0; i < losses->ring_count; i++) {
		all[i].emitted_samples = losses->rings[i].closed_samples;
		all[i].emitted_others = losses->rings[i].closed_others;
	}
	for (size_t i = 0; i < losses->event_count && losses->counted; i++)
		count(&all[losses->events[i].ring], &losses->events[i]);
	for (size_t i = 0; i < losses->ring_count && result >= 0; i++)
		result = give_rest(&losses->rings[i], &all[i], time, sink);
	return result;
}
