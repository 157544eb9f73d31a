/* The comparison as JSON. Field names are documented in docs/json.md: add, never rename. */
#include "render/diff.h"
#include "render/json_parts.h"

#include <math.h>

static void add_change(struct json *json, const char *name, const struct diff *diff, const struct diff_change *change)
{
	json_object(json, name, &json_inline);
	json_number(json, "before", change->before, 6);
	json_number(json, "after", change->after, 6);
	json_number(json, "before_percent", 100 * change->before_share, 4);
	json_number(json, "after_percent", 100 * change->after_share, 4);
	json_number(json, "points", 100 * (change->after_share - change->before_share), 4);
	/* null when there was nothing before */
	json_number(json, "relative_percent",
		    change->before > 0 ? 100 * (change->after - change->before) / change->before : NAN, 4);
	json_number(json, "growth_percent", diff_growth(diff, change), 4);
	buf_printf(json_value(json, "p"), "%.4g", change->p);
	json_number(json, "confidence", change->confidence, 6);
	json_bool(json, "significant", change->significant);
	json_end(json);
}

static void add_side(struct json *json, const struct diff_view *view, enum diff_side side)
{
	const struct diff *diff = view->diff;
	json_object(json, side == DIFF_BEFORE ? "before" : "after", &json_inline);
	json_strings(json, "inputs", view->inputs[side]);
	json_uint(json, "runs", diff->runs[side]);
	json_known(json, "event", profile_text(&diff->profile, diff->event[side]));
	json_known(json, "unit", profile_text(&diff->profile, diff->unit[side]));
	json_number(json, "total", side == DIFF_BEFORE ? diff->all.before : diff->all.after, 6);
	json_number(json, "samples", diff->samples[side], 1);
	json_end(json);
}

static void add_gates(struct json *json, const struct diff_view *view)
{
	static const struct json_layout gates = {"\n", ",\n", "", ": "};
	json_array(json, "gates", &gates);
	for (size_t i = 0; i < view->gate_count; i++) {
		const struct gate *gate = &view->gates[i];
		json_object(json, NULL, &json_inline);
		json_string(json, "expression", gate->text);
		json_number(json, "limit_percent", gate->limit, 6);
		json_number(json, "growth_percent", gate->growth, 4);
		json_bool(json, "found", gate->found);
		json_bool(json, "exceeded", gate->exceeded);
		json_bool(json, "significant", gate->sure);
		json_bool(json, "failed", gate->failed);
		json_string(json, "function", gate->row ? view->diff->tree.labels[gate->row->label].text : NULL);
		json_end(json);
	}
	json_end(json);
}

static const char *counting_name(const struct diff *diff)
{
	static const char *const names[] = {
		[COUNTING_WEIGHTS] = "weights", [COUNTING_SAMPLES] = "samples", [COUNTING_PERIOD] = "period",
		[COUNTING_GIVEN] = "given",     [COUNTING_STACKS] = "stacks",
	};
	return names[diff->counting];
}

static void add_head(struct json *json, const struct diff_view *view)
{
	const struct diff *diff = view->diff;
	json_object(json, NULL, &json_lines);
	json_string(json, "format", "wick-diff");
	json_uint(json, "version", 1);
	add_side(json, view, DIFF_BEFORE);
	add_side(json, view, DIFF_AFTER);
	json_bool(json, "normalized", diff->options.normalize);
	json_number(json, "confidence", diff->options.confidence, 6);
	json_string(json, "method", diff->repeats ? "runs" : "samples");
	json_string(json, "counting", counting_name(diff));
	json_strings(json, "notes", view->notes);
	add_change(json, "total", diff, &diff->all);
	add_gates(json, view);
	json_array(json, "rows", &json_lines);
}

/* In three lines. */
static void add_row(struct json *json, const struct diff *diff, const struct diff_row *row)
{
	const struct profile *profile = &diff->profile;
	const struct tree_label *label = &diff->tree.labels[row->label];
	const struct frame *frame = row->frame == PROFILE_NONE ? NULL : &profile->frames[row->frame];
	json_object(json, NULL, &json_inline);
	json_bytes(json, "name", label->text, label->length);
	json_known(json, "module", frame ? profile_text(profile, profile->functions[frame->function].module) : NULL);
	json_string(json, "frame", frame ? frame_kind_name((enum frame_kind)frame->kind) : NULL);
	json_separate(json, ",\n ");
	add_change(json, "self", diff, &row->self);
	json_separate(json, ",\n ");
	add_change(json, "total", diff, &row->total);
	json_end(json);
}

void diff_json(const struct diff_view *view, struct outfile *out)
{
	struct buf text CLEANUP_BUF = {0};
	struct json json = {.out = &text};
	size_t count;
	size_t *order CLEANUP_FREE = diff_sorted(view->diff, DIFF_SORT_SELF, true, &count);
	size_t shown = view->limit && view->limit < count ? view->limit : count;
	add_head(&json, view);
	for (size_t i = 0; i < shown; i++) {
		add_row(&json, view->diff, &view->diff->rows[order[i]]);
		outfile_move(out, &text);
	}
	json_end(&json);
	json_object(&json, "left_out", &json_inline);
	json_uint(&json, "rows", count - shown);
	json_end(&json);
	json_quality(&json, "quality", &view->diff->profile);
	json_end(&json);
	buf_char(&text, '\n');
	outfile_add(out, text.data, text.size);
}
