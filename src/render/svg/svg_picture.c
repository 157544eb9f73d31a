/* Prepares the call tree for the SVG: totals, values, marks, and the footer. */
#include "render/svg/svg_picture.h"

#include <math.h>

/* Of two values compared the larger one counts, so that what vanished keeps a width. */
static void combine_values(struct svg_picture *picture)
{
	const struct calltree *tree = picture->tree;
	size_t size = (size_t)tree->count * sizeof(int64_t);
	picture->own_self = mem_alloc(size);
	picture->own_width = mem_alloc(size);
	for (uint32_t i = 0; i < tree->count; i++) {
		int64_t before = tree->self[0][i], after = tree->self[1][i];
		picture->own_self[i] = before > after ? before : after;
	}
	memcpy(picture->own_width, picture->own_self, size);
	for (uint32_t i = tree->count; i-- > 1;) {
		int64_t *above = &picture->own_width[tree->parent[i]];
		*above = weight_add(*above, picture->own_width[i]);
	}
	picture->self = picture->own_self;
	picture->width = picture->own_width;
}

static int64_t largest_change(const struct calltree *tree)
{
	int64_t largest = 0;
	for (uint32_t i = 1; i < tree->count; i++) {
		int64_t change = tree->total[1][i] - tree->total[0][i];
		if (change < 0)
			change = -change;
		if (change > largest)
			largest = change;
	}
	return largest;
}

/* In a chain graph all frames above the first "--" belong to wakers; further "--" only separate them. */
static void mark_wakers(struct svg_picture *picture)
{
	const struct calltree *tree = picture->tree;
	picture->variant = mem_zalloc(tree->count, sizeof *picture->variant);
	uint32_t end = 0;
	for (uint32_t i = 1; i < tree->count; i++) {
		bool separator = !strcmp(tree->labels[tree->label[i]].text, "--");
		if (i < end)
			picture->variant[i] = separator ? VARIANT_PLAIN : VARIANT_WAKER;
		else if (separator && tree->depth[i] > 1)
			end = tree->end[i];
	}
}

/* Everything above a frame that names a state, and the frame itself, belongs to it. */
static void mark_states(struct svg_picture *picture)
{
	const struct calltree *tree = picture->tree;
	picture->variant = mem_zalloc(tree->count, sizeof *picture->variant);
	for (uint32_t i = 1; i < tree->count; i++) {
		unsigned state = palette_state_of(tree->labels[tree->label[i]].text);
		uint8_t above = picture->variant[tree->parent[i]];
		picture->variant[i] = above ? above : state ? (uint8_t)(VARIANT_STATE + state) : VARIANT_PLAIN;
	}
}

int64_t svg_total(const struct calltree *tree)
{
	return tree->total[1] ? tree->total[1][0] : tree->total[0][0];
}

void svg_picture_init(struct svg_picture *picture, const struct calltree *tree, const struct profile *profile,
		      const struct svg_options *options)
{
	*picture = (struct svg_picture){
		.tree = tree,
		.profile = profile,
		.options = options,
		.self = tree->self[0],
		.width = tree->total[0],
		.scale = pow(10, options->decimals),
		.random = options->random,
	};
	if (svg_picture_is_diff(picture)) {
		combine_values(picture);
		picture->largest_change = largest_change(tree);
	} else {
		picture->lead = tree->lead; /* of one value only */
	}
	picture->sum = picture->width[0];
	double asked = options->total, sum = (double)picture->sum / picture->scale;
	picture->total = asked > sum ? asked : sum;
	double counted = (double)svg_total(tree) / picture->scale;
	picture->base = asked > counted ? asked : counted > 0 ? counted : picture->total;
	if (options->names == LABELS_DEFAULT)
		short_names_build(&picture->short_names, profile);
	for (size_t i = 0; i < profile->frame_count && !picture->has_python; i++)
		picture->has_python = profile->frames[i].kind == FRAME_PYTHON;
	if (options->palette == PALETTE_CHAIN)
		mark_wakers(picture);
	if (options->palette == PALETTE_STATE)
		mark_states(picture);
	size_t names = (picture->variant ? NAME_VARIANTS : 1) * tree->label_count;
	picture->name_of_label = mem_alloc(names * sizeof *picture->name_of_label);
	memset(picture->name_of_label, 0xff, names * sizeof *picture->name_of_label);
	picture->name_capacity = tree->label_count; /* room that is not used is not touched and costs nothing */
	picture->names = mem_alloc(picture->name_capacity * sizeof *picture->names);
}

void svg_picture_release(struct svg_picture *picture)
{
	free(picture->own_self);
	free(picture->own_width);
	free(picture->variant);
	free(picture->name_of_label);
	free(picture->names);
	short_names_release(&picture->short_names);
	arena_release(&picture->arena);
	buf_release(&picture->scratch);
	*picture = (struct svg_picture){0};
}

void svg_foot(const struct profile *profile, struct buf *out)
{
	struct buf quality CLEANUP_BUF = {0};
	extent_line(&profile->extent, out);
	quality_line(&profile->quality, &profile->strings, &quality);
	if (out->size && quality.size)
		buf_str(out, " · ");
	buf_add(out, quality.data ? quality.data : "", quality.size);
}
