/* Reads the perf rings as a source, and chooses and completes their samples. */
#include "capture/ring_source.h"

#include "base/clock.h"
#include "event/merge.h"

#include <inttypes.h>

/* Where stacks have to be read before they change. */
enum { PYTHON_ROUND_MS = 1, TAILS_ROUND_MS = 4 };

int ring_source_open(struct ring_source *ring, const struct ring_source_options *options, struct err *err)
{
	*ring = (struct ring_source){.options = *options};
	int result = rings_open(&ring->rings, &ring->options.rings, err);
	const struct rings_options *rings = &ring->options.rings;
	if (!result && options->all_samples)
		members_init(&ring->members, rings->target, rings->events, options->children);
	if (!result && options->by_members && rings->shape.enable_on_exec)
		ring->members.awaited = rings->target->command;
	return result;
}

static void start(void *context, const struct source_consumer *consumer)
{
	struct ring_source *ring = context;
	if (!ring->options.complete)
		return;
	pythons_init(&ring->pythons, ring->options.python ? consumer->codes : NULL);
	tails_init(&ring->tails, consumer->needs, ring->options.by_members ? &ring->members : NULL);
	ring->tails.pythons = &ring->pythons;
	ring->members.tails = &ring->tails;
	rings_announce_samples(ring->rings);
}

static void enable(void *context, enum source_state state, uint64_t time)
{
	struct ring_source *ring = context;
	const struct target *target = ring->options.rings.target;
	(void)time;
	switch (state) {
	case SOURCE_TRACKING:
		rings_enable_tracking(ring->rings);
		if (ring->options.by_members && target->command && !target->clock)
			members_add(&ring->members, target->command);
		break;
	case SOURCE_ON_EXEC:
		rings_enable_everywhere(ring->rings);
		break;
	case SOURCE_SAMPLING:
		rings_enable_samples(ring->rings);
		break;
	case SOURCE_PAUSED:
		rings_disable_samples(ring->rings);
		break;
	case SOURCE_ENDED:
		rings_disable(ring->rings);
		break;
	}
}

static int poll_rings(void *context, int epoll, uint64_t data, struct err *err)
{
	return rings_poll(((struct ring_source *)context)->rings, epoll, data, err);
}

static int reopen(void *context, int32_t cpu, bool samples, struct err *err)
{
	return rings_return(((struct ring_source *)context)->rings, cpu, samples, err);
}

static struct event_sink early(void *context)
{
	struct ring_source *ring = context;
	return ring->options.complete ? tails_early(&ring->tails) : (struct event_sink){0};
}

static struct event_sink stage(void *context, const struct event_sink *next)
{
	struct ring_source *ring = context;
	return ring->options.all_samples ? members_sink(&ring->members, next) : *next;
}

static void look(void *context, struct merge *merge)
{
	rings_look(((struct ring_source *)context)->rings, merge);
}

static void announce(void *context, uint64_t number, const struct event_sink *sink)
{
	rings_announce(((struct ring_source *)context)->rings, number, sink);
}

static int deliver(void *context, uint64_t number, const struct event_sink *sink)
{
	return rings_deliver(((struct ring_source *)context)->rings, number, sink);
}

static int release(void *context, const struct merge *merge, const struct event_sink *sink, bool last)
{
	return rings_release(((struct ring_source *)context)->rings, merge, sink, last);
}

static int flush(void *context, struct merge *merge, const struct event_sink *sink, bool last)
{
	return last ? rings_last_losses(((struct ring_source *)context)->rings, merge->largest_time, sink) : 0;
}

/* The workers may still unwind some of the last ones. */
static void stop(void *context, struct buf *note, struct buf *detail)
{
	const struct ring_source *ring = context;
	const struct tails *tails = &ring->tails;
	uint64_t completed = tails->needs ? atomic_load(&tails->needs->completed) : 0;
	if (ring->pythons.denied)
		buf_printf(
			note,
			"Python functions are not shown: the memory of process %d may not be read; run with sudo, or "
			"start the program with wick record -- COMMAND",
			(int)ring->pythons.denied);
	if (!completed && !tails->denied)
		return;
	buf_printf(detail,
		   "ring engine: %" PRIu64 " stacks larger than their copies were completed from memory of the "
		   "process, %" PRIu64 " had changed",
		   completed, tails->changed);
	if (tails->denied)
		buf_str(detail, "; not permitted for all processes");
}

static void close_rings(void *context)
{
	struct ring_source *ring = context;
	rings_close(ring->rings);
	members_release(&ring->members);
	tails_release(&ring->tails);
	pythons_release(&ring->pythons);
}

struct source ring_source(struct ring_source *ring)
{
	static const struct source_ops ops = {
		.start = start,
		.enable = enable,
		.poll = poll_rings,
		.reopen = reopen,
		.early = early,
		.stage = stage,
		.look = look,
		.announce = announce,
		.deliver = deliver,
		.release = release,
		.flush = flush,
		.stop = stop,
		.close = close_rings,
	};
	return (struct source){&ops, ring};
}

unsigned ring_source_hurry(const struct ring_source *ring, uint64_t time)
{
	const struct pythons *pythons = &ring->pythons;
	if (pythons->last && time - pythons->last < CLOCK_SECOND && !ring->options.rings.wake_each)
		return PYTHON_ROUND_MS;
	return tails_hurry(&ring->tails, time) ? TAILS_ROUND_MS : 0;
}

size_t ring_source_interpreted(struct ring_source *ring, int32_t pid, int32_t tid, uint64_t *words, size_t max)
{
	return pythons_read(&ring->pythons, pid, tid, words, max);
}
