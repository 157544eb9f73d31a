/* Opens symbols and unwind tables of modules on demand, and converts addresses. */
#include "module/module_code.h"

#include "base/mem.h"
#include "module/jit.h"
#include "module/module_kernel.h"
#include "object/cache.h"
#include "object/reading.h"
#include "profile/module.h"
#include "runtime/java/attach.h"
#include "symbol/debugfile.h"
#include "symbol/debuginfod.h"
#include "symbol/jitdump.h"
#include "symbol/kernel.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#define TABLE_KIND "unwind"

struct module_code {
	struct module_store *codes;
	struct module module;
	char *path;
	const char *root; /* NULL: that of the options */
	const char *held; /* where a file that was deleted can be opened; NULL: nowhere, or it is there */
	pthread_mutex_t lock; /* guards the opening of what follows */
	bool symbols_tried, table_tried, python_tried;
	struct symbols *symbols; /* of files */
	struct names *names; /* kept of a file that is not here any more; NULL: none */
	struct unwind_table *table;
	struct python_image *python; /* NULL: none */
	struct jit *jit; /* of JIT code; else NULL */
	char *map_path; /* of its perf map; NULL: `path` */
};

void module_store_init(struct module_store *codes, struct modules *modules, const struct symbol_options *options)
{
	*codes = (struct module_store){.modules = modules, .options = *options};
	pthread_mutex_init(&codes->lock, NULL);
	pthread_mutex_init(&codes->kernel_lock, NULL);
	if (options->cache)
		codes->options.store = codes->cache = cache_open(NULL, CACHE_USUAL);
	pthread_mutex_init(&codes->fetch_lock, NULL);
	interpreted_init(&codes->interpreted);
}

static void code_free(struct module_code *code)
{
	if (!code)
		return;
	symbols_close(code->symbols);
	unwind_table_free(code->table);
	names_close(code->names);
	free(code->python);
	jit_free(code->jit);
	free(code->map_path);
	pthread_mutex_destroy(&code->lock);
	free(code->path);
	free(code);
}

void module_store_release(struct module_store *codes)
{
	for (size_t i = 0; i < codes->capacity; i++)
		code_free(codes->items[i]);
	free(codes->items);
	for (size_t i = 0; i < codes->dump_count; i++)
		free(codes->dumps[i].path);
	free(codes->dumps);
	free(codes->runtimes);
	module_store_close_kernel(codes);
	pthread_mutex_destroy(&codes->fetch_lock);
	interpreted_release(&codes->interpreted);
	if (codes->live)
		live_files_release(&codes->files);
	free(codes->module_roots);
	free(codes->held);
	cache_close(codes->cache);
	pthread_mutex_destroy(&codes->kernel_lock);
	pthread_mutex_destroy(&codes->lock);
}

void module_store_set_live(struct module_store *codes)
{
	codes->live = true;
	live_files_init(&codes->files);
}

void module_store_process_changed(struct module_store *codes, int32_t pid)
{
	pthread_mutex_lock(&codes->lock);
	if (codes->live)
		live_files_changed(&codes->files, pid);
	pthread_mutex_unlock(&codes->lock);
}

/*
 * Notes where a module lies. Asked of the system only when the module is new: processes that start all the time map the
 * same few files, and to ask is dear.
 */
static void note_root(struct module_store *codes, module_id module, int32_t pid)
{
	size_t old = codes->root_capacity;
	if (module >= old) {
		codes->module_roots = mem_grow(codes->module_roots, &codes->root_capacity, (size_t)module + 1,
					       sizeof *codes->module_roots);
		memset(codes->module_roots + old, 0, (codes->root_capacity - old) * sizeof *codes->module_roots);
	}
	if (!codes->module_roots[module])
		codes->module_roots[module] = live_files_root(&codes->files, pid);
}

static const char *held_of(const struct module_store *codes, module_id module)
{
	for (size_t i = 0; i < codes->held_count; i++)
		if (codes->held[i].module == module)
			return codes->held[i].path;
	return NULL;
}

static void note_held(struct module_store *codes, module_id module, const char *path)
{
	if (held_of(codes, module))
		return;
	MEM_ROOM(codes->held, codes->held_count, codes->held_capacity);
	codes->held[codes->held_count++] = (struct held_module){module, path};
}

static void note_runtime(struct module_store *codes, const char *path, int32_t pid)
{
	struct runtime runtime = runtime_of_path(path);
	if (!runtime.kind)
		return;
	for (size_t i = 0; i < codes->runtime_count; i++)
		if (codes->runtimes[i].pid == pid) {
			codes->runtimes[i].runtime = runtime;
			return;
		}
	MEM_ROOM(codes->runtimes, codes->runtime_count, codes->runtime_capacity);
	codes->runtimes[codes->runtime_count++] = (struct process_runtime){pid, runtime};
}

/* The runtime of a process, by the files that it has mapped. */
static struct runtime runtime_of(struct module_store *codes, int32_t pid)
{
	struct runtime found = {RUNTIME_NONE, 0, 0};
	pthread_mutex_lock(&codes->lock);
	for (size_t i = 0; i < codes->runtime_count && !found.kind; i++)
		if (codes->runtimes[i].pid == pid)
			found = codes->runtimes[i].runtime;
	pthread_mutex_unlock(&codes->lock);
	return found;
}

static bool is_elf(const char *path)
{
	struct elf_file *elf;
	if (elf_open(&elf, path, NULL))
		return false;
	elf_close(elf);
	return true;
}

/*
 * Memory that has a name but no file is JIT code as anonymous memory is (.NET and others map it twice, once to write
 * and once to run), unless a library was put there.
 */
static bool is_jit_memory(const char *path, const char *held, const struct build_id *build_id)
{
	return strncmp(path, "/memfd:", 7) == 0 && !(build_id && build_id->size) && !(held && is_elf(held));
}

module_id module_store_add(struct module_store *codes, const char *path, const struct build_id *build_id, int32_t pid)
{
	pthread_mutex_lock(&codes->lock);
	struct build_id own = {0};
	bool is_file = pid >= 0 && path[0] == '/' && path[1] != '/' && strncmp(path, "/dev/zero", 9) != 0;
	const char *held = codes->live && is_file && debugfile_path_deleted(path) ?
				   live_files_hold(&codes->files, pid, path) :
				   NULL;
	if (is_file && is_jit_memory(path, held, build_id)) {
		path = "//anon";
		is_file = false;
		held = NULL;
	}
	if (codes->live && is_file && !(build_id && build_id->size)) {
		own = live_files_build_id(&codes->files, held ? "" : live_files_root(&codes->files, pid),
					  held ? held : path);
		build_id = &own;
	}
	module_id id = modules_add(codes->modules, path, build_id, pid);
	if (codes->live)
		note_root(codes, id, pid);
	if (held)
		note_held(codes, id, held);
	if (is_file)
		note_runtime(codes, path, pid);
	if (pid >= 0 && jitdump_has_path(path)) {
		MEM_ROOM(codes->dumps, codes->dump_count, codes->dump_capacity);
		codes->dumps[codes->dump_count++] = (struct jit_file){.pid = pid, .path = mem_strdup(path)};
	}
	pthread_mutex_unlock(&codes->lock);
	return id;
}

/*
 * Where the perf map of a process is: as it sees its files, by the number that it knows itself by, or with its
 * recording. NULL: where it is usually.
 */
static char *find_map(const struct module_code *code)
{
	const struct module_store *codes = code->codes;
	int32_t pid = code->module.pid;
	CLEANUP_BUF struct buf path = {0};
	struct attach_target target;
	if (codes->live) {
		const char *root = code->root ? code->root : "";
		int32_t inner = attach_read_status(pid, &target) ? target.inner_pid : pid;
		if (!*root && inner == pid)
			return NULL;
		buf_printf(&path, "%s/tmp/perf-%d.map", root, (int)inner);
		return mem_strdup(path.data);
	}
	if (!codes->options.recording)
		return NULL;
	buf_printf(&path, "%s.%d.map", codes->options.recording, (int)pid);
	return access(path.data, F_OK) ? NULL : mem_strdup(path.data);
}

static struct module_code *code_new(struct module_store *codes, module_id module)
{
	struct module_code *code = mem_zalloc(1, sizeof *code);
	code->codes = codes;
	code->module = codes->modules->items[module];
	code->path = mem_strdup(module_path(codes->modules, module));
	code->held = held_of(codes, module);
	code->root = module < codes->root_capacity ? codes->module_roots[module] : NULL;
	pthread_mutex_init(&code->lock, NULL);
	if (code->module.kind == MODULE_JIT) {
		code->map_path = find_map(code);
		code->jit = jit_new(codes, code->module.pid, code->map_path ? code->map_path : code->path);
	}
	return code;
}

struct module_code *module_store_get(struct module_store *codes, module_id module)
{
	pthread_mutex_lock(&codes->lock);
	if (module >= codes->capacity) {
		size_t old = codes->capacity;
		codes->items = mem_grow(codes->items, &codes->capacity, (size_t)module + 1, sizeof *codes->items);
		memset(codes->items + old, 0, (codes->capacity - old) * sizeof *codes->items);
	}
	if (!codes->items[module])
		codes->items[module] = code_new(codes, module);
	struct module_code *code = codes->items[module];
	pthread_mutex_unlock(&codes->lock);
	return code;
}

void module_store_reread_maps(struct module_store *codes)
{
	for (size_t i = 0; i < codes->capacity; i++)
		if (codes->items[i] && codes->items[i]->jit)
			jit_reread(codes->items[i]->jit);
}

void module_store_each_map(struct module_store *codes, void *context, void (*take)(void *context, int32_t pid, int fd))
{
	for (size_t i = 0; i < codes->capacity; i++) {
		const struct module_code *code = codes->items[i];
		enum runtime_kind kind = code && code->jit ? runtime_of(codes, code->module.pid).kind : RUNTIME_NONE;
		int fd = kind == RUNTIME_JAVA || kind == RUNTIME_NODE ? jit_open_map(code->jit) : -1;
		if (fd < 0)
			continue;
		take(context, code->module.pid, fd);
		close(fd);
	}
}

static void fetch(struct module_code *code)
{
	struct module_store *codes = code->codes;
	struct err err = {0};
	if (code->module.kind != MODULE_FILE || symbols_state(code->symbols) == SYMBOLS_DEBUG)
		return;
	pthread_mutex_lock(&codes->fetch_lock);
	symbols_fetch(code->symbols, codes->debuginfod, &err);
	codes->not_fetched += err.code == ERR_LIMIT;
	pthread_mutex_unlock(&codes->fetch_lock);
}

/*
 * Names of a file that is gone or was replaced. What was kept of trusted files is right for any file of that build-id;
 * else what was kept of files of the user who owns the place where it was.
 */
static struct names *open_kept_names(const struct module_code *code)
{
	struct module_store *codes = code->codes;
	struct names_key key = {code->module.build_id, codes->options.names, FILE_TRUSTED};
	CLEANUP_BUF struct buf path = {0};
	struct names *names = names_open(codes->cache, &key);
	if (names)
		return names;
	buf_printf(&path, "%s%s", code->root && *code->root ? code->root : codes->options.root, code->path);
	key.writer = file_writer_at(path.data);
	return key.writer >= 0 ? names_open(codes->cache, &key) : NULL;
}

static void open_file(struct module_code *code)
{
	struct module_store *codes = code->codes;
	struct symbol_options options = codes->options;
	if (code->held)
		options.root = NULL;
	else if (code->root && *code->root)
		options.root = code->root;
	code->symbols = symbols_open(code->held ? code->held : code->path, &code->module.build_id, &options);
	/* Without the file itself stacks cannot be unwound, so it cannot wait. */
	if (codes->debuginfod && (codes->fetch_at_once || !symbols_elf(code->symbols)))
		fetch(code);
	enum symbol_state state = symbols_state(code->symbols);
	if (state == SYMBOLS_MISSING || state == SYMBOLS_MISMATCH)
		code->names = open_kept_names(code);
}

static void open_symbols(struct module_code *code)
{
	if (__atomic_load_n(&code->symbols_tried, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&code->lock);
	if (!code->symbols_tried) {
		open_file(code);
		__atomic_store_n(&code->symbols_tried, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&code->lock);
}

bool module_code_is_file(const struct module_code *code)
{
	return code->module.kind == MODULE_FILE || code->module.kind == MODULE_VDSO;
}

void module_code_fetch(struct module_code *code)
{
	if (!module_code_is_file(code))
		return;
	open_symbols(code);
	if (symbols_elf(code->symbols))
		fetch(code);
}

bool module_code_is_jit(const struct module_code *code)
{
	return code->module.kind == MODULE_JIT;
}

void module_code_keep_names(struct module_code *code, const struct name_entry *entries, size_t count)
{
	const struct elf_file *elf = code->module.kind == MODULE_FILE ? symbols_elf(code->symbols) : NULL;
	if (elf)
		names_keep_by_offset(
			code->codes->cache,
			&(struct names_key){code->module.build_id, code->codes->options.names, elf_writer(elf)}, elf,
			entries, count);
}

const char *code_path(const struct module_code *code)
{
	return code->path;
}

uint64_t module_code_address(struct module_code *code, const struct mapping *mapping, uint64_t ip)
{
	if (!module_code_is_file(code))
		return ip;
	open_symbols(code);
	uint64_t offset = ip - mapping->start + mapping->offset, shift;
	struct elf_file *elf = symbols_elf(code->symbols);
	return elf && elf_mapping_shift(elf, mapping->offset, mapping->end - mapping->start, &shift) ? offset + shift :
												       offset;
}

static struct unwind_table *load_table(struct module_code *code)
{
	struct cache_bytes bytes;
	struct unwind_table *table = NULL;
	const struct elf_file *elf = symbols_elf(code->symbols);
	if (!elf || !cache_get(code->codes->cache, &code->module.build_id, elf_identity(elf), TABLE_KIND, &bytes))
		return NULL;
	if (unwind_table_load(&table, bytes.bytes, bytes.size, NULL))
		table = NULL;
	cache_bytes_release(&bytes);
	return table;
}

static void build_table(struct module_code *code)
{
	struct elf_file *elf = symbols_elf(code->symbols);
	code->table = load_table(code);
	if (code->table || !elf)
		return;
	reading_begin(symbols_reading(code->symbols));
	int result = unwind_table_build(&code->table, elf, symbols_debug_elf(code->symbols), NULL);
	reading_end();
	if (result)
		return;
	elf_forget_pages(elf);
	if (code->codes->cache) {
		struct buf bytes CLEANUP_BUF = {0};
		unwind_table_save(code->table, &bytes);
		cache_put(code->codes->cache, &code->module.build_id, elf_identity(elf), TABLE_KIND, bytes.data,
			  bytes.size);
	}
}

/* Looks for something in the file of a module, the first time that it is needed. */
static void find_once(struct module_code *code, bool *tried, void (*find)(struct module_code *code))
{
	if (__atomic_load_n(tried, __ATOMIC_ACQUIRE) || !module_code_is_file(code))
		return;
	open_symbols(code);
	pthread_mutex_lock(&code->lock);
	if (!*tried) {
		find(code);
		__atomic_store_n(tried, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&code->lock);
}

const struct unwind_table *module_code_unwind_table(struct module_code *code)
{
	find_once(code, &code->table_tried, build_table);
	return code->table;
}

static void find_python(struct module_code *code)
{
	struct elf_file *elf = symbols_elf(code->symbols);
	struct python_image image;
	if (!elf)
		return;
	reading_begin(symbols_reading(code->symbols));
	if (python_image_find(elf, &image)) {
		code->python = mem_alloc(sizeof image);
		*code->python = image;
	}
	reading_end();
}

const struct python_image *module_code_python(struct module_code *code)
{
	find_once(code, &code->python_tried, find_python);
	return code->python;
}

bool module_code_read_section(struct module_code *code, const char *name, uint8_t *bytes, size_t size)
{
	if (!module_code_is_file(code))
		return false;
	open_symbols(code);
	pthread_mutex_lock(&code->lock);
	struct elf_file *elf = symbols_elf(code->symbols);
	struct elf_section section;
	reading_begin(symbols_reading(code->symbols));
	bool found = elf && elf_section(elf, name, &section) && section.data && section.size == size;
	if (found)
		memcpy(bytes, section.data, size);
	reading_end();
	pthread_mutex_unlock(&code->lock);
	return found;
}

bool module_code_is_derived(struct module_code *code, uint64_t address)
{
	return __atomic_load_n(&code->table_tried, __ATOMIC_ACQUIRE) && code->table &&
	       unwind_table_is_derived(code->table, address);
}

uint32_t module_code_version(struct module_code *code, uint64_t address, uint64_t time)
{
	return code->jit ? jit_version(code->jit, address, time) : 0;
}

bool code_read(struct module_code *code, uint64_t address, uint8_t *bytes, size_t size)
{
	if (code->jit)
		return jit_read_code(code->jit, address, bytes, size);
	if (!module_code_is_file(code))
		return false;
	open_symbols(code);
	struct elf_file *elf = symbols_elf(code->symbols);
	size_t left = 0;
	const uint8_t *found = elf ? elf_bytes_at(elf, address, &left) : NULL;
	if (!found)
		return false;
	memset(bytes, 0, size);
	memcpy(bytes, found, left < size ? left : size);
	return true;
}

const struct unwind_table *module_code_jit_table(struct module_code *code, uint64_t address, uint64_t time,
						 uint64_t *ret_start, uint64_t *ret_end)
{
	return code->jit ? jit_unwind_table(code->jit, address, time, ret_start, ret_end) : NULL;
}

bool module_code_has_jit_tables(struct module_code *code)
{
	return code->jit && jit_has_unwinding(code->jit);
}

size_t module_code_find(struct module_code *code, uint64_t address, uint32_t version, struct symbol_frame *frames,
			size_t max)
{
	if (!max)
		return 0;
	switch (code->module.kind) {
	case MODULE_KERNEL:
	case MODULE_KERNEL_MODULE:
		return kernel_find(module_store_kernel(code->codes), address, frames, max, NULL);
	case MODULE_JIT:
		return jit_find(code->jit, address, version, frames);
	case MODULE_FILE:
	case MODULE_VDSO:
		break;
	}
	open_symbols(code);
	size_t count = symbols_find(code->symbols, address, frames, max);
	if (count || !code->names)
		return count;
	count = names_find(code->names, address, frames, max);
	/* A recording that wick wrote has the last byte of a call instead of what follows it (see perfdata/write.h). */
	return count ? count : names_find(code->names, address + 1, frames, max);
}

bool module_code_is_settled(struct module_code *code)
{
	if (code->module.kind == MODULE_JIT)
		return false;
	if (!code->codes->debuginfod || !module_code_is_file(code))
		return true;
	open_symbols(code);
	return symbols_state(code->symbols) == SYMBOLS_DEBUG;
}

size_t module_code_find_call(struct module_code *code, uint64_t address, uint32_t version, struct symbol_frame *frames,
			     size_t max)
{
	size_t count = module_code_find(code, address, version, frames, max);
	return count ? count : module_code_find(code, address + 1, version, frames, max);
}

const char *module_code_module_name(struct module_code *code, uint64_t address)
{
	const char *module = NULL;
	struct symbol_frame frame;
	bool kernel = code->module.kind == MODULE_KERNEL || code->module.kind == MODULE_KERNEL_MODULE;
	if (kernel && kernel_find(module_store_kernel(code->codes), address, &frame, 1, &module) && module)
		return module;
	return code->path;
}

bool code_changed(struct module_code *code)
{
	return module_code_is_file(code) && __atomic_load_n(&code->symbols_tried, __ATOMIC_ACQUIRE) &&
	       symbols_changed(code->symbols);
}

const char *module_code_shown_module(const struct module_code *code)
{
	bool jit = code->jit || (module_code_is_file(code) && module_is_jit_file(code->path, strlen(code->path)));
	return jit ? MODULE_JIT_NAME : code->path;
}

const char *module_code_shown_module_at(struct module_code *code, uint64_t address)
{
	return module_code_is_file(code) || code->jit ? module_code_shown_module(code) :
							module_code_module_name(code, address);
}

const char *module_code_stack_advice(struct module_code *code)
{
	return code->jit ? runtime_stack_advice(runtime_of(code->codes, code->module.pid).kind) : "";
}

void module_code_advice(struct module_code *code, struct buf *out)
{
	if (module_code_is_file(code)) {
		open_symbols(code);
		symbols_advice(code->symbols, out);
	} else if (code->module.kind == MODULE_JIT) {
		runtime_jit_advice(out, runtime_of(code->codes, code->module.pid).kind, code->module.pid, code->path,
				   jit_is_named(code->jit));
	} else {
		kernel_advice(module_store_kernel(code->codes), out);
	}
}
