/*
 * The full screen of `wick top`: what it can show, what keys do, and its text as a function of both. Knows nothing of
 * terminals and of where the profile comes from.
 */
#ifndef WICK_RENDER_TOP_TOP_H
#define WICK_RENDER_TOP_TOP_H

#include "profile/hot_functions.h"
#include "profile/sample_list.h"
#include "profile/short_names.h"
#include "render/report.h"

enum top_page {
	TOP_FUNCTIONS, /* all functions */
	TOP_FUNCTION, /* who calls one of them, and what it calls */
	TOP_TREE, /* the call tree of everything */
};

struct top_state {
	enum top_page page;
	enum function_order order;
	bool kernel;
	bool paused; /* nothing is recorded */
	bool frozen; /* the screen stays as it is */
	bool help;
	bool typing; /* into `search` */
	struct buf search;
	size_t selected, first; /* lines: the chosen one, and the one at the top of the page */
	uint32_t chosen; /* row of the hot_functions that the selection follows; INDEX_NONE: stay at the top */
	uint32_t function; /* row of the hot_functions that TOP_FUNCTION shows */
	size_t list_selected, list_first; /* where TOP_FUNCTIONS was left */
	unsigned window; /* how many seconds are shown; 0: everything */
	unsigned refresh; /* milliseconds */
	enum label_names names;
	uint64_t *flipped; /* nodes of trees that were opened or closed by hand, by the hash of their path */
	size_t flipped_count, flipped_capacity;
};

void top_state_init(struct top_state *state);
void top_state_release(struct top_state *state);

/* --- what is on the page --- */

/* A tree with its heading. */
struct top_section {
	bool bottom_up;
	struct calltree tree;
	struct tree_lines lines;
	uint64_t *path; /* by node: hash of its path */
};

struct top_content {
	const struct profile *profile;
	const struct hot_functions *hot_functions;
	value_id value;
	struct short_names names; /* empty: names are shown as they are */
	uint32_t *order; /* TOP_FUNCTIONS: rows of the hot_functions */
	size_t line_count; /* selectable lines, headings of sections among them */
	struct top_section sections[2];
	size_t section_count;
};

/*
 * What the state requests. `samples` are of the profile, which must outlive the content; its own samples do not matter.
 * The selection of the state is moved to where its function is now.
 */
void top_content_build(struct top_content *content, struct top_state *state, const struct profile *profile,
		       value_id value, const struct hot_functions *hot_functions, const struct sample_list *samples);
void top_content_release(struct top_content *content);
/* What a row of the hot_functions is called on the screen. */
struct short_text top_name(const struct top_content *content, const struct hot_function *row);
/* The section that has a line, and in it the line; −1: its heading, −2: blank. NULL where there are no sections. */
const struct top_section *top_section_at(const struct top_content *content, size_t line, long *ret_at);

/* --- keys --- */

enum top_action {
	TOP_NOTHING,
	TOP_REDRAW, /* the same content looks different */
	TOP_REBUILD, /* the state requests other content */
	TOP_RESET, /* start counting again */
	TOP_SUSPEND,
	TOP_QUIT,
};

/* `page_lines`: how many lines of the content the screen has. */
enum top_action top_key(struct top_state *state, uint32_t key, const struct top_content *content, size_t page_lines);

/* --- drawing --- */

/* What `busy` counts: "CPUs busy". */
struct top_load {
	const char *text;
	int decimals;
};

struct top_facts {
	const char *title; /* what is recorded */
	const char *event;
	uint64_t frequency; /* 0: samples come by count */
	double seconds; /* of recording */
	uint64_t lost;
	struct top_load load;
	const double *busy; /* by refresh; the oldest first */
	size_t busy_count;
};

/* How many lines of content fit on a screen of `rows`. */
size_t top_page_lines(const struct top_state *state, int rows);
/*
 * Not more than `rows` lines, with a newline between them. They fit into `columns`, except those of trees on a narrow
 * screen, whose ends are cut by the terminal.
 */
void top_draw(struct buf *out, struct top_state *state, const struct top_content *content,
	      const struct top_facts *facts, int columns, int rows, bool colour);

#endif
