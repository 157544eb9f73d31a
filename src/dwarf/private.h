/*
 * What the files of the DWARF reader share.
 *
 *	dwarf_file → dwarf_unit → dwarf_root   what the unit's own DIE says, read when first needed
 *	                        → dwarf_code   ranges of its functions, read when an address first hits the unit
 *	                          → dwarf_body what was inlined into one function, read when an address first hits it
 *	                        → dwarf_lines  its line table, likewise
 *
 * All of these are built once, published with one atomic store and not changed afterwards, so that readers need no
 * lock. A unit's code, bodies and lines are built under its share of dwarf.building; abbreviations, names and paths
 * under dwarf.lock, which is never held while another lock is taken.
 */
#ifndef WICK_DWARF_PRIVATE_H
#define WICK_DWARF_PRIVATE_H

#include "base/cursor.h"
#include "base/index_map.h"
#include "base/mem.h"
#include "dwarf/constants.h"
#include "dwarf/dwarf.h"

#include <pthread.h>
#include <stdatomic.h>

#define DWARF_BUILD_LOCKS 16
#define DWARF_NAME_PARTS 16
#define DWARF_NONE UINT32_MAX

/* The length that begins a unit (section 7.4): 4 bytes, or 0xffffffff and 8. */
static inline uint64_t cursor_unit_length(struct cursor *cursor, uint8_t *ret_offset_size)
{
	uint32_t length = cursor_u32(cursor);
	*ret_offset_size = length == 0xffffffff ? 8 : 4;
	if (length >= 0xfffffff0 && length != 0xffffffff)
		cursor_fail(cursor);
	return length == 0xffffffff ? cursor_u64(cursor) : length;
}

/* --- values of attributes: dwarf_form.c --- */

enum dwarf_kind {
	VALUE_NONE, /* the attribute is not there, or its form is of no use here */
	VALUE_NUMBER,
	VALUE_ADDRESS,
	VALUE_ADDRESS_INDEX,
	VALUE_STRING, /* `text`, in place */
	VALUE_STR,
	VALUE_LINE_STR,
	VALUE_STR_INDEX,
	VALUE_STR_ALTERNATE,
	VALUE_REF_UNIT, /* relative to the unit */
	VALUE_REF_INFO, /* relative to .debug_info */
	VALUE_REF_ALTERNATE, /* relative to .debug_info of the alternate file */
	VALUE_OFFSET, /* into a section that the attribute implies */
	VALUE_LIST_INDEX,
};

struct dwarf_value {
	enum dwarf_kind kind;
	uint64_t number;
	const char *text;
};

/* How a form is stored: up to 16 a number of bytes, else one of these. */
enum dwarf_size {
	SIZE_IMPLICIT = 32, /* in the abbreviation */
	SIZE_ADDRESS,
	SIZE_OFFSET,
	SIZE_REF_ADDR, /* an address in DWARF 2, an offset since */
	SIZE_ULEB,
	SIZE_SLEB,
	SIZE_STRING,
	SIZE_BLOCK, /* a length as uleb, then the bytes */
	SIZE_BLOCK1,
	SIZE_BLOCK2,
	SIZE_BLOCK4,
	SIZE_INDIRECT,
	SIZE_UNKNOWN,
};

/* An attribute of an abbreviation, its form as far as reading needs it. */
struct dwarf_attribute {
	uint16_t name;
	uint8_t kind; /* enum dwarf_kind of its value */
	uint8_t size; /* enum dwarf_size, without those that depend on the shape of the unit */
	int32_t implicit;
};

struct dwarf_unit;

struct dwarf_attribute dwarf_attribute_of(const struct dwarf_unit *unit, uint64_t name, uint64_t form,
					  int64_t implicit);
/* Reads one attribute's value; VALUE_NONE for forms that carry nothing wick looks at. */
void dwarf_attribute_read(struct cursor *cursor, const struct dwarf_unit *unit, struct dwarf_attribute attribute,
			  struct dwarf_value *ret_value);
void dwarf_attribute_skip(struct cursor *cursor, const struct dwarf_unit *unit, struct dwarf_attribute attribute);
/* The string of a value, NULL when there is none or it is out of bounds. */
const char *dwarf_value_string(const struct dwarf_unit *unit, const struct dwarf_value *value);
bool dwarf_value_address(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *ret_address);
bool dwarf_indexed_address(const struct dwarf_unit *unit, uint64_t index, uint64_t *ret_address);

/* --- abbreviations: dwarf_abbrev.c --- */

/* What a walk does with DIEs of this abbreviation. */
enum dwarf_die_kind {
	DIE_OTHER, /* no code below: stepped over with all its children where DW_AT_sibling allows it */
	DIE_SCOPE, /* functions may be below */
	DIE_FUNCTION, /* subprogram with code */
	DIE_INLINED, /* inlined subroutine with code */
	DIE_BLOCK, /* inlined subroutines may be below */
};

/* Bytes to step over, in the lower 12 bits, by a rule in the upper 4: the attributes of a DIE as few steps. */
enum dwarf_step {
	STEP_FIXED,
	STEP_LEB,
	STEP_STRING,
	STEP_BLOCK, /* length of so many bytes, 0: uleb */
	STEP_SIBLING, /* DW_AT_sibling of so many bytes, 0: uleb */
	STEP_INDIRECT,
};
#define DWARF_STEP(rule, amount) ((uint16_t)((rule) << 12 | (amount)))

struct dwarf_abbrev {
	uint32_t first_attribute, first_step;
	uint16_t tag;
	uint8_t attribute_count, step_count;
	uint8_t kind; /* enum dwarf_die_kind */
	bool children, usable;
};

struct dwarf_abbrevs {
	uint64_t offset;
	uint32_t shape; /* what sizes of forms depend on; tables are shared by units of one shape */
	struct dwarf_abbrev *items;
	struct dwarf_attribute *attributes;
	uint16_t *steps;
	uint64_t *codes; /* NULL: the codes are 1, 2, 3, … */
	size_t count, capacity, attribute_count, attribute_capacity, step_count, step_capacity;
};

/* The table of a unit, decoded once; it ends where it is damaged. */
const struct dwarf_abbrevs *dwarf_unit_abbrevs(struct dwarf_unit *unit);
void dwarf_abbrevs_free(struct dwarf_abbrevs *table);
const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *table, uint64_t code);

static inline const struct dwarf_abbrev *dwarf_abbrevs_find(const struct dwarf_abbrevs *table, uint64_t code)
{
	const struct dwarf_abbrev *abbrev;
	if (!table->codes)
		abbrev = code - 1 < table->count ? &table->items[code - 1] : NULL;
	else
		abbrev = dwarf_abbrevs_search(table, code);
	return abbrev && abbrev->usable ? abbrev : NULL;
}

struct dwarf_sections;

/* --- ranges: dwarf_ranges.c, dwarf_segments.c --- */

struct dwarf_range {
	uint64_t low, high;
	uint32_t owner, depth;
};

struct dwarf_range_list {
	struct dwarf_range *items;
	size_t count, capacity;
};

/* The values of DW_AT_low_pc, DW_AT_high_pc and DW_AT_ranges of one DIE. */
struct dwarf_extent {
	struct dwarf_value low, high, ranges;
};

/* Appends the ranges of a DIE that lie in code of the file; `owner` and `depth` go along. */
void dwarf_extent_ranges(const struct dwarf_unit *unit, const struct dwarf_extent *extent,
			 struct dwarf_range_list *list, uint32_t owner, uint32_t depth);
/* Entries of lists in these sections that a walk over all DIEs may read: several times what honest files make it. */
int64_t dwarf_ranges_allowance(const struct dwarf_sections *sections);
/* False for addresses that linkers leave where the code was discarded. */
bool dwarf_is_code(const struct dwarf *dwarf, uint64_t address);

/* Disjoint pieces of the address space: from starts[i] to starts[i + 1] the owner is owners[i], or DWARF_NONE. */
struct dwarf_segments {
	uint64_t *starts;
	uint32_t *owners;
	size_t count;
};

/* Sorts `list`; where ranges overlap the deeper one owns the address, of equally deep ones the later in the list. */
void dwarf_segments_build(struct dwarf_segments *segments, struct dwarf_range_list *list);
void dwarf_segments_release(struct dwarf_segments *segments);
/* The index of the piece that holds the address; DWARF_NONE before the first. */
uint32_t dwarf_segments_find(const struct dwarf_segments *segments, uint64_t address);

/* --- units: dwarf_unit.c --- */

struct dwarf_sections {
	struct span info, abbrev, line, line_str, str, str_offsets, addr, ranges, rnglists;
};

/* .debug_info and what belongs to it: of the file itself, of its alternate file, or of one split unit. */
struct dwarf_file {
	struct dwarf *dwarf;
	struct dwarf_file *alternate;
	struct dwarf_sections sections;
	struct dwarf_unit *units; /* by offset */
	size_t unit_count, unit_capacity;
	/* Tables of abbreviations decoded so far, and how many bytes yet may be: in honest files none overlap. */
	struct dwarf_abbrevs **tables;
	size_t table_count, table_capacity, table_bytes_left;
	struct index_map table_map;
};

/* What the DIE of a unit says. */
struct dwarf_root {
	uint64_t low; /* base of range lists */
	uint64_t address_base, str_offsets_base, rnglists_base, ranges_base, lines_offset, split_id;
	struct dwarf_value directory, split_name;
	struct dwarf_extent extent;
	bool has_lines;
};

struct dwarf_unit {
	struct dwarf_file *file;
	uint64_t offset, end; /* in .debug_info: of its header, and behind its last byte */
	uint64_t abbrev_offset, id;
	uint8_t version, type, address_size, offset_size, header_size;
	struct dwarf_unit *skeleton; /* of a split unit */
	_Atomic(struct dwarf_root *) root;
	_Atomic(const struct dwarf_abbrevs *) abbrevs;
	_Atomic(struct dwarf_code *) code;
	_Atomic(struct dwarf_lines *) lines;
	_Atomic(struct dwarf_scopes *) scopes;
};

/* Where .debug_info and the rest of a file are; `suffix` is "" or ".dwo". */
void dwarf_sections_read(struct dwarf_sections *sections, struct elf_file *elf, const char *suffix);
/* Lists the units of .debug_info; stops where it is damaged. Needs file->dwarf and file->sections. */
void dwarf_file_list_units(struct dwarf_file *file);
void dwarf_file_release(struct dwarf_file *file);
/* The unit that holds this offset of .debug_info, NULL when none does. */
struct dwarf_unit *dwarf_file_unit(const struct dwarf_file *file, uint64_t offset);
/* Of a damaged DIE it says nothing. */
void dwarf_root_read(struct dwarf_root *root, struct dwarf_unit *unit);
/* What values are resolved with while the unit has no root of its own. */
struct dwarf_unit dwarf_unit_with_root(const struct dwarf_unit *unit, struct dwarf_root *root);
/* The same as dwarf_root_read(), kept with the unit; never NULL. */
const struct dwarf_root *dwarf_unit_root(struct dwarf_unit *unit);
/* At the unit's first DIE. */
struct cursor dwarf_unit_dies(const struct dwarf_unit *unit);

/* --- split units: dwarf_split.c --- */

/* Looks for the full unit of a skeleton in its .dwo or .dwp; NULL: not split, or not found. Kept by the dwarf. */
struct dwarf_unit *dwarf_split_unit(struct dwarf_unit *skeleton);

/* --- functions and inlines of a unit: dwarf_code.c, dwarf_name.c --- */

struct dwarf_name {
	const char *text;
	uint32_t declared_line;
	bool is_linkage;
};

struct dwarf_inlined {
	uint64_t
		origin; /* DIE with its name: offset in .debug_info, or in the alternate file's with ORIGIN_ALTERNATE */
	uint32_t parent; /* index of what it is inlined into, DWARF_NONE: the function itself */
	uint32_t call_file, call_line;
	_Atomic(const struct dwarf_name *) name;
};
#define ORIGIN_ALTERNATE (1ull << 63)

struct dwarf_body {
	struct dwarf_segments segments;
	struct dwarf_inlined *inlines;
	size_t count;
};

struct dwarf_function {
	uint32_t die; /* relative to the unit */
	_Atomic(const struct dwarf_name *) name;
	_Atomic(struct dwarf_body *) body;
};

struct dwarf_code {
	struct dwarf_unit *unit; /* where the DIEs are: the unit itself or its split unit */
	struct dwarf_segments segments;
	struct dwarf_function *functions;
	size_t count;
	bool whole; /* all DIEs were looked at, also those inside of functions and types */
	struct dwarf_code *previous; /* what this one replaced; a reader may still use it */
};

const struct dwarf_code *dwarf_unit_code(struct dwarf_unit *unit);
/* The functions again, now also those that are nested where functions rarely are. */
const struct dwarf_code *dwarf_unit_whole_code(struct dwarf_unit *unit);
void dwarf_code_free(struct dwarf_code *code);

/* What is inlined into the function, which is one of `code`; never NULL. */
const struct dwarf_body *dwarf_function_body(const struct dwarf_code *code, struct dwarf_function *function);

/* The name of the DIE at an offset (as dwarf_inlined.origin), from itself or from what it refers to. */
const struct dwarf_name *dwarf_name_of(struct dwarf_file *file, uint64_t origin);

/* Follows a reference from a DIE of *unit to a DIE at *offset of *unit; false when it leads nowhere. */
bool dwarf_follow(struct dwarf_unit **unit, uint64_t *offset, const struct dwarf_value *reference);

/* --- names made of the DIEs around a function: dwarf_scopes.c, dwarf_qualify.c --- */

/* What names are made of. */
struct dwarf_die {
	struct dwarf_unit *unit;
	uint64_t offset;
	uint16_t tag; /* 0: there is none */
	bool children, artificial, external, has_value;
	uint64_t value; /* of DW_AT_const_value */
	uint32_t line, column, language;
	const char *name, *linkage; /* NULL: none */
	struct dwarf_value type, origin, specification;
	struct cursor next; /* behind its attributes: its first child, if it has any */
};

/* Counts the reading of a DIE; false: enough were read to make names. Hostile files can make one of very many. */
bool dwarf_die_may_read(struct dwarf_unit *unit);
/* Reads the DIE at an offset of the unit; false where there is none. */
bool dwarf_die_read(struct dwarf_die *die, struct dwarf_unit *unit, uint64_t offset);
/* Reads the next DIE at a cursor of the unit; false at the end of children and where it is damaged. */
bool dwarf_die_next(struct dwarf_die *die, struct dwarf_unit *unit, struct cursor *cursor);
/* Moves the cursor behind the children of a DIE that was just read. */
void dwarf_die_skip_children(const struct dwarf_die *die, struct cursor *cursor);

/* A DIE that others are in: a namespace, a type, a function, a block. */
struct dwarf_scope {
	uint32_t start, end; /* relative to the unit */
	uint32_t parent; /* index; DWARF_NONE: the unit */
	uint32_t tag;
};

struct dwarf_scopes {
	struct dwarf_scope *items; /* by start */
	size_t count, capacity;
};

/* The scopes of a unit; never NULL. */
const struct dwarf_scopes *dwarf_unit_scopes(struct dwarf_unit *unit);
void dwarf_scopes_free(struct dwarf_scopes *scopes);
/* The innermost one that an offset of .debug_info is in, not counting the DIE there itself; DWARF_NONE: none. */
uint32_t dwarf_scopes_find(const struct dwarf_scopes *scopes, const struct dwarf_unit *unit, uint64_t offset);

/*
 * Appends the name of the function that the DIE at an offset declares: "ns::(anonymous namespace)::f(int)". False when
 * its own name is all that can be said: it is not C++, or has the linkage of C.
 */
struct buf;
bool dwarf_qualify(struct buf *out, struct dwarf_unit *unit, uint64_t offset);

/* --- line tables: dwarf_lines.c, dwarf_line_header.c --- */

struct dwarf_line_row {
	uint32_t offset; /* of its address from the sequence's low */
	uint32_t line, file;
};

struct dwarf_sequence {
	uint64_t low, high;
	uint32_t first, count;
};

struct dwarf_line_file {
	const char *name;
	uint32_t directory;
	_Atomic(const char *) path; /* if it was requested */
};

struct dwarf_lines {
	uint16_t version;
	uint8_t offset_size, address_size;
	uint8_t instruction_length, operations, opcode_base, line_range;
	int8_t line_base;
	const uint8_t *opcode_lengths;
	struct cursor program;
	const char **directories;
	struct dwarf_line_file *files;
	size_t directory_count, directory_capacity, file_count, file_capacity;
	struct dwarf_line_row *rows;
	struct dwarf_sequence *sequences;
	size_t row_count, row_capacity, sequence_count, sequence_capacity;
};

/* Reads the header at the unit's DW_AT_stmt_list; false when there is none or it is of no use. */
bool dwarf_line_header(struct dwarf_lines *lines, struct dwarf_unit *unit);
/* The table of a unit; empty when it has none, never NULL. */
const struct dwarf_lines *dwarf_unit_lines(struct dwarf_unit *unit);
void dwarf_lines_free(struct dwarf_lines *lines);
/* The row that covers the address and where it begins; NULL: none. */
const struct dwarf_line_row *dwarf_lines_find(const struct dwarf_lines *lines, uint64_t address, uint64_t *ret_start);
/* The full path of a file by its number in the table; NULL: none. */
const char *dwarf_lines_path(const struct dwarf_lines *lines, struct dwarf_unit *unit, uint32_t file);

/* --- which units may cover an address: dwarf_index.c --- */

struct dwarf_unit_range {
	uint64_t low, high;
	uint64_t reach; /* the highest `high` up to this one: how far back a look-up must go */
	struct dwarf_unit *unit;
};

struct dwarf_index {
	struct dwarf_unit_range *ranges; /* by low */
	size_t count, capacity;
};

void dwarf_index_build(struct dwarf *dwarf, struct span aranges);
/* The first range at or before `from` (start with SIZE_MAX) that holds the address; SIZE_MAX when none does. */
size_t dwarf_index_find(const struct dwarf_index *index, uint64_t address, size_t from);

struct dwarf_code_segment {
	uint64_t low, high;
};

struct dwarf {
	struct dwarf_files files;
	struct dwarf_file main, alternate;
	struct dwarf_file **splits; /* grown under `lock` */
	size_t split_count, split_capacity;
	struct dwarf_index index;
	struct dwarf_code_segment *code; /* executable segments; none: not known */
	size_t code_count;
	/* Entries of range lists that may be read yet, and bytes of line programs: bounds what hostile files cost. */
	_Atomic int64_t ranges_left, lines_left;
	_Atomic int64_t dies_left; /* that may yet be read to make names */
	pthread_mutex_t building[DWARF_BUILD_LOCKS];
	pthread_mutex_t lock;
	struct arena arena; /* paths */
	/* Names of functions, by hash, so that threads seldom wait for each other. */
	struct dwarf_names {
		pthread_mutex_t lock; /* of what follows */
		struct arena arena;
		struct index_map map;
		struct dwarf_named *items;
		size_t count, capacity;
	} names[DWARF_NAME_PARTS];
};

/* The lock under which a unit's code and lines are built. */
pthread_mutex_t *dwarf_build_lock(const struct dwarf_unit *unit);

#endif
