/*
 * Call frame information as compilers write it: CIEs, FDEs and their programs (DWARF 5 §6.4; .eh_frame by the LSB).
 *
 * Reading is one pass over a section that notes where each function's program lies; running a program gives the state
 * of the followed registers from each address on. Damaged entries are omitted, the others stay.
 */
#ifndef WICK_UNWIND_CFI_H
#define WICK_UNWIND_CFI_H

#include "base/cursor.h"
#include "base/index_map.h"
#include "unwind/table.h"

struct cfi_section {
	const uint8_t *data;
	size_t size;
	uint64_t address; /* where it is loaded */
	uint64_t text, got; /* what text- and data-relative pointers start from */
	bool is_debug_frame;
	bool ends_at_zero; /* its size is not known: an entry of length 0 ends it */
};

/* A rule; `how` as in table.h. An expression is the `size` bytes at `value` of the section. */
struct cfi_rule {
	uint8_t how; /* enum unwind_how */
	uint8_t dwarf_register; /* UINT8_MAX: some other */
	uint32_t size;
	int64_t value;
};

/* What holds at an address. The CFA is UNWIND_HOW_REGISTER, _EXPRESSION or, before it is set, _UNDEFINED. */
struct cfi_state {
	struct cfi_rule cfa;
	struct cfi_rule columns[COLUMN_COUNT];
};

struct cfi_cie {
	const struct cfi_section *section;
	uint64_t offset; /* in the section */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of pointers in FDEs */
	uint8_t address_size;
	bool has_length; /* augmentation 'z': augmentation data is preceded by its size */
	bool interrupted; /* augmentation 'S': frames of signals */
	bool usable;
	struct cfi_state initial;
};

/* Instead of the index of a CIE: there is no program, the rules follow from the code. */
enum {
	CFI_PLT = UINT32_MAX,
	CFI_RESTORER = UINT32_MAX - 1,
	CFI_DERIVED = UINT32_MAX - 2, /* `program`: number of the range (derive.h) */
	CFI_GO = UINT32_MAX - 3, /* `program`: where the runtime's table has it */
	CFI_BEGINNING = UINT32_MAX - 4, /* of a stack, whatever .eh_frame says */
	CFI_MADE = CFI_BEGINNING, /* the least of these */
};

/* Code with a program; ordered by start. */
struct cfi_function {
	uint64_t start;
	uint32_t size;
	uint32_t cie; /* index, or one of CFI_PLT … */
	uint32_t program, program_size; /* offset in the section and bytes */
};

struct cfi_range {
	uint64_t start, end;
};

enum { CFI_RANGES_MAX = 64 };

struct cfi {
	const struct arch *arch;
	struct cfi_range executable[CFI_RANGES_MAX]; /* functions outside are omitted */
	size_t range_count;
	struct cfi_cie *cies;
	size_t cie_count, cie_capacity;
	struct index_map cie_map; /* by offset and section */
	struct cfi_function *functions;
	size_t function_count, function_capacity;
};

void cfi_release(struct cfi *cfi);
/* Adds the functions of a section, which must live as long as `cfi`. */
void cfi_read(struct cfi *cfi, const struct cfi_section *section);
/* Adds a function; what lies outside the executable ranges is cut off. */
void cfi_add(struct cfi *cfi, struct cfi_function function, uint64_t size);
/* Sorts the functions by start; equal ones keep their order. */
void cfi_sort(struct cfi *cfi);
/* The same where those before `sorted` are in order, and so are the few from there on. */
void cfi_merge(struct cfi *cfi, size_t sorted);

/* A pointer in one of the encodings of .eh_frame. False when it is omitted, indirect or malformed. */
bool cfi_pointer(struct cursor *cursor, const struct cfi_section *section, uint8_t encoding, uint8_t address_size,
		 uint64_t function, uint64_t *ret_value);

/* Takes what holds from an address on. */
typedef void (*cfi_sink)(void *context, uint64_t address, const struct cfi_cie *cie, const struct cfi_state *state);

/* Runs the program of a function. From where it is damaged on, `state` is NULL. */
void cfi_run(const struct cfi *cfi, const struct cfi_function *function, cfi_sink sink, void *context);
/* Runs the initial instructions of a CIE, which fill cie->initial. False when they are damaged. */
bool cfi_run_initial(const struct cfi *cfi, struct cfi_cie *cie, struct cursor program);

#endif
