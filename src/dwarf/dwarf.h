/*
 * Address → functions, with what was inlined, file and line, from DWARF 2–5.
 *
 * Units are found by .debug_aranges when it is complete, else by their own ranges; a unit that an address hits is read
 * once, into sorted arrays of function and inline ranges and its line table, and questions are answered by binary
 * search. Nothing is read of units no address hits. Thread-safe after opening: several threads may ask at once.
 */
#ifndef WICK_DWARF_DWARF_H
#define WICK_DWARF_DWARF_H

#include "object/elf.h"

struct dwarf;

/*
 * `elf` holds .debug_info and so on and must stay open; `alternate` is its dwz file or NULL. `find_split` (may be NULL)
 * gives the .dwo of a skeleton unit, or the .dwp that holds it; `directory` may be NULL. It may be called by several
 * threads at once, and the files stay its own: they must stay open until dwarf_close().
 * ERR_EMPTY when there is no debug information.
 */
struct dwarf_files {
	struct elf_file *elf;
	struct elf_file *alternate;
	void *context;
	struct elf_file *(*find_split)(void *context, const char *directory, const char *name, uint64_t id);
	/* Functions of C++ without a linkage name are called as c++filt would print it, by the DIEs around them. */
	bool qualify;
	bool without_lines; /* frames have no file and line; line tables are read only where functions leave a gap */
};
int dwarf_open(struct dwarf **ret_dwarf, const struct dwarf_files *files, struct err *err);
void dwarf_close(struct dwarf *dwarf);

/* One level of an answer. Strings belong to the dwarf and stay until it is closed. */
struct dwarf_frame {
	const char
		*name; /* linkage name when there is one (mangled), else qualified, else DW_AT_name; NULL: not known */
	const char *file; /* full path as the line table has it; NULL: not known */
	uint32_t line; /* 0: not known */
	uint32_t declared_line; /* where the function begins; 0: not known */
	bool inlined; /* into the next frame of the answer */
	bool name_is_linkage;
};

/*
 * Fills frames[0…most) innermost first and returns their number, 0 when no unit covers the address. `address` is in the
 * file's virtual address space; ask for the return address − 1.
 */
size_t dwarf_find(struct dwarf *dwarf, uint64_t address, struct dwarf_frame *frames, size_t max);

#endif
