/* Adds up sums and squares of repeated runs. */
#include "profile/diff_runs.h"

#include "profile/functions.h"

#include <math.h>

struct diff_runs *diff_runs_new(void)
{
	struct diff_runs *runs = mem_zalloc(1, sizeof *runs);
	strpool_init(&runs->names);
	runs->sums = mem_grow(runs->sums, &runs->capacity, 1, sizeof *runs->sums);
	runs->sums[0] = (struct run_sums){0};
	return runs;
}

void diff_runs_free(struct diff_runs *runs)
{
	if (!runs)
		return;
	strpool_release(&runs->names);
	free(runs->sums);
	free(runs);
}

static void add_value(struct run_sums *sums, enum diff_side side, enum diff_quantity quantity, double value)
{
	sums->sum[side][quantity] += value;
	sums->squares[side][quantity] += value * value;
}

static struct run_sums *sums_of(struct diff_runs *runs, const char *name, size_t length)
{
	size_t known = runs->names.count;
	str_id id = strpool_add(&runs->names, name, length);
	if (id == known) {
		runs->sums = mem_grow(runs->sums, &runs->capacity, runs->names.count, sizeof *runs->sums);
		runs->sums[id] = (struct run_sums){0};
	}
	return &runs->sums[id];
}

void diff_runs_add(struct diff_runs *runs, enum diff_side side, const struct calltree *tree, double unit, bool shares)
{
	double total = (double)tree->total[0][0];
	double factor = shares ? 1 / total : unit;
	struct function_table table;
	function_table_build(&table, tree);
	for (size_t i = 0; i < table.count; i++) {
		const struct function_row *row = &table.rows[i];
		if (!row->length)
			continue;
		struct run_sums *sums = sums_of(runs, row->name, row->length);
		add_value(sums, side, QUANTITY_SELF, (double)row->self[0] * factor);
		add_value(sums, side, QUANTITY_TOTAL, (double)row->total[0] * factor);
	}
	add_value(&runs->sums[0], side, QUANTITY_TOTAL, total * unit);
	function_table_release(&table);
}

struct run_sums diff_runs_of(const struct diff_runs *runs, const char *name, size_t length)
{
	str_id id = strpool_find(&runs->names, name, length);
	struct run_sums none = {0};
	return id == INDEX_NONE ? none : runs->sums[id];
}

double run_sums_mean(const struct run_sums *sums, enum diff_side side, enum diff_quantity quantity, size_t runs)
{
	return sums->sum[side][quantity] / (double)runs;
}

double run_sums_variance(const struct run_sums *sums, enum diff_side side, enum diff_quantity quantity, size_t runs)
{
	if (runs < 2)
		return 0;
	double mean = run_sums_mean(sums, side, quantity, runs);
	return fmax(0, (sums->squares[side][quantity] - (double)runs * mean * mean) / ((double)runs - 1));
}
