/* Files from debuginfod while a profile is made: what is reported, and what all of it may take together. */
#ifndef WICK_CMD_FETCHING_H
#define WICK_CMD_FETCHING_H

struct fetching {
	struct debuginfod *client; /* NULL: nobody is asked */
	char *what; /* what was last said to be on its way */
};

/* Without DEBUGINFOD_URLS in the environment nobody is asked. `fetching` must not move until fetching_end(). */
void fetching_start(struct fetching *fetching);
/* `not_fetched`: modules that the budget did not suffice for. */
void fetching_end(struct fetching *fetching, unsigned not_fetched);

#endif
