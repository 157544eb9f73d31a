/* Makes the labels of frames and threads in a call tree. */
#include "profile/tree_labels.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/text.h"
#include "profile/module.h"
#include "profile/short_names.h"

#include <ctype.h>

void tree_labels_init(struct tree_labels *set)
{
	*set = (struct tree_labels){0};
	MEM_ROOM(set->items, set->count, set->capacity);
	set->items[set->count++] = (struct tree_label){.text = "all", .length = 3, .frame = PROFILE_NONE};
}

static uint32_t add_label(struct tree_labels *set, const char *text, size_t length, frame_id frame)
{
	uint64_t hash = hash_bytes(text, length);
	struct index_probe probe;
	for (uint32_t i = index_map_first(&set->map, hash, &probe); i != INDEX_NONE;
	     i = index_map_next(&set->map, &probe))
		if (set->items[i].length == length && memcmp(set->items[i].text, text, length) == 0)
			return i;
	MEM_ROOM(set->items, set->count, set->capacity);
	uint32_t id = (uint32_t)set->count++;
	set->items[id] = (struct tree_label){
		.text = arena_copy(&set->arena, text, length),
		.length = length,
		.frame = frame,
	};
	index_map_insert(&set->map, hash, id);
	return id;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

static void frame_label(struct buf *out, const struct profile *profile, const struct frame *frame,
			const struct calltree_options *options)
{
	const struct function *function = &profile->functions[frame->function];
	const char *module = profile_text(profile, function->module);
	if (options->show_module && *module && frame->kind != FRAME_UNKNOWN) {
		buf_str(out, base_name(module));
		buf_char(out, '`');
	}
	buf_add(out, profile_text(profile, function->name), strpool_length(&profile->strings, function->name));
	buf_char(out, '\0');
	out->size--;
	/* The part of an a->b->c name that was inlined carries its own mark already. */
	bool marked = ends_with(out->data, "_[i]") && frame->kind == FRAME_INLINED;
	enum frame_kind code = frame->kind;
	if ((options->annotate_kernel || options->annotate_jit) && code != FRAME_JIT)
		code = module_kind(module, strlen(module));
	if (options->annotate_kernel && !marked && code == FRAME_KERNEL)
		buf_str(out, "_[k]");
	else if (options->annotate_jit && !marked && code == FRAME_JIT && !strstr(out->data, "_[j]"))
		buf_str(out, "_[j]");
	if (options->show_line && function->file) {
		buf_char(out, ':');
		buf_str(out, profile_text(profile, function->file));
		if (frame->line)
			buf_printf(out, ":%u", frame->line);
	}
}

/* What is known comes first. */
static int compare_strings(const struct profile *profile, str_id a, str_id b)
{
	if (!a || !b)
		return (a == 0) - (b == 0);
	return a == b ? 0 : strcmp(profile_text(profile, a), profile_text(profile, b));
}

/*
 * Which of two frames a label that both have speaks of. A function that is called in one place and inlined in another
 * counts as called. The order of frames does not decide: it depends on the number of threads.
 */
static bool speaks_before(const struct profile *profile, const struct frame *one, const struct frame *other)
{
	const struct function *a = &profile->functions[one->function], *b = &profile->functions[other->function];
	if (one->kind != other->kind)
		return one->kind < other->kind;
	int order = compare_strings(profile, a->module, b->module);
	if (!order)
		order = compare_strings(profile, a->file, b->file);
	return order ? order < 0 : one->line < other->line;
}

uint32_t *labels_of_frames(struct tree_labels *set, const struct profile *profile,
			   const struct calltree_options *options)
{
	uint32_t *labels = mem_alloc(profile->frame_count * sizeof *labels);
	struct buf text CLEANUP_BUF = {0};
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct frame *frame = &profile->frames[i];
		if (options->hide_inlined && frame->kind == FRAME_INLINED) {
			labels[i] = LABEL_HIDDEN;
			continue;
		}
		buf_clear(&text);
		frame_label(&text, profile, frame, options);
		labels[i] = add_label(set, text.data, text.size, (frame_id)i);
		struct tree_label *label = &set->items[labels[i]];
		if (speaks_before(profile, frame, &profile->frames[label->frame]))
			label->frame = (frame_id)i;
	}
	return labels;
}

bool label_shorten(struct buf *out, const struct profile *profile, const struct short_names *names,
		   const struct tree_label *label, size_t length)
{
	if (label->frame == PROFILE_NONE)
		return false;
	const struct function *function = &profile->functions[profile->frames[label->frame].function];
	const char *name = profile_text(profile, function->name);
	const struct short_text *text = &names->texts[function->name];
	size_t name_length = strpool_length(&profile->strings, function->name);
	const char *module = base_name(profile_text(profile, function->module));
	size_t prefix = strlen(module), size;
	if (!prefix || strncmp(label->text, module, prefix) != 0 || label->text[prefix] != '`')
		prefix = 0;
	else
		prefix++;
	size = prefix + name_length;
	if (text->text == name || size > length || memcmp(label->text + prefix, name, name_length) != 0)
		return false;
	buf_add(out, label->text, prefix);
	buf_add(out, text->text, text->length);
	buf_add(out, label->text + size, length - size);
	return true;
}

void calltree_shorten(struct calltree *tree, const struct profile *profile)
{
	struct short_names names;
	struct buf text CLEANUP_BUF = {0};
	short_names_build(&names, profile);
	for (size_t i = 1; i < tree->label_count; i++) {
		struct tree_label *label = &tree->labels[i];
		buf_clear(&text);
		if (!label_shorten(&text, profile, &names, label, label->length))
			continue;
		label->text = arena_copy(&tree->arena, text.data, text.size);
		label->length = text.size;
	}
	short_names_release(&names);
}

/*
 * The length of what pool threads share: "worker-" of "worker-12", "tokio-rt-w" has none. Digits that follow a letter
 * directly ("python3") are a weaker sign, marked by `weak`.
 */
static size_t pool_prefix(const char *name, bool *weak)
{
	size_t length = strlen(name), end = length;
	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end == length || end < 2)
		return 0;
	*weak = !strchr("-_#/:.", name[end - 1]);
	return end;
}

/* How many distinct thread names share each prefix. */
struct pools {
	struct strpool prefixes;
	unsigned *members; /* by id in prefixes */
	size_t capacity;
};

static void pools_init(struct pools *pools, const struct profile *profile)
{
	*pools = (struct pools){0};
	strpool_init(&pools->prefixes);
	bool *seen CLEANUP_FREE = mem_zalloc(profile->strings.count, sizeof *seen);
	for (size_t i = 1; i < profile->thread_count; i++) {
		str_id comm = profile->threads[i].comm;
		bool weak;
		size_t length = pool_prefix(profile_text(profile, comm), &weak);
		if (!length || seen[comm])
			continue;
		seen[comm] = true;
		size_t known = pools->prefixes.count;
		str_id prefix = strpool_add(&pools->prefixes, profile_text(profile, comm), length);
		pools->members =
			mem_grow(pools->members, &pools->capacity, pools->prefixes.count, sizeof *pools->members);
		if (prefix == known)
			pools->members[prefix] = 0;
		pools->members[prefix]++;
	}
}

static void pools_release(struct pools *pools)
{
	strpool_release(&pools->prefixes);
	free(pools->members);
}

/* The length of the shared part when `comm` is one of a pool, else 0. */
static size_t pool_of(const struct pools *pools, const char *comm)
{
	bool weak;
	size_t length = pool_prefix(comm, &weak);
	if (!length)
		return 0;
	str_id prefix = strpool_find(&pools->prefixes, comm, length);
	/* python2 and python3 are two programs; worker1, worker2, worker3 are a pool. */
	return prefix != INDEX_NONE && pools->members[prefix] >= (weak ? 3u : 2u) ? length : 0;
}

static void thread_text(struct buf *out, const struct profile *profile, const struct thread *thread,
			const struct pools *pools, enum thread_label style)
{
	const char *comm = profile_text(profile, thread->comm);
	size_t pool = pools ? pool_of(pools, comm) : 0;
	buf_add(out, comm, pool ? pool : strlen(comm));
	if (pool)
		buf_char(out, '*');
	if (style == THREAD_LABEL_COMM)
		return;
	buf_char(out, '-');
	if (thread->pid >= 0)
		buf_int(out, thread->pid);
	else
		buf_char(out, '?');
	if (style == THREAD_LABEL_TID)
		buf_printf(out, "/%d", thread->tid);
}

uint32_t *labels_of_threads(struct tree_labels *set, const struct profile *profile,
			    const struct calltree_options *options)
{
	uint32_t *labels = mem_alloc(profile->thread_count * sizeof *labels);
	struct buf text CLEANUP_BUF = {0};
	struct pools pools;
	pools_init(&pools, profile);
	labels[THREAD_UNKNOWN] = LABEL_HIDDEN;
	for (size_t i = 1; i < profile->thread_count; i++) {
		if (options->thread_label == THREAD_LABEL_NONE) {
			labels[i] = LABEL_HIDDEN;
			continue;
		}
		buf_clear(&text);
		thread_text(&text, profile, &profile->threads[i], options->merge_threads ? &pools : NULL,
			    options->thread_label);
		labels[i] = add_label(set, text.data, text.size, PROFILE_NONE);
	}
	pools_release(&pools);
	return labels;
}

/* CPUs in the order of their numbers when they are sorted by name, as perf writes them. */
static void label_text(struct buf *out, const char *key, const char *value)
{
	char *end;
	unsigned long number = strtoul(value, &end, 10);
	buf_clear(out);
	if (!*value)
		buf_str(out, strcmp(key, LABEL_GIL) ? "unknown" : "not in Python");
	else if (!strcmp(key, LABEL_CPU) && isdigit((unsigned char)*value) && !*end)
		buf_printf(out, "%03lu", number);
	else
		buf_str(out, value);
	text_one_frame(out->data, out->size);
}

uint32_t *labels_of_sets(struct tree_labels *set, const struct profile *profile, const struct calltree_options *options)
{
	size_t count = label_sets_count(&profile->label_sets);
	uint32_t *labels = mem_alloc(count * sizeof *labels);
	struct buf text CLEANUP_BUF = {0};
	for (size_t i = 0; i < count; i++) {
		str_id value = profile_label(profile, (label_set_id)i, options->label);
		label_text(&text, options->label, profile_text(profile, value));
		labels[i] = add_label(set, text.data, text.size, PROFILE_NONE);
	}
	return labels;
}

int label_compare(const struct tree_label *a, const struct tree_label *b)
{
	size_t shared = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->text, b->text, shared);
	if (order)
		return order;
	if (a->length == b->length)
		return 0;
	/* The shorter one is followed by the separator of frames. */
	return a->length < b->length ? ';' - (int)(unsigned char)b->text[shared] :
				       (int)(unsigned char)a->text[shared] - ';';
}

static int compare_as_folded(const void *left, const void *right, void *context)
{
	const struct tree_label *labels = context;
	return label_compare(&labels[*(const uint32_t *)left], &labels[*(const uint32_t *)right]);
}

uint32_t *labels_rank(const struct tree_label *labels, size_t count)
{
	uint32_t *order CLEANUP_FREE = mem_alloc(count * sizeof *order);
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof *order, compare_as_folded, (void *)labels);
	uint32_t *rank = mem_alloc(count * sizeof *rank);
	for (size_t i = 0; i < count; i++)
		rank[order[i]] = (uint32_t)i;
	return rank;
}
