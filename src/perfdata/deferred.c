/*
 * Call chains whose user part comes later (Linux 6.19): the kernel unwinds user space once, when the thread goes back
 * to it, and gives all samples since then the same cookie. The samples wait here, so they come a little later than
 * their time says; their thread was in the kernel all the while.
 */
#include "perfdata/reader.h"

#define HELD_MAX 4096u
#define HELD_BYTES_MAX (16u << 20)

/* Which of the held samples to deliver, and what comes in place of their promised chain. */
struct selection {
	int32_t tid; /* -1: any */
	bool by_cookie;
	uint64_t cookie;
	const uint64_t *user;
	size_t user_count;
	size_t max; /* how many at most */
};

static bool is_selected(const struct held_sample *held, const struct selection *selection)
{
	return (selection->tid == -1 || held->tid == selection->tid) &&
	       (!selection->by_cookie || held->cookie == selection->cookie);
}

static int deliver_selected(struct perfdata *data, const struct selection *selection)
{
	size_t kept = 0, done = 0;
	int result = 0;
	for (size_t i = 0; i < data->held_count; i++) {
		struct held_sample held = data->held[i];
		if (result < 0 || done == selection->max || !is_selected(&held, selection)) {
			data->held[kept++] = held;
			continue;
		}
		done++;
		data->quality.deferred_missing += !selection->by_cookie;
		result = sample_deliver_held(data, &held, selection->user, selection->user_count);
		data->held_bytes -= held.size;
		free(held.bytes);
	}
	data->held_count = kept;
	return result;
}

int deferred_hold(struct perfdata *data, const struct record *record, const struct event_sample *sample)
{
	if (data->held_count >= HELD_MAX || data->held_bytes >= HELD_BYTES_MAX) {
		int result = deliver_selected(data, &(struct selection){.tid = -1, .max = data->held_count / 2 + 1});
		if (result < 0)
			return result;
	}
	MEM_ROOM(data->held, data->held_count, data->held_capacity);
	struct held_sample *held = &data->held[data->held_count++];
	*held = (struct held_sample){
		.cookie = sample->chain[sample->chain_count - 1],
		.tid = sample->tid,
		.size = (record->words + 1) * 8,
	};
	held->bytes = mem_alloc(held->size);
	memcpy(held->bytes, &record->header, sizeof record->header);
	memcpy(held->bytes + 1, record->body, record->words * 8);
	data->held_bytes += held->size;
	return 0;
}

int deferred_chain(struct perfdata *data, const struct record *record)
{
	struct record rest = *record;
	struct trailer trailer = records_trailer(data, &rest);
	if (rest.words < 2 || rest.body[1] > rest.words - 2) {
		data->quality.malformed++;
		return 0;
	}
	struct selection selection = {
		.tid = trailer.tid,
		.by_cookie = true,
		.cookie = rest.body[0],
		.user = rest.body + 2,
		.user_count = rest.body[1],
		.max = SIZE_MAX,
	};
	return deliver_selected(data, &selection);
}

int deferred_flush(struct perfdata *data, int32_t tid)
{
	if (!data->held_count)
		return 0;
	return deliver_selected(data, &(struct selection){.tid = tid, .max = SIZE_MAX});
}
