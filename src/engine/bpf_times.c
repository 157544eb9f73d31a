/* Reads the CPU time of members from a BPF task iterator. */
#include "engine/bpf_times.h"

#include "base/mem.h"

#include <bpf/bpf.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 500 /* for tasks to be freed, which takes a few milliseconds unless the machine is busy */

struct member {
	uint32_t id;
	bool seen; /* it has tasks */
};

struct times {
	struct member *members; /* by ID */
	size_t count;
	uint64_t sum; /* of the tasks that there are */
};

static int by_id(const void *a, const void *b)
{
	const struct member *one = a, *other = b;
	return (one->id > other->id) - (one->id < other->id);
}

/* If a member ends meanwhile, the walk may begin again: so it is bounded, and some are found twice. */
static void list_members(int map, struct times *times)
{
	size_t capacity = 0, max = 0;
	uint32_t id, next;
	struct bpf_map_info info = {0};
	uint32_t size = sizeof info;
	if (!bpf_obj_get_info_by_fd(map, &info, &size))
		max = (size_t)info.max_entries * 2;
	for (bool more = !bpf_map_get_next_key(map, NULL, &id); more && times->count < max; id = next) {
		MEM_ROOM(times->members, times->count, capacity);
		times->members[times->count++] = (struct member){.id = id};
		more = !bpf_map_get_next_key(map, &id, &next);
	}
	if (times->count)
		qsort(times->members, times->count, sizeof *times->members, by_id);
	size_t kept = 0;
	for (size_t i = 0; i < times->count; i++)
		if (!kept || times->members[i].id != times->members[kept - 1].id)
			times->members[kept++] = times->members[i];
	times->count = kept;
}

static void add(void *context, const struct layout_time *found)
{
	struct times *times = context;
	struct member key = {.id = found->id};
	struct member *member = times->count ? bsearch(&key, times->members, times->count, sizeof key, by_id) : NULL;
	if (member)
		member->seen = true;
	times->sum += found->nanoseconds; /* also of one that was started since they were listed */
}

/* Members are listed first: those without tasks are released then, and not yet freed. */
static struct times take_times(const struct bpf_programs *programs, int map)
{
	struct times times = {0};
	list_members(map, &times);
	bpf_programs_times(programs, add, &times);
	return times;
}

uint64_t bpf_times_begin(struct bpf_programs *programs)
{
	int map = bpf_programs_maps(programs).members;
	struct times times = take_times(programs, map);
	/* What they ran is before this. */
	for (size_t i = 0; i < times.count; i++)
		if (!times.members[i].seen)
			bpf_map_delete_elem(map, &times.members[i].id);
	free(times.members);
	return times.sum + bpf_programs_statistic(programs, LAYOUT_CPU_TIME);
}

/* The time of a member that is released, when it is freed. `timeout_ms` is in milliseconds, for all of them. */
static uint64_t time_of_ended(int map, uint32_t id, unsigned *timeout_ms)
{
	const struct timespec millisecond = {.tv_nsec = 1000000};
	struct layout_member member = {0};
	while (!bpf_map_lookup_elem(map, &id, &member) && !member.ended && *timeout_ms) {
		/* A grace period of RCU: the kernel may put off the one that it waits for, for seconds. */
		if (--*timeout_ms == WAIT_MS - 1)
			syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		nanosleep(&millisecond, NULL);
	}
	return member.ended;
}

uint64_t bpf_times_end(struct bpf_programs *programs)
{
	int map = bpf_programs_maps(programs).members;
	unsigned timeout_ms = WAIT_MS;
	bpf_programs_hold_members(programs, true);
	uint64_t before = bpf_programs_statistic(programs, LAYOUT_CPU_TIME);
	struct times times = take_times(programs, map);
	for (size_t i = 0; i < times.count; i++)
		if (!times.members[i].seen)
			times.sum += time_of_ended(map, times.members[i].id, &timeout_ms);
	bpf_programs_hold_members(programs, false);
	struct layout_member member;
	for (size_t i = 0; i < times.count; i++)
		if (!bpf_map_lookup_elem(map, &times.members[i].id, &member) && member.ended)
			bpf_map_delete_elem(map, &times.members[i].id);
	free(times.members);
	return times.sum + before;
}
