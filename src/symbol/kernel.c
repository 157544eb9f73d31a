/* Selects the sources of kernel symbols, and looks addresses up in them. */
#include "symbol/kernel.h"

#include "base/strpool.h"
#include "symbol/debugfile.h"
#include "symbol/elf_symbols.h"
#include "symbol/kallsyms.h"
#include "symbol/kept_kallsyms.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PROPER "[kernel.kallsyms]"
#define RUNNING "/proc/kallsyms"
#define NOTES_MAX 65536
#define LEVELS 32

struct kernel {
	struct kernel_options options;
	enum kernel_state state;
	bool is_kept; /* `kept` is there, and `symbols` is read when it does not suffice */
	struct kept_kallsyms kept;
	pthread_mutex_t read_lock; /* guards the reading of `symbols` then */
	bool was_read;
	struct kallsyms *symbols;
	uint64_t shift; /* of the recorded kernel proper against the symbols */
	struct symbols *vmlinux;
	uint64_t vmlinux_shift; /* of the recorded kernel against vmlinux */
	/*
	 * What kernel_add() brought, while lookups continue: for each bit of its number a table of that many symbols,
	 * the oldest in the largest. So few tables are built again for a new one, and a lookup searches few.
	 */
	pthread_mutex_t lock; /* guards all that follows */
	struct strpool added_names;
	struct symtab_symbol *added;
	size_t added_count, added_capacity, tabled_count;
	struct {
		struct symtab *table;
		size_t first; /* of `added` in it */
	} levels[LEVELS];
};

/* --- which kernel --- */

struct build_id kernel_running_build_id(void)
{
	struct build_id id = {0};
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return id;
	CLEANUP_FREE char *notes = mem_alloc(NOTES_MAX);
	ssize_t size = read(fd, notes, NOTES_MAX);
	close(fd);
	return size > 0 ? build_id_from_notes(notes, (size_t)size, 4) : id;
}

/* --- kallsyms --- */

static enum kernel_state open_file(struct kernel *kernel, const char *path)
{
	int code = kallsyms_open(&kernel->symbols, path, NULL);
	return !code ? KERNEL_SYMBOLS : code == ERR_SYSTEM ? KERNEL_HIDDEN : KERNEL_MISSING;
}

/* The file itself takes long to read. */
static enum kernel_state open_running(struct kernel *kernel)
{
	struct cache *cache = kernel->options.cache;
	kernel->is_kept = kept_kallsyms_open(&kernel->kept, cache);
	if (kernel->is_kept)
		return KERNEL_SYMBOLS;
	enum kernel_state state = open_file(kernel, RUNNING);
	if (state == KERNEL_SYMBOLS)
		kept_kallsyms_put(kernel->symbols, cache);
	return state;
}

static uint64_t text_address(const struct kernel *kernel)
{
	const char *name = kernel->options.text_symbol;
	if (kernel->is_kept)
		return kept_kallsyms_text(&kernel->kept, name);
	return kernel->symbols ? kallsyms_text(kernel->symbols, name) : 0;
}

static enum kernel_state open_kallsyms(struct kernel *kernel, const struct build_id *running)
{
	const struct kernel_options *options = &kernel->options;
	if (options->kallsyms)
		return open_file(kernel, options->kallsyms);
	bool other = options->build_id.size && running->size && !build_id_equal(&options->build_id, running);
	enum kernel_state state = other ? KERNEL_OTHER : open_running(kernel);
	/* A copy can be of any boot: without knowing where the recorded kernel lay its addresses mean nothing. */
	if (state == KERNEL_SYMBOLS || !options->text_address)
		return state;
	CLEANUP_FREE char *copy =
		debugfile_perf_copy(options->build_id.size ? &options->build_id : running, "kallsyms");
	if (!copy || open_file(kernel, copy) != KERNEL_SYMBOLS)
		return state;
	if (kallsyms_text(kernel->symbols, options->text_symbol))
		return KERNEL_SYMBOLS;
	kallsyms_close(kernel->symbols);
	kernel->symbols = NULL;
	return state;
}

/* --- vmlinux --- */

/* Where distributions and perf put it; %s is the kernel's release. */
static const char *const vmlinux_paths[] = {
	"/boot/vmlinux-%s",
	"/boot/vmlinux",
	"/usr/lib/debug/boot/vmlinux-%s",
	"/usr/lib/debug/boot/vmlinux-%s.debug",
	"/usr/lib/debug/lib/modules/%s/vmlinux",
	"/lib/modules/%s/build/vmlinux",
	"/lib/modules/%s/vmlinux",
};

static bool take_vmlinux(struct kernel *kernel, const char *path, const struct build_id *id)
{
	struct symbols *vmlinux = symbols_open(path, id, &kernel->options.symbols);
	struct elf_file *elf = symbols_debug_elf(vmlinux) ? symbols_debug_elf(vmlinux) : symbols_elf(vmlinux);
	const char *name = kernel->options.text_symbol;
	uint64_t linked, address = kernel->options.text_address ? kernel->options.text_address : text_address(kernel);
	if (symbols_state(vmlinux) > SYMBOLS_TABLE || !address || !elf_symbols_address(elf, name, &linked)) {
		symbols_close(vmlinux);
		return false;
	}
	kernel->vmlinux = vmlinux;
	kernel->vmlinux_shift = address - linked;
	return true;
}

static void open_vmlinux(struct kernel *kernel, const struct build_id *id)
{
	struct utsname system;
	/* Without a build-id there is no telling whether it is the right one. */
	if (!id->size || uname(&system))
		return;
	for (size_t i = 0; i < sizeof vmlinux_paths / sizeof *vmlinux_paths; i++) {
		CLEANUP_BUF struct buf path = {0};
		const char *release = strstr(vmlinux_paths[i], "%s");
		int before = release ? (int)(release - vmlinux_paths[i]) : (int)strlen(vmlinux_paths[i]);
		buf_printf(&path, "%.*s%s%s", before, vmlinux_paths[i], release ? system.release : "",
			   release ? release + 2 : "");
		if (take_vmlinux(kernel, path.data, id))
			return;
	}
}

/* --- opening --- */

struct kernel *kernel_open(const struct kernel_options *options)
{
	struct kernel *kernel = mem_zalloc(1, sizeof *kernel);
	if (options)
		kernel->options = *options;
	if (!kernel->options.text_symbol)
		kernel->options.text_symbol = "_text";
	kernel->options.symbols.root = kernel->options.root;
	pthread_mutex_init(&kernel->lock, NULL);
	pthread_mutex_init(&kernel->read_lock, NULL);
	strpool_init(&kernel->added_names);
	struct build_id running = kernel_running_build_id();
	kernel->state = open_kallsyms(kernel, &running);
	uint64_t text = text_address(kernel);
	if (text && kernel->options.text_address)
		kernel->shift = kernel->options.text_address - text;
	if (kernel->options.vmlinux)
		open_vmlinux(kernel, kernel->options.build_id.size ? &kernel->options.build_id : &running);
	if (kernel->vmlinux)
		kernel->state = symbols_state(kernel->vmlinux) == SYMBOLS_DEBUG ? KERNEL_DEBUG : KERNEL_SYMBOLS;
	/* The caller's strings need not stay. */
	kernel->options.text_symbol = kernel->options.kallsyms = kernel->options.root = kernel->options.symbols.root =
		NULL;
	return kernel;
}

void kernel_close(struct kernel *kernel)
{
	if (!kernel)
		return;
	kallsyms_close(kernel->symbols);
	kept_kallsyms_close(&kernel->kept);
	symbols_close(kernel->vmlinux);
	for (unsigned i = 0; i < LEVELS; i++)
		symtab_free(kernel->levels[i].table);
	free(kernel->added);
	strpool_release(&kernel->added_names);
	pthread_mutex_destroy(&kernel->read_lock);
	pthread_mutex_destroy(&kernel->lock);
	free(kernel);
}

enum kernel_state kernel_state(const struct kernel *kernel)
{
	return kernel->state;
}

void kernel_advice(const struct kernel *kernel, struct buf *out)
{
	switch (kernel->state) {
	case KERNEL_SYMBOLS:
	case KERNEL_DEBUG:
		break;
	case KERNEL_HIDDEN:
		buf_str(out, "kernel addresses are hidden: run with sudo, or as root: sysctl kernel.kptr_restrict=0");
		break;
	case KERNEL_OTHER:
		buf_str(out, "recorded with another kernel: read it on the recorded machine, or copy ~/.debug from "
			     "there (perf archive)");
		break;
	case KERNEL_MISSING:
		buf_str(out, "no /proc/kallsyms: use a kernel with CONFIG_KALLSYMS");
		break;
	}
}

/* --- what came while recording --- */

void kernel_add(struct kernel *kernel, uint64_t start, uint64_t size, const char *name)
{
	if (!*name || !size || start + size < start)
		return;
	pthread_mutex_lock(&kernel->lock);
	if (kernel->added_count < UINT32_MAX) {
		str_id id = strpool_add(&kernel->added_names, name, strlen(name));
		MEM_ROOM(kernel->added, kernel->added_count, kernel->added_capacity);
		kernel->added[kernel->added_count++] = (struct symtab_symbol){
			start, start + size, strpool_text(&kernel->added_names, id), 0, BINDING_GLOBAL};
	}
	pthread_mutex_unlock(&kernel->lock);
}

static struct symtab *table_of(const struct symtab_symbol *symbols, size_t count)
{
	struct symtab *table = symtab_new();
	for (size_t i = 0; i < count; i++)
		symtab_add(table, &symbols[i], symbols[i].end);
	symtab_finish(table);
	return table;
}

static void update_tables(struct kernel *kernel)
{
	size_t first = 0;
	for (unsigned i = LEVELS; i-- > 0;) {
		size_t count = kernel->added_count & (size_t)1 << i;
		if (kernel->levels[i].table && (!count || kernel->levels[i].first != first)) {
			symtab_free(kernel->levels[i].table);
			kernel->levels[i].table = NULL;
		}
		if (count && !kernel->levels[i].table)
			kernel->levels[i].table = table_of(kernel->added + first, count);
		kernel->levels[i].first = first;
		first += count;
	}
	kernel->tabled_count = kernel->added_count;
}

/* Of two at an address the later one. */
static bool find_added(struct kernel *kernel, uint64_t address, struct symtab_symbol *ret_symbol)
{
	const struct symtab_symbol *symbol = NULL;
	pthread_mutex_lock(&kernel->lock);
	if (kernel->tabled_count != kernel->added_count)
		update_tables(kernel);
	for (unsigned i = 0; i < LEVELS && !symbol; i++)
		symbol = kernel->levels[i].table ? symtab_find(kernel->levels[i].table, address) : NULL;
	if (symbol)
		*ret_symbol = *symbol;
	pthread_mutex_unlock(&kernel->lock);
	return symbol != NULL;
}

/* --- questions --- */

/* All there is, where what is kept does not suffice. */
static const struct kallsyms *all_symbols(struct kernel *kernel)
{
	if (!kernel->is_kept)
		return kernel->symbols;
	pthread_mutex_lock(&kernel->read_lock);
	if (!kernel->was_read)
		open_file(kernel, RUNNING);
	kernel->was_read = true;
	pthread_mutex_unlock(&kernel->read_lock);
	return kernel->symbols;
}

static bool find_function(struct kernel *kernel, uint64_t address, struct kallsyms_function *ret_function)
{
	if (kernel->is_kept && kept_kallsyms_find(&kernel->kept, address, ret_function))
		return true;
	const struct kallsyms *symbols = all_symbols(kernel);
	return symbols && kallsyms_find(symbols, address, ret_function);
}

static const char *find_name(struct kernel *kernel, uint64_t address, const char **ret_module, uint64_t *ret_start)
{
	struct symtab_symbol added;
	if (find_added(kernel, address, &added)) {
		*ret_module = added.name;
		*ret_start = added.start;
		return added.name;
	}
	struct kallsyms_function function;
	/* After another boot modules lie elsewhere, by an amount that nobody knows. */
	if (!find_function(kernel, address - kernel->shift, &function) || (function.module && kernel->shift))
		return NULL;
	*ret_module = function.module ? function.module : PROPER;
	*ret_start = function.start + kernel->shift;
	return function.name;
}

size_t kernel_find(struct kernel *kernel, uint64_t address, struct symbol_frame *frames, size_t max,
		   const char **ret_module)
{
	if (!kernel || !max)
		return 0;
	uint64_t start = 0;
	const char *module = PROPER, *name = find_name(kernel, address, &module, &start);
	size_t count = 0;
	if (kernel->vmlinux && !strcmp(module, PROPER))
		count = symbols_find(kernel->vmlinux, address - kernel->vmlinux_shift, frames, max);
	if (!count && name) {
		frames[0] = (struct symbol_frame){.name = name};
		count = 1;
	} else if (count && name && !frames[count - 1].inlined) {
		frames[count - 1].name = name;
	} else if (count && !name) {
		start = frames[0].start ? frames[0].start + kernel->vmlinux_shift : 0;
	}
	for (size_t i = 0; i < count; i++)
		frames[i].start = start;
	if (count && ret_module)
		*ret_module = module;
	return count;
}
