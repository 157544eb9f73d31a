#include "render/top.h"

#include "base/text.h"
#include "render/screen.h"

#include <math.h>

enum {
	GUTTER = 2,
	PERCENT = 8,
	GAP = 2,
	NAME_LEAST = 16,
	MODULE_MOST = 20,
	BAR_MOST = 14,
	COLUMNS_LEAST = 24,
	ROWS_LEAST = 6,
	ROOMY_ROWS = 12, /* on a lower screen no line is left blank */
};

/* One screen while it is drawn. */
struct drawing {
	struct buf *out;
	const struct top_state *state;
	const struct top_content *content;
	const struct top_facts *facts;
	size_t columns;
	bool colour;
};

static double percent_of(const struct drawing *d, int64_t weight)
{
	int64_t total = d->content->standings->total;
	return total ? 100.0 * (double)weight / (double)total : 0;
}

static size_t columns_of(const struct buf *text)
{
	return text_columns(text->data ? text->data : "", text->size);
}

/* --- pieces of a line --- */

/* Text in a style, as far as it fits into what is left of the line. */
struct line {
	struct buf text;
	size_t used, columns;
	bool colour;
};

static void put(struct line *line, enum screen_style style, const char *text)
{
	size_t length = strlen(text), need = text_columns(text, length);
	size_t left = line->columns > line->used ? line->columns - line->used : 0;
	if (!left)
		return;
	screen_style(&line->text, line->colour, style);
	screen_name(&line->text, text, length, need > left ? left : 0);
	screen_style(&line->text, line->colour, STYLE_PLAIN);
	line->used += need > left ? left : need;
}

/* The same when all of it fits, else nothing; returns whether it did. */
static bool put_whole(struct line *line, enum screen_style style, const char *text)
{
	if (line->used + text_columns(text, strlen(text)) > line->columns)
		return false;
	put(line, style, text);
	return true;
}

static void put_spaces(struct line *line, size_t count)
{
	size_t left = line->columns > line->used ? line->columns - line->used : 0;
	count = count < left ? count : left;
	screen_spaces(&line->text, count);
	line->used += count;
}

static void end_line(struct drawing *d, struct line *line)
{
	buf_add(d->out, line->text.data ? line->text.data : "", line->text.size);
	buf_char(d->out, '\n');
	buf_release(&line->text);
}

static struct line new_line(const struct drawing *d)
{
	return (struct line){.columns = d->columns, .colour = d->colour};
}

static void blank_line(struct drawing *d)
{
	buf_char(d->out, '\n');
}

/* --- the head --- */

static void add_span(struct buf *out, const struct top_state *state)
{
	if (state->window)
		buf_printf(out, "last %u s", state->window);
	else
		buf_str(out, "since the start");
}

static void draw_title(struct drawing *d)
{
	struct line line = new_line(d);
	struct buf right CLEANUP_BUF = {0};
	const struct top_facts *facts = d->facts;
	buf_str(&right, facts->event);
	if (facts->frequency)
		buf_printf(&right, " %llu Hz", (unsigned long long)facts->frequency);
	buf_str(&right, " · ");
	add_span(&right, d->state);
	if (d->state->refresh != 1000)
		buf_printf(&right, " · every %g s", d->state->refresh / 1000.0);
	size_t need = columns_of(&right) + 1;
	put(&line, STYLE_PLAIN, " ");
	/* What is recorded comes first; the rest where there is room for it. */
	bool room = d->columns > need + 20;
	line.columns = room ? d->columns - need - 2 : d->columns;
	put(&line, STYLE_BOLD, "wick ");
	put(&line, STYLE_ACCENT, facts->title);
	if (d->state->paused)
		put(&line, STYLE_HOT, "  paused");
	if (d->state->frozen)
		put(&line, STYLE_HOT, "  frozen");
	line.columns = d->columns;
	if (room) {
		put_spaces(&line, d->columns - need - line.used);
		put(&line, STYLE_DIM, right.data);
	}
	end_line(d, &line);
}

static void add_spark(struct buf *out, const double *values, size_t count)
{
	static const char *const eighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	double most = 0;
	for (size_t i = 0; i < count; i++)
		most = fmax(most, values[i]);
	for (size_t i = 0; i < count; i++) {
		int height = most > 0 ? (int)(values[i] / most * 7.999) : 0;
		buf_str(out, eighths[height < 0 ? 0 : height > 7 ? 7 : height]);
	}
}

static void put_load(struct line *line, const struct drawing *d)
{
	const struct top_facts *facts = d->facts;
	struct buf text CLEANUP_BUF = {0};
	size_t shown = facts->busy_count < 20 ? facts->busy_count : 20;
	if (!shown)
		return;
	double now = facts->busy[facts->busy_count - 1];
	static const struct {
		const char *text;
		int decimals;
	} loads[] = {
		[TOP_CPUS] = {"CPUs busy", 2},
		[TOP_SAMPLES] = {"samples/s", 0},
		[TOP_THREADS_WAITING] = {"threads off CPU", 2},
		[TOP_THREADS] = {"threads", 2},
		[TOP_FAULTS] = {"faults/s", 0},
	};
	buf_printf(&text, "%.*f %s ", loads[facts->load].decimals, now, loads[facts->load].text);
	put_whole(line, STYLE_BOLD, text.data);
	buf_clear(&text);
	add_spark(&text, facts->busy + facts->busy_count - shown, shown);
	if (line->columns > 70)
		put_whole(line, STYLE_BETTER, text.data);
	put_spaces(line, GAP);
}

/* "99.9 %"; what is not all of it never reads as 100. */
static void add_share(struct buf *out, uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 100;
	if (part < whole && percent > 99.9)
		percent = 99.9;
	buf_printf(out, part < whole ? "%.1f %%" : "%.0f %%", percent);
}

static void draw_figures(struct drawing *d)
{
	const struct quality *quality = &d->content->profile->quality;
	struct line line = new_line(d);
	struct buf text CLEANUP_BUF = {0};
	put(&line, STYLE_PLAIN, " ");
	put_load(&line, d);
	buf_printf(&text, "%.0f s · ", d->facts->seconds);
	text_grouped(&text, (int64_t)quality->samples);
	buf_str(&text, " samples");
	put_whole(&line, STYLE_PLAIN, text.data);
	buf_clear(&text);
	buf_str(&text, " · ");
	text_grouped(&text, (int64_t)d->facts->lost);
	buf_str(&text, " lost");
	put_whole(&line, d->facts->lost ? STYLE_HOT : STYLE_PLAIN, text.data);
	if (quality->samples) {
		buf_clear(&text);
		buf_str(&text, " · ");
		add_share(&text, quality->samples - quality->truncated, quality->samples);
		buf_str(&text, " whole stacks");
		if (put_whole(&line, STYLE_PLAIN, text.data) && quality->unresolved) {
			buf_clear(&text);
			buf_str(&text, " · ");
			add_share(&text, quality->samples - quality->unresolved, quality->samples);
			buf_str(&text, " with all names");
			put_whole(&line, STYLE_PLAIN, text.data);
		}
	}
	end_line(d, &line);
}

/* --- the list of functions --- */

struct columns {
	bool total;
	size_t bar, module, name;
	double fullest; /* percent that fills the bar */
};

static const char *module_of(const struct drawing *d, const struct standing *row)
{
	const char *path = profile_text(d->content->profile, row->module), *slash = strrchr(path, '/');
	return strcmp(path, "[kernel.kallsyms]") == 0 ? "[kernel]" : slash && slash[1] ? slash + 1 : path;
}

/* On a narrow screen what says least goes first. */
static struct columns choose_columns(const struct drawing *d)
{
	struct columns c = {.total = true, .bar = BAR_MOST, .module = MODULE_MOST};
	for (int given_up = 0;; given_up++) {
		size_t used = GUTTER + PERCENT + GAP;
		used += c.bar ? c.bar + GAP : 0;
		used += c.total ? PERCENT + GAP : 0;
		used += c.module ? c.module + GAP : 0;
		c.name = d->columns > used ? d->columns - used : 1;
		if (c.name >= (given_up < 2 ? 2 * NAME_LEAST : NAME_LEAST) || given_up == 4)
			break;
		if (given_up == 0)
			c.bar = BAR_MOST / 2;
		else if (given_up == 1)
			c.module = MODULE_MOST / 2 + 2;
		else if (given_up == 2)
			c.bar = 0;
		else
			c.module = 0, c.total = d->columns > 36;
	}
	for (size_t i = 0; i < d->content->line_count; i++) {
		const struct standing *row = &d->content->standings->rows[d->content->order[i]];
		c.fullest = fmax(c.fullest, percent_of(d, standing_self(row, d->state->kernel)));
	}
	return c;
}

static void add_title(struct buf *out, bool colour, bool sorted, const char *text)
{
	screen_style(out, colour, STYLE_BOLD);
	screen_right(out, sorted ? "" : " ", PERCENT - text_columns(text, strlen(text)) - (sorted ? 1 : 0));
	buf_str(out, sorted ? "▾" : "");
	buf_str(out, text);
	screen_style(out, colour, STYLE_PLAIN);
	screen_spaces(out, GAP);
}

static void draw_list_titles(struct drawing *d, const struct columns *c)
{
	struct buf *out = d->out;
	screen_spaces(out, GUTTER);
	add_title(out, d->colour, d->state->order == FUNCTIONS_BY_SELF, "Self");
	screen_spaces(out, c->bar ? c->bar + GAP : 0);
	if (c->total)
		add_title(out, d->colour, d->state->order == FUNCTIONS_BY_TOTAL, "Total");
	screen_style(out, d->colour, STYLE_BOLD);
	if (c->module) {
		screen_name_padded(out, "Module", 6, c->module);
		screen_spaces(out, GAP);
	}
	screen_name(out, "Function", 8, c->name);
	screen_style(out, d->colour, STYLE_PLAIN);
	buf_char(out, '\n');
}

static void add_percent(struct buf *out, bool colour, double percent)
{
	screen_style(out, colour, screen_heat(percent));
	screen_percent(out, percent);
	screen_style(out, colour, STYLE_PLAIN);
	screen_spaces(out, GAP);
}

static void add_list_row(struct buf *out, const struct drawing *d, const struct columns *c, size_t at, bool colour)
{
	const struct standing *row = &d->content->standings->rows[d->content->order[at]];
	double self = percent_of(d, standing_self(row, d->state->kernel)), total = percent_of(d, row->total);
	add_percent(out, colour, self);
	if (c->bar) {
		screen_style(out, colour, screen_heat(self));
		screen_bar(out, c->fullest > 0 ? self / c->fullest : 0, c->bar);
		screen_style(out, colour, STYLE_PLAIN);
		screen_spaces(out, GAP);
	}
	if (c->total)
		add_percent(out, colour, total);
	if (c->module) {
		const char *module = module_of(d, row);
		screen_style(out, colour, STYLE_DIM);
		screen_name_padded(out, module, strlen(module), c->module);
		screen_style(out, colour, STYLE_PLAIN);
		screen_spaces(out, GAP);
	}
	const char *name = profile_text(d->content->profile, row->name);
	bool faint = total < 0.5;
	screen_style(out, colour, faint ? STYLE_DIM : row->kernel ? STYLE_ACCENT : STYLE_PLAIN);
	screen_name(out, name, strlen(name), c->name);
	screen_style(out, colour, STYLE_PLAIN);
}

/* --- trees --- */

static void add_section_title(struct buf *out, const struct drawing *d, const struct top_section *section, bool colour)
{
	const struct top_content *content = d->content;
	screen_style(out, colour, STYLE_BOLD);
	if (section->bottom_up) {
		screen_right(out, "Share", PERCENT);
		buf_str(out, "  Callers");
	} else {
		screen_right(out, "Total", PERCENT);
		screen_spaces(out, GAP);
		screen_right(out, "Self", PERCENT);
		buf_str(out, content->section_count > 1 ? "  Calls" : "  Function");
	}
	screen_style(out, colour, STYLE_PLAIN);
}

static void draw_function_title(struct drawing *d)
{
	const struct standing *row = &d->content->standings->rows[d->state->function];
	struct line line = new_line(d);
	struct buf text CLEANUP_BUF = {0};
	buf_printf(&text, "  self %.2f %%  total %.2f %%", percent_of(d, standing_self(row, d->state->kernel)),
		   percent_of(d, row->total));
	const char *module = module_of(d, row);
	size_t rest = columns_of(&text) + strlen(module) + 4;
	put_spaces(&line, GUTTER);
	line.columns = d->columns > rest + NAME_LEAST ? d->columns - rest : NAME_LEAST + GUTTER;
	put(&line, STYLE_BOLD, profile_text(d->content->profile, row->name));
	line.columns = d->columns;
	put(&line, STYLE_DIM, "  ");
	put(&line, STYLE_DIM, module);
	put_whole(&line, STYLE_PLAIN, text.data);
	end_line(d, &line);
}

/* The tree's own lines, drawn by the code of `wick report --tree`. */
struct tree_pen {
	struct report report;
	bool *open[2]; /* by section: as report_tree_line() wants it */
};

static void tree_pen_init(struct tree_pen *pen, const struct drawing *d)
{
	*pen = (struct tree_pen){
		.report =
			{
				.profile = d->content->profile,
				.value = d->content->value,
				.total = d->content->standings->total,
				.width = (int)d->columns - GUTTER,
				.colour = d->colour,
			},
	};
	for (size_t i = 0; i < d->content->section_count; i++)
		pen->open[i] = mem_zalloc((size_t)d->content->sections[i].lines.max_level + 1, sizeof *pen->open[i]);
}

static void tree_pen_release(struct tree_pen *pen)
{
	free(pen->open[0]);
	free(pen->open[1]);
}

static void add_tree_row(struct buf *out, struct tree_pen *pen, const struct drawing *d, size_t at, bool colour)
{
	long line;
	const struct top_section *section = top_section_at(d->content, at, &line);
	pen->report.colour = colour;
	if (line == -1)
		add_section_title(out, d, section, colour);
	else if (line >= 0)
		report_tree_line(out, &pen->report, &section->tree, &section->lines, (size_t)line,
				 pen->open[section - d->content->sections], section->bottom_up);
}

/* --- the page --- */

static void draw_row(struct drawing *d, const struct buf *row, bool selected)
{
	if (!row->size && !selected) {
		blank_line(d);
		return;
	}
	if (selected)
		screen_style(d->out, d->colour, STYLE_INVERSE);
	buf_str(d->out, selected ? "▸ " : "  ");
	buf_add(d->out, row->data ? row->data : "", row->size);
	size_t used = GUTTER + columns_of(row);
	if (selected && d->colour && used < d->columns)
		screen_spaces(d->out, d->columns - used);
	if (selected)
		screen_style(d->out, d->colour, STYLE_PLAIN);
	buf_char(d->out, '\n');
}

static void scroll(struct top_state *state, size_t page_lines, size_t count)
{
	if (state->selected < state->first)
		state->first = state->selected;
	if (state->selected >= state->first + page_lines)
		state->first = state->selected - page_lines + 1;
	if (state->first + page_lines > count)
		state->first = count > page_lines ? count - page_lines : 0;
	if (state->page != TOP_FUNCTIONS && state->selected == 1)
		state->first = 0; /* the heading, which nobody would go to */
}

static void draw_rows(struct drawing *d, const struct columns *c, size_t page_lines)
{
	const struct top_state *state = d->state;
	struct tree_pen pen;
	struct buf row CLEANUP_BUF = {0};
	size_t last = state->first + page_lines, count = d->content->line_count;
	bool list = state->page == TOP_FUNCTIONS;
	tree_pen_init(&pen, d);
	/* Lines of a tree depend on those above them. */
	for (size_t i = list ? state->first : 0; i < last; i++) {
		bool selected = i == state->selected && i < count;
		buf_clear(&row);
		if (i < count && list)
			add_list_row(&row, d, c, i, d->colour && !selected);
		else if (i < count)
			add_tree_row(&row, &pen, d, i, d->colour && !selected);
		if (i >= state->first)
			draw_row(d, &row, selected);
	}
	tree_pen_release(&pen);
}

static void draw_nothing(struct drawing *d, size_t page_lines)
{
	const struct top_state *state = d->state;
	struct line line = new_line(d);
	put_spaces(&line, GUTTER);
	if (state->search.size) {
		put(&line, STYLE_DIM, "no function or module is called ");
		put(&line, STYLE_DIM, state->search.data);
	} else {
		put(&line, STYLE_DIM, state->paused ? "paused" : "no samples yet: it does not run on a CPU");
	}
	end_line(d, &line);
	for (size_t i = 1; i < page_lines; i++)
		blank_line(d);
}

/* --- the foot --- */

struct hint {
	const char *key, *meaning;
};

static void draw_hints(struct drawing *d)
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
	struct line line = new_line(d);
	put(&line, STYLE_PLAIN, " ");
	for (const struct hint *hint = d->state->page == TOP_FUNCTIONS ? list : tree; hint->key; hint++) {
		size_t need = text_columns(hint->key, strlen(hint->key)) + strlen(hint->meaning) + 1;
		if (line.used + need > line.columns)
			break;
		put(&line, STYLE_ACCENT, hint->key);
		put(&line, STYLE_DIM, " ");
		put(&line, STYLE_DIM, hint->meaning);
		put_spaces(&line, GAP);
	}
	buf_add(d->out, line.text.data, line.text.size);
	buf_release(&line.text);
}

static void draw_foot(struct drawing *d)
{
	const struct top_state *state = d->state;
	if (!state->typing && !state->search.size) {
		draw_hints(d);
		return;
	}
	struct line line = new_line(d);
	put(&line, STYLE_ACCENT, " / ");
	put(&line, STYLE_BOLD, state->search.data ? state->search.data : "");
	put(&line, STYLE_DIM, state->typing ? "▏  ⏎ keep  esc clear" : "  esc shows all functions again");
	buf_add(d->out, line.text.data, line.text.size);
	buf_release(&line.text);
}

static void draw_help(struct drawing *d, size_t lines)
{
	static const struct hint rows[] = {
		{"q, Ctrl-C", "end"},
		{"↑ ↓ j k", "move; page up and down, home, end (g, G)"},
		{"⏎ → l", "who calls the function and what it calls; in trees: open or close"},
		{"← esc", "close, back to the functions"},
		{"t", "the call tree of everything"},
		{"s", "sort by own time or by total time"},
		{"K", "without the kernel: its time is that of the function that called it"},
		{"/", "only functions and modules whose name has this in it"},
		{"w", "how far back: 2, 5, 10, 30, 60 s, or since the start"},
		{"z", "begin to count anew"},
		{"p space", "pause: nothing is recorded until it is pressed again"},
		{"f", "freeze the screen; recording goes on"},
		{"+ -", "refresh more or less often"},
		{"", ""},
		{"", "Self: time in the function itself. Total: also in what it called."},
		{"", "Any key goes back."},
	};
	size_t count = sizeof rows / sizeof *rows;
	for (size_t i = 0; i < lines; i++) {
		struct line line = new_line(d);
		if (i < count) {
			put_spaces(&line, GUTTER);
			put(&line, STYLE_ACCENT, rows[i].key);
			put_spaces(&line, line.used < 14 && *rows[i].key ? 14 - line.used : 0);
			put(&line, STYLE_PLAIN, rows[i].meaning);
		}
		end_line(d, &line);
	}
}

/* Lines around the content: title, figures, a blank one, column titles or the function, the foot. */
static size_t frame_lines(const struct top_state *state, int rows)
{
	size_t roomy = rows >= ROOMY_ROWS ? 2 : 0;
	return 3 + roomy + (state->page != TOP_TREE);
}

size_t top_page_lines(const struct top_state *state, int rows)
{
	size_t frame = frame_lines(state, rows);
	return rows > 0 && (size_t)rows > frame ? (size_t)rows - frame : 1;
}

static void draw_page(struct drawing *d, size_t page_lines)
{
	const struct top_state *state = d->state;
	struct columns c = {0};
	if (state->page == TOP_FUNCTIONS) {
		c = choose_columns(d);
		draw_list_titles(d, &c);
	} else if (state->page == TOP_FUNCTION) {
		draw_function_title(d);
	}
	if (d->content->line_count)
		draw_rows(d, &c, page_lines);
	else
		draw_nothing(d, page_lines);
}

void top_draw(struct buf *out, struct top_state *state, const struct top_content *content,
	      const struct top_facts *facts, int columns, int rows, bool colour)
{
	struct drawing d = {
		.out = out,
		.state = state,
		.content = content,
		.facts = facts,
		.columns = columns > 0 ? (size_t)columns : 1,
		.colour = colour,
	};
	size_t page_lines = top_page_lines(state, rows);
	if (columns < COLUMNS_LEAST || rows < ROWS_LEAST) {
		screen_name(out, "too small", 9, d.columns);
		return;
	}
	scroll(state, page_lines, content->line_count);
	draw_title(&d);
	draw_figures(&d);
	if (rows >= ROOMY_ROWS)
		blank_line(&d);
	if (state->help)
		draw_help(&d, page_lines + (state->page != TOP_TREE));
	else
		draw_page(&d, page_lines);
	if (rows >= ROOMY_ROWS)
		blank_line(&d);
	draw_foot(&d);
}
