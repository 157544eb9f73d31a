/* Files made of a profile, by the commands that write one kind and by those that write several. */
#ifndef WICK_CMD_OUTPUTS_H
#define WICK_CMD_OUTPUTS_H

#include "cmd/command.h"
#include "profile/calltree.h"
#include "render/report.h"
#include "render/svg/svg.h"

/* What the counts of a picture are called: samples when each weighs one, else the event (which `scratch` may hold). */
const char *output_countname(const struct profile *profile, value_id value, int64_t total, struct buf *scratch);
/* How much of a tree a picture can hold. What is wide enough to be drawn stays. */
void output_budget(struct calltree_options *options, const struct svg_options *svg);

/* The colours that go with a value type or view when nobody chose others. */
void output_colours(struct svg_options *svg, const struct profile *profile, const char *value);

int output_folded(const struct calltree *tree, unsigned decimals, const char *path, struct err *err);
/* With the defaults of `wick flame`. */
void output_flame(const struct profile *profile, const struct calltree_options *options, const char *title,
		  const char *subtitle, struct outfile *out);

/* The table of functions as `wick report` has it: fills in what `report` needs of the profile. */
void output_functions(struct report *report, const struct profile *profile, const struct calltree_options *options,
		      struct outfile *out);

#endif
