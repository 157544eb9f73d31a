#include "profile/quality.h"

#include "base/text.h"

#include <stdbool.h>

void quality_release(struct quality *quality)
{
	free(quality->modules);
	*quality = (struct quality){0};
}

void quality_unresolved(struct quality *quality, str_id module, uint64_t frames)
{
	for (size_t i = 0; i < quality->module_count; i++)
		if (quality->modules[i].module == module) {
			quality->modules[i].frames += frames;
			return;
		}
	MEM_ROOM(quality->modules, quality->module_count, quality->module_capacity);
	quality->modules[quality->module_count++] = (struct quality_module){.module = module, .frames = frames};
}

void quality_add(struct quality *quality, const struct quality *from)
{
	quality->samples += from->samples;
	quality->stacks += from->stacks;
	quality->lost += from->lost;
	quality->truncated += from->truncated;
	quality->unresolved += from->unresolved;
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
	text_grouped(out, (int64_t)count);
	buf_char(out, ' ');
	buf_str(out, count == 1 ? one : many);
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
	part(&line, quality->truncated, "truncated stack", "truncated stacks");
	part(&line, quality->unresolved, only_stacks ? "stack with unresolved frames" : "sample with unresolved frames",
	     only_stacks ? "stacks with unresolved frames" : "samples with unresolved frames");
	const struct quality_module *worst = worst_module(quality);
	if (worst && quality->unresolved) {
		const char *path = strpool_text(strings, worst->module);
		const char *slash = strrchr(path, '/');
		buf_str(&line, ", most in ");
		buf_str(&line, slash && slash[1] ? slash + 1 : path);
	}
	part(&line, quality->bad_lines, "bad line", "bad lines");
	part(&line, quality->cut_stacks, "cut-off stack left out", "cut-off stacks left out");
	part(&line, quality->filtered, "sample of another event left out", "samples of other events left out");
	part(&line, quality->overflows, "sum too large for 64 bits", "sums too large for 64 bits");
	buf_add(out, line.data ? line.data : "", line.size);
}
