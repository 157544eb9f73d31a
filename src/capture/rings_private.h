/* Rings from inside. For rings*.c only. */
#ifndef WICK_CAPTURE_RINGS_PRIVATE_H
#define WICK_CAPTURE_RINGS_PRIVATE_H

#include "capture/losses.h"
#include "capture/rings.h"
#include "perfdata/live_decoder.h"

#define RING_RECORD_MAX 65536u

struct ring {
	int32_t cpu;
	int owner; /* index of the event that has the ring; -1: none yet */
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t seen; /* up to where its records were looked at */
	uint64_t needed; /* the first byte that is still needed */
	bool full; /* or nearly: the kernel may have dropped something */
};

struct open_event {
	int fd; /* -1: closed */
	uint32_t source;
	uint32_t ring;
	uint64_t id;
	bool everywhere;
};

struct rings {
	struct ring *items;
	size_t count, capacity;
	size_t size; /* bytes of data of each, a power of two */
	struct open_event *events;
	size_t event_count, event_capacity;
	uint32_t tracking; /* source of the tracking event */
	struct losses losses;
	size_t denied; /* threads that this user may not record */
	int32_t denied_task; /* one of them */
	struct perfdata *decoder;
	struct rings_options options; /* for CPUs that come later */
	int epoll; /* where rings are waited for; -1: not yet */
	uint64_t epoll_data;
	bool announce_samples;
	uint64_t *scratch; /* for records that go around the end of a ring */
};

#endif
