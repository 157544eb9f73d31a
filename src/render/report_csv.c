/* The report as CSV (RFC 4180 with "\n"): one header line, then one line per row. docs/json.md names the columns. */
#include "base/text.h"
#include "render/report.h"

static void add_weight(struct buf *out, const struct report *report, int64_t weight)
{
	text_decimal(out, weight, report->profile->values[report->value].decimals);
	buf_printf(out, ",%.4f,", report->total ? 100.0 * (double)weight / (double)report->total : 0);
}

static void add_names(struct buf *out, const struct report *report, const char *name, size_t length, frame_id frame)
{
	const char *module = "";
	if (frame != PROFILE_NONE)
		module = profile_text(report->profile,
				      report->profile->functions[report->profile->frames[frame].function].module);
	text_csv(out, module, strlen(module));
	buf_char(out, ',');
	text_csv(out, name, length);
	buf_char(out, '\n');
}

static void write_table(const struct report *report, const struct function_table *table, struct outfile *out)
{
	struct buf text CLEANUP_BUF = {0};
	size_t rows = report->limit && report->limit < table->count ? report->limit : table->count;
	buf_str(&text, "self,self_percent,total,total_percent,module,name\n");
	for (size_t i = 0; i < rows; i++) {
		const struct function_row *row = &table->rows[i];
		add_weight(&text, report, row->self[0]);
		add_weight(&text, report, row->total[0]);
		add_names(&text, report, row->name, row->length, row->frame);
		outfile_move(out, &text);
	}
	outfile_move(out, &text);
}

static void write_tree(const struct report *report, const struct calltree *tree, const struct tree_lines *lines,
		       struct outfile *out)
{
	struct buf text CLEANUP_BUF = {0};
	buf_str(&text, "depth,self,self_percent,total,total_percent,module,name\n");
	for (size_t i = 0; i < lines->count; i++) {
		const struct tree_line *line = &lines->lines[i];
		if (line->remainder)
			continue;
		const struct tree_label *label = &tree->labels[tree->label[line->node]];
		buf_printf(&text, "%u,", tree->depth[line->node]);
		add_weight(&text, report, tree->self[0][line->node]);
		add_weight(&text, report, tree->total[0][line->node]);
		add_names(&text, report, label->text, label->length, label->frame);
		outfile_move(out, &text);
	}
	outfile_move(out, &text);
}

const struct report_format report_csv = {.table = write_table, .tree = write_tree};
