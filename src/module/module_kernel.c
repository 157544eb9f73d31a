/* What a store of modules knows about the kernel: its mapping, its symbols, and those that records bring. */
#include "module/module_kernel.h"

#include "base/mem.h"
#include "symbol/kernel.h"

#include <string.h>

static void free_kernel_symbols(struct kernel_symbol *symbols, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(symbols[i].name);
	free(symbols);
}

/* The mapping of the kernel is called by the symbol its offset is relative to: "[kernel.kallsyms]_text". */
void module_store_kernel_mapping(struct module_store *codes, const char *path, uint64_t text_address,
				 const struct build_id *build_id)
{
	const char *symbol = strchr(path, ']');
	pthread_mutex_lock(&codes->lock);
	if (!codes->kernel_text && symbol && symbol[1]) {
		codes->kernel_text = text_address;
		free(codes->kernel_text_symbol);
		codes->kernel_text_symbol = mem_strdup(symbol + 1);
	}
	if (build_id && build_id->size)
		codes->kernel_build_id = *build_id;
	pthread_mutex_unlock(&codes->lock);
}

void module_store_kernel_symbol(struct module_store *codes, uint64_t start, uint64_t size, const char *name)
{
	pthread_mutex_lock(&codes->lock);
	MEM_ROOM(codes->kernel_symbols, codes->kernel_symbol_count, codes->kernel_symbol_capacity);
	codes->kernel_symbols[codes->kernel_symbol_count] = (struct kernel_symbol){start, size, mem_strdup(name)};
	__atomic_store_n(&codes->kernel_symbol_count, codes->kernel_symbol_count + 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&codes->lock);
}

/* Takes its time, in which other threads may look up other code: with what is known now, and without the lock. */
static struct kernel *open_kernel(struct module_store *codes)
{
	pthread_mutex_lock(&codes->lock);
	char *text_symbol CLEANUP_FREE = codes->kernel_text_symbol;
	struct kernel_options options = {
		.build_id = codes->kernel_build_id,
		.text_address = codes->kernel_text,
		.text_symbol = text_symbol,
		.root = codes->options.root,
		.vmlinux = codes->options.inlines || codes->options.lines,
		.symbols = codes->options,
		.cache = codes->cache,
	};
	codes->kernel_text_symbol = NULL;
	pthread_mutex_unlock(&codes->lock);
	return kernel_open(&options);
}

/* What records brought since the last question. */
static void pass_kernel_symbols(struct module_store *codes)
{
	if (!__atomic_load_n(&codes->kernel_symbol_count, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&codes->lock);
	struct kernel_symbol *symbols = codes->kernel_symbols;
	size_t count = codes->kernel_symbol_count;
	codes->kernel_symbols = NULL;
	codes->kernel_symbol_capacity = 0;
	/* Other threads continue when it is 0, and must find the symbols then. */
	for (size_t i = 0; i < count; i++)
		kernel_add(codes->kernel, symbols[i].start, symbols[i].size, symbols[i].name);
	__atomic_store_n(&codes->kernel_symbol_count, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&codes->lock);
	free_kernel_symbols(symbols, count);
}

struct kernel *module_store_kernel(struct module_store *codes)
{
	if (!__atomic_load_n(&codes->kernel, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&codes->kernel_lock);
		if (!codes->kernel)
			__atomic_store_n(&codes->kernel, open_kernel(codes), __ATOMIC_RELEASE);
		pthread_mutex_unlock(&codes->kernel_lock);
	}
	pass_kernel_symbols(codes);
	return codes->kernel;
}

void module_store_open_kernel(struct module_store *codes)
{
	module_store_kernel(codes);
}

void module_store_close_kernel(struct module_store *codes)
{
	free_kernel_symbols(codes->kernel_symbols, codes->kernel_symbol_count);
	free(codes->kernel_text_symbol);
	kernel_close(codes->kernel);
}
