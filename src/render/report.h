/*
 * `wick report`: tables of functions, modules, threads or processes, and call trees, as text for people, JSON and CSV.
 * The fields of the JSON are described in docs/json.md and are kept stable.
 */
#ifndef WICK_RENDER_REPORT_H
#define WICK_RENDER_REPORT_H

#include "base/outfile.h"
#include "profile/functions.h"

struct report {
	const struct profile *profile;
	value_id value;
	int64_t total; /* what 100 % is */
	const char *kind; /* the JSON "kind": "functions", "modules", "threads", "tree", … */
	const char *heading; /* of the column of names: "Function" */
	const char *const *inputs; /* NULL-terminated names of what was read */
	const char *rest; /* where the omitted rows are; NULL: --limit shows them */
	const char *note; /* one line the reader must know, or NULL */
	bool samples; /* of tables: rows have the number of samples as their second value */
	bool flat_groups; /* rows do not nest: self and total are the same and shown once */
	size_t limit; /* at most so many rows, in trees so many children of a frame; 0: all */
	/* Only for text. */
	int width; /* columns to fit into; 0: lines may be of any length */
	bool brief; /* the number of samples is only at the top, and messages say what the samples miss */
	bool colour;
	bool bottom_up; /* of trees: they were built in reverse */
};

/* True when what samples weigh differs from how many they are, and their number is known. */
bool report_wants_samples(const struct profile *profile, value_id value);

/*
 * A line of a pruned call tree. Only forks indent: a node that is the only line below its caller stands on the caller's
 * level. What was pruned is shown by the line of the node itself, or at forks by a separate line behind the branches.
 */
struct tree_line {
	uint32_t node; /* for a remainder: the node whose children were omitted */
	uint32_t level; /* of indentation */
	uint32_t parent_line; /* INDEX_NONE at the outermost */
	bool chained; /* on the level of its caller, right below it */
	bool last; /* nothing follows on this level below the same parent */
	bool remainder; /* no node, only what was pruned of `node` */
	int64_t weight; /* total of the node or of the remainder */
	uint64_t hidden; /* children that were pruned and are counted here */
	int64_t hidden_weight;
};

struct tree_lines {
	struct tree_line *lines;
	size_t count, capacity;
	uint32_t max_level;
};

struct tree_pruning {
	double min_percent; /* of the tree's total */
	uint32_t max_depth; /* 0: no limit */
	size_t limit; /* children of one node; 0: no limit */
	/* May be set: of a node for which it is true no child is listed. */
	bool (*closed)(const void *context, uint32_t node);
	const void *context;
};

/* The tree must be ordered by width. */
void tree_lines_build(struct tree_lines *lines, const struct calltree *tree, const struct tree_pruning *pruning);
void tree_lines_release(struct tree_lines *lines);

/* One line of it, without the newline. `open` has max_level + 1 elements, and lines are requested in their order. */
void report_tree_line(struct buf *out, const struct report *report, const struct calltree *tree,
		      const struct tree_lines *lines, size_t at, bool *open, bool bottom_up);

/* A new format is a file that defines its row, and a line in REPORT_FORMATS. */
struct report_format {
	void (*table)(const struct report *report, const struct function_table *table, struct outfile *out);
	/* `lines` are of `tree`, whose root is not among them. */
	void (*tree)(const struct report *report, const struct calltree *tree, const struct tree_lines *lines,
		     struct outfile *out);
};

/* REPORT_TEXT is the number of report_text, and so on; in the order of the help. */
#define REPORT_FORMATS(format) format(TEXT, text) format(JSON, json) format(CSV, csv)
#define REPORT_ID(id, row) REPORT_##id,
enum report_format_id { REPORT_FORMATS(REPORT_ID) REPORT_FORMAT_COUNT };
#undef REPORT_ID
#define REPORT_ROW(id, row) extern const struct report_format report_##row;
REPORT_FORMATS(REPORT_ROW)
#undef REPORT_ROW
extern const struct report_format *const report_formats[REPORT_FORMAT_COUNT];
extern const char *const report_format_names[REPORT_FORMAT_COUNT + 1]; /* ended by NULL: the choices of --format */

#endif
