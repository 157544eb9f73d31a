/*
 * Files made of a profile, by the commands that write one kind and by those that write several. A new format of `wick
 * record` is a file of this folder that defines its row, and a line in OUTPUT_FORMATS.
 */
#ifndef WICK_RENDER_OUTPUTS_H
#define WICK_RENDER_OUTPUTS_H

#include "base/err.h"
#include "profile/calltree.h"
#include "render/report.h"
#include "render/svg/svg.h"

/* What the counts of a picture are called: samples when each weighs one, else the event (which `scratch` may hold). */
const char *output_countname(const struct profile *profile, value_id value, int64_t total, struct buf *scratch);
/* How much of a tree a picture can hold. What is wide enough to be drawn stays. */
void output_budget(struct calltree_options *options, const struct svg_options *svg);

/* The colors that go with a value type or view when nobody chose others. */
void output_colours(struct svg_options *svg, const struct profile *profile, const char *value);

int output_folded(const struct calltree *tree, unsigned decimals, const char *path, struct err *err);

/* The table of functions as `wick report` has it: fills in what `report` needs of the profile. */
void output_functions(struct report *report, const struct profile *profile, const struct calltree_options *options,
		      struct outfile *out);

/* What a format is given to write. */
struct output {
	const struct profile *profile;
	const struct calltree_options *tree; /* what is shown of it */
	const char *title;
	bool view; /* the value type is a view */
};

struct output_format {
	const char *name; /* of --format */
	const char *file, *ending; /* "out" and ".folded"; -o takes a file with this ending */
	unsigned interest; /* files that readers open first have more of it, and are listed first */
	void (*write)(const struct output *output, struct outfile *out);
};

/* OUTPUT_SVG is the number of output_format_svg, and so on; in the order of the help. */
#define OUTPUT_FORMATS(format) format(FOLDED, folded) format(SVG, svg) format(REPORT, report)
#define OUTPUT_ID(id, row) OUTPUT_##id,
enum output_id { OUTPUT_FORMATS(OUTPUT_ID) OUTPUT_COUNT };
#undef OUTPUT_ID
#define OUTPUT_ROW(id, row) extern const struct output_format output_format_##row;
OUTPUT_FORMATS(OUTPUT_ROW)
#undef OUTPUT_ROW
extern const struct output_format *const output_formats[OUTPUT_COUNT];

#endif
