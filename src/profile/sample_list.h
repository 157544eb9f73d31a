/* Samples with their labels, apart from a profile or trace: what came between two looks at it. */
#ifndef WICK_PROFILE_SAMPLE_LIST_H
#define WICK_PROFILE_SAMPLE_LIST_H

#include "profile/profile.h"

/* Zero-initialized is empty. */
struct sample_list {
	struct sample *items;
	size_t count, capacity;
	struct label_column labels; /* of the items */
};

void sample_list_release(struct sample_list *list);
void sample_list_add(struct sample_list *list, struct sample sample, label_set_id labels);

#endif
