/* The thread that opens files and builds symbol tables during a recording. */
#include "symbolize/prepare.h"

#include "base/mem.h"

#include <sys/resource.h>

#define INLINED_MAX 64
#define WAITING_MAX (1u << 20) /* more are named at the end */

struct place {
	module_id module;
	uint64_t address;
};

struct preparer {
	struct module_store *codes;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	struct place *waiting;
	size_t count, capacity;
	bool stopped;
};

/* The next part of what waits; false at the end. `places` are exchanged for it. */
static bool take(struct preparer *preparer, struct place **places, size_t *capacity, size_t *ret_count)
{
	pthread_mutex_lock(&preparer->lock);
	while (!preparer->count && !preparer->stopped)
		pthread_cond_wait(&preparer->changed, &preparer->lock);
	struct place *taken = preparer->waiting;
	size_t taken_capacity = preparer->capacity;
	*ret_count = preparer->count;
	preparer->waiting = *places;
	preparer->capacity = *capacity;
	preparer->count = 0;
	bool goes_on = !preparer->stopped;
	pthread_mutex_unlock(&preparer->lock);
	*places = taken;
	*capacity = taken_capacity;
	return goes_on;
}

static void *prepare(void *context)
{
	struct preparer *preparer = context;
	struct place *places = NULL;
	size_t count, capacity = 0;
	/* The reader of the rings may have a higher one, which this work does not deserve. */
	if (getpriority(PRIO_PROCESS, 0) < 0)
		(void)!setpriority(PRIO_PROCESS, 0, 0);
	while (take(preparer, &places, &capacity, &count)) {
		for (size_t i = 0; i < count && !__atomic_load_n(&preparer->stopped, __ATOMIC_RELAXED); i++) {
			struct symbol_frame frames[INLINED_MAX];
			struct module_code *code = module_store_get(preparer->codes, places[i].module);
			if (module_code_is_settled(code))
				module_code_find(code, places[i].address, 0, frames, INLINED_MAX);
		}
	}
	free(places);
	return NULL;
}

struct preparer *preparer_new(struct module_store *codes)
{
	struct preparer *preparer = mem_zalloc(1, sizeof *preparer);
	preparer->codes = codes;
	pthread_mutex_init(&preparer->lock, NULL);
	pthread_cond_init(&preparer->changed, NULL);
	if (pthread_create(&preparer->thread, NULL, prepare, preparer) == 0)
		return preparer;
	pthread_mutex_destroy(&preparer->lock);
	pthread_cond_destroy(&preparer->changed);
	free(preparer);
	return NULL;
}

void preparer_add(struct preparer *preparer, module_id module, uint64_t address)
{
	if (!preparer)
		return;
	pthread_mutex_lock(&preparer->lock);
	if (preparer->count < WAITING_MAX) {
		MEM_ROOM(preparer->waiting, preparer->count, preparer->capacity);
		preparer->waiting[preparer->count++] = (struct place){module, address};
	}
	pthread_mutex_unlock(&preparer->lock);
}

void preparer_go(struct preparer *preparer)
{
	if (!preparer)
		return;
	pthread_mutex_lock(&preparer->lock);
	if (preparer->count)
		pthread_cond_signal(&preparer->changed);
	pthread_mutex_unlock(&preparer->lock);
}

void preparer_stop(struct preparer *preparer)
{
	if (!preparer)
		return;
	pthread_mutex_lock(&preparer->lock);
	__atomic_store_n(&preparer->stopped, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&preparer->changed);
	pthread_mutex_unlock(&preparer->lock);
	pthread_join(preparer->thread, NULL);
	pthread_mutex_destroy(&preparer->lock);
	pthread_cond_destroy(&preparer->changed);
	free(preparer->waiting);
	free(preparer);
}
