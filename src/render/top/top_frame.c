/* Draws the title, figures, footer and help of `wick top`. */
#include "render/top/top_frame.h"

#include "base/text.h"

#include <math.h>

/* --- the head --- */

static void add_span(struct buf *out, const struct top_state *state)
{
	if (state->window)
		buf_printf(out, "last %u s", state->window);
	else
		buf_str(out, "since the start");
}

void top_draw_title(struct top_drawing *d)
{
	struct top_line line = top_line_new(d);
	struct buf right CLEANUP_BUF = {0};
	const struct top_facts *facts = d->facts;
	buf_str(&right, facts->event);
	if (facts->frequency)
		buf_printf(&right, " %llu Hz", (unsigned long long)facts->frequency);
	buf_str(&right, " · ");
	add_span(&right, d->state);
	if (d->state->refresh != 1000)
		buf_printf(&right, " · every %g s", d->state->refresh / 1000.0);
	size_t need = top_columns_of(&right) + 1;
	top_put(&line, STYLE_PLAIN, " ");
	/* What is recorded comes first; the rest where there is room for it. */
	bool room = d->columns > need + 20;
	line.columns = room ? d->columns - need - 2 : d->columns;
	top_put(&line, STYLE_BOLD, "wick ");
	top_put(&line, STYLE_ACCENT, facts->title);
	if (d->state->paused)
		top_put(&line, STYLE_HOT, "  paused");
	if (d->state->frozen)
		top_put(&line, STYLE_HOT, "  frozen");
	line.columns = d->columns;
	if (room) {
		top_put_spaces(&line, d->columns - need - line.used);
		top_put(&line, STYLE_DIM, right.data);
	}
	top_line_end(d, &line);
}

static void add_spark(struct buf *out, const double *values, size_t count)
{
	static const char *const eighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	double max = 0;
	for (size_t i = 0; i < count; i++)
		max = fmax(max, values[i]);
	for (size_t i = 0; i < count; i++) {
		int height = max > 0 ? (int)(values[i] / max * 7.999) : 0;
		buf_str(out, eighths[height < 0 ? 0 : height > 7 ? 7 : height]);
	}
}

static void put_load(struct top_line *line, const struct top_drawing *d)
{
	const struct top_facts *facts = d->facts;
	struct buf text CLEANUP_BUF = {0};
	size_t shown = facts->busy_count < 20 ? facts->busy_count : 20;
	if (!shown)
		return;
	double now = facts->busy[facts->busy_count - 1];
	buf_printf(&text, "%.*f %s ", facts->load.decimals, now, facts->load.text);
	top_put_whole(line, STYLE_BOLD, text.data);
	buf_clear(&text);
	add_spark(&text, facts->busy + facts->busy_count - shown, shown);
	if (line->columns > 70)
		top_put_whole(line, STYLE_BETTER, text.data);
	top_put_spaces(line, TOP_GAP);
}

/* "99.9 %"; what is not all of it never reads as 100. */
static void add_share(struct buf *out, uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 100;
	if (part < whole && percent > 99.9)
		percent = 99.9;
	buf_printf(out, part < whole ? "%.1f %%" : "%.0f %%", percent);
}

void top_draw_figures(struct top_drawing *d)
{
	const struct quality *quality = &d->content->profile->quality;
	struct top_line line = top_line_new(d);
	struct buf text CLEANUP_BUF = {0};
	top_put(&line, STYLE_PLAIN, " ");
	put_load(&line, d);
	buf_printf(&text, "%.0f s · ", d->facts->seconds);
	text_count(&text, quality->samples, "sample", "samples");
	top_put_whole(&line, STYLE_PLAIN, text.data);
	buf_clear(&text);
	buf_str(&text, " · ");
	text_grouped(&text, (int64_t)d->facts->lost);
	buf_str(&text, " lost");
	top_put_whole(&line, d->facts->lost ? STYLE_HOT : STYLE_PLAIN, text.data);
	if (quality->samples) {
		buf_clear(&text);
		buf_str(&text, " · ");
		add_share(&text, quality->samples - quality->truncated, quality->samples);
		buf_str(&text, " complete stacks");
		if (top_put_whole(&line, STYLE_PLAIN, text.data) && quality->unresolved) {
			buf_clear(&text);
			buf_str(&text, " · ");
			add_share(&text, quality->samples - quality->unresolved, quality->samples);
			buf_str(&text, " resolved");
			top_put_whole(&line, STYLE_PLAIN, text.data);
		}
	}
	if (d->content->hot_functions->total == INT64_MAX)
		top_put_whole(&line, STYLE_HOT, " · sum too large for 64 bits");
	top_line_end(d, &line);
}

/* --- the foot --- */

struct hint {
	const char *key, *meaning;
};

static void draw_hints(struct top_drawing *d)
{
	static const struct hint list[] = {
		{"q", "quit"},
		{"↑↓", "move"},
		{"⏎", "callers, calls"},
		{"t", "tree"},
		{"s", "sort"},
		{"K", "kernel"},
		{"/", "search"},
		{"w", "window"},
		{"p", "pause"},
		{"f", "freeze"},
		{"z", "zero"},
		{"h", "help"},
		{0},
	};
	static const struct hint tree[] = {
		{"q", "quit"},        {"↑↓", "move"},  {"⏎", "open, close"},
		{"esc", "functions"}, {"K", "kernel"}, {"w", "window"},
		{"p", "pause"},       {"h", "help"},   {0},
	};
	struct top_line line = top_line_new(d);
	top_put(&line, STYLE_PLAIN, " ");
	for (const struct hint *hint = d->state->page == TOP_FUNCTIONS ? list : tree; hint->key; hint++) {
		size_t need = text_columns(hint->key, strlen(hint->key)) + strlen(hint->meaning) + 1;
		if (line.used + need > line.columns)
			break;
		top_put(&line, STYLE_ACCENT, hint->key);
		top_put(&line, STYLE_DIM, " ");
		top_put(&line, STYLE_DIM, hint->meaning);
		top_put_spaces(&line, TOP_GAP);
	}
	buf_add(d->out, line.text.data, line.text.size);
	buf_release(&line.text);
}

void top_draw_foot(struct top_drawing *d)
{
	const struct top_state *state = d->state;
	if (!state->typing && !state->search.size) {
		draw_hints(d);
		return;
	}
	struct top_line line = top_line_new(d);
	top_put(&line, STYLE_ACCENT, " / ");
	top_put(&line, STYLE_BOLD, state->search.data ? state->search.data : "");
	top_put(&line, STYLE_DIM, state->typing ? "▏  ⏎ keep  esc clear" : "  esc show all functions");
	buf_add(d->out, line.text.data, line.text.size);
	buf_release(&line.text);
}

void top_draw_help(struct top_drawing *d, size_t lines)
{
	static const struct hint rows[] = {
		{"q, Ctrl-C", "end"},
		{"↑ ↓ j k", "move; page up and down, home, end (g, G)"},
		{"⏎ → l", "callers and callees of the function; in trees: open or close"},
		{"← esc", "close, back to the list of functions"},
		{"t", "call tree"},
		{"s", "sort by self or total time"},
		{"K", "hide kernel functions: add their time to their callers"},
		{"/", "search: show functions and modules with this text in their name"},
		{"w", "time window: 2, 5, 10, 30, 60 s, or since the start"},
		{"z", "reset the counts"},
		{"p space", "pause or resume recording"},
		{"f", "freeze the screen; recording continues"},
		{"+ -", "update more or less often"},
		{"", ""},
		{"", "Self: time in the function itself. Total: including its callees."},
		{"", "Press any key to go back."},
	};
	size_t count = sizeof rows / sizeof *rows;
	for (size_t i = 0; i < lines; i++) {
		struct top_line line = top_line_new(d);
		if (i < count) {
			top_put_spaces(&line, TOP_GUTTER);
			top_put(&line, STYLE_ACCENT, rows[i].key);
			top_put_spaces(&line, line.used < 14 && *rows[i].key ? 14 - line.used : 0);
			top_put(&line, STYLE_PLAIN, rows[i].meaning);
		}
		top_line_end(d, &line);
	}
}
