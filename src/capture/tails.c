/* Reads memory of processes that samples lack, and adds it to these when it is their turn. */
#include "capture/tails.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/remote_memory.h"
#include "capture/members.h"
#include "capture/pythons.h"
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

/* How many bytes at the end of the copy are compared: of a small one the outer half, which does not change as often. */
static size_t overlap_of(const struct event_sample *sample)
{
	return sample->stack_size / 2 < OVERLAP ? sample->stack_size / 2 : OVERLAP;
}

static struct stack_limit *limit_of(struct tails *tails, int32_t tid)
{
	return &tails->limits[hash_u64((uint32_t)tid) >> (64 - STACK_LIMITS_LOG2)];
}

static void read_stack(struct tails *tails, const struct event_sample *sample, struct tail *tail)
{
	struct unwind_registers registers;
	struct stack_limit *limit = limit_of(tails, sample->tid);
	size_t overlap = overlap_of(sample);
	if (tails->denied || overlap < OVERLAP_MIN)
		return;
	size_t max = stack_needs_now(tails->needs, sample->pid, sample->tid);
	if (!max ||
	    !unwind_registers_from_perf(&registers, NULL, sample->user.abi, sample->user.mask, sample->user.values))
		return;
	uint64_t end = registers.sp + sample->stack_skipped + sample->stack_size;
	if (sample->stack_size < sample->stack_asked && end % PAGE)
		return; /* all of the stack is there, not only what was resident */
	if (limit->tid == sample->tid && limit->end == end)
		return;
	size_t size = read_memory(tails, sample->pid, end - overlap, overlap + max);
	if (size == overlap) /* the copy reaches to the end of the stack */
		*limit = (struct stack_limit){sample->tid, end};
	if (size <= overlap)
		return;
	tails->last = clock_now();
	if (memcmp(tails->room, sample->stack + sample->stack_size - overlap, overlap) != 0) {
		tails->changed++;
		return;
	}
	tail->size = size - overlap;
	tail->bytes = mem_alloc(tail->size);
	memcpy(tail->bytes, tails->room + overlap, tail->size);
}

static void read_interpreted(struct tails *tails, const struct event_sample *sample, struct tail *tail)
{
	uint64_t words[PYTHONS_WORDS_MAX];
	if (!tails->pythons)
		return;
	tail->word_count = pythons_match(tails->pythons, sample, words);
	if (!tail->word_count)
		return;
	tail->words = mem_alloc(tail->word_count * sizeof *words);
	memcpy(tail->words, words, tail->word_count * sizeof *words);
}

static size_t held_bytes(const struct tail *tail)
{
	return tail->size + tail->word_count * sizeof *tail->words;
}

static void look_at(struct tails *tails, const struct event_sample *sample)
{
	struct tail tail = {.time = sample->time, .tid = sample->tid};
	if (tails->held > HELD_MAX || (tails->members && !members_expects(tails->members, sample->pid, sample->tid)))
		return;
	read_interpreted(tails, sample, &tail);
	read_stack(tails, sample, &tail);
	if (!held_bytes(&tail))
		return;
	MEM_ROOM(tails->items, tails->count, tails->capacity);
	tails->items[tails->count++] = tail;
	tails->held += held_bytes(&tail);
}

static int take_early(void *context, const struct event *event)
{
	struct tails *tails = context;
	if (tails->pythons)
		pythons_take(tails->pythons, event);
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
	tails->held -= held_bytes(tail);
	free(tail->bytes);
	free(tail->words);
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
	for (size_t i = tails->head; i < tails->count && tails->items[i].time <= sample->time; i++) {
		const struct tail *tail = &tails->items[i];
		if (tail->time != sample->time || tail->tid != sample->tid)
			continue;
		whole.stack_tail = tail->bytes;
		whole.stack_tail_size = tail->size;
		if (!tail->word_count)
			continue;
		whole.interpreted = tail->words;
		whole.interpreted_count = tail->word_count;
		whole.interpreted_late = true;
	}
	return whole;
}
