/* The rows of views, and the change of a profile into one of them. */
#include "profile/view.h"

#include "profile/module.h"

#include <string.h>

const struct profile_view *profile_view_find(const char *name)
{
	for (const struct profile_view *view = NULL; (view = profile_view_next(view));)
		if (!strcmp(view->name, name))
			return view;
	/* The other name of a type is one of its first view. */
	for (size_t i = 0; i < profile_type_count; i++)
		if (profile_types[i].other_name && !strcmp(profile_types[i].other_name, name))
			return profile_types[i].views[0].name ? profile_types[i].views : NULL;
	return NULL;
}

/* "minor-faults:u" is a part as "minor-faults" is. */
static bool is_part(const struct view_part *part, const char *value)
{
	size_t length = strlen(part->value);
	return !strncmp(value, part->value, length) && (!value[length] || value[length] == ':');
}

static const struct view_part *part_of(const struct profile_view *view, const char *value)
{
	for (const struct view_part *part = view->parts; part < view->parts + VIEW_PARTS_MAX && part->value; part++)
		if (is_part(part, value))
			return part;
	return NULL;
}

const char *profile_unit_of(const char *value_name)
{
	for (const struct profile_view *view = NULL; (view = profile_view_next(view));)
		if (!view->counted && part_of(view, value_name))
			return view->unit;
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
	const struct profile_view *found = NULL;
	for (const struct profile_view *view = NULL; (view = profile_view_next(view));) {
		const struct view_part *part = part_of(view, name);
		if (!part || part->label == PART_NONE)
			continue;
		if (view->shown_by && has_value(profile, view->shown_by))
			return view;
		if (!view->shown_by && !found)
			found = view;
	}
	return found;
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

/*
 * CPython waits for its global lock on a condition variable, or for the mutex of it. On Linux it waits for nothing else
 * in this way: its other locks are semaphores.
 */
static const char *const gil_waits[] = {"pthread_cond_", "pthread_mutex_lock", NULL};
/* Functions that take or release it, where the file does not say that it is the interpreter's. */
static const char *const gil_users[] = {"take_gil", "drop_gil", "PyEval_", "_PyEval_", "_PyThreadState_", NULL};

static bool begins_with_any(const char *name, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (!strncmp(name, *beginnings, strlen(*beginnings)))
			return true;
	return false;
}

enum {
	IN_KERNEL = 1,
	IN_KERNEL_LOCK = 2,
	IN_LIBC_LOCK = 4,
	IN_WAKER = 8,
	IN_GIL = 16, /* of a stack */
	IN_INTERPRETER = 32, /* of a frame: the code of CPython, or a function that it evaluates */
	IN_GIL_WAIT = 64, /* of a frame: waits for the GIL if the interpreter called it */
};

static uint8_t facts_of_native(const char *name, const char *module)
{
	uint8_t facts = begins_with_any(name, libc_locks) ? IN_LIBC_LOCK : 0;
	if (begins_with_any(name + strspn(name, "_"), gil_waits))
		facts |= IN_GIL_WAIT;
	if (module_is_python(module) || begins_with_any(name, gil_users))
		facts |= IN_INTERPRETER;
	return facts;
}

static uint8_t facts_of_frame(const struct profile *profile, const struct frame *frame)
{
	const char *name = profile_text(profile, profile->functions[frame->function].name);
	if (!strcmp(name, "--"))
		return IN_WAKER;
	if (frame->kind == FRAME_KERNEL)
		return begins_with_any(name, kernel_locks) ? IN_KERNEL | IN_KERNEL_LOCK : IN_KERNEL;
	if (frame->kind == FRAME_PYTHON)
		return IN_INTERPRETER;
	return facts_of_native(name, profile_text(profile, profile->functions[frame->function].module));
}

/* How a thread leaves its CPU is the same everywhere: the function that wanted it to is shown. */
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

/* Stacks below a frame that names a part, made when they are requested. */
struct rooted {
	enum part_label label; /* PART_NONE: as they are */
	stack_id *stacks; /* by old stack; PROFILE_NONE: not made yet */
	size_t count, capacity;
};

struct profile_viewer {
	struct profile *profile;
	const struct profile_view *view;
	value_id joined;
	struct rooted rooted[VIEW_PARTS_MAX + 1];
	size_t rooted_count;
	stack_id *path; /* scratch: stacks from the requested one to the first that is made */
	size_t path_capacity;
	uint8_t *of_frame, *of_stack; /* what is known of each so far */
	size_t frame_count, frame_capacity, stack_count, stack_capacity;
};

struct profile_viewer *profile_viewer_new(struct profile *profile, const struct profile_view *view)
{
	struct profile_viewer *viewer = mem_zalloc(1, sizeof *viewer);
	viewer->profile = profile;
	viewer->view = view;
	viewer->joined = profile_value(profile, view->name, view->unit);
	return viewer;
}

void profile_viewer_free(struct profile_viewer *viewer)
{
	if (!viewer)
		return;
	for (size_t i = 0; i < viewer->rooted_count; i++)
		free(viewer->rooted[i].stacks);
	free(viewer->path);
	free(viewer->of_frame);
	free(viewer->of_stack);
	free(viewer);
}

/* What is known of a stack by its outer part and its innermost frame. */
static uint8_t facts_of_stack(const struct profile_viewer *viewer, const struct stack *stack)
{
	uint8_t outer = viewer->of_stack[stack->parent], inner = viewer->of_frame[stack->frame];
	/* Who ended the wait says nothing about what it was for. */
	if (outer & IN_WAKER)
		return outer;
	bool gil = outer & IN_INTERPRETER && inner & IN_GIL_WAIT;
	return (outer & (uint8_t)~IN_INTERPRETER) | inner | (gil ? IN_GIL : 0);
}

/* Of stacks and frames that came since; callers stand before those they call. */
static void extend_facts(struct profile_viewer *viewer)
{
	const struct profile *profile = viewer->profile;
	if (viewer->stack_count == profile->stack_count)
		return;
	viewer->of_frame =
		mem_grow(viewer->of_frame, &viewer->frame_capacity, profile->frame_count, sizeof *viewer->of_frame);
	for (; viewer->frame_count < profile->frame_count; viewer->frame_count++)
		viewer->of_frame[viewer->frame_count] = facts_of_frame(profile, &profile->frames[viewer->frame_count]);
	viewer->of_stack =
		mem_grow(viewer->of_stack, &viewer->stack_capacity, profile->stack_count, sizeof *viewer->of_stack);
	for (; viewer->stack_count < profile->stack_count; viewer->stack_count++) {
		bool root = viewer->stack_count == STACK_ROOT;
		viewer->of_stack[viewer->stack_count] =
			root ? 0 : facts_of_stack(viewer, &profile->stacks[viewer->stack_count]);
	}
}

/* What libc was called for counts only where the kernel's part is missing. */
static enum part_label label_of_wait(struct profile_viewer *viewer, stack_id stack, enum part_label other)
{
	extend_facts(viewer);
	uint8_t facts = viewer->of_stack[stack];
	if (!(facts & (facts & IN_KERNEL ? IN_KERNEL_LOCK : IN_LIBC_LOCK)))
		return other;
	return facts & IN_GIL ? PART_GIL : PART_LOCK;
}

static stack_id root_of_part(struct profile *profile, const char *label)
{
	str_id name = profile_string(profile, label, strlen(label));
	function_id function = profile_function(profile, (struct function){.name = name});
	frame_id frame = profile_frame(profile, (struct frame){.function = function, .kind = FRAME_UNKNOWN});
	return profile_stack(profile, STACK_ROOT, frame);
}

static void extend_rooted(struct rooted *rooted, size_t stack_count)
{
	rooted->stacks = mem_grow(rooted->stacks, &rooted->capacity, stack_count, sizeof *rooted->stacks);
	for (; rooted->count < stack_count; rooted->count++)
		rooted->stacks[rooted->count] = PROFILE_NONE;
}

static stack_id rooted_stack(struct profile_viewer *viewer, struct rooted *rooted, stack_id stack)
{
	struct profile *profile = viewer->profile;
	size_t count = 0;
	if (rooted->label == PART_NONE)
		return stack;
	extend_rooted(rooted, (size_t)stack + 1);
	if (rooted->stacks[STACK_ROOT] == PROFILE_NONE)
		rooted->stacks[STACK_ROOT] = root_of_part(profile, part_label_text(rooted->label));
	for (stack_id at = stack; rooted->stacks[at] == PROFILE_NONE; at = profile->stacks[at].parent) {
		viewer->path = mem_grow(viewer->path, &viewer->path_capacity, count + 1, sizeof *viewer->path);
		viewer->path[count++] = at;
	}
	while (count-- > 0) {
		stack_id at = viewer->path[count];
		stack_id parent = rooted->stacks[profile->stacks[at].parent];
		rooted->stacks[at] = profile_stack(profile, parent, profile->stacks[at].frame);
	}
	return rooted->stacks[stack];
}

static struct rooted *find_rooted(struct profile_viewer *viewer, enum part_label label)
{
	for (size_t i = 0; i < viewer->rooted_count; i++)
		if (viewer->rooted[i].label == label)
			return &viewer->rooted[i];
	struct rooted *rooted = &viewer->rooted[viewer->rooted_count++];
	*rooted = (struct rooted){.label = label};
	return rooted;
}

bool profile_viewer_move(struct profile_viewer *viewer, struct sample *sample)
{
	struct profile *profile = viewer->profile;
	if (sample->value == viewer->joined)
		return true;
	const struct view_part *part =
		part_of(viewer->view, profile_text(profile, profile->values[sample->value].name));
	if (!part)
		return false;
	enum part_label label = part->may_be_lock ? label_of_wait(viewer, sample->stack, part->label) : part->label;
	stack_id stack = part->waits ? without_scheduler(profile, sample->stack) : sample->stack;
	sample->stack = rooted_stack(viewer, find_rooted(viewer, label), stack);
	sample->value = viewer->joined;
	return true;
}

value_id profile_view_apply(struct profile *profile, const struct profile_view *view)
{
	struct profile_viewer *viewer = profile_viewer_new(profile, view);
	value_id joined = viewer->joined;
	for (size_t i = 0; i < profile->sample_count; i++)
		profile_viewer_move(viewer, &profile->samples[i]);
	profile_viewer_free(viewer);
	for (size_t i = 0; i < profile->value_count; i++) {
		struct value_type *type = &profile->values[i], *to = &profile->values[joined];
		if (i == joined || !part_of(view, profile_text(profile, type->name)))
			continue;
		to->samples += type->samples;
		to->truncated += type->truncated;
		to->unresolved += type->unresolved;
		to->derived += type->derived;
		to->late += type->late;
		to->first_seen = type->first_seen < to->first_seen ? type->first_seen : to->first_seen;
		type->samples = type->truncated = type->unresolved = type->derived = type->late = 0;
		type->first_seen = UINT64_MAX;
	}
	return joined;
}
