/* Sorts symbols into parts that do not overlap, and finds the one at an address. */
#include "symbol/symtab.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "base/radix_sort.h"
#include "name/demangle.h"

#include <string.h>

#define SYMBOLS_MAX ((size_t)1 << 28)
#define NOBODY UINT32_MAX
/*
 * Names of one address are compared as they are shown; a file with more of them than this gets them compared as they
 * are.
 */
#define DEMANGLINGS_MAX 50000

struct entry {
	struct symtab_symbol symbol;
	uint64_t limit;
};

struct symtab {
	struct entry *entries; /* until symtab_finish() */
	size_t count, capacity;
	struct symtab_symbol *symbols; /* from then on, sorted by start, one per start */
	/* The address space cut into parts: part i is [starts[i], starts[i + 1]) and belongs to symbols[owners[i]]. */
	uint64_t *starts;
	uint32_t *owners;
	size_t part_count, part_capacity, owner_capacity;
	struct buf shown; /* while names are chosen */
	unsigned demanglings; /* left */
};

struct symtab *symtab_new(void)
{
	return mem_zalloc(1, sizeof(struct symtab));
}

void symtab_free(struct symtab *symtab)
{
	if (!symtab)
		return;
	free(symtab->entries);
	free(symtab->symbols);
	free(symtab->starts);
	free(symtab->owners);
	free(symtab);
}

void symtab_add(struct symtab *symtab, const struct symtab_symbol *symbol, uint64_t limit)
{
	if (symbol->start >= limit || symtab->count >= SYMBOLS_MAX)
		return;
	MEM_ROOM(symtab->entries, symtab->count, symtab->capacity);
	struct entry *entry = &symtab->entries[symtab->count++];
	entry->symbol = *symbol;
	entry->limit = limit;
	if (entry->symbol.end < symbol->start || entry->symbol.end > limit)
		entry->symbol.end = limit;
}

/* --- which of several names --- */

struct shape {
	size_t underscores; /* it begins with */
	size_t length;
};

static struct shape shape_of(const char *name)
{
	return (struct shape){strspn(name, "_"), strlen(name)};
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* Complete and base constructors (C1, C2) and destructors are one function with one name. */
static bool same_but_variant(const char *a, const char *b)
{
	size_t at = 0;
	while (a[at] && a[at] == b[at])
		at++;
	return at && a[at] && b[at] && (a[at - 1] == 'C' || a[at - 1] == 'D') && !strcmp(a + at + 1, b + at + 1);
}

/* perf compares names as it shows them. */
static struct shape shown_shape(struct symtab *symtab, const char *name)
{
	if (!is_mangled(name) || !symtab->demanglings)
		return shape_of(name);
	symtab->demanglings--;
	buf_clear(&symtab->shown);
	demangle(&symtab->shown, name, NAMES_PERF);
	return shape_of(symtab->shown.data);
}

/* The rules of perf, in their order: with a size, not weak, global, fewer underscores before it, longer, first come. */
static bool prefers(struct symtab *symtab, const struct symtab_symbol *a, uint64_t a_size,
		    const struct symtab_symbol *b, uint64_t b_size)
{
	if (!a_size != !b_size)
		return a_size;
	if ((a->binding == BINDING_WEAK) != (b->binding == BINDING_WEAK))
		return b->binding == BINDING_WEAK;
	if ((a->binding == BINDING_GLOBAL) != (b->binding == BINDING_GLOBAL))
		return a->binding == BINDING_GLOBAL;
	if (is_mangled(a->name) && is_mangled(b->name) && same_but_variant(a->name, b->name))
		return true;
	struct shape a_shape = shown_shape(symtab, a->name), b_shape = shown_shape(symtab, b->name);
	if (a_shape.underscores != b_shape.underscores)
		return a_shape.underscores < b_shape.underscores;
	return a_shape.length >= b_shape.length;
}

/*
 * The last of the symbols that share their start reaches to `next`, the start of the following one; others without a
 * size reach nowhere. That is what perf's order of steps makes of them, and it decides which alias people see.
 */
static uint64_t size_in_group(const struct entry *entry, bool last, uint64_t next)
{
	uint64_t size = entry->symbol.end - entry->symbol.start;
	if (!size && last)
		size = (next < entry->limit ? next : entry->limit) - entry->symbol.start;
	return size;
}

/* Of the entries order[from…to), which share their start, the one to keep, with its end. */
static struct symtab_symbol choose_name(struct symtab *symtab, const struct radix_key *order, size_t from, size_t to,
					uint64_t next)
{
	const struct entry *best = &symtab->entries[order[from].index];
	uint64_t best_size = size_in_group(best, from + 1 == to, next);
	for (size_t i = from + 1; i < to; i++) {
		const struct entry *entry = &symtab->entries[order[i].index];
		uint64_t size = size_in_group(entry, i + 1 == to, next);
		if (!prefers(symtab, &best->symbol, best_size, &entry->symbol, size)) {
			best = entry;
			best_size = size;
		}
	}
	struct symtab_symbol symbol = best->symbol;
	symbol.end = symbol.start + best_size;
	if (!best_size)
		symbol.end = next < best->limit ? next : best->limit;
	return symbol;
}

static void choose_names(struct symtab *symtab)
{
	struct radix_key *order = mem_realloc(NULL, symtab->count + 1, sizeof *order);
	for (size_t i = 0; i < symtab->count; i++)
		order[i] = (struct radix_key){symtab->entries[i].symbol.start, (uint32_t)i};
	radix_sort(order, symtab->count);
	symtab->symbols = mem_realloc(NULL, symtab->count + 1, sizeof *symtab->symbols);
	size_t kept = 0;
	for (size_t from = 0, to; from < symtab->count; from = to) {
		for (to = from + 1; to < symtab->count && order[to].key == order[from].key; to++)
			;
		uint64_t next = to < symtab->count ? order[to].key : UINT64_MAX;
		symtab->symbols[kept++] = choose_name(symtab, order, from, to, next);
	}
	symtab->count = kept;
	free(order);
	free(symtab->entries);
	symtab->entries = NULL;
}

static void add_part(struct symtab *symtab, uint64_t start, uint32_t owner)
{
	/* A symbol that begins where the part before does leaves nothing of it. */
	if (symtab->part_count && symtab->starts[symtab->part_count - 1] == start)
		symtab->part_count--;
	if (symtab->part_count && symtab->owners[symtab->part_count - 1] == owner)
		return;
	MEM_ROOM(symtab->starts, symtab->part_count, symtab->part_capacity);
	MEM_ROOM(symtab->owners, symtab->part_count, symtab->owner_capacity);
	symtab->starts[symtab->part_count] = start;
	symtab->owners[symtab->part_count++] = owner;
}

/* `open` holds the symbols around the place the sweep has reached, the innermost last. */
static void cut_parts(struct symtab *symtab)
{
	uint32_t *open = mem_realloc(NULL, symtab->count + 1, sizeof *open);
	size_t depth = 0;
	for (size_t i = 0; i <= symtab->count; i++) {
		uint64_t here = i < symtab->count ? symtab->symbols[i].start : UINT64_MAX;
		uint64_t reached = 0;
		while (depth && symtab->symbols[open[depth - 1]].end <= here) {
			uint64_t end = symtab->symbols[open[--depth]].end;
			reached = end > reached ? end : reached;
			while (depth && symtab->symbols[open[depth - 1]].end <= reached)
				depth--;
			add_part(symtab, reached, depth ? open[depth - 1] : NOBODY);
		}
		if (i < symtab->count) {
			add_part(symtab, here, (uint32_t)i);
			open[depth++] = (uint32_t)i;
		}
	}
	free(open);
}

void symtab_finish(struct symtab *symtab)
{
	symtab->demanglings = DEMANGLINGS_MAX;
	choose_names(symtab);
	buf_release(&symtab->shown);
	cut_parts(symtab);
}

size_t symtab_count(const struct symtab *symtab)
{
	return symtab->count;
}

const struct symtab_symbol *symtab_at(const struct symtab *symtab, size_t index)
{
	return index < symtab->count ? &symtab->symbols[index] : NULL;
}

const struct symtab_symbol *symtab_find(const struct symtab *symtab, uint64_t address)
{
	size_t next = BISECT(symtab->part_count, i, symtab->starts[i] <= address);
	if (!next || symtab->owners[next - 1] == NOBODY)
		return NULL;
	return &symtab->symbols[symtab->owners[next - 1]];
}

const struct symtab_symbol *symtab_find_start(const struct symtab *symtab, uint64_t address)
{
	size_t at = BISECT(symtab->count, i, symtab->symbols[i].start < address);
	return at < symtab->count && symtab->symbols[at].start == address ? &symtab->symbols[at] : NULL;
}
