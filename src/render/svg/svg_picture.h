/* What the parts of the SVG renderer share: the tree seen as a picture. Not for others. */
#ifndef WICK_RENDER_SVG_SVG_PICTURE_H
#define WICK_RENDER_SVG_SVG_PICTURE_H

#include "profile/short_names.h"
#include "render/nameattr.h"
#include "render/palette_map.h"
#include "render/svg/svg.h"

/* A label is several names where the same function is colored by what it belongs to. */
enum {
	VARIANT_PLAIN,
	VARIANT_WAKER, /* in a chain graph */
	VARIANT_STATE, /* plus the state, where states are colored */
	NAME_VARIANTS = VARIANT_STATE + PART_LABELS,
};

/* One name of the picture: a label of the tree in one of its variants. */
struct svg_name {
	uint32_t label;
	enum name_kind kind;
	const char *text; /* what is shown: the label without its mark */
	size_t length, characters;
	const char *escaped; /* the same for XML; NULL until it is drawn */
	size_t escaped_length;
	const char *shorter; /* for frames that are too narrow for the text; NULL: the text is cut */
	size_t shorter_length, shorter_characters;
	struct rgb colour, safe_colour;
	const struct colour_class *class, *safe_class; /* NULL: it separates stacks and is grey */
	const struct nameattr_entry *attributes; /* NULL: none */
};

struct svg_picture {
	const struct calltree *tree;
	const struct profile *profile;
	const struct svg_options *options;
	bool has_python; /* frames, and not only names, say what is Python */

	/* Weight that decides a node's width, alone and with its callees: of two values compared, the larger one. */
	const int64_t *self, *width;
	int64_t *own_self, *own_width; /* the same when they had to be computed */
	const int64_t *lead; /* in time order: weight of the caller alone before the node; else NULL */
	int64_t sum; /* width of all stacks */
	double scale; /* 10^decimals: units in one count */
	double total; /* counts in the whole width */
	double base; /* counts that are 100 % */
	int64_t largest_change; /* of any node but the root */

	struct short_names short_names; /* empty: names are cut as they are */
	uint8_t *variant; /* by node; NULL: all plain */
	uint32_t *name_of_label; /* index into names or INDEX_NONE; behind the plain ones those of the other variants */
	struct svg_name *names;
	size_t name_count, name_capacity;
	uint64_t random;
	struct arena arena;
	struct buf scratch;
};

void svg_picture_init(struct svg_picture *picture, const struct calltree *tree, const struct profile *profile,
		      const struct svg_options *options);
void svg_picture_release(struct svg_picture *picture);

/* The line below the picture: what was recorded, and how good it is. */
void svg_foot(const struct profile *profile, struct buf *out);

static inline bool svg_picture_is_diff(const struct svg_picture *picture)
{
	return picture->tree->total[1] != NULL;
}

/* The name of a node, made when it is first used. Pointers to names move when a new one is made. */
uint32_t svg_name_make(struct svg_picture *picture, uint32_t label, uint8_t variant);
static inline uint32_t svg_name_of(struct svg_picture *picture, uint32_t node)
{
	uint32_t label = picture->tree->label[node];
	uint8_t variant = picture->variant ? picture->variant[node] : VARIANT_PLAIN;
	uint32_t id = picture->name_of_label[label + variant * picture->tree->label_count];
	return id != INDEX_NONE ? id : svg_name_make(picture, label, variant);
}
/* The color of the root frame, which has no name of its own. */
struct rgb svg_root_colour(struct svg_picture *picture);

/* Change of a node with its callees, in units; negated when the options say so. */
static inline int64_t svg_change(const struct svg_picture *picture, uint32_t node)
{
	int64_t change = picture->tree->total[1][node] - picture->tree->total[0][node];
	return picture->options->negate ? -change : change;
}

/* Where frames lie, in pixels. */
struct svg_geometry {
	double width, height;
	double top, bottom; /* free space above and below the frames */
	double per_count; /* pixels per count */
	double narrowest; /* counts that a drawn frame has at least */
	uint32_t depth; /* of the deepest drawn frame */
};
#define SVG_SIDE 10 /* free space left and right */

struct svg_geometry svg_geometry_of(const struct svg_picture *picture);
void svg_write_frames(struct svg_picture *picture, const struct svg_geometry *geometry, struct outfile *out);
void svg_write_data(struct svg_picture *picture, struct outfile *out);

const char *svg_title(const struct svg_options *options);

#endif
