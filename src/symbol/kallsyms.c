/* Parses the text of /proc/kallsyms into symbol tables, one per kernel module. */
#include "symbol/kallsyms.h"

#include "base/buf.h"
#include "base/strpool.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FILE_MAX ((size_t)256 << 20)
#define READ_STEP ((size_t)1 << 20)
#define PAGE 4096
#define NOT_CODE 0x80000000u /* in a tag, beside the module's id: data, which ends the function before it */

struct line {
	uint64_t address;
	const char *name;
	str_id module; /* 0: the kernel proper */
	char type;
};

struct lines {
	struct line *items;
	size_t count, capacity;
};

struct kallsyms {
	struct buf text; /* the file, names NUL-terminated in place */
	struct strpool modules;
	struct symtab *table;
	uint64_t *module_last; /* by module: its highest address */
	uint64_t text_start, stext; /* of the symbols _text and _stext */
};

/* --- reading --- */

static const char *parse_address(const char *at, const char *end, uint64_t *ret_address)
{
	uint64_t address = 0;
	const char *start = at;
	for (; at < end; at++) {
		unsigned char c = (unsigned char)*at;
		unsigned digit = c - '0';
		if (digit > 9) {
			digit = (c | 0x20) - 'a';
			if (digit > 5)
				break;
			digit += 10;
		}
		address = address << 4 | digit;
	}
	if (at == start || at - start > 16)
		return NULL;
	*ret_address = address;
	return at;
}

/* Ends the names in the text itself. */
static bool parse_line(struct kallsyms *symbols, char *at, char *end, struct line *ret_line)
{
	struct line line = {0};
	char *type = (char *)parse_address(at, end, &line.address);
	if (!type || end - type < 4 || type[0] != ' ' || type[2] != ' ')
		return false;
	line.type = type[1];
	line.name = type + 3;
	char *tab = memchr(type + 3, '\t', (size_t)(end - type - 3));
	if (tab && end - tab > 2 && tab[1] == '[') {
		line.module = strpool_add(&symbols->modules, tab + 1, (size_t)(end - tab - 1));
		*tab = '\0';
	}
	*end = '\0';
	*ret_line = line;
	return *line.name;
}

/* They share their address with others, of which the table keeps one. */
static void note_text(struct kallsyms *symbols, const struct line *line)
{
	if (line->name[0] != '_' || line->module)
		return;
	if (!strcmp(line->name, "_text"))
		symbols->text_start = line->address;
	else if (!strcmp(line->name, "_stext"))
		symbols->stext = line->address;
}

static void parse_lines(struct kallsyms *symbols, struct lines *lines)
{
	char *end = symbols->text.data + symbols->text.size;
	for (char *at = symbols->text.data; at < end;) {
		char *newline = memchr(at, '\n', (size_t)(end - at));
		char *line_end = newline ? newline : end;
		MEM_ROOM(lines->items, lines->count, lines->capacity);
		if (parse_line(symbols, at, line_end, &lines->items[lines->count]))
			note_text(symbols, &lines->items[lines->count++]);
		at = line_end + 1;
	}
}

/* --- the table --- */

static void find_module_ends(struct kallsyms *symbols, const struct lines *lines)
{
	symbols->module_last = mem_zalloc(symbols->modules.count, sizeof *symbols->module_last);
	for (size_t i = 0; i < lines->count; i++) {
		uint64_t *last = &symbols->module_last[lines->items[i].module];
		*last = lines->items[i].address > *last ? lines->items[i].address : *last;
	}
}

static uint8_t binding_of(char type)
{
	if (toupper((unsigned char)type) == 'W')
		return BINDING_WEAK;
	return isupper((unsigned char)type) ? BINDING_GLOBAL : BINDING_LOCAL;
}

/* A function reaches to the next symbol, and the last one of the kernel or a module into the next page. */
static void fill_table(struct kallsyms *symbols, const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		const struct line *line = &lines->items[i];
		char type = (char)toupper((unsigned char)line->type);
		uint64_t last = symbols->module_last[line->module];
		uint64_t limit = last > UINT64_MAX - 2 * PAGE ? UINT64_MAX : (last / PAGE + 2) * PAGE;
		uint32_t tag = line->module | (type == 'T' || type == 'W' ? 0 : NOT_CODE);
		/* 'A' values are no addresses; per-cpu ones lie near 0. */
		if (type == 'A' || type == 'U' || !line->address)
			continue;
		symtab_add(
			symbols->table,
			&(struct symtab_symbol){line->address, line->address, line->name, tag, binding_of(line->type)},
			limit);
	}
	symtab_finish(symbols->table);
}

static bool all_zero(const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		if (lines->items[i].address)
			return false;
	return true;
}

static int build(struct kallsyms **ret_symbols, struct kallsyms *symbols, const char *name, struct err *err)
{
	struct lines lines = {0};
	int code = 0;
	parse_lines(symbols, &lines);
	if (!lines.count)
		code = err_set(err, ERR_EMPTY, "%s: contains no symbols", name);
	else if (all_zero(&lines))
		code = err_set(err, ERR_SYSTEM, "%s: all addresses are zero (kernel.kptr_restrict)", name);
	if (!code) {
		find_module_ends(symbols, &lines);
		fill_table(symbols, &lines);
	}
	free(lines.items);
	if (code)
		kallsyms_close(symbols);
	else
		*ret_symbols = symbols;
	return code;
}

static struct kallsyms *kallsyms_new(void)
{
	struct kallsyms *symbols = mem_zalloc(1, sizeof *symbols);
	strpool_init(&symbols->modules);
	symbols->table = symtab_new();
	return symbols;
}

int kallsyms_open_bytes(struct kallsyms **ret_symbols, const void *bytes, size_t size, struct err *err)
{
	struct kallsyms *symbols = kallsyms_new();
	buf_add(&symbols->text, bytes, size < FILE_MAX ? size : FILE_MAX);
	return build(ret_symbols, symbols, "kallsyms in memory", err);
}

int kallsyms_open(struct kallsyms **ret_symbols, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_set(err, ERR_OPEN, "%s: %s", path, strerror(errno));
	struct kallsyms *symbols = kallsyms_new();
	ssize_t count = 1;
	while (symbols->text.size < FILE_MAX) {
		char *room = buf_reserve(&symbols->text, READ_STEP);
		count = read(fd, room, READ_STEP);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		symbols->text.size += (size_t)count;
	}
	int read_errno = errno;
	close(fd);
	if (count < 0) {
		kallsyms_close(symbols);
		return err_set(err, ERR_IO, "%s: %s", path, strerror(read_errno));
	}
	return build(ret_symbols, symbols, path, err);
}

void kallsyms_close(struct kallsyms *symbols)
{
	if (!symbols)
		return;
	buf_release(&symbols->text);
	strpool_release(&symbols->modules);
	symtab_free(symbols->table);
	free(symbols->module_last);
	free(symbols);
}

/* --- questions --- */

uint64_t kallsyms_text(const struct kallsyms *symbols, const char *name)
{
	return !strcmp(name, "_stext") ? symbols->stext : !strcmp(name, "_text") ? symbols->text_start : 0;
}

static struct kallsyms_function function_of(const struct kallsyms *symbols, const struct symtab_symbol *symbol)
{
	bool is_code = !(symbol->tag & NOT_CODE);
	return (struct kallsyms_function){
		.start = symbol->start,
		.end = symbol->end,
		.name = is_code ? symbol->name : NULL,
		.module = is_code && symbol->tag ? strpool_text(&symbols->modules, symbol->tag) : NULL,
	};
}

bool kallsyms_find(const struct kallsyms *symbols, uint64_t address, struct kallsyms_function *ret_function)
{
	const struct symtab_symbol *symbol = symtab_find(symbols->table, address);
	if (!symbol || symbol->tag & NOT_CODE)
		return false;
	*ret_function = function_of(symbols, symbol);
	return true;
}

bool kallsyms_at(const struct kallsyms *symbols, size_t index, struct kallsyms_function *ret_function)
{
	const struct symtab_symbol *symbol = symtab_at(symbols->table, index);
	if (symbol)
		*ret_function = function_of(symbols, symbol);
	return symbol;
}
