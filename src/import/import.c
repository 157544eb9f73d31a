/* Reads one input: detects its format in the first block, shares blocks among workers, merges their shards. */
#include "import/import.h"

#include "base/parallel.h"
#include "base/term.h"
#include "import/detect.h"
#include "import/shard.h"

#include <stdio.h>

struct job {
	const struct import_format *format;
	struct blocks *blocks;
	struct shard *shards;
	struct progress *progress;
	uint64_t shown; /* bytes the progress line knows of */
	pthread_mutex_t lock;
	uint64_t *lines; /* by block: how many lines it has, to turn places into line numbers */
	size_t line_capacity;
};

static void note_block(struct job *job, uint64_t number, uint64_t lines)
{
	pthread_mutex_lock(&job->lock);
	job->lines = mem_grow(job->lines, &job->line_capacity, number + 1, sizeof *job->lines);
	job->lines[number] = lines;
	uint64_t consumed = text_input_consumed(job->blocks->input);
	if (consumed > job->shown) {
		progress_add(job->progress, consumed - job->shown);
		job->shown = consumed;
	}
	pthread_mutex_unlock(&job->lock);
}

static void work(void *context, unsigned worker)
{
	struct job *job = context;
	struct shard *shard = &job->shards[worker];
	struct block block = {0};
	shard->parser = job->format->start(shard);
	while (blocks_next(job->blocks, &block)) {
		/* Parsers look for the end of a line with memchr and need one behind the last. */
		block.data[block.size] = '\n';
		shard->block = block.number;
		shard->lines = 0;
		shard->last_block = block.last;
		shard->damaged = block.damaged;
		job->format->parse(shard, block.data, block.size);
		note_block(job, block.number, shard->lines);
	}
	job->format->finish(shard);
	free(block.data);
}

static uint64_t line_number(const struct job *job, const struct bad_line *place)
{
	uint64_t line = place->line + 1;
	for (uint64_t i = 0; i < place->block; i++)
		line += job->lines[i];
	return line;
}

static const struct bad_line *earlier(const struct bad_line *a, const struct bad_line *b)
{
	return b->block < a->block ? b : a;
}

static void report_lines(const struct job *job, unsigned workers, struct import_report *report)
{
	const struct bad_line *bad = &job->shards[0].first_bad, *cut = &job->shards[0].first_cut;
	for (unsigned i = 0; i < workers; i++) {
		report->bad_lines += job->shards[i].profile.quality.bad_lines;
		report->cut_stacks += job->shards[i].profile.quality.cut_stacks;
		bad = earlier(bad, &job->shards[i].first_bad);
		cut = earlier(cut, &job->shards[i].first_cut);
	}
	const char *name = text_input_name(job->blocks->input);
	if (bad->block != UINT64_MAX && !report->first_bad[0])
		snprintf(report->first_bad, sizeof report->first_bad, "%.150s:%llu: %s", name,
			 (unsigned long long)line_number(job, bad), bad->reason);
	if (cut->block != UINT64_MAX && !report->first_cut[0])
		snprintf(report->first_cut, sizeof report->first_cut, "%.150s:%llu", name,
			 (unsigned long long)line_number(job, cut));
}

/* Events of a later file come after those of the files before. */
static void shift_first_seen(const struct profile *before, struct profile *shard)
{
	uint64_t last = 0;
	for (size_t i = 0; i < before->value_count; i++)
		if (before->values[i].first_seen != UINT64_MAX && before->values[i].first_seen >= last)
			last = before->values[i].first_seen + 1;
	for (size_t i = 0; i < shard->value_count; i++)
		if (shard->values[i].first_seen != UINT64_MAX)
			shard->values[i].first_seen += last;
}

static bool is_fresh(const struct profile *profile)
{
	return profile->sample_count == 0 && profile->value_count == 0 && profile->stack_count == 1;
}

static void take_shard(struct profile *profile, struct profile *shard)
{
	if (is_fresh(profile)) {
		shard->ordered = profile->ordered;
		struct profile empty = *profile;
		*profile = *shard;
		*shard = empty;
	} else {
		profile_merge(profile, shard);
	}
	profile_release(shard);
}

static int check_result(const struct job *job, unsigned workers, const struct err *failed, struct import_report *report,
			struct err *err)
{
	uint64_t stacks = 0;
	for (unsigned i = 0; i < workers; i++)
		stacks += job->shards[i].profile.quality.samples + job->shards[i].profile.quality.stacks;
	if (failed->code && stacks == 0)
		return err_set(err, failed->code, "%s", err_text(failed));
	if (failed->code && !report->damage[0])
		snprintf(report->damage, sizeof report->damage, "%.250s", failed->text);
	if (stacks)
		return 0;
	if (report->first_bad[0])
		return err_set(err, ERR_EMPTY, "%s; no stack could be read", report->first_bad);
	if (report->first_cut[0])
		return err_set(err, ERR_EMPTY, "%s: the input ends within its only stack", report->first_cut);
	return err_set(err, ERR_EMPTY, "%s: contains no stacks", text_input_name(job->blocks->input));
}

static int run(struct profile *profile, struct blocks *blocks, const struct import_format *format,
	       const struct import_options *options, struct import_report *report, struct err *err)
{
	unsigned workers = options->threads ? options->threads : format->parallel ? parallel_cores() : 1;
	/* Order across workers is lost, and a small input is read before a thread has started. */
	if (options->keep_order || format->in_order || blocks->ended)
		workers = 1;
	blocks->boundary = format->boundary;
	struct job job = {.format = format, .blocks = blocks};
	pthread_mutex_init(&job.lock, NULL);
	job.shards = mem_zalloc(workers, sizeof *job.shards);
	for (unsigned i = 0; i < workers; i++) {
		profile_init(&job.shards[i].profile);
		job.shards[i].profile.ordered = options->keep_order;
		job.shards[i].options = options;
		job.shards[i].first_bad.block = job.shards[i].first_cut.block = UINT64_MAX;
	}
	if (options->progress)
		job.progress = progress_new("reading", "B", text_input_size(blocks->input));
	if (workers == 1 && !blocks->ended && parallel_cores() > 1)
		blocks_read_ahead(blocks);
	parallel_run(workers, work, &job);
	progress_free(job.progress);
	report_lines(&job, workers, report);
	int result = check_result(&job, workers, &blocks->failed, report, err);
	for (unsigned i = 0; i < workers; i++)
		shift_first_seen(profile, &job.shards[i].profile);
	for (unsigned i = 0; i < workers; i++)
		take_shard(profile, &job.shards[i].profile);
	free(job.shards);
	free(job.lines);
	pthread_mutex_destroy(&job.lock);
	return result;
}

int import_file(struct profile *profile, const char *path, const struct import_options *options,
		struct import_report *report, struct err *err)
{
	struct text_input *input;
	int result = text_input_open(&input, path, options->opened, err);
	if (result)
		return result;
	profile->ordered = options->keep_order;
	struct blocks blocks;
	blocks_init(&blocks, input);
	size_t size;
	const char *start = blocks_peek(&blocks, &size), *guess = NULL;
	const struct import_format *format = size ? detect_format(start, size, options->perl, &guess) : NULL;
	if (format)
		result = run(profile, &blocks, format, options, report, err);
	else if (blocks.failed.code)
		result = err_set(err, blocks.failed.code, "%s", err_text(&blocks.failed));
	else if (!size)
		result = err_set(err, ERR_EMPTY, "%s: the input is empty", text_input_name(input));
	else
		result = err_set(err, ERR_FORMAT, "%s: %s", text_input_name(input), guess);
	blocks_release(&blocks);
	text_input_close(input);
	return result;
}
