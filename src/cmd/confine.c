/* What each command may still write, when it is confined. */
#include "cmd/confine.h"

#include "sandbox/sandbox.h"
#include "symbol/cache.h"
#include "symbol/debuginfod.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A name that is relative to the place, or has a directory of its own. */
static void add_output(struct sandbox_options *sandbox, const char *output)
{
	if (!output || !strcmp(output, "-"))
		return;
	sandbox_add_parent(sandbox, output);
	/* What a link leads to is replaced, not the link. */
	char *target = realpath(output, NULL);
	if (target)
		sandbox_add_parent(sandbox, target);
	free(target);
}

struct sandbox *confine(const struct confine_options *options, struct buf *reason)
{
	struct sandbox_options sandbox = {
		.command = options->command,
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
	sandbox_add_directory(&sandbox, cache_directory(cache));
	if (options->place) {
		sandbox_add_directory(&sandbox, options->place->directory);
		sandbox.owner = options->place->owner;
		sandbox.group = options->place->group;
	}
	size_t first = sandbox.directory_count;
	add_output(&sandbox, options->output);
	add_output(&sandbox, options->also);
	if (sandbox_enter(&entered, &sandbox, &err))
		buf_str(reason, err_text(&err));
	for (size_t i = first; i < sandbox.directory_count; i++)
		close(sandbox.directories[i]);
	cache_close(cache);
	return entered;
}
