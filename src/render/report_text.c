/* The tables of `wick report` as text: columns, rows, and remainders. */
#include "base/text.h"
#include "profile/view.h"
#include "render/report.h"
#include "render/screen.h"
#include "render/unit.h"

#include <ctype.h>
#include <math.h>

enum {
	PERCENT_COLUMNS = 8,
	BAR_COLUMNS = 8,
	MODULE_COLUMNS = 22, /* at most, on a terminal */
	NAME_COLUMNS = 24, /* at least, on a terminal */
	MAX_LEVELS = 100, /* of a tree that are drawn */
	LEVEL_COLUMNS = 3,
};

static double percent_of(const struct report *report, int64_t weight)
{
	return report->total ? 100.0 * (double)weight / (double)report->total : 0;
}

static const struct value_type *value_of(const struct report *report)
{
	return &report->profile->values[report->value];
}

static double counts(const struct report *report, int64_t weight)
{
	return (double)weight / pow(10, value_of(report)->decimals);
}

/* All weights of a table are written in one unit, by the total. */
static struct unit_scale scale_of(const struct report *report)
{
	return unit_scale(profile_text(report->profile, value_of(report)->unit), counts(report, report->total));
}

static void write_weight(struct buf *out, const struct report *report, int64_t weight)
{
	struct unit_scale scale = scale_of(report);
	if (scale.name)
		buf_printf(out, "%.*f", (int)scale.digits, counts(report, weight) / scale.divisor);
	else
		text_decimal_grouped(out, weight, value_of(report)->decimals);
}

static void add_weight(struct buf *out, const struct report *report, int64_t weight, size_t columns)
{
	struct buf text CLEANUP_BUF = {0};
	write_weight(&text, report, weight);
	screen_right(out, text.data, columns);
}

static size_t weight_columns(const struct report *report, int64_t largest, const char *heading)
{
	struct buf text CLEANUP_BUF = {0};
	write_weight(&text, report, largest);
	/* Fractions of smaller weights may be longer than the largest weight's. */
	size_t columns = text.size + value_of(report)->decimals;
	return columns > strlen(heading) ? columns : strlen(heading);
}

/* Weights without a unit are periods, unless each sample weighs one. */
static const char *unit_of(const struct report *report)
{
	const struct value_type *value = value_of(report);
	const char *unit = profile_text(report->profile, value->unit);
	if (scale_of(report).name)
		return scale_of(report).name;
	if (*unit)
		return unit;
	return !value->decimals && (uint64_t)report->total == value->samples ? "samples" : "weight";
}

static void add_capitalised(struct buf *out, const char *word)
{
	struct buf safe CLEANUP_BUF = {0};
	text_terminal(&safe, word, strlen(word));
	if (safe.size)
		safe.data[0] = (char)toupper((unsigned char)safe.data[0]);
	buf_add(out, safe.data, safe.size);
}

bool report_wants_samples(const struct profile *profile, value_id value)
{
	const struct value_type *type = &profile->values[value];
	if (!type->samples || profile->differential || profile_view_find(profile_text(profile, type->name)))
		return false;
	return type->decimals || (uint64_t)profile_total(profile, value) != type->samples;
}

static void add_head(struct buf *out, const struct report *report)
{
	struct buf text CLEANUP_BUF = {0};
	const char *unit = profile_text(report->profile, value_of(report)->unit);
	const char *event = profile_text(report->profile, value_of(report)->name), *noun = unit_of(report);
	if (*event && !strcmp(noun, "weight"))
		noun = event; /* periods are counts of it */
	if (!unit_amount(&text, unit, counts(report, report->total))) {
		write_weight(&text, report, report->total);
		buf_printf(&text, " %s", unit_noun(noun, counts(report, report->total)));
	}
	if (report_wants_samples(report->profile, report->value)) {
		buf_str(&text, ", ");
		text_count(&text, value_of(report)->samples, "sample", "samples");
	}
	screen_fact(out, report->colour, "Total", text.data, text.size);
	if (*event && strcmp(event, unit_of(report)) != 0)
		screen_fact(out, report->colour, "Event", event, strlen(event));
	buf_clear(&text);
	for (const char *const *input = report->inputs; *input; input++)
		buf_printf(&text, "%s%s", text.size ? ", " : "", strcmp(*input, "-") ? *input : "standard input");
	screen_fact(out, report->colour, "Input", text.data, text.size);
	buf_clear(&text);
	extent_time_text(&report->profile->extent, &text);
	if (text.size)
		screen_fact(out, report->colour, "Time", text.data, text.size);
	buf_clear(&text);
	extent_limits_text(&report->profile->extent, &text);
	if (text.size)
		screen_fact(out, report->colour, "Limit", text.data, text.size);
	if (report->note)
		screen_fact(out, report->colour, "Note", report->note, strlen(report->note));
	buf_char(out, '\n');
}

static void add_lines(struct buf *out, const struct buf *lines)
{
	for (const char *at = lines->data; at && *at; at = strchr(at, '\n') + 1) {
		text_terminal(out, at, strcspn(at, "\n"));
		buf_char(out, '\n');
	}
}

static void add_foot(struct buf *out, const struct report *report)
{
	const struct profile *profile = report->profile;
	struct buf line CLEANUP_BUF = {0}, lines CLEANUP_BUF = {0};
	extent_cpu_text(&profile->extent, &lines);
	buf_str(&lines, lines.size ? "\n" : "");
	quality_line(&profile->quality, &profile->strings, &line);
	const char *shown = line.data ? line.data : "", *rest = strstr(shown, " · ");
	if (report->brief)
		shown = rest ? rest + strlen(" · ") : "";
	if (*shown || !report->brief)
		buf_printf(&lines, "%s\n", shown);
	if (!report->brief && extent_misses_time(&profile->extent)) {
		extent_advice(&profile->extent, &lines);
		buf_char(&lines, '\n');
	}
	quality_advice(&profile->quality, &profile->strings, QUALITY_ADVICE_MAX, &lines);
	if (!lines.size)
		return;
	buf_char(out, '\n');
	screen_style(out, report->colour, STYLE_DIM);
	add_lines(out, &lines);
	screen_style(out, report->colour, STYLE_PLAIN);
}

/* Which columns a table has and how wide they are. */
struct layout {
	bool bar, total, total_weight;
	size_t weight, samples, module, name; /* columns; samples 0: none; name 0: any */
	double fullest; /* percent that fills the bar */
};

static size_t longest_module(const struct report *report, const struct function_table *table, size_t rows)
{
	size_t longest = 0;
	for (size_t i = 0; i < rows; i++) {
		const char *module = frame_module(report->profile, table->rows[i].frame);
		size_t columns = text_columns(module, strlen(module));
		longest = columns > longest ? columns : longest;
	}
	if (longest && longest < strlen("Module"))
		longest = strlen("Module");
	return report->width && longest > MODULE_COLUMNS ? MODULE_COLUMNS : longest;
}

static size_t sample_columns(const struct report *report)
{
	struct buf text CLEANUP_BUF = {0};
	text_grouped(&text, (int64_t)value_of(report)->samples);
	return text.size > strlen("Samples") ? text.size : strlen("Samples");
}

static struct layout lay_out(const struct report *report, const struct function_table *table, size_t rows)
{
	struct layout layout = {.total = !report->flat_groups, .module = longest_module(report, table, rows)};
	layout.weight = weight_columns(report, report->total, unit_of(report));
	layout.samples = report->samples ? sample_columns(report) : 0;
	layout.bar = report->colour;
	layout.total_weight = layout.total;
	for (size_t i = 0; i < rows; i++) {
		double percent = percent_of(report, table->rows[i].self[0]);
		layout.fullest = percent > layout.fullest ? percent : layout.fullest;
	}
	if (!report->width)
		return layout;
	/* On a narrow terminal what says least goes first. */
	for (int given_up = 0;; given_up++) {
		size_t used = PERCENT_COLUMNS + 2 + layout.weight + 2;
		used += layout.samples ? layout.samples + 2 : 0;
		used += layout.bar ? BAR_COLUMNS + 2 : 0;
		used += layout.total ? PERCENT_COLUMNS + 2 : 0;
		used += layout.total_weight ? layout.weight + 2 : 0;
		used += layout.module ? layout.module + 2 : 0;
		size_t width = (size_t)report->width;
		layout.name = width > used + NAME_COLUMNS ? width - used : NAME_COLUMNS;
		if (width >= used + NAME_COLUMNS || given_up == 4)
			return layout;
		if (given_up == 0)
			layout.total_weight = false;
		else if (given_up == 1)
			layout.bar = false;
		else if (given_up == 2)
			layout.module = layout.module > 12 ? 12 : layout.module;
		else
			layout.samples = 0;
	}
}

static void add_titles(struct buf *out, const struct report *report, const struct layout *layout)
{
	struct buf unit CLEANUP_BUF = {0};
	if (scale_of(report).name)
		buf_str(&unit, unit_of(report));
	else
		add_capitalised(&unit, unit_of(report));
	screen_style(out, report->colour, STYLE_BOLD);
	screen_right(out, report->flat_groups ? "Share" : "Self", PERCENT_COLUMNS);
	buf_str(out, "  ");
	if (layout->bar)
		screen_spaces(out, BAR_COLUMNS + 2);
	screen_right(out, unit.data, layout->weight);
	buf_str(out, "  ");
	if (layout->samples) {
		screen_right(out, "Samples", layout->samples);
		buf_str(out, "  ");
	}
	if (layout->total) {
		screen_right(out, "Total", PERCENT_COLUMNS);
		buf_str(out, "  ");
	}
	if (layout->total_weight) {
		screen_right(out, unit.data, layout->weight);
		buf_str(out, "  ");
	}
	if (layout->module) {
		screen_name_padded(out, "Module", 6, layout->module);
		buf_str(out, "  ");
	}
	buf_str(out, report->heading);
	screen_style(out, report->colour, STYLE_PLAIN);
	buf_char(out, '\n');
}

static void add_row(struct buf *out, const struct report *report, const struct layout *layout,
		    const struct function_row *row)
{
	double self = percent_of(report, row->self[0]), total = percent_of(report, row->total[0]);
	enum screen_style heat = screen_heat(self);
	screen_style(out, report->colour, heat);
	screen_percent(out, self);
	buf_str(out, "  ");
	if (layout->bar) {
		screen_bar(out, layout->fullest > 0 ? self / layout->fullest : 0, BAR_COLUMNS);
		buf_str(out, "  ");
	}
	screen_style(out, report->colour, STYLE_PLAIN);
	add_weight(out, report, row->self[0], layout->weight);
	buf_str(out, "  ");
	if (layout->samples) {
		struct buf samples CLEANUP_BUF = {0};
		text_grouped(&samples, row->self[1]);
		screen_right(out, samples.data, layout->samples);
		buf_str(out, "  ");
	}
	if (layout->total) {
		screen_percent(out, total);
		buf_str(out, "  ");
	}
	if (layout->total_weight) {
		add_weight(out, report, row->total[0], layout->weight);
		buf_str(out, "  ");
	}
	if (layout->module) {
		const char *module = frame_module(report->profile, row->frame);
		screen_style(out, report->colour, STYLE_DIM);
		screen_name_padded(out, module, strlen(module), layout->module);
		screen_style(out, report->colour, STYLE_PLAIN);
		buf_str(out, "  ");
	}
	if (heat == STYLE_DIM && total < 0.5)
		screen_style(out, report->colour, STYLE_DIM);
	screen_name(out, row->name, row->length, layout->name);
	if (heat == STYLE_DIM && total < 0.5)
		screen_style(out, report->colour, STYLE_PLAIN);
	buf_char(out, '\n');
}

static void add_left_out(struct buf *out, const struct report *report, const struct function_table *table, size_t shown)
{
	if (shown == table->count)
		return;
	/* Self weights add up, so the rest has a share; it is shown even where the order is another. */
	int64_t weight = 0;
	for (size_t i = shown; i < table->count; i++)
		weight = weight_add(weight, table->rows[i].self[0]);
	screen_style(out, report->colour, STYLE_DIM);
	screen_percent(out, percent_of(report, weight));
	buf_printf(out, "  … ");
	text_grouped(out, (int64_t)(table->count - shown));
	if (report->rest)
		buf_printf(out, " more%s%s", *report->rest ? " " : "", report->rest);
	else
		buf_printf(out, " more (--limit %zu; 0 shows all)", report->limit);
	screen_style(out, report->colour, STYLE_PLAIN);
	buf_char(out, '\n');
}

static void write_table(const struct report *report, const struct function_table *table, struct outfile *out)
{
	struct buf text CLEANUP_BUF = {0};
	size_t rows = report->limit && report->limit < table->count ? report->limit : table->count;
	struct layout layout = lay_out(report, table, rows);
	add_head(&text, report);
	add_titles(&text, report, &layout);
	for (size_t i = 0; i < rows; i++) {
		add_row(&text, report, &layout, &table->rows[i]);
		outfile_move(out, &text);
	}
	add_left_out(&text, report, table, rows);
	add_foot(&text, report);
	outfile_move(out, &text);
}

/* Levels of a tree that are drawn: on a terminal names must have room, else only endless recursion needs a limit. */
static uint32_t max_levels(const struct report *report)
{
	int room = (report->width - 2 * (PERCENT_COLUMNS + 2) - 2 * NAME_COLUMNS) / LEVEL_COLUMNS;
	return !report->width ? MAX_LEVELS : room > 8 ? (uint32_t)room : 8;
}

/*
 * The lines from the levels above, and the branch to this one; returns the columns taken. `open[l]`: something follows
 * on level l.
 */
static size_t add_branches(struct buf *out, const struct report *report, const struct tree_line *line, bool *open)
{
	struct buf text CLEANUP_BUF = {0};
	uint32_t from = 1, max = max_levels(report);
	if (!line->chained)
		open[line->level] = !line->last;
	if (line->level > max) {
		from = line->level - max / 2;
		buf_printf(&text, "(%u) ", line->level);
	}
	for (uint32_t level = from; level <= line->level; level++) {
		bool here = level == line->level && !line->chained;
		buf_str(&text, here ? (line->last ? "└─ " : "├─ ") : (open[level] ? "│  " : "   "));
	}
	screen_style(out, report->colour, STYLE_DIM);
	buf_add(out, text.data, text.size);
	screen_style(out, report->colour, STYLE_PLAIN);
	return text_columns(text.data ? text.data : "", text.size);
}

static void add_tree_name(struct buf *out, const struct report *report, const struct calltree *tree,
			  const struct tree_line *line, size_t used)
{
	struct buf more CLEANUP_BUF = {0};
	if (line->hidden) {
		buf_str(&more, "… ");
		text_grouped(&more, (int64_t)line->hidden);
		buf_printf(&more, " more, %.2f %%", percent_of(report, line->hidden_weight));
		used += text_columns(more.data, more.size) + 2;
	}
	if (!line->remainder) {
		const struct tree_label *label = &tree->labels[tree->label[line->node]];
		size_t width = (size_t)report->width, min = 16;
		size_t columns = !width ? 0 : width > used + min ? width - used : min;
		screen_name(out, label->text, label->length, columns);
		if (line->hidden)
			buf_str(out, "  ");
	}
	screen_style(out, report->colour, STYLE_DIM);
	buf_add(out, more.data, more.size);
	screen_style(out, report->colour, STYLE_PLAIN);
}

static void add_heat(struct buf *out, const struct report *report, bool shown, double percent)
{
	screen_style(out, report->colour, screen_heat(percent));
	if (shown)
		screen_percent(out, percent);
	else
		screen_spaces(out, PERCENT_COLUMNS);
	screen_style(out, report->colour, STYLE_PLAIN);
	buf_str(out, "  ");
}

void report_tree_line(struct buf *out, const struct report *report, const struct calltree *tree,
		      const struct tree_lines *lines, size_t at, bool *open, bool bottom_up)
{
	const struct tree_line *line = &lines->lines[at];
	/* Down a chain a share is written only where it changes. */
	bool news = !line->chained || lines->lines[line->parent_line].weight != line->weight;
	add_heat(out, report, news && !line->remainder, percent_of(report, line->weight));
	size_t used = PERCENT_COLUMNS + 2;
	if (!bottom_up) {
		int64_t self = line->remainder ? 0 : tree->self[0][line->node];
		add_heat(out, report, self != 0, percent_of(report, self));
		used += PERCENT_COLUMNS + 2;
	}
	used += add_branches(out, report, line, open);
	add_tree_name(out, report, tree, line, used);
}

static void write_tree(const struct report *report, const struct calltree *tree, const struct tree_lines *lines,
		       struct outfile *out)
{
	struct buf text CLEANUP_BUF = {0};
	add_head(&text, report);
	screen_style(&text, report->colour, STYLE_BOLD);
	screen_right(&text, report->bottom_up ? "Share" : "Total", PERCENT_COLUMNS);
	if (!report->bottom_up) {
		buf_str(&text, "  ");
		screen_right(&text, "Self", PERCENT_COLUMNS);
	}
	buf_printf(&text, "  %s", report->heading);
	screen_style(&text, report->colour, STYLE_PLAIN);
	buf_char(&text, '\n');
	bool *open CLEANUP_FREE = mem_zalloc((size_t)lines->max_level + 1, sizeof *open);
	for (size_t i = 0; i < lines->count; i++) {
		report_tree_line(&text, report, tree, lines, i, open, report->bottom_up);
		buf_char(&text, '\n');
		outfile_move(out, &text);
	}
	add_foot(&text, report);
	outfile_move(out, &text);
}

const struct report_format report_text = {.table = write_table, .tree = write_tree};

const struct report_format *const report_formats[REPORT_FORMAT_COUNT] = {
#define REPORT_ROW(id, row) [REPORT_##id] = &report_##row,
	REPORT_FORMATS(REPORT_ROW)
#undef REPORT_ROW
};

const char *const report_format_names[REPORT_FORMAT_COUNT + 1] = {
#define REPORT_NAME(id, row) [REPORT_##id] = #row,
	REPORT_FORMATS(REPORT_NAME)
#undef REPORT_NAME
};
