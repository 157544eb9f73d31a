/* Messages about downloads from debuginfod. */
#include "cmd/fetching.h"

#include "base/mem.h"
#include "cmd/command.h"
#include "symbol/debuginfod.h"

#include <string.h>

#define FETCH_SECONDS 60
#define FETCH_BYTES ((uint64_t)1 << 30)

static void say_fetching(void *context, const char *what, uint64_t done, uint64_t total)
{
	struct fetching *fetching = context;
	(void)done;
	(void)total;
	if (fetching->what && strcmp(fetching->what, what) == 0)
		return;
	free(fetching->what);
	fetching->what = mem_strdup(what);
	say_note("downloading debug information of %s", what);
}

void fetching_start(struct fetching *fetching)
{
	struct err err = {0};
	struct debuginfod_options options = {
		.seconds = FETCH_SECONDS,
		.bytes = FETCH_BYTES,
		.context = fetching,
		.progress = say_fetching,
	};
	*fetching = (struct fetching){0};
	if (debuginfod_open(&fetching->client, &options, &err) && err.code == ERR_UNSUPPORTED)
		say_warning("%s", err_text(&err));
}

void fetching_end(struct fetching *fetching, unsigned not_fetched)
{
	if (not_fetched)
		say_warning("downloads are limited to %d s or %llu MB; %u module%s skipped", FETCH_SECONDS,
			    (unsigned long long)(FETCH_BYTES >> 20), not_fetched, not_fetched == 1 ? "" : "s");
	debuginfod_close(fetching->client);
	free(fetching->what);
	*fetching = (struct fetching){0};
}
