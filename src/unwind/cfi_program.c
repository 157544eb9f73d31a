/* Runs the programs of CIEs and FDEs. */
#include "unwind/cfi.h"

#include "unwind/dwarf_op.h"

/* Compilers nest one deep; hand-written code a little. */
enum { REMEMBER_MAX = 16 };

struct program {
	const struct cfi *cfi;
	const struct cfi_cie *cie;
	struct cursor code;
	struct cfi_state state;
	uint64_t location, end;
	bool changed; /* since the state was last emitted */
	bool bad;
	cfi_sink sink;
	void *context;
	unsigned remembered;
	struct cfi_state memory[REMEMBER_MAX];
};

/* The state is emitted when the program moves on: by then all that holds at the location before is known. */
static void move_to(struct program *program, uint64_t location)
{
	if (location <= program->location) {
		program->bad = program->bad || location < program->location;
		return;
	}
	if (program->changed && program->sink)
		program->sink(program->context, program->location, program->cie, &program->state);
	program->changed = false;
	program->location = location;
}

static void advance(struct program *program, uint64_t delta)
{
	uint64_t bytes;
	/* A location behind the end is one that never comes. */
	if (__builtin_mul_overflow(delta, program->cie->code_align, &bytes) || bytes > program->end - program->location)
		bytes = program->end - program->location;
	move_to(program, program->location + bytes);
}

static int64_t scaled(const struct program *program, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)program->cie->data_align);
}

/* Registers beyond the general ones are never followed: one number stands for all of them. */
static uint8_t register_number(uint64_t dwarf_register)
{
	return dwarf_register < UINT8_MAX ? (uint8_t)dwarf_register : UINT8_MAX;
}

static void set_column(struct program *program, uint64_t dwarf_register, struct cfi_rule rule)
{
	uint8_t column = program->cfi->arch->column(dwarf_register);
	if (column == COLUMN_NONE)
		return;
	program->state.columns[column] = rule;
	program->changed = true;
}

static void set_offset(struct program *program, uint64_t dwarf_register, int64_t factor)
{
	set_column(program, dwarf_register,
		   (struct cfi_rule){.how = UNWIND_HOW_AT_CFA, .value = scaled(program, factor)});
}

static void restore(struct program *program, uint64_t dwarf_register)
{
	uint8_t column = program->cfi->arch->column(dwarf_register);
	if (column == COLUMN_NONE)
		return;
	program->state.columns[column] = program->cie->initial.columns[column];
	program->changed = true;
}

static struct cfi_rule read_expression(struct program *program, enum unwind_how how)
{
	uint64_t size = cursor_uleb(&program->code);
	struct cfi_rule rule = {
		.how = (uint8_t)how,
		.size = (uint32_t)size,
		.value = program->code.at - program->cie->section->data,
	};
	cursor_skip(&program->code, size);
	return rule;
}

static void set_cfa(struct program *program, uint64_t dwarf_register, int64_t offset)
{
	program->state.cfa = (struct cfi_rule){
		.how = UNWIND_HOW_REGISTER,
		.dwarf_register = register_number(dwarf_register),
		.value = offset,
	};
	program->changed = true;
}

/* These change one half of a CFA that must be a register and an offset. */
static void set_half_cfa(struct program *program, bool is_register, uint64_t dwarf_register, int64_t offset)
{
	if (program->state.cfa.how != UNWIND_HOW_REGISTER)
		program->bad = true;
	else if (is_register)
		set_cfa(program, dwarf_register, program->state.cfa.value);
	else
		set_cfa(program, program->state.cfa.dwarf_register, offset);
}

static void remember(struct program *program)
{
	if (program->remembered == REMEMBER_MAX)
		program->bad = true;
	else
		program->memory[program->remembered++] = program->state;
}

static void restore_state(struct program *program)
{
	if (!program->remembered) {
		program->bad = true;
		return;
	}
	program->state = program->memory[--program->remembered];
	program->changed = true;
}

static void set_location(struct program *program)
{
	uint64_t location;
	if (!cfi_pointer(&program->code, program->cie->section, program->cie->encoding, program->cie->address_size,
			 program->location, &location))
		program->bad = true;
	else
		move_to(program, location < program->end ? location : program->end);
}

static void set_by_register(struct program *program, uint8_t instruction)
{
	struct cursor *code = &program->code;
	uint64_t dwarf_register = cursor_uleb(code);
	struct cfi_rule rule = {0};
	switch (instruction) {
	case DW_CFA_undefined:
		rule.how = UNWIND_HOW_UNDEFINED;
		break;
	case DW_CFA_same_value:
		rule.how = UNWIND_HOW_SAME;
		break;
	case DW_CFA_register:
		rule.how = UNWIND_HOW_REGISTER;
		rule.dwarf_register = register_number(cursor_uleb(code));
		break;
	case DW_CFA_expression:
		rule = read_expression(program, UNWIND_HOW_AT_EXPRESSION);
		break;
	case DW_CFA_val_expression:
		rule = read_expression(program, UNWIND_HOW_EXPRESSION);
		break;
	case DW_CFA_val_offset:
		rule = (struct cfi_rule){.how = UNWIND_HOW_CFA, .value = scaled(program, (int64_t)cursor_uleb(code))};
		break;
	case DW_CFA_val_offset_sf:
		rule = (struct cfi_rule){.how = UNWIND_HOW_CFA, .value = scaled(program, cursor_sleb(code))};
		break;
	}
	set_column(program, dwarf_register, rule);
}

static void run_rare(struct program *program, uint8_t instruction)
{
	struct cursor *code = &program->code;
	uint64_t number;
	switch (instruction) {
	case DW_CFA_set_loc:
		set_location(program);
		break;
	case DW_CFA_advance_loc8:
		advance(program, cursor_number(code, 8));
		break;
	case DW_CFA_offset_extended:
		number = cursor_uleb(code);
		set_offset(program, number, (int64_t)cursor_uleb(code));
		break;
	case DW_CFA_offset_extended_sf:
		number = cursor_uleb(code);
		set_offset(program, number, cursor_sleb(code));
		break;
	case DW_CFA_negative_offset_extended:
		number = cursor_uleb(code);
		set_offset(program, number, -(int64_t)(cursor_uleb(code) & INT64_MAX));
		break;
	case DW_CFA_restore_extended:
		restore(program, cursor_uleb(code));
		break;
	case DW_CFA_def_cfa_sf:
		number = cursor_uleb(code);
		set_cfa(program, number, scaled(program, cursor_sleb(code)));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_half_cfa(program, false, 0, scaled(program, cursor_sleb(code)));
		break;
	case DW_CFA_def_cfa_expression:
		program->state.cfa = read_expression(program, UNWIND_HOW_EXPRESSION);
		program->changed = true;
		break;
	case DW_CFA_args_size:
		cursor_uleb(code);
		break;
	case DW_CFA_negate_ra_state:
		break;
	case DW_CFA_undefined ... DW_CFA_register:
	case DW_CFA_expression:
	case DW_CFA_val_offset ... DW_CFA_val_expression:
		set_by_register(program, instruction);
		break;
	default:
		program->bad = true;
	}
}

static void run_instruction(struct program *program, uint8_t instruction)
{
	struct cursor *code = &program->code;
	uint8_t operand = instruction & 0x3f;
	uint64_t number;
	switch (instruction & 0xc0) {
	case DW_CFA_advance_loc:
		advance(program, operand);
		return;
	case DW_CFA_offset:
		set_offset(program, operand, (int64_t)cursor_uleb(code));
		return;
	case DW_CFA_restore:
		restore(program, operand);
		return;
	}
	switch (instruction) {
	case DW_CFA_nop:
		break;
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		advance(program, cursor_number(code, 1u << (instruction - DW_CFA_advance_loc1)));
		break;
	case DW_CFA_def_cfa:
		number = cursor_uleb(code);
		set_cfa(program, number, (int64_t)cursor_uleb(code));
		break;
	case DW_CFA_def_cfa_register:
		set_half_cfa(program, true, cursor_uleb(code), 0);
		break;
	case DW_CFA_def_cfa_offset:
		set_half_cfa(program, false, 0, (int64_t)cursor_uleb(code));
		break;
	case DW_CFA_remember_state:
		remember(program);
		break;
	case DW_CFA_restore_state:
		restore_state(program);
		break;
	default:
		run_rare(program, instruction);
	}
}

/* Until the end of the instructions or of the function, or until something is wrong. */
static void run(struct program *program)
{
	while (cursor_left(&program->code) && program->location < program->end && !program->bad) {
		run_instruction(program, cursor_u8(&program->code));
		program->bad = program->bad || program->code.bad;
	}
}

void cfi_run(const struct cfi *cfi, const struct cfi_function *function, cfi_sink sink, void *context)
{
	const struct cfi_cie *cie = &cfi->cies[function->cie];
	const uint8_t *begin = cie->section->data + function->program;
	struct program program;
	program.cfi = cfi;
	program.cie = cie;
	program.code = (struct cursor){.at = begin, .end = begin + function->program_size};
	program.state = cie->initial;
	program.location = function->start;
	program.end = function->start + function->size;
	program.changed = true;
	program.bad = false;
	program.sink = sink;
	program.context = context;
	program.remembered = 0; /* and `memory`, 2 KiB, is not cleared for each function */
	run(&program);
	if (program.bad)
		sink(context, program.location, cie, NULL);
	else if (program.changed && program.location < program.end)
		sink(context, program.location, cie, &program.state);
}

bool cfi_run_initial(const struct cfi *cfi, struct cfi_cie *cie, struct cursor code)
{
	struct program program = {
		.cfi = cfi,
		.cie = cie,
		.code = code,
		.state = {.cfa = {.how = UNWIND_HOW_UNDEFINED}},
		.end = 1, /* there is no place to move to: instructions that try leave this unchanged */
	};
	run(&program);
	cie->initial = program.state;
	return !program.bad;
}
