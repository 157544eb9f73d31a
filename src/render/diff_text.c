/* The table of `wick diff`: sorting, columns, and the verdict. */
#include "base/text.h"
#include "profile/functions.h"
#include "profile/tree_labels.h"
#include "render/diff.h"
#include "render/screen.h"
#include "render/unit.h"

#include <math.h>
#include <stdio.h>

enum {
	PERCENT_COLUMNS = 8,
	POINTS_COLUMNS = 10,
	RELATIVE_COLUMNS = 9,
	CONFIDENCE_COLUMNS = 10,
	NAME_COLUMNS = 24, /* at least, on a terminal */
};

struct sorting {
	const struct diff *diff;
	enum diff_sort sort;
};

static const struct diff_change *change_of(const struct diff_row *row, enum diff_sort sort)
{
	return sort == DIFF_SORT_SELF ? &row->self : &row->total;
}

static double size_of(const struct diff_change *change)
{
	return fabs(change->after - change->before);
}

/* Scaling leaves traces in the last digits of numbers that are equal. */
static bool changed(const struct diff_change *change)
{
	return size_of(change) > 1e-9 * fmax(change->after, change->before);
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct sorting *sorting = context;
	const struct diff_row *a = &sorting->diff->rows[*(const size_t *)left];
	const struct diff_row *b = &sorting->diff->rows[*(const size_t *)right];
	const struct diff_change *ca = change_of(a, sorting->sort), *cb = change_of(b, sorting->sort);
	if (ca->significant != cb->significant)
		return ca->significant ? -1 : 1;
	if (size_of(ca) != size_of(cb))
		return size_of(ca) > size_of(cb) ? -1 : 1;
	const struct tree_label *labels = sorting->diff->tree.labels;
	return label_compare(&labels[a->label], &labels[b->label]);
}

size_t *diff_sorted(const struct diff *diff, enum diff_sort sort, bool all, size_t *ret_count)
{
	size_t *order = mem_alloc((diff->row_count + 1) * sizeof *order), count = 0;
	for (size_t i = 0; i < diff->row_count; i++)
		if (all || changed(change_of(&diff->rows[i], sort)))
			order[count++] = i;
	struct sorting sorting = {diff, sort};
	qsort_r(order, count, sizeof *order, compare_rows, &sorting);
	*ret_count = count;
	return order;
}

/* Whole numbers as they are, others with two digits. */
static void add_weight(struct buf *out, double weight)
{
	double whole = floor(weight + 0.5);
	if (fabs(whole) < 9e18)
		text_grouped(out, (int64_t)whole);
	else
		buf_printf(out, "%.3g", weight);
}

static void add_confidence(struct buf *out, double confidence)
{
	if (confidence > 0.9995)
		buf_str(out, ">99.9 %");
	else
		/* Never rounded up: 94.96 % is not 95 %. */
		buf_printf(out, "%.1f %%", floor(confidence * 1000) / 10);
}

static void add_relative(struct buf *out, const struct diff_change *change)
{
	if (change->before <= 0)
		buf_str(out, change->after > 0 ? "new" : "0 %");
	else if (change->after <= 0)
		buf_str(out, "gone");
	else if (change->after >= 100 * change->before)
		buf_printf(out, "×%.0f", change->after / change->before);
	else
		buf_printf(out, "%+.1f %%", 100 * (change->after - change->before) / change->before);
}

static void add_side(struct buf *out, const struct diff_view *view, enum diff_side side)
{
	const struct diff *diff = view->diff;
	struct buf text CLEANUP_BUF = {0};
	/* Never the scaled one: this line says what was read. */
	double weight = side == DIFF_BEFORE ? diff->all.before : diff->all.after;
	const char *unit = profile_text(&diff->profile, diff->unit[side]);
	const char *event = profile_text(&diff->profile, diff->event[side]);
	bool samples = fabs(diff->samples[side] - weight * (double)diff->runs[side]) < 0.5;
	if (!unit_amount(&text, unit, weight)) {
		add_weight(&text, weight);
		const char *noun = *unit ? unit : samples ? "samples" : "weight";
		buf_printf(&text, " %s", unit_noun(noun, weight));
	}
	if (*event && strcmp(event, unit) != 0)
		buf_printf(&text, " of %s", event);
	if (diff->runs[side] > 1)
		buf_printf(&text, " per run, %zu runs", diff->runs[side]);
	buf_str(&text, ": ");
	for (size_t i = 0; view->inputs[side][i]; i++)
		buf_printf(&text, "%s%s", i ? ", " : "", view->inputs[side][i]);
	screen_fact(out, view->colour, side == DIFF_BEFORE ? "Before" : "After", text.data, text.size);
}

static void add_noise(struct buf *out, const struct diff_view *view)
{
	const struct diff *diff = view->diff;
	struct buf text CLEANUP_BUF = {0};
	if (diff->repeats)
		buf_str(&text, "confidence from the variance of the runs");
	else if (diff->counting == COUNTING_STACKS)
		buf_str(&text, "confidence from the spread of weights over stacks, because they are not sample "
			       "counts");
	else
		buf_str(&text, "confidence from the number of samples, ");
	if (!diff->repeats && diff->counting != COUNTING_STACKS) {
		add_weight(&text, diff->samples[DIFF_BEFORE]);
		buf_str(&text, " and ");
		add_weight(&text, diff->samples[DIFF_AFTER]);
	}
	buf_printf(&text, "; ~ marks changes below %.4g %% confidence", 100 * diff->options.confidence);
	screen_fact(out, view->colour, "Noise", text.data, text.size);
}

static void add_head(struct buf *out, const struct diff_view *view)
{
	const struct diff *diff = view->diff;
	struct buf text CLEANUP_BUF = {0};
	add_side(out, view, DIFF_BEFORE);
	add_side(out, view, DIFF_AFTER);
	add_relative(&text, &diff->all);
	if (!changed(&diff->all)) {
		buf_clear(&text);
		buf_str(&text, "the same");
	} else {
		buf_str(&text, ", confidence ");
		add_confidence(&text, diff->all.confidence);
		buf_str(&text, diff->all.significant ? "" : ": within noise");
	}
	screen_fact(out, view->colour, "Total", text.data, text.size);
	add_noise(out, view);
	for (size_t i = 0; i < 4 && view->notes[i]; i++)
		screen_fact(out, view->colour, "Note", view->notes[i], strlen(view->notes[i]));
}

static size_t name_columns(const struct diff_view *view)
{
	if (!view->width)
		return 0;
	size_t used = 2 * (PERCENT_COLUMNS + 2) + POINTS_COLUMNS + 2 + RELATIVE_COLUMNS + 2 + CONFIDENCE_COLUMNS + 2;
	size_t width = (size_t)view->width;
	return width > used + NAME_COLUMNS ? width - used : NAME_COLUMNS;
}

static void add_row(struct buf *out, const struct diff_view *view, const struct diff_row *row,
		    const struct diff_change *change)
{
	const struct tree_label *label = &view->diff->tree.labels[row->label];
	struct buf cell CLEANUP_BUF = {0};
	enum screen_style style = !change->significant           ? STYLE_DIM :
				  change->after > change->before ? STYLE_WORSE :
								   STYLE_BETTER;
	screen_style(out, view->colour, style);
	screen_percent(out, 100 * change->before_share);
	buf_str(out, "  ");
	screen_percent(out, 100 * change->after_share);
	buf_str(out, "  ");
	double points = 100 * (change->after_share - change->before_share);
	buf_printf(&cell, "%+.2f pp", fabs(points) < 0.005 ? 0.0 : points);
	screen_right(out, cell.data, POINTS_COLUMNS);
	buf_str(out, "  ");
	buf_clear(&cell);
	add_relative(&cell, change);
	screen_right(out, cell.data, RELATIVE_COLUMNS);
	buf_str(out, "  ");
	buf_clear(&cell);
	if (!change->significant)
		buf_str(&cell, "~ ");
	add_confidence(&cell, change->confidence);
	screen_right(out, cell.data, CONFIDENCE_COLUMNS);
	buf_str(out, "  ");
	screen_name(out, label->text, label->length, name_columns(view));
	screen_style(out, view->colour, STYLE_PLAIN);
	buf_char(out, '\n');
}

static void add_titles(struct buf *out, const struct diff_view *view, enum diff_sort sort)
{
	screen_style(out, view->colour, STYLE_BOLD);
	screen_right(out, "Before", PERCENT_COLUMNS);
	buf_str(out, "  ");
	screen_right(out, "After", PERCENT_COLUMNS);
	buf_str(out, "  ");
	screen_right(out, "Change", POINTS_COLUMNS);
	buf_str(out, "  ");
	screen_right(out, "Weight", RELATIVE_COLUMNS);
	buf_str(out, "  ");
	screen_right(out, "Confidence", CONFIDENCE_COLUMNS);
	buf_str(out, sort == DIFF_SORT_SELF ? "  Function (self)" : "  Function (total, with callees)");
	screen_style(out, view->colour, STYLE_PLAIN);
	buf_char(out, '\n');
}

static void add_rest(struct buf *out, const struct diff_view *view, const size_t *order, size_t shown, size_t count,
		     enum diff_sort sort)
{
	if (shown == count)
		return;
	size_t noise = 0;
	for (size_t i = shown; i < count; i++)
		noise += !change_of(&view->diff->rows[order[i]], sort)->significant;
	screen_style(out, view->colour, STYLE_DIM);
	buf_str(out, "… ");
	text_grouped(out, (int64_t)(count - shown));
	buf_str(out, " more changed");
	if (noise == count - shown) {
		buf_str(out, ", all within noise");
	} else {
		buf_str(out, ", ");
		text_grouped(out, (int64_t)noise);
		buf_str(out, " of them within noise");
	}
	buf_str(out, " (--limit 0 shows all)");
	screen_style(out, view->colour, STYLE_PLAIN);
	buf_char(out, '\n');
}

static void add_table(struct buf *out, const struct diff_view *view, enum diff_sort sort)
{
	size_t count;
	size_t *order CLEANUP_FREE = diff_sorted(view->diff, sort, false, &count);
	buf_char(out, '\n');
	add_titles(out, view, sort);
	if (!count)
		buf_str(out, "No function changed.\n");
	size_t shown = view->limit && view->limit < count ? view->limit : count;
	/* Noise comes last and fills at most half of the table. */
	while (view->limit && shown > view->limit / 2 &&
	       !change_of(&view->diff->rows[order[shown - 1]], sort)->significant)
		shown--;
	for (size_t i = 0; i < shown; i++) {
		const struct diff_row *row = &view->diff->rows[order[i]];
		add_row(out, view, row, change_of(row, sort));
	}
	add_rest(out, view, order, shown, count, sort);
}

void diff_verdict(const struct diff *diff, const struct gate *gate, struct buf *out)
{
	bool any = gate->name_length == 1 && gate->name[0] == '*';
	buf_str(out, gate->failed ? "FAIL " : "pass ");
	text_terminal(out, gate->text, strlen(gate->text));
	if (!gate->found) {
		buf_str(out, ": no such function in either profile");
		return;
	}
	buf_printf(out, ": %+.2f %%", gate->growth);
	if (any && gate->row) {
		const struct tree_label *label = &diff->tree.labels[gate->row->label];
		buf_str(out, " (");
		screen_name(out, label->text, label->length, 60);
		buf_char(out, ')');
	}
	if (gate->exceeded) {
		buf_str(out, ", confidence ");
		add_confidence(out, any ? gate->change.confidence : 1 - gate->change.p);
		if (!gate->sure)
			buf_str(out, gate->failed ? ", within noise" : ": within noise, which does not fail");
	}
}

void diff_text(const struct diff_view *view, struct outfile *out)
{
	struct buf text CLEANUP_BUF = {0}, line CLEANUP_BUF = {0};
	add_head(&text, view);
	if (view->show_self)
		add_table(&text, view, DIFF_SORT_SELF);
	if (view->show_total)
		add_table(&text, view, DIFF_SORT_TOTAL);
	quality_line(&view->diff->profile.quality, &view->diff->profile.strings, &line);
	buf_char(&text, '\n');
	screen_style(&text, view->colour, STYLE_DIM);
	text_terminal(&text, line.data ? line.data : "", line.size);
	screen_style(&text, view->colour, STYLE_PLAIN);
	buf_char(&text, '\n');
	outfile_add(out, text.data, text.size);
}
