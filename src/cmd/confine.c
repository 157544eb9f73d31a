/* What each command may still write, when it is confined. */
#include "cmd/confine.h"

#include "object/cache.h"
#include "sandbox/sandbox.h"
#include "symbol/debuginfod.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What has no name of its own in the directory of a recording: all that wick record writes there. */
static void add_recording(struct sandbox_options *sandbox, int directory)
{
	static const struct {
		const char *stem, *ending;
	} files[] = {
		{"perf.data", ""}, {"out", ".perf"}, {"out", ".folded"}, {"flamegraph", ".svg"}, {"report", ".txt"}};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		sandbox_add_place(sandbox, directory, files[i].stem, files[i].ending);
}

/* Links are followed that base/outfile follows: those of root and of the user. */
static bool is_own_link(const char *path)
{
	struct stat status;
	return !lstat(path, &status) && S_ISLNK(status.st_mode) && (!status.st_uid || status.st_uid == geteuid());
}

static void add_output(struct sandbox_options *sandbox, const char *output)
{
	if (!output || !strcmp(output, "-"))
		return;
	sandbox_add_output(sandbox, output);
	/* What a link leads to is replaced, not the link. */
	char *target = is_own_link(output) ? realpath(output, NULL) : NULL;
	if (target)
		sandbox_add_output(sandbox, target);
	free(target);
}

struct sandbox *confine(const struct confine_options *options, struct buf *reason)
{
	struct sandbox_options sandbox = {
		.command = options->command,
		.recording = options->recording,
		.kernel_stacks = options->kernel_stacks,
		.owner = OUTFILE_OWN,
		.group = OUTFILE_OWN,
	};
	struct sandbox *entered = NULL;
	struct err err = {0};
	if (!sandbox_is_needed())
		return NULL;
	/* Its library opens connections and writes files where it likes. */
	if (debuginfod_is_enabled()) {
		buf_str(reason, "debuginfod is used");
		return NULL;
	}
	struct cache *cache = options->cache ? cache_open(NULL, CACHE_USUAL) : NULL;
	sandbox_add_place(&sandbox, cache_directory(cache), "", CACHE_ENTRIES);
	sandbox_add_place(&sandbox, cache_directory(cache), CACHE_TEMPORARIES, "");
	if (options->place) {
		sandbox.owner = options->place->owner;
		sandbox.group = options->place->group;
		if (options->own_directory)
			sandbox_add_place(&sandbox, options->place->directory, "", "");
		else
			add_recording(&sandbox, options->place->directory);
	}
	size_t first = sandbox.place_count;
	add_output(&sandbox, options->output);
	add_output(&sandbox, options->also);
	if (sandbox_enter(&entered, &sandbox, &err))
		buf_str(reason, err_text(&err));
	for (size_t i = first; i < sandbox.place_count; i++)
		close(sandbox.places[i].directory);
	cache_close(cache);
	return entered;
}
