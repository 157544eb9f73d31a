/* The thread that finds out what would give modules names. */
#include "symbolize/remedies.h"

static void *work(void *context)
{
	struct remedies *remedies = context;
	for (size_t i = 0; i < remedies->count; i++)
		module_code_advice(module_store_get(remedies->codes, remedies->items[i].module),
				   &remedies->items[i].text);
	return NULL;
}

size_t remedies_rank(const struct module_store *codes, const uint64_t *amounts, module_id *ret_modules)
{
	size_t count = 0;
	for (size_t i = 1; i <= codes->modules->count; i++) {
		if (!amounts[i] || (count == REMEDIES_MAX && amounts[ret_modules[count - 1] + 1] >= amounts[i]))
			continue;
		size_t at = count < REMEDIES_MAX ? count++ : count - 1;
		for (; at && amounts[ret_modules[at - 1] + 1] < amounts[i]; at--)
			ret_modules[at] = ret_modules[at - 1];
		ret_modules[at] = (module_id)i - 1;
	}
	return count;
}

void remedies_start(struct remedies *remedies, struct module_store *codes, const uint64_t *amounts)
{
	module_id modules[REMEDIES_MAX];
	*remedies = (struct remedies){.codes = codes};
	remedies->count = remedies_rank(codes, amounts, modules);
	for (size_t i = 0; i < remedies->count; i++)
		remedies->items[i].module = modules[i];
	if (remedies->count)
		remedies->started = pthread_create(&remedies->thread, NULL, work, remedies) == 0;
	if (!remedies->started)
		remedies->count = 0;
}

static void wait_for_it(struct remedies *remedies)
{
	if (remedies->started)
		pthread_join(remedies->thread, NULL);
	remedies->started = false;
}

const struct buf *remedies_text(struct remedies *remedies, module_id module, struct buf *room)
{
	wait_for_it(remedies);
	for (size_t i = 0; i < remedies->count; i++)
		if (remedies->items[i].module == module)
			return &remedies->items[i].text;
	buf_clear(room);
	module_code_advice(module_store_get(remedies->codes, module), room);
	return room;
}

void remedies_end(struct remedies *remedies)
{
	wait_for_it(remedies);
	for (size_t i = 0; i < remedies->count; i++)
		buf_release(&remedies->items[i].text);
	*remedies = (struct remedies){0};
}
