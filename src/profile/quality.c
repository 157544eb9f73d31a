/* Merges the counters of quality, and writes them as text and advice. */
#include "profile/quality.h"

#include "base/text.h"

#include <stdbool.h>

#define RECORD_LOST "mapping or task record lost"
#define RECORDS_LOST "mapping and task records lost"

void quality_release(struct quality *quality)
{
	free(quality->modules);
	*quality = (struct quality){0};
}

struct quality_module *quality_unresolved(struct quality *quality, str_id module, uint64_t frames)
{
	for (size_t i = 0; i < quality->module_count; i++)
		if (quality->modules[i].module == module) {
			quality->modules[i].frames += frames;
			return &quality->modules[i];
		}
	MEM_ROOM(quality->modules, quality->module_count, quality->module_capacity);
	struct quality_module *added = &quality->modules[quality->module_count++];
	*added = (struct quality_module){.module = module, .frames = frames};
	return added;
}

void quality_add(struct quality *quality, const struct quality *from)
{
	quality->samples += from->samples;
	quality->stacks += from->stacks;
	quality->lost += from->lost;
	quality->lost_records += from->lost_records;
	quality->truncated += from->truncated;
	quality->unresolved += from->unresolved;
	quality->derived += from->derived;
	quality->late += from->late;
	quality->bad_lines += from->bad_lines;
	quality->cut_stacks += from->cut_stacks;
	quality->overflows += from->overflows;
	quality->filtered += from->filtered;
}

static void part(struct buf *out, uint64_t count, const char *one, const char *many)
{
	if (!count)
		return;
	if (out->size)
		buf_str(out, " · ");
	text_count(out, count, one, many);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* The module with the most frames that have no symbol: the one whose symbols would help most. */
static const struct quality_module *worst_module(const struct quality *quality)
{
	const struct quality_module *worst = NULL;
	for (size_t i = 0; i < quality->module_count; i++)
		if (!worst || quality->modules[i].frames > worst->frames)
			worst = &quality->modules[i];
	return worst;
}

void quality_line(const struct quality *quality, const struct strpool *strings, struct buf *out)
{
	struct buf line CLEANUP_BUF = {0};
	bool only_stacks = !quality->samples;
	part(&line, quality->samples, "sample", "samples");
	part(&line, quality->stacks, "folded stack", "folded stacks");
	part(&line, quality->lost, "lost", "lost");
	part(&line, quality->lost_records, RECORD_LOST, RECORDS_LOST);
	part(&line, quality->truncated, "truncated stack", "truncated stacks");
	part(&line, quality->unresolved, only_stacks ? "stack with unresolved frames" : "sample with unresolved frames",
	     only_stacks ? "stacks with unresolved frames" : "samples with unresolved frames");
	const struct quality_module *worst = worst_module(quality);
	if (worst && quality->unresolved) {
		const char *module = last_part(strpool_text(strings, worst->module));
		if (!strcmp(module, "[unknown]"))
			buf_str(&line, ", most at addresses in no mapped file");
		else
			buf_printf(&line, ", most in %s", module);
	}
	part(&line, quality->derived, "stack with derived unwind rules", "stacks with derived unwind rules");
	part(&line, quality->late, "Python stack read late", "Python stacks read late");
	part(&line, quality->bad_lines, "bad line", "bad lines");
	part(&line, quality->cut_stacks, "incomplete stack skipped", "incomplete stacks skipped");
	part(&line, quality->filtered, "sample of another event skipped", "samples of other events skipped");
	part(&line, quality->overflows, "sum too large for 64 bits", "sums too large for 64 bits");
	buf_add(out, line.data ? line.data : "", line.size);
}

static int more_frames_first(const void *left, const void *right)
{
	const struct quality_module *a = left, *b = right;
	return a->frames > b->frames ? -1 : a->frames < b->frames;
}

static void counted_advice(struct buf *out, uint64_t count, const char *one, const char *many, const char *advice)
{
	if (!count || !*advice)
		return;
	text_count(out, count, one, many);
	buf_printf(out, ": %s\n", advice);
}

void quality_advice(const struct quality *quality, const struct strpool *strings, size_t max, struct buf *out)
{
	counted_advice(out, quality->lost, "sample lost", "samples lost", strpool_text(strings, quality->lost_advice));
	counted_advice(out, quality->lost_records, RECORD_LOST, RECORDS_LOST,
		       strpool_text(strings, quality->lost_records_advice));
	counted_advice(out, quality->truncated, "truncated stack", "truncated stacks",
		       strpool_text(strings, quality->truncated_advice));
	if (quality->names_advice)
		buf_printf(out, "%s\n", strpool_text(strings, quality->names_advice));
	struct quality_module *modules CLEANUP_FREE = mem_alloc((quality->module_count + 1) * sizeof *modules);
	size_t count = 0;
	for (size_t i = 0; i < quality->module_count; i++)
		if (quality->modules[i].advice)
			modules[count++] = quality->modules[i];
	qsort(modules, count, sizeof *modules, more_frames_first);
	for (size_t i = 0; i < count && i < max; i++) {
		buf_str(out, last_part(strpool_text(strings, modules[i].module)));
		buf_str(out, ", ");
		text_count(out, modules[i].frames, "frame", "frames");
		buf_printf(out, " unresolved: %s\n", strpool_text(strings, modules[i].advice));
	}
}
