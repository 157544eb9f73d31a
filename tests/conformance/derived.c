/*
 * usage: derived FILE STRIPPED
 *
 * Compares the rules of a file, at every instruction, with those that are derived from the code of STRIPPED, the same
 * file without .eh_frame and .eh_frame_hdr. Rules that differ are errors of one or the other; rules that are missing
 * are code that could not be followed.
 */
#include "arch/x86_64/decode.h"
#include "unwind/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct unwind_table *table_of(const char *path, struct elf_file **ret_elf)
{
	struct err err = {0};
	struct unwind_table *table;
	if (elf_open(ret_elf, path, &err) == 0 && unwind_table_build(&table, *ret_elf, NULL, &err) == 0)
		return table;
	fprintf(stderr, "%s: %s\n", path, err.text);
	exit(2);
}

static struct unwind_rule rule_at(const struct unwind_table *table, uint64_t address)
{
	struct unwind_rule rule = table->rules[unwind_rows_find(&table->rows, address)];
	rule.cfa &= ~UNWIND_CFA_DERIVED;
	return rule;
}

static void print_rule(struct unwind_rule rule)
{
	printf(" cfa %u%+d fp %u%+d", rule.cfa, rule.cfa_offset, rule.fp, rule.fp_offset);
}

int main(int argc, char **argv)
{
	struct elf_file *elf, *stripped;
	struct elf_section text;
	uint64_t instructions = 0, same = 0, missing = 0, different = 0, unwinding = 0;
	if (argc < 3)
		return 2;
	struct unwind_table *described = table_of(argv[1], &elf), *derived = table_of(argv[2], &stripped);
	if (!elf_section(elf, ".text", &text))
		return 2;
	for (size_t at = 0; at < text.size;) {
		struct instruction instruction;
		uint64_t address = text.address + at;
		if (!decode_x86_64(text.data + at, text.size - at, address, &instruction)) {
			at++;
			continue;
		}
		at += instruction.length;
		uint32_t number = unwind_rows_find(&described->rows, address);
		struct unwind_rule left = rule_at(described, address), right = rule_at(derived, address);
		if (number == UNWIND_RULE_INVALID || instruction.padding ||
		    (described->rules[number].cfa & UNWIND_CFA_DERIVED))
			continue;
		instructions++;
		if (memcmp(&left, &right, sizeof left) == 0) {
			same++;
		} else if (right.cfa == UNWIND_CFA_INVALID) {
			missing++;
			if (argc > 3 && argv[3][0] == 'm')
				printf("%" PRIx64 "\n", address);
		} else if (left.cfa != right.cfa || left.fp != right.fp || left.fp_offset != right.fp_offset ||
			   left.cfa_offset != right.cfa_offset) {
			bool other_way = left.cfa != right.cfa && left.cfa != UNWIND_CFA_STOP &&
					 right.cfa != UNWIND_CFA_STOP;
			if (other_way) { /* by another register: cannot be compared */
				unwinding++;
				continue;
			}
			different++;
			if (argc > 3 && argv[3][0] == 'd') {
				printf("%" PRIx64 ":", address);
				print_rule(left);
				printf(" derived");
				print_rule(right);
				printf("\n");
			}
		}
	}
	printf("%" PRIu64 " instructions: %" PRIu64 " same, %" PRIu64 " missing, %" PRIu64
	       " by another register, %" PRIu64 " different\n",
	       instructions, same, missing, unwinding, different);
	return 0;
}
