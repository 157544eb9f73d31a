#include "profile/view.h"

#include <string.h>

#define PARTS_MOST 6

struct view_part {
	const char *value; /* name of the value type */
	const char *label; /* NULL: the source does not say which part it is */
	bool waits, may_be_lock;
};

struct profile_view {
	const char *name, *other_name, *title, *unit, *background;
	const char *shown_by; /* without being asked for only where a value type has this in its name */
	struct view_part parts[PARTS_MOST]; /* ended by a NULL value */
};

#define LOCK_LABEL "[lock]"

static const struct profile_view views[] = {
	{
		.name = "wall",
		.title = "Wall-Clock Time",
		.background = "grey",
		.unit = "ns",
		.shown_by = "time-running",
		.parts = {{.value = "time-running", .label = "[running]"},
			  {.value = "time-runnable", .label = "[runnable]", .waits = true},
			  {.value = "time-sleeping", .label = "[sleeping]", .waits = true, .may_be_lock = true},
			  {.value = "time-disk", .label = "[disk]", .waits = true, .may_be_lock = true}},
	},
	{
		.name = "offcpu",
		.title = "Off-CPU Time",
		.background = "blue",
		.unit = "ns",
		.parts = {{.value = "time-sleeping", .label = "[sleeping]", .waits = true, .may_be_lock = true},
			  {.value = "time-disk", .label = "[disk]", .waits = true, .may_be_lock = true},
			  {.value = "time-runnable", .label = "[runnable]", .waits = true},
			  {.value = "offcpu-time", .waits = true}}, /* of perf record --off-cpu */
	},
	{
		.name = "faults",
		.other_name = "mem",
		.title = "Page Faults",
		.background = "green",
		.unit = "faults",
		.shown_by = "-fault-bytes",
		.parts = {{.value = "minor-faults", .label = "[minor]"},
			  {.value = "major-faults", .label = "[major]"},
			  {.value = "page-faults"}},
	},
	{
		.name = "fault-bytes",
		.title = "Memory First Touched",
		.background = "green",
		.unit = "bytes",
		.parts = {{.value = "minor-fault-bytes", .label = "[minor]"},
			  {.value = "major-fault-bytes", .label = "[major]"}},
	},
};
#define VIEW_COUNT (sizeof views / sizeof *views)

const struct profile_view *profile_view_find(const char *name)
{
	for (size_t i = 0; i < VIEW_COUNT; i++)
		if (!strcmp(views[i].name, name) || (views[i].other_name && !strcmp(views[i].other_name, name)))
			return &views[i];
	return NULL;
}

const char *profile_view_name(const struct profile_view *view)
{
	return view->name;
}

const char *profile_view_title(const struct profile_view *view)
{
	return view->title;
}

const char *profile_view_background(const struct profile_view *view)
{
	return view->background;
}

/* "minor-faults:u" is a part as "minor-faults" is. */
static bool is_part(const struct view_part *part, const char *value)
{
	size_t length = strlen(part->value);
	return !strncmp(value, part->value, length) && (!value[length] || value[length] == ':');
}

static const struct view_part *part_of(const struct profile_view *view, const char *value)
{
	for (const struct view_part *part = view->parts; part < view->parts + PARTS_MOST && part->value; part++)
		if (is_part(part, value))
			return part;
	return NULL;
}

const char *profile_unit_of(const char *value_name)
{
	for (size_t i = 0; i < VIEW_COUNT; i++)
		if (part_of(&views[i], value_name) && strcmp(views[i].unit, "faults") != 0)
			return views[i].unit;
	return "";
}

bool profile_view_has(const struct profile *profile, const struct profile_view *view)
{
	for (size_t i = 0; i < profile->sample_count; i++)
		if (part_of(view, profile_text(profile, profile->values[profile->samples[i].value].name)))
			return true;
	return false;
}

static bool has_value(const struct profile *profile, const char *part_of_name)
{
	for (size_t i = 0; i < profile->value_count; i++)
		if (strstr(profile_text(profile, profile->values[i].name), part_of_name))
			return true;
	return false;
}

const struct profile_view *profile_view_default(const struct profile *profile)
{
	value_id first = profile_first_value(profile);
	const char *name = first == PROFILE_NONE ? "" : profile_text(profile, profile->values[first].name);
	for (size_t i = 0; i < VIEW_COUNT; i++) {
		const struct view_part *part = part_of(&views[i], name);
		if (part && part->label && (!views[i].shown_by || has_value(profile, views[i].shown_by)))
			return &views[i];
	}
	return NULL;
}

/* Functions inside of which a thread waits for another one to let go. */
static const char *const kernel_locks[] = {
	"futex_wait", "__futex_wait", "futex_lock_pi", "futex_do_wait", "do_futex",  "__mutex_lock", "mutex_lock",
	"rwsem_down", "down_read",    "down_write",    "__down",        "rt_mutex_", "__rt_mutex_",  NULL,
};
static const char *const libc_locks[] = {
	"__lll_lock_wait",    "__lll_mutex_lock_wait", "__futex_abstimed_wait", "pthread_mutex_lock",
	"pthread_rwlock_",    "___pthread_mutex_lock", "pthread_cond_wait",     "___pthread_cond_wait",
	"pthread_cond_timed", "___pthread_cond_timed", "__new_sem_wait",        NULL,
};

static bool begins_with_any(const char *name, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (!strncmp(name, *beginnings, strlen(*beginnings)))
			return true;
	return false;
}

enum { IN_KERNEL = 1, IN_KERNEL_LOCK = 2, IN_LIBC_LOCK = 4, IN_WAKER = 8 };

static uint8_t facts_of_frame(const struct profile *profile, const struct frame *frame)
{
	const char *name = profile_text(profile, profile->functions[frame->function].name);
	if (!strcmp(name, "--"))
		return IN_WAKER;
	if (frame->kind == FRAME_KERNEL)
		return begins_with_any(name, kernel_locks) ? IN_KERNEL | IN_KERNEL_LOCK : IN_KERNEL;
	return begins_with_any(name, libc_locks) ? IN_LIBC_LOCK : 0;
}

/* By stack: whether it waits for a lock. What libc was asked for counts only where the kernel's part is missing. */
static bool *find_locks(const struct profile *profile)
{
	CLEANUP_FREE uint8_t *of_frame = mem_zalloc(profile->frame_count + 1, sizeof *of_frame);
	CLEANUP_FREE uint8_t *of_stack = mem_zalloc(profile->stack_count, sizeof *of_stack);
	bool *locks = mem_zalloc(profile->stack_count, sizeof *locks);
	for (size_t i = 0; i < profile->frame_count; i++)
		of_frame[i] = facts_of_frame(profile, &profile->frames[i]);
	for (size_t i = 1; i < profile->stack_count; i++) {
		const struct stack *stack = &profile->stacks[i];
		/* Who ended the wait tells nothing of what it was for. */
		uint8_t own = of_stack[stack->parent] & IN_WAKER ? 0 : of_frame[stack->frame];
		of_stack[i] = of_stack[stack->parent] | own;
		locks[i] = of_stack[i] & (of_stack[i] & IN_KERNEL ? IN_KERNEL_LOCK : IN_LIBC_LOCK);
	}
	return locks;
}

/* How a thread leaves its CPU is the same everywhere: the function that wanted it to is told. */
static stack_id without_scheduler(const struct profile *profile, stack_id stack)
{
	for (; stack != STACK_ROOT; stack = profile->stacks[stack].parent) {
		const struct frame *frame = &profile->frames[profile->stacks[stack].frame];
		const char *name = profile_text(profile, profile->functions[frame->function].name);
		if (frame->kind != FRAME_KERNEL || (strcmp(name, "__schedule") != 0 && strcmp(name, "schedule") != 0))
			break;
	}
	return stack;
}

/* Stacks below a frame that names a part, made when they are asked for. */
struct rooted {
	const char *label; /* NULL: as they are */
	stack_id *stacks; /* by old stack; PROFILE_NONE: not made yet */
	stack_id *path; /* scratch: stacks from the one asked for to the first that is made */
	size_t path_capacity;
};

static stack_id root_of_part(struct profile *profile, const char *label)
{
	str_id name = profile_string(profile, label, strlen(label));
	function_id function = profile_function(profile, (struct function){.name = name});
	frame_id frame = profile_frame(profile, (struct frame){.function = function, .kind = FRAME_UNKNOWN});
	return profile_stack(profile, STACK_ROOT, frame);
}

static stack_id rooted_stack(struct profile *profile, struct rooted *rooted, stack_id stack)
{
	size_t count = 0;
	if (!rooted->label)
		return stack;
	if (rooted->stacks[STACK_ROOT] == PROFILE_NONE)
		rooted->stacks[STACK_ROOT] = root_of_part(profile, rooted->label);
	for (stack_id at = stack; rooted->stacks[at] == PROFILE_NONE; at = profile->stacks[at].parent) {
		rooted->path = mem_grow(rooted->path, &rooted->path_capacity, count + 1, sizeof *rooted->path);
		rooted->path[count++] = at;
	}
	while (count-- > 0) {
		stack_id at = rooted->path[count];
		stack_id parent = rooted->stacks[profile->stacks[at].parent];
		rooted->stacks[at] = profile_stack(profile, parent, profile->stacks[at].frame);
	}
	return rooted->stacks[stack];
}

static struct rooted *find_rooted(struct rooted *all, size_t *count, const char *label, size_t stack_count)
{
	for (size_t i = 0; i < *count; i++)
		if (all[i].label == label)
			return &all[i];
	struct rooted *rooted = &all[(*count)++];
	*rooted = (struct rooted){.label = label, .stacks = mem_alloc(stack_count * sizeof(stack_id))};
	memset(rooted->stacks, 0xff, stack_count * sizeof(stack_id));
	return rooted;
}

static void move_samples(struct profile *profile, const struct profile_view *view, value_id joined)
{
	struct rooted rooted[PARTS_MOST + 1];
	size_t rooted_count = 0, stack_count = profile->stack_count;
	CLEANUP_FREE bool *locks = find_locks(profile);
	for (size_t i = 0; i < profile->sample_count; i++) {
		struct sample *sample = &profile->samples[i];
		const struct view_part *part =
			part_of(view, profile_text(profile, profile->values[sample->value].name));
		if (!part || sample->value == joined)
			continue;
		const char *label = part->may_be_lock && locks[sample->stack] ? LOCK_LABEL : part->label;
		struct rooted *below = find_rooted(rooted, &rooted_count, label, stack_count);
		stack_id stack = part->waits ? without_scheduler(profile, sample->stack) : sample->stack;
		profile->samples[i].stack = rooted_stack(profile, below, stack);
		profile->samples[i].value = joined;
	}
	for (size_t i = 0; i < rooted_count; i++) {
		free(rooted[i].stacks);
		free(rooted[i].path);
	}
}

value_id profile_view_apply(struct profile *profile, const struct profile_view *view)
{
	value_id joined = profile_value(profile, view->name, view->unit);
	move_samples(profile, view, joined);
	for (size_t i = 0; i < profile->value_count; i++) {
		struct value_type *type = &profile->values[i], *to = &profile->values[joined];
		if (i == joined || !part_of(view, profile_text(profile, type->name)))
			continue;
		to->samples += type->samples;
		to->truncated += type->truncated;
		to->unresolved += type->unresolved;
		to->first_seen = type->first_seen < to->first_seen ? type->first_seen : to->first_seen;
		type->samples = type->truncated = type->unresolved = 0;
		type->first_seen = UINT64_MAX;
	}
	return joined;
}
