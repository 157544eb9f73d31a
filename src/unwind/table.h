/*
 * The compact unwind table of one ELF file.
 *
 * Flat arrays of fixed-size integers without pointers among them, so that the same bytes can be written to a file and
 * loaded into BPF maps:
 *
 *	rows	4 bytes each, sorted: (virtual address & 0xffff) << 16 | rule. A row holds until the next one.
 *		Neighbours with the same rule are one row; UNWIND_RULE_INVALID stands where no rule is known.
 *	first	for every page of 1 << shift bytes of text (1 KiB; more in files with few functions far apart, 64 KiB
 *		at most) the index of the first row that begins in it or behind it; then the number of rows
 *	rules	8 bytes each, at most 65,536, the first two are UNWIND_RULE_INVALID and UNWIND_RULE_STOP
 *
 * The row for an address is the last one of its page that does not begin behind it, or else the last one before the
 * page. Rules that do not fit into 8 bytes stand beside (long rules, with their DWARF expressions).
 *
 * `saves` is a second set of rows, in the few files (ld.so) with code whose CFA is in a register that callees save:
 * where those registers are saved.
 */
#ifndef WICK_UNWIND_TABLE_H
#define WICK_UNWIND_TABLE_H

#include "unwind/unwind.h"

enum { UNWIND_RULE_INVALID, UNWIND_RULE_STOP };

/* How the CFA (the value of the stack pointer before the call) is found. */
enum unwind_cfa {
	UNWIND_CFA_INVALID, /* no unwind information */
	UNWIND_CFA_STOP, /* the outermost frame */
	UNWIND_CFA_SP, /* sp + cfa_offset */
	UNWIND_CFA_FP, /* fp + cfa_offset */
	UNWIND_CFA_PLT, /* sp + 8, and 8 more from byte cfa_offset of each 16 byte entry on */
	UNWIND_CFA_AT_SP, /* what is stored at sp + (low half of cfa_offset), + (its high half) */
	UNWIND_CFA_AT_FP, /* what is stored at fp + (low half of cfa_offset), + (its high half) */
	UNWIND_CFA_SIGNAL, /* the kernel's signal frame: all registers are stored there */
	UNWIND_CFA_LONG, /* cfa_offset is the index of a long rule */
	UNWIND_CFA_GO, /* the goroutine that grows its stack; cfa_offset is four offsets, see go.h */
	UNWIND_CFA_GO_LEFT, /* as UNWIND_CFA_SP; behind it, UNWIND_CFA_GO is the outermost frame */
	UNWIND_CFA_REGISTER = 32, /* + DWARF number: that register + cfa_offset, where it may lead to another stack */
	UNWIND_CFA_REGISTER_LAST = 63,
	UNWIND_CFA_DERIVED = 0x40, /* added: not described, but derived from the instructions (derive.h) */
	UNWIND_CFA_INTERRUPTED = 0x80, /* added: the caller was interrupted, its address is not behind a call */
};

/* The kind without what is added. */
enum { UNWIND_CFA_KIND = 0x3f };

/* How the caller's frame pointer is found. */
enum unwind_fp {
	UNWIND_FP_SAME,
	UNWIND_FP_AT_CFA, /* stored at CFA + fp_offset */
	UNWIND_FP_AT_FP, /* stored at fp + fp_offset */
	/* Where calls leave the return address in a register (arch->links), these say where that is too. */
	UNWIND_FP_LINK, /* both are in their registers still */
	UNWIND_FP_PAIR, /* stored at CFA + fp_offset, the return address behind it */
	UNWIND_FP_LINK_AT_CFA, /* in its register, the return address is stored at CFA + fp_offset */
	UNWIND_FP_LAST = UNWIND_FP_LINK_AT_CFA,
};

struct unwind_rule {
	uint8_t cfa; /* enum unwind_cfa */
	uint8_t fp; /* enum unwind_fp */
	int16_t fp_offset;
	int32_t cfa_offset;
};
_Static_assert(sizeof(struct unwind_rule) == 8, "rules are 8 bytes");

enum unwind_how {
	UNWIND_HOW_SAME,
	UNWIND_HOW_UNDEFINED,
	UNWIND_HOW_AT_CFA, /* stored at CFA + value */
	UNWIND_HOW_CFA, /* CFA + value */
	UNWIND_HOW_REGISTER, /* register + value */
	UNWIND_HOW_AT_EXPRESSION, /* stored at what the expression gives */
	UNWIND_HOW_EXPRESSION, /* what the expression gives */
	UNWIND_HOW_LAST = UNWIND_HOW_EXPRESSION,
};

struct unwind_part {
	uint8_t how; /* enum unwind_how */
	uint8_t dwarf_register;
	uint16_t length; /* of an expression */
	int32_t value; /* of an expression: where it begins */
};

struct unwind_long_rule {
	struct unwind_part cfa, fp, ra;
};

/* Where a callee-saved register is stored, from the CFA. */
enum { UNWIND_SAVE_SAME = INT16_MIN, UNWIND_SAVE_LOST = INT16_MAX };
struct unwind_save {
	int16_t slot[SAVED_MAX];
	uint16_t zero; /* no padding: the bytes are hashed and saved */
};

enum { UNWIND_SHIFT_MIN = 10, UNWIND_SHIFT_MAX = 16, UNWIND_RULES_MAX = 65536, UNWIND_PAGES_MAX = 1 << 22 };

struct unwind_rows {
	uint64_t base; /* virtual address where page 0 begins; a multiple of the page size */
	uint32_t shift, pages, count;
	const uint32_t *first; /* pages + 1 */
	const uint32_t *rows;
};

struct unwind_table {
	const struct arch *arch;
	struct unwind_rows rows, saves; /* saves.count is 0 when there are none */
	const struct unwind_rule *rules;
	const struct unwind_save *save_rules;
	const struct unwind_long_rule *long_rules;
	const uint8_t *expressions;
	uint32_t rule_count, save_rule_count, long_rule_count, expression_bytes;
	size_t size; /* bytes of the arrays, which follow this struct in one piece */
};

/* The rule number for a virtual address of the file; UNWIND_RULE_INVALID outside. */
static inline uint32_t unwind_rows_find(const struct unwind_rows *rows, uint64_t address)
{
	uint64_t page = (address - rows->base) >> rows->shift;
	if (page >= rows->pages)
		return UNWIND_RULE_INVALID;
	const uint32_t *at = rows->rows + rows->first[page];
	size_t count = rows->first[page + 1] - rows->first[page];
	uint32_t key = (uint32_t)(address & 0xffff) << 16 | 0xffff;
	/* Halves without branches: what is searched is small and the outcome is not predictable. */
	while (count > 1) {
		size_t half = count / 2;
		at += at[half - 1] <= key ? half : 0;
		count -= half;
	}
	at += count && *at <= key;
	return at == rows->rows ? UNWIND_RULE_INVALID : at[-1] & 0xffff;
}

/* The rows as they are made, in ascending order of addresses. */
struct unwind_rows_maker {
	uint64_t base;
	uint32_t shift, pages, next_page, count;
	uint32_t *first, *rows;
	size_t capacity;
	uint64_t last; /* address of the last row */
};

/* Prepares rows for addresses in [start, end). Release with unwind_rows_maker_release(). */
void unwind_rows_maker_init(struct unwind_rows_maker *maker, uint64_t start, uint64_t end, size_t functions);
void unwind_rows_maker_release(struct unwind_rows_maker *maker);
void unwind_rows_maker_add(struct unwind_rows_maker *maker, uint64_t address, uint32_t rule);
/* Completes `first`. */
void unwind_rows_maker_finish(struct unwind_rows_maker *maker);

/* What a table is made of; the arrays are copied. `saves` may be NULL. */
struct unwind_table_parts {
	const struct arch *arch;
	const struct unwind_rows_maker *rows, *saves;
	const struct unwind_rule *rules;
	const struct unwind_save *save_rules;
	const struct unwind_long_rule *long_rules;
	const uint8_t *expressions;
	uint32_t rule_count, save_rule_count, long_rule_count, expression_bytes;
};
struct unwind_table *unwind_table_new(const struct unwind_table_parts *parts);

/* What unwind_table_save() writes in front of the arrays, which follow in the order of table.c. */
struct unwind_file_rows {
	uint64_t base;
	uint32_t shift, pages, count, zero;
};

struct unwind_file_header {
	char magic[8];
	uint32_t version;
	uint32_t machine;
	struct unwind_file_rows rows, saves;
	uint32_t rule_count, save_rule_count, long_rule_count, expression_bytes;
	uint64_t checksum; /* of the arrays, and of this with the arrays' in its place */
};
uint64_t unwind_file_checksum(const struct unwind_file_header *header, const void *arrays, size_t size);

#endif
