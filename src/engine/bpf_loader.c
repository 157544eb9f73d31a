/* The thread that builds unwind tables, most requested modules first. */
#include "engine/bpf_loader.h"

#include "base/mem.h"

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

void bpf_loader_init(struct bpf_loader *loader)
{
	*loader = (struct bpf_loader){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->changed, NULL);
}

static size_t most_requested(const struct bpf_loader *loader)
{
	size_t best = 0;
	for (size_t i = 1; i < loader->order_count; i++)
		if (loader->orders[i].asked > loader->orders[best].asked)
			best = i;
	return best;
}

/* With the lock held; it is given up while the table is built. */
static void build(struct bpf_loader *loader, size_t order)
{
	module_id module = loader->orders[order].module;
	loader->orders[order] = loader->orders[--loader->order_count];
	pthread_mutex_unlock(&loader->lock);
	struct module_code *code = module_store_get(loader->codes, module);
	module_code_unwind_table(code);
	module_code_python(code);
	pthread_mutex_lock(&loader->lock);
	MEM_ROOM(loader->done, loader->done_count, loader->done_capacity);
	loader->done[loader->done_count++] = module;
	uint64_t one = 1;
	if (loader->fd >= 0)
		(void)!write(loader->fd, &one, sizeof one);
}

static void *work(void *context)
{
	struct bpf_loader *loader = context;
	pthread_mutex_lock(&loader->lock);
	while (!loader->stopping) {
		if (loader->order_count)
			build(loader, most_requested(loader));
		else
			pthread_cond_wait(&loader->changed, &loader->lock);
	}
	pthread_mutex_unlock(&loader->lock);
	return NULL;
}

void bpf_loader_start(struct bpf_loader *loader, struct module_store *codes)
{
	loader->codes = codes;
	loader->started = pthread_create(&loader->thread, NULL, work, loader) == 0;
}

void bpf_loader_stop(struct bpf_loader *loader)
{
	pthread_mutex_lock(&loader->lock);
	loader->stopping = true;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	if (loader->started)
		pthread_join(loader->thread, NULL);
	loader->started = false;
}

void bpf_loader_release(struct bpf_loader *loader)
{
	bpf_loader_stop(loader);
	if (loader->fd >= 0)
		close(loader->fd);
	pthread_cond_destroy(&loader->changed);
	pthread_mutex_destroy(&loader->lock);
	free(loader->orders);
	free(loader->done);
}

void bpf_loader_ask(struct bpf_loader *loader, module_id module)
{
	pthread_mutex_lock(&loader->lock);
	size_t at = 0;
	while (at < loader->order_count && loader->orders[at].module != module)
		at++;
	if (at == loader->order_count) {
		MEM_ROOM(loader->orders, loader->order_count, loader->order_capacity);
		loader->orders[loader->order_count++] = (struct bpf_order){.module = module};
	}
	loader->orders[at].asked++;
	if (!loader->started && !loader->stopping)
		build(loader, at);
	pthread_cond_signal(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
}

bool bpf_loader_take(struct bpf_loader *loader, module_id *ret_module)
{
	uint64_t waiting;
	pthread_mutex_lock(&loader->lock);
	if (loader->fd >= 0)
		(void)!read(loader->fd, &waiting, sizeof waiting);
	bool some = loader->done_count;
	if (some)
		*ret_module = loader->done[--loader->done_count];
	pthread_mutex_unlock(&loader->lock);
	return some;
}
