/* The comparison as JSON. Field names are documented in docs/json.md: add, never rename. */
#include "base/text.h"
#include "render/diff.h"
#include "render/json.h"

#include <math.h>

static void add_field(struct buf *out, const char *name, double value, unsigned digits)
{
	buf_printf(out, ", \"%s\": ", name);
	json_number(out, value, digits);
}

static void add_change(struct buf *out, const struct diff *diff, const struct diff_change *change)
{
	buf_str(out, "{\"before\": ");
	json_number(out, change->before, 6);
	add_field(out, "after", change->after, 6);
	add_field(out, "before_percent", 100 * change->before_share, 4);
	add_field(out, "after_percent", 100 * change->after_share, 4);
	add_field(out, "points", 100 * (change->after_share - change->before_share), 4);
	/* null when there was nothing before */
	add_field(out, "relative_percent",
		  change->before > 0 ? 100 * (change->after - change->before) / change->before : NAN, 4);
	add_field(out, "growth_percent", diff_growth(diff, change), 4);
	buf_printf(out, ", \"p\": %.4g", change->p);
	add_field(out, "confidence", change->confidence, 6);
	buf_printf(out, ", \"significant\": %s}", change->significant ? "true" : "false");
}

static void add_side(struct buf *out, const struct diff_view *view, enum diff_side side)
{
	const struct diff *diff = view->diff;
	buf_printf(out, ",\n\"%s\": {\"inputs\": ", side == DIFF_BEFORE ? "before" : "after");
	json_texts(out, view->inputs[side]);
	buf_printf(out, ", \"runs\": %zu, \"event\": ", diff->runs[side]);
	json_known(out, profile_text(&diff->profile, diff->event[side]));
	buf_str(out, ", \"unit\": ");
	json_known(out, profile_text(&diff->profile, diff->unit[side]));
	add_field(out, "total", side == DIFF_BEFORE ? diff->all.before : diff->all.after, 6);
	add_field(out, "samples", diff->samples[side], 1);
	buf_char(out, '}');
}

static void add_gates(struct buf *out, const struct diff_view *view)
{
	buf_str(out, ",\n\"gates\": [");
	for (size_t i = 0; i < view->gate_count; i++) {
		const struct gate *gate = &view->gates[i];
		buf_str(out, i ? ",\n{\"expression\": " : "\n{\"expression\": ");
		json_text(out, gate->text);
		add_field(out, "limit_percent", gate->limit, 6);
		add_field(out, "growth_percent", gate->growth, 4);
		buf_printf(out,
			   ", \"found\": %s, \"exceeded\": %s, \"significant\": %s, \"failed\": %s, \"function\": ",
			   gate->found ? "true" : "false", gate->exceeded ? "true" : "false",
			   gate->sure ? "true" : "false", gate->failed ? "true" : "false");
		json_text(out, gate->row ? view->diff->tree.labels[gate->row->label].text : NULL);
		buf_char(out, '}');
	}
	buf_char(out, ']');
}

static const char *counting_name(const struct diff *diff)
{
	static const char *const names[] = {
		[COUNTING_WEIGHTS] = "weights", [COUNTING_SAMPLES] = "samples", [COUNTING_PERIOD] = "period",
		[COUNTING_GIVEN] = "given",     [COUNTING_STACKS] = "stacks",
	};
	return names[diff->counting];
}

static void add_head(struct buf *out, const struct diff_view *view)
{
	const struct diff *diff = view->diff;
	buf_str(out, "{\n\"format\": \"wick-diff\",\n\"version\": 1");
	add_side(out, view, DIFF_BEFORE);
	add_side(out, view, DIFF_AFTER);
	buf_printf(out, ",\n\"normalized\": %s,\n\"confidence\": ", diff->options.normalize ? "true" : "false");
	json_number(out, diff->options.confidence, 6);
	buf_printf(out,
		   ",\n\"method\": \"%s\",\n\"counting\": \"%s\",\n\"notes\": ", diff->repeats ? "runs" : "samples",
		   counting_name(diff));
	json_texts(out, view->notes);
	buf_str(out, ",\n\"total\": ");
	add_change(out, diff, &diff->all);
	add_gates(out, view);
	buf_str(out, ",\n\"rows\": [");
}

static void add_row(struct buf *out, const struct diff *diff, const struct diff_row *row)
{
	const struct profile *profile = &diff->profile;
	const struct tree_label *label = &diff->tree.labels[row->label];
	buf_str(out, "{\"name\": ");
	text_json(out, label->text, label->length);
	buf_str(out, ", \"module\": ");
	if (row->frame == PROFILE_NONE) {
		buf_str(out, "null, \"frame\": null");
	} else {
		const struct frame *frame = &profile->frames[row->frame];
		json_known(out, profile_text(profile, profile->functions[frame->function].module));
		buf_str(out, ", \"frame\": ");
		json_text(out, frame_kind_name((enum frame_kind)frame->kind));
	}
	buf_str(out, ",\n \"self\": ");
	add_change(out, diff, &row->self);
	buf_str(out, ",\n \"total\": ");
	add_change(out, diff, &row->total);
	buf_char(out, '}');
}

void diff_json(const struct diff_view *view, struct outfile *out)
{
	struct buf text CLEANUP_BUF = {0};
	size_t count;
	size_t *order CLEANUP_FREE = diff_sorted(view->diff, DIFF_SORT_SELF, true, &count);
	size_t shown = view->limit && view->limit < count ? view->limit : count;
	add_head(&text, view);
	for (size_t i = 0; i < shown; i++) {
		buf_str(&text, i ? ",\n" : "\n");
		add_row(&text, view->diff, &view->diff->rows[order[i]]);
		outfile_add(out, text.data, text.size);
		buf_clear(&text);
	}
	buf_printf(&text, "\n],\n\"left_out\": {\"rows\": %zu},\n\"quality\": ", count - shown);
	json_quality(&text, &view->diff->profile);
	buf_str(&text, "\n}\n");
	outfile_add(out, text.data, text.size);
}
