/* Builds the rows of an unwind table, and looks addresses up in them. */
#include "unwind/table.h"

#include "base/buf.h"
#include "base/hash.h"

/* --- making rows --- */

/*
 * 1 KiB a page makes searching short. A file with few functions far apart gets larger pages, so that the index stays in
 * proportion to what the file can say; what lies beyond the last page of 64 KiB (8 GiB at least) is omitted.
 */
void unwind_rows_maker_init(struct unwind_rows_maker *maker, uint64_t start, uint64_t end, size_t functions)
{
	uint64_t fair = 131072 + (uint64_t)functions * 8, pages = 0;
	fair = fair < UNWIND_PAGES_MAX ? fair : UNWIND_PAGES_MAX;
	*maker = (struct unwind_rows_maker){.last = UINT64_MAX};
	for (maker->shift = UNWIND_SHIFT_MIN; maker->shift <= UNWIND_SHIFT_MAX; maker->shift++) {
		maker->base = start >> maker->shift << maker->shift;
		pages = ((end - 1 - maker->base) >> maker->shift) + 1;
		if (pages <= fair || maker->shift == UNWIND_SHIFT_MAX)
			break;
	}
	maker->pages = (uint32_t)(pages < fair ? pages : fair);
	maker->first = mem_alloc((maker->pages + (size_t)1) * sizeof *maker->first);
	maker->capacity = functions * 6 + 64;
	maker->rows = mem_alloc(maker->capacity * sizeof *maker->rows);
}

void unwind_rows_maker_release(struct unwind_rows_maker *maker)
{
	free(maker->first);
	free(maker->rows);
}

void unwind_rows_maker_add(struct unwind_rows_maker *maker, uint64_t address, uint32_t rule)
{
	uint64_t page = (address - maker->base) >> maker->shift;
	if (page >= maker->pages)
		return;
	if (maker->count && address == maker->last) /* the later word counts */
		maker->count--;
	if (maker->count && (maker->rows[maker->count - 1] & 0xffff) == rule) {
		maker->last = UINT64_MAX; /* no row begins here */
		return;
	}
	while (maker->next_page <= page)
		maker->first[maker->next_page++] = maker->count;
	MEM_ROOM(maker->rows, maker->count, maker->capacity);
	maker->rows[maker->count++] = (uint32_t)(address & 0xffff) << 16 | rule;
	maker->last = address;
}

void unwind_rows_maker_finish(struct unwind_rows_maker *maker)
{
	while (maker->next_page <= maker->pages)
		maker->first[maker->next_page++] = maker->count;
}

/* --- the table in one piece --- */

/* Sizes of the arrays behind the struct, in this order; each is a multiple of 4, and the 8 byte rules come first. */
struct layout {
	size_t rules, long_rules, first, rows, saves_first, saves, save_rules, expressions, total;
};

static struct layout layout_of(const struct unwind_table *table)
{
	struct layout layout = {
		.rules = table->rule_count * sizeof *table->rules,
		.long_rules = table->long_rule_count * sizeof *table->long_rules,
		.first = (table->rows.pages + (size_t)1) * sizeof *table->rows.first,
		.rows = table->rows.count * sizeof *table->rows.rows,
		.saves_first = table->saves.count ? (table->saves.pages + (size_t)1) * sizeof *table->saves.first : 0,
		.saves = table->saves.count * sizeof *table->saves.rows,
		.save_rules = table->save_rule_count * sizeof *table->save_rules,
		.expressions = table->expression_bytes,
	};
	layout.total = layout.rules + layout.long_rules + layout.first + layout.rows + layout.saves_first +
		       layout.saves + layout.save_rules + layout.expressions;
	return layout;
}

/* A table with the counts of `counts` and room for its arrays, to which it points. */
static struct unwind_table *table_with_room(const struct unwind_table *counts, const struct layout *layout)
{
	struct unwind_table *table = mem_alloc(sizeof *table + layout->total);
	*table = *counts;
	table->size = layout->total;
	const uint8_t *at = (const uint8_t *)(table + 1);
	table->rules = (const void *)at;
	at += layout->rules;
	table->long_rules = (const void *)at;
	at += layout->long_rules;
	table->rows.first = (const void *)at;
	at += layout->first;
	table->rows.rows = (const void *)at;
	at += layout->rows;
	table->saves.first = (const void *)at;
	at += layout->saves_first;
	table->saves.rows = (const void *)at;
	at += layout->saves;
	table->save_rules = (const void *)at;
	at += layout->save_rules;
	table->expressions = at;
	return table;
}

static void copy(const void *to, const void *from, size_t size)
{
	if (size)
		memcpy((void *)(uintptr_t)to, from, size);
}

static struct unwind_rows rows_of(const struct unwind_rows_maker *maker)
{
	return (struct unwind_rows){
		.base = maker->base, .shift = maker->shift, .pages = maker->pages, .count = maker->count};
}

struct unwind_table *unwind_table_new(const struct unwind_table_parts *parts)
{
	struct unwind_table counts = {
		.arch = parts->arch,
		.rows = rows_of(parts->rows),
		.rule_count = parts->rule_count,
		.save_rule_count = parts->saves ? parts->save_rule_count : 0,
		.long_rule_count = parts->long_rule_count,
		.expression_bytes = parts->expression_bytes,
	};
	if (parts->saves)
		counts.saves = rows_of(parts->saves);
	struct layout layout = layout_of(&counts);
	struct unwind_table *table = table_with_room(&counts, &layout);
	copy(table->rules, parts->rules, layout.rules);
	copy(table->long_rules, parts->long_rules, layout.long_rules);
	copy(table->rows.first, parts->rows->first, layout.first);
	copy(table->rows.rows, parts->rows->rows, layout.rows);
	copy(table->saves.first, parts->saves ? parts->saves->first : NULL, layout.saves_first);
	copy(table->saves.rows, parts->saves ? parts->saves->rows : NULL, layout.saves);
	copy(table->save_rules, parts->save_rules, layout.save_rules);
	copy(table->expressions, parts->expressions, layout.expressions);
	return table;
}

void unwind_table_free(struct unwind_table *table)
{
	free(table);
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	return sizeof *table + table->size;
}

size_t unwind_table_rows(const struct unwind_table *table)
{
	return table->rows.count;
}

size_t unwind_table_derived_rows(const struct unwind_table *table)
{
	size_t count = 0;
	for (uint32_t i = 0; i < table->rows.count; i++)
		count += (table->rules[table->rows.rows[i] & 0xffff].cfa & UNWIND_CFA_DERIVED) != 0;
	return count;
}

bool unwind_table_is_derived(const struct unwind_table *table, uint64_t address)
{
	return table->rules[unwind_rows_find(&table->rows, address)].cfa & UNWIND_CFA_DERIVED;
}

/* --- on disk --- */

static const char magic[8] = "wickunw";
/* To be raised when the format changes, and when build.c makes other rows of the same file. */
enum { VERSION = 11 };

static struct unwind_file_rows to_file(const struct unwind_rows *rows)
{
	return (struct unwind_file_rows){
		.base = rows->base, .shift = rows->shift, .pages = rows->pages, .count = rows->count};
}

uint64_t unwind_file_checksum(const struct unwind_file_header *header, const void *arrays, size_t size)
{
	struct unwind_file_header copy = *header;
	copy.checksum = hash_bytes(arrays, size);
	return hash_bytes((const char *)&copy, sizeof copy);
}

void unwind_table_save(const struct unwind_table *table, struct buf *out)
{
	struct unwind_file_header header = {
		.version = VERSION,
		.machine = table->arch->machine,
		.rows = to_file(&table->rows),
		.saves = to_file(&table->saves),
		.rule_count = table->rule_count,
		.save_rule_count = table->save_rule_count,
		.long_rule_count = table->long_rule_count,
		.expression_bytes = table->expression_bytes,
	};
	memcpy(header.magic, magic, sizeof magic);
	header.checksum = unwind_file_checksum(&header, table + 1, table->size);
	buf_add(out, &header, sizeof header);
	buf_add(out, table + 1, table->size);
}

static bool rows_sane(const struct unwind_file_rows *rows)
{
	return rows->shift >= UNWIND_SHIFT_MIN && rows->shift <= UNWIND_SHIFT_MAX && rows->pages >= 1 &&
	       rows->pages <= UNWIND_PAGES_MAX && rows->base % (1u << rows->shift) == 0;
}

static struct unwind_rows from_file(const struct unwind_file_rows *rows)
{
	return (struct unwind_rows){
		.base = rows->base, .shift = rows->shift, .pages = rows->pages, .count = rows->count};
}

/* The index leads to rows that are there, and the rows to rules that are there, in the order that searching needs. */
static bool check_rows(const struct unwind_rows *rows, uint32_t rule_count)
{
	if (rows->first[0] != 0 || rows->first[rows->pages] != rows->count)
		return false;
	for (uint32_t page = 0; page < rows->pages; page++) {
		uint32_t from = rows->first[page], to = rows->first[page + 1];
		if (from > to || to > rows->count)
			return false;
		uint32_t page_bits = (uint32_t)((rows->base >> rows->shift) + page) << rows->shift & 0xffff;
		for (uint32_t i = from; i < to; i++) {
			uint32_t low = rows->rows[i] >> 16;
			if ((rows->rows[i] & 0xffff) >= rule_count || low >> rows->shift << rows->shift != page_bits ||
			    (i > from && low <= rows->rows[i - 1] >> 16))
				return false;
		}
	}
	return true;
}

static bool check_rule(const struct unwind_table *table, const struct unwind_rule *rule)
{
	uint8_t cfa = rule->cfa & UNWIND_CFA_KIND;
	if (rule->fp > (table->arch->links ? UNWIND_FP_LAST : UNWIND_FP_AT_FP))
		return false;
	if (cfa == UNWIND_CFA_LONG)
		return rule->cfa_offset >= 0 && (uint32_t)rule->cfa_offset < table->long_rule_count;
	return cfa <= UNWIND_CFA_GO_LEFT ||
	       (cfa >= UNWIND_CFA_REGISTER && cfa - UNWIND_CFA_REGISTER < table->arch->registers);
}

static bool check_part(const struct unwind_table *table, const struct unwind_part *part)
{
	if (part->how != UNWIND_HOW_EXPRESSION && part->how != UNWIND_HOW_AT_EXPRESSION)
		return part->how <= UNWIND_HOW_LAST;
	return part->value >= 0 && (uint32_t)part->value <= table->expression_bytes &&
	       part->length <= table->expression_bytes - (uint32_t)part->value;
}

static bool check_table(const struct unwind_table *table)
{
	for (uint32_t i = 0; i < table->rule_count; i++)
		if (!check_rule(table, &table->rules[i]))
			return false;
	for (uint32_t i = 0; i < table->long_rule_count; i++) {
		const struct unwind_long_rule *rule = &table->long_rules[i];
		if (!check_part(table, &rule->cfa) || !check_part(table, &rule->fp) || !check_part(table, &rule->ra))
			return false;
	}
	return table->rules[UNWIND_RULE_INVALID].cfa == UNWIND_CFA_INVALID &&
	       table->rules[UNWIND_RULE_STOP].cfa == UNWIND_CFA_STOP && check_rows(&table->rows, table->rule_count) &&
	       (!table->saves.count || check_rows(&table->saves, table->save_rule_count));
}

static bool check_header(const struct unwind_file_header *header)
{
	return memcmp(header->magic, magic, sizeof magic) == 0 && header->version == VERSION &&
	       header->machine <= UINT16_MAX && arch_of_machine((uint16_t)header->machine) &&
	       rows_sane(&header->rows) &&
	       (!header->saves.count || (rows_sane(&header->saves) && header->save_rule_count >= 1)) &&
	       header->rule_count > UNWIND_RULE_STOP && header->rule_count <= UNWIND_RULES_MAX &&
	       header->long_rule_count <= UNWIND_RULES_MAX && header->save_rule_count <= UNWIND_RULES_MAX;
}

int unwind_table_load(struct unwind_table **ret_table, const void *bytes, size_t size, struct err *err)
{
	struct unwind_file_header header;
	if (size < sizeof header)
		return err_set(err, ERR_FORMAT, "not an unwind table");
	memcpy(&header, bytes, sizeof header);
	if (!check_header(&header))
		return err_set(err, ERR_FORMAT, "not an unwind table of this version");
	struct unwind_table counts = {
		.arch = arch_of_machine((uint16_t)header.machine),
		.rows = from_file(&header.rows),
		.rule_count = header.rule_count,
		.save_rule_count = header.save_rule_count,
		.long_rule_count = header.long_rule_count,
		.expression_bytes = header.expression_bytes,
	};
	if (header.saves.count)
		counts.saves = from_file(&header.saves);
	struct layout layout = layout_of(&counts);
	const char *arrays = (const char *)bytes + sizeof header;
	if (layout.total != size - sizeof header ||
	    unwind_file_checksum(&header, arrays, layout.total) != header.checksum)
		return err_set(err, ERR_FORMAT, "the unwind table is damaged");
	struct unwind_table *table = table_with_room(&counts, &layout);
	memcpy(table + 1, arrays, layout.total);
	if (!check_table(table)) {
		unwind_table_free(table);
		return err_set(err, ERR_FORMAT, "the unwind table is damaged");
	}
	*ret_table = table;
	return 0;
}
