/* Evaluates DWARF expressions, and recognizes simple ones. */
#include "unwind/expression.h"

#include "base/cursor.h"
#include "unwind/dwarf_op.h"

/* Real expressions have a dozen operations; branches backwards could make any number of them. */
enum { DEPTH_MAX = 32, OPERATIONS_MAX = 512 };

struct machine {
	const struct expression_frame *frame;
	struct cursor code;
	const uint8_t *begin;
	uint64_t stack[DEPTH_MAX];
	unsigned depth;
	enum expression_result result;
};

static void fail(struct machine *machine, enum expression_result result)
{
	if (machine->result == EXPRESSION_OK)
		machine->result = result;
}

static void push(struct machine *machine, uint64_t value)
{
	if (machine->depth == DEPTH_MAX)
		fail(machine, EXPRESSION_BAD);
	else
		machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct machine *machine)
{
	if (!machine->depth) {
		fail(machine, EXPRESSION_BAD);
		return 0;
	}
	return machine->stack[--machine->depth];
}

static void pick(struct machine *machine, unsigned from_top)
{
	if (from_top >= machine->depth)
		fail(machine, EXPRESSION_BAD);
	else
		push(machine, machine->stack[machine->depth - 1 - from_top]);
}

static void push_register(struct machine *machine, uint64_t dwarf_register, int64_t offset)
{
	uint64_t value = 0;
	if (!expression_register(machine->frame->arch, machine->frame->registers, dwarf_register, &value))
		fail(machine, EXPRESSION_NO_REGISTER);
	push(machine, value + (uint64_t)offset);
}

static void dereference(struct machine *machine, unsigned size)
{
	uint64_t value = 0;
	if (size < 1 || size > 8)
		fail(machine, EXPRESSION_BAD);
	else if (!unwind_read(machine->frame->space, pop(machine), &value))
		fail(machine, EXPRESSION_NO_MEMORY);
	push(machine, size < 8 ? value & ((1ull << 8 * (size & 7)) - 1) : value);
}

static void branch(struct machine *machine, bool taken)
{
	int64_t distance = cursor_int(&machine->code, 2);
	if (!taken)
		return;
	if (distance < machine->begin - machine->code.at || distance > machine->code.end - machine->code.at)
		fail(machine, EXPRESSION_BAD);
	else
		machine->code.at += distance;
}

static uint64_t divide(struct machine *machine, uint64_t a, uint64_t b, bool remainder)
{
	if (!b) {
		fail(machine, EXPRESSION_BAD);
		return 0;
	}
	if (remainder)
		return a % b;
	/* DW_OP_div is signed, and the one quotient that does not fit wraps. */
	return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shift(uint8_t operation, uint64_t a, uint64_t b)
{
	bool fill = operation == DW_OP_shra && a >> 63;
	if (b >= 64)
		return fill ? UINT64_MAX : 0;
	if (operation == DW_OP_shl)
		return a << b;
	return a >> b | (fill && b ? UINT64_MAX << (64 - b) : 0);
}

static uint64_t binary(struct machine *machine, uint8_t operation, uint64_t a, uint64_t b)
{
	switch (operation) {
	case DW_OP_and:
		return a & b;
	case DW_OP_or:
		return a | b;
	case DW_OP_xor:
		return a ^ b;
	case DW_OP_plus:
		return a + b;
	case DW_OP_minus:
		return a - b;
	case DW_OP_mul:
		return a * b;
	case DW_OP_div:
	case DW_OP_mod:
		return divide(machine, a, b, operation == DW_OP_mod);
	case DW_OP_eq:
		return a == b;
	case DW_OP_ne:
		return a != b;
	case DW_OP_ge:
		return (int64_t)a >= (int64_t)b;
	case DW_OP_gt:
		return (int64_t)a > (int64_t)b;
	case DW_OP_le:
		return (int64_t)a <= (int64_t)b;
	case DW_OP_lt:
		return (int64_t)a < (int64_t)b;
	default:
		return shift(operation, a, b);
	}
}

/* DW_OP_const1u … DW_OP_consts. */
static uint64_t constant(struct cursor *code, uint8_t operation)
{
	if (operation == DW_OP_constu)
		return cursor_uleb(code);
	if (operation == DW_OP_consts)
		return (uint64_t)cursor_sleb(code);
	unsigned size = 1u << (operation - DW_OP_const1u) / 2;
	bool is_signed = (operation - DW_OP_const1u) & 1;
	return is_signed ? (uint64_t)cursor_int(code, size) : cursor_number(code, size);
}

static void rotate(struct machine *machine)
{
	uint64_t first = pop(machine), second = pop(machine), third = pop(machine);
	push(machine, first);
	push(machine, third);
	push(machine, second);
}

static void swap(struct machine *machine)
{
	uint64_t first = pop(machine), second = pop(machine);
	push(machine, first);
	push(machine, second);
}

static void run_stack_operation(struct machine *machine, uint8_t operation)
{
	uint64_t top;
	switch (operation) {
	case DW_OP_dup:
	case DW_OP_over:
		pick(machine, operation == DW_OP_over);
		break;
	case DW_OP_pick:
		pick(machine, cursor_u8(&machine->code));
		break;
	case DW_OP_drop:
		pop(machine);
		break;
	case DW_OP_swap:
		swap(machine);
		break;
	case DW_OP_rot:
		rotate(machine);
		break;
	case DW_OP_abs:
		top = pop(machine);
		push(machine, (int64_t)top < 0 ? -top : top);
		break;
	case DW_OP_neg:
		push(machine, -pop(machine));
		break;
	case DW_OP_not:
		push(machine, ~pop(machine));
		break;
	default:
		fail(machine, EXPRESSION_BAD);
	}
}

static void run_operation(struct machine *machine, uint8_t operation)
{
	struct cursor *code = &machine->code;
	uint64_t top;
	switch (operation) {
	case DW_OP_addr:
		push(machine, cursor_number(code, 8) + machine->frame->bias);
		break;
	case DW_OP_deref:
		dereference(machine, machine->frame->arch->word);
		break;
	case DW_OP_deref_size:
		dereference(machine, cursor_u8(code));
		break;
	case DW_OP_const1u ... DW_OP_consts:
		push(machine, constant(code, operation));
		break;
	case DW_OP_lit0 ... DW_OP_lit31:
		push(machine, operation - DW_OP_lit0);
		break;
	case DW_OP_breg0 ... DW_OP_breg31:
		push_register(machine, operation - DW_OP_breg0, cursor_sleb(code));
		break;
	case DW_OP_bregx:
		top = cursor_uleb(code);
		push_register(machine, top, cursor_sleb(code));
		break;
	case DW_OP_plus_uconst:
		push(machine, pop(machine) + cursor_uleb(code));
		break;
	case DW_OP_and:
	case DW_OP_div:
	case DW_OP_minus ... DW_OP_mul:
	case DW_OP_or:
	case DW_OP_plus:
	case DW_OP_shl ... DW_OP_xor:
	case DW_OP_eq ... DW_OP_ne:
		top = pop(machine);
		push(machine, binary(machine, operation, pop(machine), top));
		break;
	case DW_OP_bra:
		branch(machine, pop(machine) != 0);
		break;
	case DW_OP_skip:
		branch(machine, true);
		break;
	case DW_OP_nop:
		break;
	default:
		run_stack_operation(machine, operation);
	}
}

enum expression_result expression_evaluate(const struct expression_frame *frame, const uint8_t *bytes, size_t size,
					   const uint64_t *initial, uint64_t *ret_value)
{
	struct machine machine = {.frame = frame, .code = {.at = bytes, .end = bytes + size}, .begin = bytes};
	if (initial)
		push(&machine, *initial);
	for (unsigned count = 0; machine.code.at < machine.code.end && machine.result == EXPRESSION_OK; count++) {
		if (count == OPERATIONS_MAX)
			return EXPRESSION_BAD;
		run_operation(&machine, cursor_u8(&machine.code));
		if (machine.code.bad)
			return EXPRESSION_BAD;
	}
	uint64_t value = pop(&machine);
	if (machine.result == EXPRESSION_OK)
		*ret_value = value;
	return machine.result;
}

/* "plus_uconst N", or a constant and "plus". */
static bool read_addend(struct cursor *code, int64_t *ret_addend)
{
	uint8_t operation = cursor_u8(code);
	if (operation == DW_OP_plus_uconst) {
		*ret_addend = (int64_t)cursor_uleb(code);
		return true;
	}
	if (operation >= DW_OP_lit0 && operation <= DW_OP_lit0 + 31)
		*ret_addend = operation - DW_OP_lit0;
	else if (operation >= DW_OP_const1u && operation <= DW_OP_consts)
		*ret_addend = (int64_t)constant(code, operation);
	else
		return false;
	return cursor_u8(code) == DW_OP_plus;
}

bool expression_is_simple(const uint8_t *bytes, size_t size, struct expression_simple *ret_simple)
{
	struct cursor code = {.at = bytes, .end = bytes + size};
	uint8_t operation = cursor_u8(&code);
	if (operation < DW_OP_breg0 || operation > DW_OP_breg31)
		return false;
	struct expression_simple simple = {.dwarf_register = operation - DW_OP_breg0, .offset = cursor_sleb(&code)};
	if (cursor_left(&code) && *code.at == DW_OP_deref) {
		simple.dereferenced = true;
		code.at++;
	}
	if (cursor_left(&code) && !read_addend(&code, &simple.addend))
		return false;
	if (code.bad || cursor_left(&code))
		return false;
	if (!simple.dereferenced) {
		simple.offset = (int64_t)((uint64_t)simple.offset + (uint64_t)simple.addend);
		simple.addend = 0;
	}
	*ret_simple = simple;
	return true;
}

uint32_t expression_registers(const uint8_t *bytes, size_t size)
{
	/* Any byte may be an operand instead: too many registers do no harm, one too few would. */
	uint32_t registers = 0;
	for (size_t i = 0; i < size; i++)
		if (bytes[i] >= DW_OP_breg0 && bytes[i] <= DW_OP_breg31)
			registers |= 1u << (bytes[i] - DW_OP_breg0);
	return registers;
}
