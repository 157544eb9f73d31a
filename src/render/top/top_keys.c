/* What each key of `wick top` changes in its state. */
#include "base/keys.h"
#include "render/top/top.h"

#define KEY_CTRL(letter) ((letter) - 'A' + 1)
#define REFRESH_MIN 100
#define REFRESH_MAX 10000

static const unsigned windows[] = {2, 5, 10, 30, 60, 0};

void top_state_init(struct top_state *state)
{
	*state = (struct top_state){.kernel = true, .chosen = INDEX_NONE, .function = INDEX_NONE, .refresh = 1000};
}

void top_state_release(struct top_state *state)
{
	buf_release(&state->search);
	free(state->flipped);
}

static void select_line(struct top_state *state, const struct top_content *content, size_t line)
{
	if (!content->line_count)
		return;
	state->selected = line < content->line_count ? line : content->line_count - 1;
	if (state->page == TOP_FUNCTIONS)
		state->chosen = state->selected ? content->order[state->selected] : INDEX_NONE;
}

static enum top_action move(struct top_state *state, const struct top_content *content, long by)
{
	size_t back = by < 0 ? (size_t)-by : 0;
	if (by >= 0)
		select_line(state, content, state->selected + (size_t)by);
	else
		select_line(state, content, state->selected > back ? state->selected - back : 0);
	return TOP_REDRAW;
}

static void go_to(struct top_state *state, enum top_page page)
{
	if (state->page == TOP_FUNCTIONS) {
		state->list_selected = state->selected;
		state->list_first = state->first;
	}
	state->page = page;
	state->selected = page == TOP_FUNCTIONS ? state->list_selected : 1; /* behind the heading */
	state->first = page == TOP_FUNCTIONS ? state->list_first : 0;
	state->flipped_count = 0;
}

static enum top_action flip(struct top_state *state, uint64_t path)
{
	for (size_t i = 0; i < state->flipped_count; i++) {
		if (state->flipped[i] != path)
			continue;
		state->flipped[i] = state->flipped[--state->flipped_count];
		return TOP_REBUILD;
	}
	MEM_ROOM(state->flipped, state->flipped_count, state->flipped_capacity);
	state->flipped[state->flipped_count++] = path;
	return TOP_REBUILD;
}

/* Whether a line of a tree has lines below it that are its own. */
static bool is_open(const struct top_section *section, size_t at)
{
	const struct tree_lines *lines = &section->lines;
	return at + 1 < lines->count && lines->lines[at + 1].parent_line == at;
}

static enum top_action open_line(struct top_state *state, const struct top_content *content, bool also_close)
{
	long at;
	if (state->page == TOP_FUNCTIONS) {
		if (!content->line_count)
			return TOP_NOTHING;
		state->function = content->order[state->selected];
		go_to(state, TOP_FUNCTION);
		return TOP_REBUILD;
	}
	const struct top_section *section = top_section_at(content, state->selected, &at);
	if (!section || at < 0)
		return TOP_NOTHING;
	const struct tree_line *line = &section->lines.lines[at];
	bool open = is_open(section, (size_t)at);
	if (line->remainder || (open && !also_close) || (!open && !line->hidden))
		return TOP_NOTHING;
	return flip(state, section->path[line->node]);
}

/* Closes the line, or goes to the one it belongs to; from the outermost, back to the list. */
static enum top_action close_line(struct top_state *state, const struct top_content *content)
{
	long at;
	if (state->page == TOP_FUNCTIONS)
		return TOP_NOTHING;
	const struct top_section *section = top_section_at(content, state->selected, &at);
	if (section && at >= 0) {
		const struct tree_line *line = &section->lines.lines[at];
		if (is_open(section, (size_t)at) && !line->remainder)
			return flip(state, section->path[line->node]);
		if (line->parent_line != INDEX_NONE)
			return move(state, content, (long)line->parent_line - at);
	}
	go_to(state, TOP_FUNCTIONS);
	return TOP_REBUILD;
}

static enum top_action type(struct top_state *state, uint32_t key)
{
	struct buf *search = &state->search;
	if (key == '\n') {
		state->typing = false;
	} else if (key == KEY_ESCAPE) {
		state->typing = false;
		buf_clear(search);
	} else if (key == '\b' && search->size) {
		do
			search->size--;
		while (search->size && ((unsigned char)search->data[search->size] & 0xc0) == 0x80);
		search->data[search->size] = '\0';
	} else if (key >= ' ' && key < 0x7f && search->size < 100) {
		buf_char(search, (char)key);
	} else if (key >= 0xa0 && key < KEY_UP && search->size < 100) {
		if (key >= 0x10000)
			buf_char(search, (char)(0xf0 | key >> 18));
		if (key >= 0x800)
			buf_char(search, (char)(key >= 0x10000 ? 0x80 | (key >> 12 & 0x3f) : 0xe0 | key >> 12));
		buf_char(search, (char)(key >= 0x800 ? 0x80 | (key >> 6 & 0x3f) : 0xc0 | key >> 6));
		buf_char(search, (char)(0x80 | (key & 0x3f)));
	}
	state->selected = state->first = 0;
	state->chosen = INDEX_NONE;
	return TOP_REBUILD;
}

static enum top_action start_typing(struct top_state *state)
{
	if (state->page != TOP_FUNCTIONS)
		go_to(state, TOP_FUNCTIONS);
	state->typing = true;
	buf_clear(&state->search);
	return TOP_REBUILD;
}

static enum top_action escape(struct top_state *state)
{
	if (state->page != TOP_FUNCTIONS)
		go_to(state, TOP_FUNCTIONS);
	else
		buf_clear(&state->search);
	return TOP_REBUILD;
}

static enum top_action next_window(struct top_state *state)
{
	size_t at = 0, count = sizeof windows / sizeof *windows;
	while (at + 1 < count && windows[at] != 0 && windows[at] <= state->window)
		at++;
	state->window = state->window ? windows[at] : windows[0];
	return TOP_REBUILD;
}

static enum top_action set_refresh(struct top_state *state, unsigned refresh)
{
	state->refresh = refresh < REFRESH_MIN ? REFRESH_MIN : refresh > REFRESH_MAX ? REFRESH_MAX : refresh;
	return TOP_REDRAW;
}

static enum top_action toggle(bool *what, enum top_action action)
{
	*what = !*what;
	return action;
}

static enum top_action sort(struct top_state *state)
{
	state->order = state->order == FUNCTIONS_BY_SELF ? FUNCTIONS_BY_TOTAL : FUNCTIONS_BY_SELF;
	return TOP_REBUILD;
}

static enum top_action command_key(struct top_state *state, uint32_t key)
{
	switch (key) {
	case 'q':
		return TOP_QUIT;
	case KEY_ESCAPE:
	case '\b':
		return escape(state);
	case 's':
		return sort(state);
	case 't':
		go_to(state, state->page == TOP_TREE ? TOP_FUNCTIONS : TOP_TREE);
		return TOP_REBUILD;
	case 'K':
		return toggle(&state->kernel, TOP_REBUILD);
	case 'p':
	case ' ':
		return toggle(&state->paused, TOP_REDRAW);
	case 'f':
		return toggle(&state->frozen, TOP_REBUILD);
	case 'w':
		return next_window(state);
	case 'z':
		return TOP_RESET;
	case '+':
		return set_refresh(state, state->refresh / 2);
	case '-':
		return set_refresh(state, state->refresh * 2);
	case '/':
		return start_typing(state);
	case 'h':
	case '?':
		return toggle(&state->help, TOP_REDRAW);
	default:
		return TOP_NOTHING;
	}
}

enum top_action top_key(struct top_state *state, uint32_t key, const struct top_content *content, size_t page_lines)
{
	long page = page_lines > 1 ? (long)page_lines - 1 : 1;
	if (key == KEY_CTRL('Z'))
		return TOP_SUSPEND;
	if (state->help && key != 'q')
		return toggle(&state->help, TOP_REDRAW);
	if (state->typing && (key < KEY_UP || key > KEY_DOWN))
		return type(state, key);
	switch (key) {
	case 'j':
	case KEY_DOWN:
		return move(state, content, 1);
	case 'k':
	case KEY_UP:
		return move(state, content, -1);
	case KEY_PAGE_DOWN:
		return move(state, content, page);
	case KEY_PAGE_UP:
		return move(state, content, -page);
	case 'g':
	case KEY_HOME:
		return move(state, content, -(long)state->selected);
	case 'G':
	case KEY_END:
		return move(state, content, (long)content->line_count);
	case '\n':
		return open_line(state, content, true);
	case 'l':
	case KEY_RIGHT:
		return open_line(state, content, false);
	case KEY_LEFT:
		return close_line(state, content);
	default:
		return command_key(state, key);
	}
}
