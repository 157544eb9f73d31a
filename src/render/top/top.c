/* Draws the lists and trees of `wick top` in columns. */
#include "render/top/top.h"

#include "base/text.h"
#include "render/top/top_frame.h"

#include <math.h>

enum {
	PERCENT = 8,
	NAME_LENGTH_MIN = 16,
	MODULE_MAX = 20,
	PROCESS_MAX = 22,
	WAIT_COLUMNS = 8,
	BAR_MAX = 14,
	COLUMNS_MIN = 24,
	ROWS_MIN = 6,
	ROOMY_ROWS = 12, /* on a lower screen no line is left blank */
};

static double percent_of(const struct top_drawing *d, int64_t weight)
{
	int64_t total = d->content->hot_functions->total;
	return total ? 100.0 * (double)weight / (double)total : 0;
}

/* --- the list of functions --- */

struct columns {
	bool total;
	size_t bar, process, module, name;
	double fullest; /* percent that fills the bar */
};

static const char *module_of(const struct top_drawing *d, const struct hot_function *row)
{
	const char *path = profile_text(d->content->profile, row->module), *slash = strrchr(path, '/');
	return strcmp(path, "[kernel.kallsyms]") == 0 ? "[kernel]" : slash && slash[1] ? slash + 1 : path;
}

/* As wide as the rows that are shown need it. */
static size_t process_columns(const struct top_drawing *d)
{
	struct buf text CLEANUP_BUF = {0};
	size_t widest = strlen("Process"), last = d->state->first + d->page_lines;
	for (size_t i = d->state->first; i < last && i < d->content->line_count; i++) {
		buf_clear(&text);
		hot_function_process_text(&text, d->content->hot_functions, d->content->profile,
					  &d->content->hot_functions->rows[d->content->order[i]]);
		size_t columns = text.size ? text_columns(text.data, text.size) : 0;
		widest = columns > widest ? columns : widest;
	}
	return widest < PROCESS_MAX ? widest : PROCESS_MAX;
}

static size_t name_columns(const struct top_drawing *d, const struct columns *c)
{
	size_t used = TOP_GUTTER + PERCENT + TOP_GAP;
	used += c->bar ? c->bar + TOP_GAP : 0;
	used += c->total ? PERCENT + TOP_GAP : 0;
	used += c->process ? c->process + TOP_GAP : 0;
	used += c->module ? c->module + TOP_GAP : 0;
	return d->columns > used ? d->columns - used : 1;
}

/* On a narrow screen what says least goes first. The only process of a recording is named in the title. */
static struct columns choose_columns(const struct top_drawing *d)
{
	struct columns c = {.total = true, .bar = BAR_MAX, .process = process_columns(d), .module = MODULE_MAX};
	bool several = d->content->hot_functions->process_count > 1;
	for (int given_up = 0;; given_up++) {
		c.name = name_columns(d, &c);
		if (c.name >= (given_up < 3 ? 2 * NAME_LENGTH_MIN : NAME_LENGTH_MIN) || given_up == 6)
			break;
		if (given_up == 0)
			c.bar = BAR_MAX / 2;
		else if (given_up == 1)
			c.process = several ? c.process : 0;
		else if (given_up == 2)
			c.module = MODULE_MAX / 2 + 2;
		else if (given_up == 3)
			c.bar = 0;
		else if (given_up == 4)
			c.process = 0;
		else
			c.module = 0, c.total = d->columns > 36;
	}
	for (size_t i = 0; i < d->content->line_count; i++) {
		const struct hot_function *row = &d->content->hot_functions->rows[d->content->order[i]];
		c.fullest = fmax(c.fullest, percent_of(d, hot_function_self(row, d->state->kernel)));
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
	screen_spaces(out, TOP_GAP);
}

static void draw_list_titles(struct top_drawing *d, const struct columns *c)
{
	struct buf *out = d->out;
	screen_spaces(out, TOP_GUTTER);
	add_title(out, d->colour, d->state->order == FUNCTIONS_BY_SELF, "Self");
	screen_spaces(out, c->bar ? c->bar + TOP_GAP : 0);
	if (c->total)
		add_title(out, d->colour, d->state->order == FUNCTIONS_BY_TOTAL, "Total");
	screen_style(out, d->colour, STYLE_BOLD);
	if (c->process) {
		screen_name_padded(out, "Process", 7, c->process);
		screen_spaces(out, TOP_GAP);
	}
	if (c->module) {
		screen_name_padded(out, "Module", 6, c->module);
		screen_spaces(out, TOP_GAP);
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
	screen_spaces(out, TOP_GAP);
}

static void add_list_row(struct buf *out, const struct top_drawing *d, const struct columns *c, size_t at, bool colour)
{
	const struct hot_function *row = &d->content->hot_functions->rows[d->content->order[at]];
	double self = percent_of(d, hot_function_self(row, d->state->kernel)), total = percent_of(d, row->total);
	add_percent(out, colour, self);
	if (c->bar) {
		screen_style(out, colour, screen_heat(self));
		screen_bar(out, c->fullest > 0 ? self / c->fullest : 0, c->bar);
		screen_style(out, colour, STYLE_PLAIN);
		screen_spaces(out, TOP_GAP);
	}
	if (c->total)
		add_percent(out, colour, total);
	if (c->process) {
		struct buf process CLEANUP_BUF = {0};
		hot_function_process_text(&process, d->content->hot_functions, d->content->profile, row);
		screen_name_padded(out, process.data ? process.data : "", process.size, c->process);
		screen_spaces(out, TOP_GAP);
	}
	if (c->module) {
		const char *module = module_of(d, row);
		screen_style(out, colour, STYLE_DIM);
		screen_name_padded(out, module, strlen(module), c->module);
		screen_style(out, colour, STYLE_PLAIN);
		screen_spaces(out, TOP_GAP);
	}
	struct short_text shown = top_name(d->content, row);
	struct buf name CLEANUP_BUF = {0};
	if (row->wait)
		buf_printf(&name, "%-*s  ", WAIT_COLUMNS, row->wait);
	buf_add(&name, shown.text, shown.length);
	bool faint = total < 0.5;
	screen_style(out, colour, faint ? STYLE_DIM : row->kernel ? STYLE_ACCENT : STYLE_PLAIN);
	screen_name(out, name.data, name.size, c->name);
	screen_style(out, colour, STYLE_PLAIN);
}

/* --- trees --- */

static void add_section_title(struct buf *out, const struct top_drawing *d, const struct top_section *section,
			      bool colour)
{
	const struct top_content *content = d->content;
	screen_style(out, colour, STYLE_BOLD);
	if (section->bottom_up) {
		screen_right(out, "Share", PERCENT);
		buf_str(out, "  Callers");
	} else {
		screen_right(out, "Total", PERCENT);
		screen_spaces(out, TOP_GAP);
		screen_right(out, "Self", PERCENT);
		buf_str(out, content->section_count > 1 ? "  Calls" : "  Function");
	}
	screen_style(out, colour, STYLE_PLAIN);
}

static void draw_function_title(struct top_drawing *d)
{
	const struct hot_function *row = &d->content->hot_functions->rows[d->state->function];
	struct top_line line = top_line_new(d);
	struct buf text CLEANUP_BUF = {0};
	buf_printf(&text, "  self %.2f %%  total %.2f %%", percent_of(d, hot_function_self(row, d->state->kernel)),
		   percent_of(d, row->total));
	const char *module = module_of(d, row);
	size_t rest = top_columns_of(&text) + strlen(module) + 4;
	top_put_spaces(&line, TOP_GUTTER);
	line.columns = d->columns > rest + NAME_LENGTH_MIN ? d->columns - rest : NAME_LENGTH_MIN + TOP_GUTTER;
	top_put(&line, STYLE_BOLD, top_name(d->content, row).text);
	line.columns = d->columns;
	top_put(&line, STYLE_DIM, "  ");
	top_put(&line, STYLE_DIM, module);
	top_put_whole(&line, STYLE_PLAIN, text.data);
	top_line_end(d, &line);
}

/* The tree's own lines, drawn by the code of `wick report --tree`. */
struct tree_pen {
	struct report report;
	bool *open[2]; /* by section: as report_tree_line() wants it */
};

static void tree_pen_init(struct tree_pen *pen, const struct top_drawing *d)
{
	*pen = (struct tree_pen){
		.report =
			{
				.profile = d->content->profile,
				.value = d->content->value,
				.total = d->content->hot_functions->total,
				.width = (int)d->columns - TOP_GUTTER,
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

static void add_tree_row(struct buf *out, struct tree_pen *pen, const struct top_drawing *d, size_t at, bool colour)
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

static void draw_row(struct top_drawing *d, const struct buf *row, bool selected)
{
	if (!row->size && !selected) {
		top_blank_line(d);
		return;
	}
	if (selected)
		screen_style(d->out, d->colour, STYLE_INVERSE);
	buf_str(d->out, selected ? "▸ " : "  ");
	buf_add(d->out, row->data ? row->data : "", row->size);
	size_t used = TOP_GUTTER + top_columns_of(row);
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

static void draw_rows(struct top_drawing *d, const struct columns *c, size_t page_lines)
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

static void draw_nothing(struct top_drawing *d, size_t page_lines)
{
	const struct top_state *state = d->state;
	struct top_line line = top_line_new(d);
	top_put_spaces(&line, TOP_GUTTER);
	if (state->search.size) {
		top_put(&line, STYLE_DIM, "no function or module matches ");
		top_put(&line, STYLE_DIM, state->search.data);
	} else {
		top_put(&line, STYLE_DIM,
			state->paused ? "paused" :
					"no samples yet: the target is not running "
					"on a CPU");
	}
	top_line_end(d, &line);
	for (size_t i = 1; i < page_lines; i++)
		top_blank_line(d);
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

static void draw_page(struct top_drawing *d, size_t page_lines)
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
	size_t page_lines = top_page_lines(state, rows);
	struct top_drawing d = {
		.out = out,
		.page_lines = page_lines,
		.state = state,
		.content = content,
		.facts = facts,
		.columns = columns > 0 ? (size_t)columns : 1,
		.colour = colour,
	};
	if (columns < COLUMNS_MIN || rows < ROWS_MIN) {
		screen_name(out, "too small", 9, d.columns);
		return;
	}
	scroll(state, page_lines, content->line_count);
	top_draw_title(&d);
	top_draw_figures(&d);
	if (rows >= ROOMY_ROWS)
		top_blank_line(&d);
	if (state->help)
		top_draw_help(&d, page_lines + (state->page != TOP_TREE));
	else
		draw_page(&d, page_lines);
	if (rows >= ROOMY_ROWS)
		top_blank_line(&d);
	top_draw_foot(&d);
}
