/* Call frame information of generated code, which is in no file → its compact table. */
#include "unwind/rules.h"

#include "base/mem.h"

struct code_builder {
	struct rules rules;
	struct unwind_rows_maker rows;
	uint64_t covered, end; /* rows below are final; where the current function ends */
};

static void take_state(void *context, uint64_t address, const struct cfi_cie *cie, const struct cfi_state *state)
{
	struct code_builder *builder = context;
	if (address < builder->end)
		unwind_rows_maker_add(&builder->rows, address < builder->covered ? builder->covered : address,
				      rules_of_state(&builder->rules, cie, state));
}

static struct unwind_table *make_table(const struct cfi *cfi)
{
	struct code_builder builder = {0};
	const struct cfi_function *last = &cfi->functions[cfi->function_count - 1];
	rules_init(&builder.rules, cfi->arch);
	unwind_rows_maker_init(&builder.rows, cfi->functions[0].start, last->start + last->size, cfi->function_count);
	builder.covered = cfi->functions[0].start;
	for (size_t i = 0; i < cfi->function_count; i++) {
		const struct cfi_function *function = &cfi->functions[i];
		builder.end = function->start + function->size;
		if (builder.end <= builder.covered)
			continue;
		if (function->start > builder.covered)
			unwind_rows_maker_add(&builder.rows, builder.covered, UNWIND_RULE_INVALID);
		cfi_run(cfi, function, take_state, &builder);
		builder.covered = builder.end;
	}
	unwind_rows_maker_add(&builder.rows, builder.covered, UNWIND_RULE_INVALID);
	unwind_rows_maker_finish(&builder.rows);
	struct unwind_table_parts parts = {
		.arch = cfi->arch,
		.rows = &builder.rows,
		.rules = builder.rules.rules,
		.long_rules = builder.rules.long_rules,
		.expressions = (const uint8_t *)builder.rules.expressions.data,
		.rule_count = (uint32_t)builder.rules.count,
		.long_rule_count = (uint32_t)builder.rules.long_count,
		.expression_bytes = (uint32_t)builder.rules.expressions.size,
	};
	struct unwind_table *table = unwind_table_new(&parts);
	rules_release(&builder.rules);
	unwind_rows_maker_release(&builder.rows);
	return table;
}

static void read_frames(struct cfi *cfi, const struct cfi_section *section, uint64_t start, uint64_t end)
{
	cfi_release(cfi);
	*cfi = (struct cfi){.arch = &arch_x86_64, .executable = {{start, end}}, .range_count = 1};
	cfi_read(cfi, section);
	cfi_sort(cfi);
}

int unwind_table_build_code(struct unwind_table **ret_table, const struct unwind_code *code, struct err *err)
{
	struct cfi_section section = {
		.data = code->eh_frame,
		.size = code->eh_frame_size,
		.address = code->eh_frame_address,
	};
	struct cfi cfi = {0};
	int result = 0;
	read_frames(&cfi, &section, code->start, code->end);
	if (!cfi.function_count) {
		/* Written for another place: the first function is where the code begins. */
		read_frames(&cfi, &section, 0, UINT64_MAX);
		if (cfi.function_count) {
			section.address += code->start - cfi.functions[0].start;
			read_frames(&cfi, &section, code->start, code->end);
		}
	}
	if (cfi.function_count)
		*ret_table = make_table(&cfi);
	else
		result = err_set(err, ERR_EMPTY, "no unwind information");
	cfi_release(&cfi);
	return result;
}
