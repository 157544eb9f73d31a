/* What would have made a recording better: the reasons for which something is missing, and the remedies. */
#ifndef WICK_COLLECT_ADVICE_H
#define WICK_COLLECT_ADVICE_H

#include "base/buf.h"
#include "collect/stack.h"
#include "profile/profile.h"
#include "symbolize/remedies.h"

#define ADVICE_BROKEN_MAX 3

/* Where stacks end as STACK_BROKEN. */
struct advice_broken {
	const char *modules[ADVICE_BROKEN_MAX]; /* where most of them do, the first one most */
	size_t count;
	const char *remedy; /* ""; else what makes such stacks complete */
};

struct advice_facts {
	uint64_t ends[STACK_ENDS]; /* how many stacks ended so */
	struct advice_broken broken;
	uint32_t stack_bytes; /* of the largest copies; 0: there were none */
	bool by_wick; /* who recorded, and has looked into unwind tables then */
	bool by_engine; /* the BPF engine copies stacks only until their unwind tables are loaded */
	bool each; /* some event is reported each time it happens */
	uint64_t frequency; /* the highest that was requested; 0: none */
};

/* `amounts`: how many stacks, by module id + 1 of their outermost frame. Names stay as long as `codes`. */
void advice_find_broken(struct advice_broken *broken, struct module_store *codes, const uint64_t *amounts);

/* One line, with all reasons; with their shares if there are several. Adds nothing when no stack ended early. */
void advice_on_truncated(struct buf *out, const struct advice_facts *facts);
/* How functions get names that are not in the profile at all: those of Python. Adds nothing when there are none. */
void advice_on_names(struct buf *out, const struct module_store *codes, const struct profile *profile);
/* What helps against lost samples, and against lost records of mappings and tasks. */
void advice_on_lost(struct buf *out, const struct advice_facts *facts);
void advice_on_lost_records(struct buf *out, const struct advice_facts *facts);

#endif
