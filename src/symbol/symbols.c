/* Opens the files of a module, and looks addresses up in DWARF and symbol tables. */
#include "symbol/symbols.h"

#include "dwarf/dwarf.h"
#include "object/debugdata.h"
#include "object/reading.h"
#include "symbol/debugfile.h"
#include "symbol/debuginfod.h"
#include "symbol/elf_symbols.h"
#include "symbol/shown_names.h"
#include "symbol/split_files.h"
#include "symbol/symbol_advice.h"
#include "symbol/vdso.h"

#define FRAMES_MAX 256

struct symbols {
	char *path, *root;
	struct symbol_options options;
	struct build_id build_id;
	enum debugfile_result found; /* the mapped file */
	struct elf_file *elf, *debug, *alternate;
	char *elf_path, *debug_path;
	struct reading reading; /* of `elf` */
	bool crashed; /* so it is not read again */
	pthread_mutex_t lock; /* of making what follows */
	bool made;
	struct debugdata mini;
	struct symtab *functions, *plt;
	struct dwarf *dwarf;
	struct split_files split;
	struct shown_names names;
};

/* --- opening --- */

static struct debugfile_query query_of(const struct symbols *symbols)
{
	return (struct debugfile_query){symbols->path, symbols->root, &symbols->build_id};
}

static void open_main(struct symbols *symbols)
{
	if (!strcmp(symbols->path, "[vdso]")) {
		symbols->elf = vdso_open(&symbols->build_id);
		symbols->found = symbols->elf ? DEBUGFILE_FOUND : DEBUGFILE_MISSING;
		return;
	}
	struct debugfile_query query = query_of(symbols);
	CLEANUP_FREE char *path = NULL;
	if (debugfile_path_deleted(symbols->path)) {
		/* What has its name now is something else, unless the build-id says otherwise. */
		if (!symbols->build_id.size)
			return;
		path = mem_strdup(symbols->path);
		path[debugfile_path_deleted(path)] = '\0';
		query.path = path;
	}
	symbols->found = debugfile_open_main(&symbols->elf, &symbols->elf_path, &query);
}

/* A file that crashed wick before has no symbols. */
static void prepare_reading(struct symbols *symbols)
{
	struct cache *store = symbols->options.store;
	if (!symbols->elf)
		return;
	symbols->crashed = reading_has_crashed(store, elf_identity(symbols->elf));
	if (symbols->crashed) {
		elf_close(symbols->elf);
		symbols->elf = NULL;
		symbols->build_id.size = 0; /* nor are debug files looked for */
		return;
	}
	symbols->reading = (struct reading){store, elf_identity(symbols->elf), symbols->path};
}

static struct elf_file *with_debug_info(const struct symbols *symbols)
{
	if (symbols->debug && elf_section_index(symbols->debug, ".debug_info"))
		return symbols->debug;
	return symbols->elf && elf_section_index(symbols->elf, ".debug_info") ? symbols->elf : NULL;
}

static void open_debug(struct symbols *symbols)
{
	if (!with_debug_info(symbols) && (symbols->elf || symbols->build_id.size)) {
		struct debugfile_query query = query_of(symbols);
		symbols->debug = debugfile_open_debug(&symbols->debug_path, &query, symbols->elf);
	}
}

struct symbols *symbols_open(const char *path, const struct build_id *build_id, const struct symbol_options *options)
{
	struct symbols *symbols = mem_zalloc(1, sizeof *symbols);
	symbols->path = mem_strdup(path);
	symbols->root = mem_strdup(options->root ? options->root : "");
	symbols->options = *options;
	symbols->options.root = symbols->root;
	symbols->build_id = *build_id;
	symbols->found = DEBUGFILE_MISSING;
	pthread_mutex_init(&symbols->lock, NULL);
	shown_names_init(&symbols->names, options->names);
	open_main(symbols);
	prepare_reading(symbols);
	open_debug(symbols);
	split_files_init(&symbols->split, symbols->root, symbols->elf_path, symbols->debug_path);
	return symbols;
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	dwarf_close(symbols->dwarf);
	split_files_release(&symbols->split);
	symtab_free(symbols->functions);
	symtab_free(symbols->plt);
	debugdata_release(&symbols->mini);
	elf_close(symbols->alternate);
	elf_close(symbols->debug);
	elf_close(symbols->elf);
	shown_names_release(&symbols->names);
	pthread_mutex_destroy(&symbols->lock);
	free(symbols->elf_path);
	free(symbols->debug_path);
	free(symbols->path);
	free(symbols->root);
	free(symbols);
}

enum symbol_state symbols_state(const struct symbols *symbols)
{
	static const enum symbol_state failures[] = {
		[DEBUGFILE_MISSING] = SYMBOLS_MISSING,
		[DEBUGFILE_MISMATCH] = SYMBOLS_MISMATCH,
		[DEBUGFILE_DAMAGED] = SYMBOLS_DAMAGED,
		[DEBUGFILE_UNSUPPORTED] = SYMBOLS_UNSUPPORTED,
	};
	const struct elf_file *elf = symbols->elf;
	if (symbols->crashed)
		return SYMBOLS_CRASHED;
	if (with_debug_info(symbols))
		return SYMBOLS_DEBUG;
	if (symbols->debug && elf_section_index(symbols->debug, ".symtab"))
		return SYMBOLS_TABLE;
	if (!elf)
		return failures[symbols->found];
	if (elf_section_index(elf, ".symtab") || elf_section_index(elf, ".gnu_debugdata"))
		return SYMBOLS_TABLE;
	return elf_section_index(elf, ".dynsym") ? SYMBOLS_DYNAMIC : SYMBOLS_NONE;
}

bool symbols_changed(const struct symbols *symbols)
{
	return (symbols->elf && elf_changed(symbols->elf)) || (symbols->debug && elf_changed(symbols->debug));
}

void symbols_advice(const struct symbols *symbols, struct buf *out)
{
	if (symbols_changed(symbols)) {
		buf_str(out, "the file changed while it was read: record again");
		return;
	}
	/* Nobody misses debug information of the vDSO: it is assembly and a few leaf functions. */
	if (strcmp(symbols->path, "[vdso]") || !symbols->elf)
		advice_write(out, symbols_state(symbols), symbols->path, symbols->options.store);
}

struct elf_file *symbols_elf(struct symbols *symbols)
{
	return symbols->elf;
}

struct elf_file *symbols_debug_elf(struct symbols *symbols)
{
	return symbols->debug;
}

/* --- from the net --- */

static int fetch(struct symbols *symbols, struct debuginfod *client, enum debuginfod_kind kind,
		 struct elf_file **ret_elf, char **ret_path, struct err *err)
{
	char *path = NULL;
	int code = debuginfod_fetch(client, &symbols->build_id, kind, symbols->path, &path, err);
	if (code)
		return code;
	struct elf_file *elf = NULL;
	code = elf_open(&elf, path, err);
	if (!code) {
		struct build_id id = elf_build_id(elf);
		if (!build_id_equal(&id, &symbols->build_id)) {
			elf_close(elf);
			code = err_set(err, ERR_FORMAT, "%s: debuginfod sent a file with a different build ID",
				       symbols->path);
		}
	}
	if (code) {
		free(path);
		return code;
	}
	elf_close(*ret_elf);
	free(*ret_path);
	*ret_elf = elf;
	*ret_path = path;
	return 0;
}

bool symbols_fetch(struct symbols *symbols, struct debuginfod *client, struct err *err)
{
	if (!symbols->build_id.size && symbols->elf)
		symbols->build_id = elf_build_id(symbols->elf);
	if (!symbols->build_id.size || symbols->made || !strcmp(symbols->path, "[vdso]"))
		return false;
	bool better = false;
	if (!with_debug_info(symbols))
		better = !fetch(symbols, client, DEBUGINFOD_DEBUG, &symbols->debug, &symbols->debug_path, err);
	if (!symbols->elf && !fetch(symbols, client, DEBUGINFOD_EXECUTABLE, &symbols->elf, &symbols->elf_path, err)) {
		symbols->found = DEBUGFILE_FOUND;
		better = true;
	}
	if (better) {
		split_files_release(&symbols->split);
		split_files_init(&symbols->split, symbols->root, symbols->elf_path, symbols->debug_path);
	}
	return better;
}

/* --- tables, made at the first question --- */

static size_t add_functions(struct symbols *symbols, struct symtab *table)
{
	size_t count = symbols->debug ? elf_symbols_add(table, symbols->debug, ".symtab") : 0;
	if (count || !symbols->elf)
		return count;
	count = elf_symbols_add(table, symbols->elf, ".symtab");
	if (!count && !debugdata_open(&symbols->mini, symbols->elf, NULL))
		count = elf_symbols_add(table, symbols->mini.elf, ".symtab");
	return count + elf_symbols_add(table, symbols->elf, ".dynsym");
}

static void make_dwarf(struct symbols *symbols)
{
	struct elf_file *elf = with_debug_info(symbols);
	if (!elf || (!symbols->options.inlines && !symbols->options.lines))
		return;
	const char *path = elf == symbols->debug ? symbols->debug_path : symbols->elf_path;
	if (path)
		symbols->alternate = debugfile_open_alternate(elf, path, symbols->root);
	elf_set_cache(elf, symbols->options.store);
	if (symbols->alternate)
		elf_set_cache(symbols->alternate, symbols->options.store);
	struct dwarf_files files = {
		.elf = elf,
		.alternate = symbols->alternate,
		.context = &symbols->split,
		.find_split = split_files_open,
		.qualify = symbols->options.names == NAMES_FULL,
		.without_lines = !symbols->options.lines,
	};
	dwarf_open(&symbols->dwarf, &files, NULL);
}

static void make_tables(struct symbols *symbols)
{
	if (__atomic_load_n(&symbols->made, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&symbols->lock);
	if (!symbols->made) {
		symbols->functions = symtab_new();
		add_functions(symbols, symbols->functions);
		symtab_finish(symbols->functions);
		symbols->names.table = symbols->functions;
		symbols->plt = symtab_new();
		if (symbols->elf)
			elf_symbols_add_plt(symbols->plt, symbols->elf, symbols->functions);
		symtab_finish(symbols->plt);
		make_dwarf(symbols);
		if (symbols->elf)
			elf_forget_pages(symbols->elf);
		if (symbols->debug)
			elf_forget_pages(symbols->debug);
		__atomic_store_n(&symbols->made, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&symbols->lock);
}

/* --- questions --- */

/* The name that the symbol table has for the function around an address, and where it begins; NULL: none. */
static const char *table_name(struct symbols *symbols, uint64_t address, uint64_t *ret_start)
{
	const struct symtab_symbol *symbol = symtab_find(symbols->functions, address);
	if (!symbol)
		symbol = symtab_find(symbols->plt, address);
	if (!symbol)
		return NULL;
	*ret_start = symbol->start;
	return shown_name(&symbols->names, symbol->name, symbol->tag & SYMBOL_PLT);
}

/*
 * The symbol table names the function itself, as perf and llvm-symbolizer do: it knows foo.cold and aliases, debug
 * information only what the source says. What was inlined into it is known to debug information alone.
 */
static size_t find_with_dwarf(struct symbols *symbols, uint64_t address, struct symbol_frame *frames, size_t max)
{
	struct dwarf_frame found[FRAMES_MAX];
	size_t count = dwarf_find(symbols->dwarf, address, found, FRAMES_MAX);
	if (!count)
		return 0;
	/* Without inlines the function remains, at the line of the instruction. */
	size_t first = symbols->options.inlines ? 0 : count - 1, kept = 0;
	uint64_t start = 0;
	const char *outer = table_name(symbols, address, &start);
	for (size_t i = first; i < count && kept < max; i++) {
		struct symbol_frame frame = {.inlined = found[i].inlined, .start = start};
		if (found[i].name)
			frame.name = shown_name(&symbols->names, found[i].name, false);
		if (!found[i].inlined && outer)
			frame.name = outer;
		if (!frame.name)
			continue;
		if (symbols->options.lines) {
			const struct dwarf_frame *place = i == first ? &found[0] : &found[i];
			frame.file = place->file;
			frame.line = place->line;
		}
		frames[kept++] = frame;
	}
	return kept;
}

/*
 * A stripped program has no symbol for its entry point, where every stack of its first thread begins. C libraries call
 * it _start, and it is a few instructions long.
 */
static bool is_entry_point(const struct symbols *symbols, uint64_t address, uint64_t *ret_start)
{
	enum { ENTRY_BYTES = 48 };
	const Elf64_Ehdr *header = symbols->elf ? elf_header(symbols->elf) : NULL;
	bool program = header && header->e_type == ET_EXEC;
	for (size_t i = 0; header && !program && i < elf_segment_count(symbols->elf); i++)
		program = elf_segment(symbols->elf, i)->p_type == PT_INTERP;
	if (!program || !header->e_entry || address - header->e_entry >= ENTRY_BYTES)
		return false;
	*ret_start = header->e_entry;
	return true;
}

static size_t find(struct symbols *symbols, uint64_t address, struct symbol_frame *frames, size_t max)
{
	make_tables(symbols);
	size_t count = symbols->dwarf ? find_with_dwarf(symbols, address, frames, max) : 0;
	if (count)
		return count;
	uint64_t start;
	const char *name = table_name(symbols, address, &start);
	if (!name && is_entry_point(symbols, address, &start))
		name = "_start";
	if (!name)
		return 0;
	frames[0] = (struct symbol_frame){.name = name, .start = start};
	return 1;
}

size_t symbols_find(struct symbols *symbols, uint64_t address, struct symbol_frame *frames, size_t max)
{
	if (!max)
		return 0;
	reading_begin(&symbols->reading);
	size_t count = find(symbols, address, frames, max);
	reading_end();
	return count;
}

const struct reading *symbols_reading(const struct symbols *symbols)
{
	return &symbols->reading;
}
