/* DWARF expressions that are written out byte by byte. */
#include "unit.h"

#include "unwind/expression.h"

static const uint64_t STACK = 0x7ffc00000000;

static enum expression_result evaluate(const uint8_t *bytes, size_t size, uint64_t *ret_value)
{
	static const uint64_t words[] = {0x1122334455667788, 42};
	static const struct unwind_registers registers = {
		.ip = 1000, .sp = STACK, .fp = 3000, .known = 1 << 3, .other[3] = 77};
	const struct unwind_space space = {
		.stack = (const uint8_t *)words, .stack_start = STACK, .stack_size = sizeof words};
	const struct expression_frame frame = {&arch_x86_64, &space, &registers, 0x10000};
	return expression_evaluate(&frame, bytes, size, NULL, ret_value);
}

static void expressions_compute(void **state)
{
	(void)state;
	static const struct {
		uint8_t bytes[12];
		uint8_t size;
		int64_t value;
	} rows[] = {
		{{0x35}, 1, 5}, /* lit5 */
		{{0x77, 8, 0x06}, 3, 42}, /* rsp + 8, dereferenced */
		{{0x76, 0x7f}, 2, 2999}, /* rbp - 1 */
		{{0x80, 0}, 2, 1000}, /* rip */
		{{0x73, 0}, 2, 77}, /* rbx */
		{{0x92, 3, 1}, 3, 78}, /* bregx rbx + 1 */
		{{0x77, 0, 0x94, 2}, 4, 0x7788}, /* deref_size */
		{{0x08, 200}, 2, 200}, /* const1u */
		{{0x09, 200}, 2, -56}, /* const1s */
		{{0x0b, 0xfe, 0xff}, 3, -2}, /* const2s */
		{{0x0c, 1, 0, 0, 0x80}, 5, 0x80000001}, /* const4u */
		{{0x10, 0x80, 1}, 3, 128}, /* constu */
		{{0x11, 0x7e}, 2, -2}, /* consts */
		{{0x03, 1, 0, 0, 0, 0, 0, 0, 0}, 9, 0x10001}, /* addr, moved by the bias */
		{{0x3a, 0x33, 0x1b}, 3, 3}, /* 10 / 3 */
		{{0x11, 0x76, 0x33, 0x1b}, 4, -3}, /* -10 / 3 */
		{{0x3a, 0x33, 0x1d}, 3, 1}, /* 10 mod 3 */
		{{0x3a, 0x33, 0x1c}, 3, 7}, /* 10 - 3 */
		{{0x3a, 0x33, 0x1e}, 3, 30},
		{{0x3a, 0x33, 0x24}, 3, 80}, /* 10 << 3 */
		{{0x11, 0x70, 0x32, 0x26}, 4, -4}, /* -16 >> 2 with its sign */
		{{0x3a, 0x1f, 0x19}, 3, 10}, /* neg, abs */
		{{0x30, 0x20}, 2, -1}, /* not 0 */
		{{0x3c, 0x3a, 0x27}, 3, 6}, /* 12 xor 10 */
		{{0x31, 0x32, 0x16, 0x1c}, 4, 1}, /* 1 2 swap minus */
		{{0x31, 0x32, 0x14, 0x1c}, 4, 1}, /* 1 2 over minus */
		{{0x37, 0x32, 0x33, 0x15, 2}, 5, 7}, /* 7 2 3 pick 2 */
		{{0x31, 0x32, 0x33, 0x17, 0x1c}, 5, -1}, /* 1 2 3 rot: 3 1 2; 1 - 2 */
		{{0x31, 0x12, 0x22, 0x35, 0x13}, 5, 2}, /* 1 dup plus 5 drop */
		{{0x31, 0x32, 0x2d}, 3, 1}, /* 1 < 2 */
		{{0x31, 0x32, 0x2b}, 3, 0}, /* 1 > 2 */
		{{0x31, 0x28, 1, 0, 0x35, 0x36}, 6, 6}, /* bra over lit5 */
		{{0x30, 0x28, 1, 0, 0x35}, 5, 5}, /* bra not taken */
		{{0x35, 0x2f, 1, 0, 0x39}, 5, 5}, /* skip over lit9 */
		{{0x35, 0x23, 0x81, 1}, 4, 134}, /* plus_uconst 129 */
		{{0x11, 0x7f, 0x11, 0x7f, 0x1b}, 5, 1}, /* -1 / -1 */
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t value = 0;
		if (evaluate(rows[i].bytes, rows[i].size, &value) != EXPRESSION_OK || (int64_t)value != rows[i].value)
			fail_msg("expression %zu gave %lld, not %lld", i, (long long)value, (long long)rows[i].value);
	}
}

static void malformed_expressions_fail(void **state)
{
	(void)state;
	static const struct {
		uint8_t bytes[8];
		uint8_t size;
		enum expression_result result;
	} rows[] = {
		{{0}, 0, EXPRESSION_BAD}, /* nothing on the stack */
		{{0x06}, 1, EXPRESSION_BAD},
		{{0x31, 0x22}, 2, EXPRESSION_BAD}, /* plus with one operand */
		{{0x31, 0x30, 0x1b}, 3, EXPRESSION_BAD}, /* 1 / 0 */
		{{0x31, 0x30, 0x1d}, 3, EXPRESSION_BAD}, /* 1 mod 0 */
		{{0x2f, 0xfd, 0xff}, 3, EXPRESSION_BAD}, /* for ever */
		{{0x2f, 0xfc, 0xff}, 3, EXPRESSION_BAD}, /* before the beginning */
		{{0x2f, 1, 0}, 3, EXPRESSION_BAD}, /* behind the end */
		{{0x31, 0x2f, 0xfc, 0xff}, 4, EXPRESSION_BAD}, /* a stack that grows for ever */
		{{0x03, 1, 2}, 3, EXPRESSION_BAD}, /* cut off */
		{{0x31, 0x15, 1}, 3, EXPRESSION_BAD}, /* pick what is not there */
		{{0x50}, 1, EXPRESSION_BAD}, /* a register is no address */
		{{0x77, 0, 0x94, 9}, 4, EXPRESSION_BAD}, /* 9 bytes */
		{{0x72, 0}, 2, EXPRESSION_NO_REGISTER},
		{{0x92, 0xff, 0x7f, 0}, 4, EXPRESSION_NO_REGISTER},
		{{0x31, 0x06}, 2, EXPRESSION_NO_MEMORY},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t value = 4711;
		if (evaluate(rows[i].bytes, rows[i].size, &value) != rows[i].result || value != 4711)
			fail_msg("expression %zu: not the failure it should be", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_compute),
		cmocka_unit_test(malformed_expressions_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
