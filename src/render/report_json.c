/* The report as JSON. Field names are documented in docs/json.md: add, never rename. */
#include "base/text.h"
#include "render/json_parts.h"
#include "render/report.h"

static void add_weight(struct json *json, const struct report *report, const char *name, int64_t weight)
{
	text_decimal(json_value(json, name), weight, report->profile->values[report->value].decimals);
}

static void add_percent(struct json *json, const struct report *report, const char *name, int64_t weight)
{
	json_number(json, name, report->total ? 100.0 * (double)weight / (double)report->total : 0, 4);
}

static void add_head(struct json *json, const struct report *report)
{
	const struct value_type *value = &report->profile->values[report->value];
	json_object(json, NULL, &json_lines);
	json_string(json, "format", "wick-report");
	json_uint(json, "version", 1);
	json_string(json, "kind", report->kind);
	json_known(json, "event", profile_text(report->profile, value->name));
	json_known(json, "unit", profile_text(report->profile, value->unit));
	add_weight(json, report, "total", report->total);
	json_strings(json, "inputs", report->inputs);
	json_string(json, "note", report->note);
	json_array(json, "rows", &json_lines);
}

static void add_foot(struct json *json, const struct report *report, uint64_t rows, int64_t weight)
{
	json_end(json);
	json_object(json, "left_out", &json_inline);
	json_uint(json, "rows", rows);
	add_weight(json, report, "weight", weight);
	json_end(json);
	json_extent(json, "recording", &report->profile->extent);
	json_quality(json, "quality", report->profile);
	json_end(json);
	buf_char(json->out, '\n');
}

static void add_weights(struct json *json, const struct report *report, int64_t self, int64_t total)
{
	add_weight(json, report, "self", self);
	add_percent(json, report, "self_percent", self);
	add_weight(json, report, "total", total);
	add_percent(json, report, "total_percent", total);
}

/* Module, kind and source file of a frame; null where nothing is known. */
static void add_frame(struct json *json, const struct report *report, frame_id id)
{
	const struct profile *profile = report->profile;
	const struct frame *frame = id == PROFILE_NONE ? NULL : &profile->frames[id];
	const struct function *function = frame ? &profile->functions[frame->function] : NULL;
	json_known(json, "module", function ? profile_text(profile, function->module) : NULL);
	json_string(json, "frame", frame ? frame_kind_name((enum frame_kind)frame->kind) : NULL);
	json_known(json, "file", function ? profile_text(profile, function->file) : NULL);
}

static void write_table(const struct report *report, const struct function_table *table, struct outfile *out)
{
	struct buf text CLEANUP_BUF = {0};
	int64_t left_out = 0;
	struct json json = {.out = &text};
	add_head(&json, report);
	size_t rows = report->limit && report->limit < table->count ? report->limit : table->count;
	for (size_t i = 0; i < rows; i++) {
		const struct function_row *row = &table->rows[i];
		json_object(&json, NULL, &json_inline);
		json_bytes(&json, "name", row->name, row->length);
		add_frame(&json, report, row->frame);
		add_weights(&json, report, row->self[0], row->total[0]);
		json_end(&json);
		outfile_move(out, &text);
	}
	for (size_t i = rows; i < table->count; i++)
		left_out = weight_add(left_out, table->rows[i].self[0]);
	add_foot(&json, report, table->count - rows, left_out);
	outfile_move(out, &text);
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
	struct json json = {.out = &text};
	add_head(&json, report);
	for (size_t i = 0; i < lines->count; i++) {
		const struct tree_line *line = &lines->lines[i];
		left_out += line->hidden;
		left_out_weight = weight_add(left_out_weight, line->hidden_weight);
		if (line->remainder)
			continue;
		const struct tree_label *label = &tree->labels[tree->label[line->node]];
		int64_t parent = line->parent_line == INDEX_NONE ? -1 : (int64_t)row_of[line->parent_line];
		row_of[i] = rows++;
		json_object(&json, NULL, &json_inline);
		json_uint(&json, "depth", tree->depth[line->node]);
		json_int(&json, "parent", parent);
		json_bytes(&json, "name", label->text, label->length);
		add_frame(&json, report, label->frame);
		add_weights(&json, report, tree->self[0][line->node], tree->total[0][line->node]);
		json_end(&json);
		outfile_move(out, &text);
	}
	add_foot(&json, report, left_out, left_out_weight);
	outfile_move(out, &text);
}

const struct report_format report_json = {.table = write_table, .tree = write_tree};
