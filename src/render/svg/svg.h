/*
 * The interactive flame graph: one SVG that needs nothing else. It holds the frames drawn for one width, which any
 * viewer shows, and the whole call tree as data for the script of src/web/, which takes over where scripts run.
 */
#ifndef WICK_RENDER_SVG_SVG_H
#define WICK_RENDER_SVG_SVG_H

#include "base/outfile.h"
#include "profile/calltree.h"
#include "render/palette.h"

struct nameattr;
struct palette_map;

enum svg_theme {
	SVG_THEME_AUTO, /* as the reader's system is set */
	SVG_THEME_LIGHT,
	SVG_THEME_DARK,
};

struct svg_options {
	const char *title; /* NULL: "Flame Graph", "Icicle Graph" or "Flame Chart" */
	const char *subtitle, *notes; /* NULL or "": none */
	const char *countname, *nametype;
	const char *fonttype; /* checked with svg_font_ok() */
	double fontsize, fontwidth;
	unsigned width; /* of the drawn picture, pixels */
	bool fixed_width; /* the script keeps that width; else it fills the window */
	unsigned frame_height;
	double minwidth; /* narrower frames are not drawn */
	double minwidth_static; /* pixels: nor are narrower ones in the picture that the script replaces; 0: no limit */
	bool minwidth_percent; /* of the total; else pixels */
	double total; /* in counts; more than the sum leaves the rest of the width free; 0: the sum */
	double factor; /* shown counts are multiplied by it */
	unsigned decimals; /* weights are in units of 10^-decimals */
	bool inverted, reverse, flamechart, negate, truncate_right, colordiffusion;
	enum tree_order order;
	enum label_names names; /* LABELS_DEFAULT: frames too narrow for a name show its short form */
	enum svg_theme theme;
	bool script; /* false: the drawn frames only */

	enum palette palette;
	enum shade_method shade;
	uint64_t random; /* seed of SHADE_RANDOM */
	bool marks_are_ours; /* _[k] and _[j] were added to distinguish frames: they do not count for the shade */
	struct rgb background[2], search_colour;
	struct rgb ui_colour, stroke_colour;
	bool has_ui_colour, has_stroke_colour;

	const struct nameattr *attributes; /* NULL: none */
	struct palette_map *map; /* colors by name that win, and gets the others; NULL: none */

	/* Two values per node are compared when tree->total[1] is there. */
	const char *diff_names[2];
	const bool *noise; /* by label of the tree: its change may be chance; NULL: not known */

	uint32_t node_budget; /* nodes in the data; the lightest are folded into their callers beyond it */
};

/* The defaults of flamegraph.pl. */
struct svg_options svg_defaults(void);

/* False for a font list that could end the style it is put in. */
bool svg_font_ok(const char *fonttype);

/* The count that the picture is about: of the only value, or of the second when two are compared. */
int64_t svg_total(const struct calltree *tree);

void svg_render(const struct calltree *tree, const struct profile *profile, const struct svg_options *options,
		struct outfile *out);

#endif
