/* A list of samples with their labels. */
#include "profile/sample_list.h"

void sample_list_release(struct sample_list *list)
{
	free(list->items);
	label_column_release(&list->labels);
	*list = (struct sample_list){0};
}

void sample_list_add(struct sample_list *list, struct sample sample, label_set_id labels)
{
	MEM_ROOM(list->items, list->count, list->capacity);
	label_column_set(&list->labels, list->count, labels);
	list->items[list->count++] = sample;
}
