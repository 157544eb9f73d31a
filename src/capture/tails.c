/* Reads stack memory beyond the copies in samples, and adds it to later samples. */
#include "capture/tails.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/remote_memory.h"
#include "capture/members.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <string.h>

#define OVERLAP 1024u /* bytes of the copy that are compared: several frames */
#define OVERLAP_MIN 32u
#define PAGE 4096u
#define HELD_MAX (64u << 20) /* bytes */
#define HURRY 1000000000ull /* nanoseconds after the last one that was read */
#define FIRST_HURRY 200000000ull /* and at the beginning, when it is not known whether there are any */

/* Reads up to the end of the mapping. Returns the number of bytes. */
static size_t read_memory(struct tails *tails, int32_t pid, uint64_t from, size_t max)
{
	long got = remote_memory_read(pid, from, tails->room, max);
	if (got == -EPERM || got == -ENOSYS)
		tails->denied = true;
	return got > 0 ? (size_t)got : 0;
}

static void keep(struct tails *tails, const struct event_sample *sample, const uint8_t *bytes, size_t size)
{
	MEM_ROOM(tails->items, tails->count, tails->capacity);
	struct tail *tail = &tails->items[tails->count++];
	*tail = (struct tail){.time = sample->time, .tid = sample->tid, .bytes = mem_alloc(size), .size = size};
	memcpy(tail->bytes, bytes, size);
	tails->held += size;
}

/* How many bytes at the end of the copy are compared: of a small one the outer half, which does not change as often. */
static size_t overlap_of(const struct event_sample *sample)
{
	return sample->stack_size / 2 < OVERLAP ? sample->stack_size / 2 : OVERLAP;
}

static void look_at(struct tails *tails, const struct event_sample *sample)
{
	struct unwind_registers registers;
	size_t overlap = overlap_of(sample);
	if (tails->denied || overlap < OVERLAP_MIN || tails->held > HELD_MAX ||
	    (tails->members && !members_expects(tails->members, sample->pid, sample->tid)))
		return;
	size_t max = stack_needs_now(tails->needs, sample->tid);
	if (!max ||
	    !unwind_registers_from_perf(&registers, NULL, sample->user.abi, sample->user.mask, sample->user.values))
		return;
	uint64_t end = registers.sp + sample->stack_skipped + sample->stack_size;
	if (sample->stack_size < sample->stack_asked && end % PAGE)
		return; /* all of the stack is there, not only what was resident */
	size_t size = read_memory(tails, sample->pid, end - overlap, overlap + max);
	if (size <= overlap)
		return; /* the copy reaches to the end of the stack */
	tails->last = clock_now();
	if (memcmp(tails->room, sample->stack + sample->stack_size - overlap, overlap) != 0)
		tails->changed++;
	else
		keep(tails, sample, tails->room + overlap, size - overlap);
}

static int take_early(void *context, const struct event *event)
{
	struct tails *tails = context;
	if (event->type == EVENT_SAMPLE)
		look_at(tails, event->sample);
	else if (event->type == EVENT_FORK && tails->members)
		members_expect(tails->members, event->task);
	return 0;
}

void tails_init(struct tails *tails, struct stack_needs *needs, struct members *members)
{
	*tails = (struct tails){.needs = needs,
				.members = members,
				.last = clock_now() - HURRY + FIRST_HURRY,
				.room = mem_alloc((size_t)OVERLAP + STACK_TAIL_MAX)};
}

struct event_sink tails_early(struct tails *tails)
{
	return (struct event_sink){.context = tails, .take = take_early};
}

/* The oldest is not needed any more. */
static void drop(struct tails *tails)
{
	struct tail *tail = &tails->items[tails->head++];
	tails->held -= tail->size;
	free(tail->bytes);
	if (tails->head < tails->count)
		return;
	tails->head = tails->count = 0;
}

void tails_release(struct tails *tails)
{
	while (tails->head < tails->count)
		drop(tails);
	free(tails->items);
	free(tails->room);
	*tails = (struct tails){0};
}

bool tails_hurry(const struct tails *tails, uint64_t time)
{
	return tails->last && !tails->denied && time - tails->last < HURRY;
}

struct event_sample tails_complete(struct tails *tails, const struct event_sample *sample)
{
	struct event_sample whole = *sample;
	while (tails->head < tails->count && tails->items[tails->head].time < sample->time)
		drop(tails);
	for (size_t i = tails->head; i < tails->count && tails->items[i].time <= sample->time; i++)
		if (tails->items[i].time == sample->time && tails->items[i].tid == sample->tid) {
			whole.stack_tail = tails->items[i].bytes;
			whole.stack_tail_size = tails->items[i].size;
		}
	return whole;
}
