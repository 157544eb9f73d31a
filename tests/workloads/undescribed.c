/*
 * usage: undescribed [MILLISECONDS]: functions whose frames differ in shape, each of which calls burn(): registers that
 * are saved, arrays of fixed and variable size, aligned variables, switches, returns in the middle, many arguments,
 * callbacks of the C library, and the C library itself. For builds without unwind tables.
 */
#include "spin.h"

#include <alloca.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile uint64_t result;

__attribute__((noinline)) static uint64_t burn(uint64_t value)
{
	SPIN(value);
	result = value;
	return value;
}

__attribute__((noinline)) uint64_t shape_registers(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t d = a ^ b, e = b ^ c, f = a + c, g = burn(a);
	uint64_t h = burn(b + g);
	return a + b * c + d * e + f * g + h;
}

__attribute__((noinline)) uint64_t shape_array(uint64_t a)
{
	volatile uint64_t array[600];
	for (int i = 0; i < 600; i++)
		array[i] = a + (uint64_t)i;
	return burn(array[a % 600]) + array[(a + 1) % 600];
}

__attribute__((noinline)) uint64_t shape_large(uint64_t a)
{
	volatile char array[9000];
	array[a % sizeof array] = 1;
	return burn(a) + (uint64_t)array[a % sizeof array];
}

__attribute__((noinline)) uint64_t shape_variable(uint64_t a)
{
	volatile uint64_t *array = alloca((a % 50 + 1) * 8);
	array[a % 50] = a;
	return burn(a) + array[a % 50];
}

__attribute__((noinline)) uint64_t shape_aligned(uint64_t a)
{
	_Alignas(64) volatile uint64_t array[16];
	array[a % 16] = a;
	return burn(a) + array[a % 16];
}

__attribute__((noinline)) uint64_t shape_early(uint64_t a)
{
	if (a % 3 == 0)
		return burn(a) + 1;
	uint64_t b = burn(a);
	if (b == 0)
		return 7;
	return burn(b) * a + b;
}

__attribute__((noinline)) uint64_t shape_switch(uint64_t a)
{
	uint64_t b = a * 3;
	switch (a % 9) {
	case 0:
		b += burn(a) * 2;
		break;
	case 1:
		b ^= burn(a + 1);
		break;
	case 2:
		return burn(a) + b;
	case 3:
		b -= burn(b);
		b *= burn(a);
		break;
	case 4:
		b |= burn(a * b);
		break;
	case 5:
		b &= burn(~a);
		break;
	case 6:
		b <<= burn(a) % 8;
		break;
	default:
		b = burn(b) % 1000;
	}
	return b + a;
}

__attribute__((noinline)) uint64_t shape_arguments(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
						   uint64_t f, uint64_t g, uint64_t h, uint64_t i)
{
	return burn(a + b + c) + d + e * f + g + h * i;
}

__attribute__((noinline)) uint64_t shape_list(int count, ...)
{
	uint64_t sum = 0;
	va_list list;
	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += burn(va_arg(list, uint64_t));
	va_end(list);
	return sum;
}

__attribute__((noinline)) uint64_t shape_recursion(uint64_t depth)
{
	if (depth == 0)
		return burn(depth);
	uint64_t below = shape_recursion(depth - 1);
	return below * depth + result;
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return burn(*a) == 0 ? 0 : (*a > *b) - (*a < *b);
}

__attribute__((noinline)) uint64_t shape_callback(uint64_t a)
{
	uint64_t array[6];
	for (size_t i = 0; i < 6; i++)
		array[i] = a * (i + 3) % 17;
	qsort(array, 6, sizeof *array, compare);
	return array[0];
}

__attribute__((noinline)) uint64_t shape_library(uint64_t a)
{
	char text[200];
	double value = (double)a / 7;
	int length = 0;
	for (int i = 0; i < 20; i++)
		length += snprintf(text, sizeof text, "%llu %.6f %s", (unsigned long long)a, value, "text");
	return (uint64_t)length + (uint64_t)strtod(text, NULL);
}

__attribute__((noinline)) static void all_shapes(long milliseconds)
{
	uint64_t a = 1;
	for (long end = spin_clock() + milliseconds; spin_clock() < end;)
		for (int i = 0; i < 9; i++, a++) {
			result += shape_registers(a, a + 1, a + 2) + shape_array(a) + shape_large(a);
			result += shape_variable(a) + shape_aligned(a) + shape_early(a) + shape_switch(a);
			result += shape_arguments(a, 2, 3, 4, 5, 6, 7, 8, a) + shape_list(3, a, a + 1, a + 2);
			result += shape_recursion(a % 20) + shape_callback(a) + shape_library(a);
		}
}

static void *thread(void *context)
{
	all_shapes(*(long *)context);
	return NULL;
}

int main(int argc, char **argv)
{
	long milliseconds = argc > 1 ? strtol(argv[1], NULL, 10) : 400;
	long half = milliseconds / 2;
	pthread_t other;
	if (pthread_create(&other, NULL, thread, &half))
		return 1;
	all_shapes(half);
	pthread_join(other, NULL);
	return 0;
}
