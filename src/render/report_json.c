/* The report as JSON. Field names are documented in docs/json.md: add, never rename. */
#include "base/text.h"
#include "render/json.h"
#include "render/report.h"

static void add_percent(struct buf *out, const struct report *report, int64_t weight)
{
	json_number(out, report->total ? 100.0 * (double)weight / (double)report->total : 0, 4);
}

static unsigned decimals_of(const struct report *report)
{
	return report->profile->values[report->value].decimals;
}

static void add_head(struct buf *out, const struct report *report)
{
	const struct value_type *value = &report->profile->values[report->value];
	buf_str(out, "{\n\"format\": \"wick-report\",\n\"version\": 1,\n\"kind\": ");
	json_text(out, report->kind);
	buf_str(out, ",\n\"event\": ");
	json_known(out, profile_text(report->profile, value->name));
	buf_str(out, ",\n\"unit\": ");
	json_known(out, profile_text(report->profile, value->unit));
	buf_str(out, ",\n\"total\": ");
	text_decimal(out, report->total, value->decimals);
	buf_str(out, ",\n\"inputs\": ");
	json_texts(out, report->inputs);
	buf_str(out, ",\n\"note\": ");
	json_text(out, report->note);
	buf_str(out, ",\n\"rows\": [");
}

static void add_foot(struct buf *out, const struct report *report, uint64_t rows, int64_t weight)
{
	buf_str(out, "\n],\n\"left_out\": {\"rows\": ");
	buf_uint(out, rows);
	buf_str(out, ", \"weight\": ");
	text_decimal(out, weight, decimals_of(report));
	buf_str(out, "},\n\"recording\": ");
	json_extent(out, &report->profile->extent);
	buf_str(out, ",\n\"quality\": ");
	json_quality(out, report->profile);
	buf_str(out, "\n}\n");
}

static void add_weights(struct buf *out, const struct report *report, int64_t self, int64_t total)
{
	buf_str(out, ", \"self\": ");
	text_decimal(out, self, decimals_of(report));
	buf_str(out, ", \"self_percent\": ");
	add_percent(out, report, self);
	buf_str(out, ", \"total\": ");
	text_decimal(out, total, decimals_of(report));
	buf_str(out, ", \"total_percent\": ");
	add_percent(out, report, total);
}

/* Module, kind and source file of a frame; null where nothing is known. */
static void add_frame(struct buf *out, const struct report *report, frame_id id)
{
	const struct profile *profile = report->profile;
	if (id == PROFILE_NONE) {
		buf_str(out, ", \"module\": null, \"frame\": null, \"file\": null");
		return;
	}
	const struct frame *frame = &profile->frames[id];
	const struct function *function = &profile->functions[frame->function];
	buf_str(out, ", \"module\": ");
	json_known(out, profile_text(profile, function->module));
	buf_str(out, ", \"frame\": ");
	json_text(out, frame_kind_name((enum frame_kind)frame->kind));
	buf_str(out, ", \"file\": ");
	json_known(out, profile_text(profile, function->file));
}

static void flush(struct buf *text, struct outfile *out)
{
	outfile_add(out, text->data, text->size);
	buf_clear(text);
}

static void write_table(const struct report *report, const struct function_table *table, struct outfile *out)
{
	struct buf text CLEANUP_BUF = {0};
	int64_t left_out = 0;
	add_head(&text, report);
	size_t rows = report->limit && report->limit < table->count ? report->limit : table->count;
	for (size_t i = 0; i < rows; i++) {
		const struct function_row *row = &table->rows[i];
		buf_str(&text, i ? ",\n{\"name\": " : "\n{\"name\": ");
		text_json(&text, row->name, row->length);
		add_frame(&text, report, row->frame);
		add_weights(&text, report, row->self[0], row->total[0]);
		buf_char(&text, '}');
		flush(&text, out);
	}
	for (size_t i = rows; i < table->count; i++)
		left_out = weight_add(left_out, table->rows[i].self[0]);
	add_foot(&text, report, table->count - rows, left_out);
	flush(&text, out);
}

/*
 * Nodes are listed in preorder with the row of their parent: stacks can be deeper than the nesting that JSON readers
 * allow.
 */
static void write_tree(const struct report *report, const struct calltree *tree, const struct tree_lines *lines,
		       struct outfile *out)
{
	struct buf text CLEANUP_BUF = {0};
	uint32_t *row_of CLEANUP_FREE = mem_alloc((lines->count + 1) * sizeof *row_of);
	uint32_t rows = 0;
	uint64_t left_out = 0;
	int64_t left_out_weight = 0;
	add_head(&text, report);
	for (size_t i = 0; i < lines->count; i++) {
		const struct tree_line *line = &lines->lines[i];
		left_out += line->hidden;
		left_out_weight = weight_add(left_out_weight, line->hidden_weight);
		if (line->remainder)
			continue;
		const struct tree_label *label = &tree->labels[tree->label[line->node]];
		int64_t parent = line->parent_line == INDEX_NONE ? -1 : (int64_t)row_of[line->parent_line];
		row_of[i] = rows++;
		buf_printf(&text, "%s\n{\"depth\": %u, \"parent\": ", rows > 1 ? "," : "", tree->depth[line->node]);
		buf_int(&text, parent);
		buf_str(&text, ", \"name\": ");
		text_json(&text, label->text, label->length);
		add_frame(&text, report, label->frame);
		add_weights(&text, report, tree->self[0][line->node], tree->total[0][line->node]);
		buf_char(&text, '}');
		flush(&text, out);
	}
	add_foot(&text, report, left_out, left_out_weight);
	flush(&text, out);
}

const struct report_format report_json = {.table = write_table, .tree = write_tree};
