/* Runs bytes through a parser as two blocks, then through the call tree and the folded output; checks the sums. */
#ifndef WICK_TESTS_FUZZ_PARSE_H
#define WICK_TESTS_FUZZ_PARSE_H

#include "import/shard.h"
#include "profile/calltree.h"
#include "render/render.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The parser may write nothing, and may read one byte behind the block: the newline that the caller puts there. */
static inline void parse_block(const struct import_format *format, struct shard *shard, const uint8_t *bytes,
			       size_t size, bool last)
{
	char *block = malloc(size + 1);
	if (size)
		memcpy(block, bytes, size);
	block[size] = '\n';
	shard->lines = 0;
	shard->last_block = last;
	format->parse(shard, block, size);
	shard->block++;
	free(block);
}

static inline void check_tree(const struct profile *profile, const struct calltree_options *options)
{
	struct calltree tree;
	calltree_build(&tree, profile, options);
	int64_t sum = 0;
	for (uint32_t i = 0; i < tree.count; i++) {
		sum = weight_add(sum, tree.self[0][i]);
		if (tree.end[i] <= i || tree.end[i] > tree.count || (i && tree.parent[i] >= i))
			abort();
	}
	bool exact = !profile->quality.overflows && tree.total[0][0] != INT64_MAX;
	if (exact && (sum != tree.total[0][0] || sum != profile_total(profile, options->values[0])))
		abort();
	struct outfile out;
	if (outfile_open(&out, "/dev/null", NULL))
		abort();
	render_folded(&tree, profile->values[options->values[0]].decimals, &out);
	outfile_abandon(&out);
	calltree_release(&tree);
}

static inline void parse_bytes(const struct import_format *format, const uint8_t *data, size_t size)
{
	if (size < 2)
		return;
	unsigned flags = data[0];
	size_t cut = (size_t)data[1] * (size - 2) / 255;
	data += 2;
	size -= 2;
	struct import_perl perl = {
		.pid = flags & 8,
		.tid = flags & 16,
		.kernel = flags & 2,
		.jit = flags & 4,
		.event = flags & 128 ? "cycles" : NULL,
	};
	struct import_options options = {
		.keep_order = flags & 1,
		.addresses = flags & 2,
		.source_lines = flags & 4,
		.tidy = flags & 8,
		.perl = format == &format_perf_perl ? &perl : NULL,
	};
	struct shard shard = {.options = &options, .first_bad.block = UINT64_MAX, .first_cut.block = UINT64_MAX};
	profile_init(&shard.profile);
	shard.profile.ordered = options.keep_order;
	shard.parser = format->start(&shard);
	parse_block(format, &shard, data, cut, false);
	parse_block(format, &shard, data + cut, size - cut, true);
	format->finish(&shard);
	struct calltree_options tree = {
		.values = {profile_first_value(&shard.profile), PROFILE_NONE},
		.thread_label = flags >> 3 & 3,
		.order = options.keep_order ? ORDER_INPUT : flags >> 5 & 1,
		.reverse = flags & 64,
		.merge_threads = flags & 128,
		.annotate_kernel = flags & 2,
		.annotate_jit = flags & 4,
	};
	if (tree.values[0] != PROFILE_NONE) {
		struct profile merged;
		profile_init(&merged);
		merged.ordered = options.keep_order;
		profile_merge(&merged, &shard.profile);
		check_tree(&merged, &tree);
		profile_keep_value(&shard.profile, tree.values[0]);
		check_tree(&shard.profile, &tree);
		profile_release(&merged);
	}
	profile_release(&shard.profile);
}

#endif
