/*
 * Prices of orders, for orders.py: an extension of Python in C that calls back.
 *
 *	gcc -O2 -g -fPIC -shared $(python3-config --includes) -o pricing.so examples/pricing.c
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The compiler would inline them. */
#define SEPARATE __attribute__((noinline))

struct line {
	long price, count, weight;
};

/* Cents to send a parcel: the cheapest way to cut it into parcels of five sizes. */
SEPARATE static long freight(long weight)
{
	static const long sizes[] = {100, 250, 500, 1000, 2500}, prices[] = {90, 160, 270, 450, 900};
	long cheapest[64] = {0};
	long steps = weight / 100 + 1;
	if (steps > 63)
		steps = 63;
	for (long step = 1; step <= steps; step++) {
		cheapest[step] = cheapest[step - 1] + 90;
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			long before = step - (sizes[i] + 99) / 100;
			long price = (before > 0 ? cheapest[before] : 0) + prices[i];
			if (price < cheapest[step])
				cheapest[step] = price;
		}
	}
	return cheapest[steps];
}

SEPARATE static long line_price(const struct line *line)
{
	long cents = 0;
	for (long i = 0; i < line->count; i++)
		cents += line->price + freight(line->weight + 10 * i);
	return cents;
}

/* What the customer pays, in percent; -1: an exception. */
SEPARATE static long percent_to_pay(PyObject *discount, long customer, long cents)
{
	PyObject *result = PyObject_CallFunction(discount, "ll", customer, cents);
	if (result == NULL)
		return -1;
	long percent = PyLong_AsLong(result);
	Py_DECREF(result);
	return PyErr_Occurred() ? -1 : 100 - percent;
}

static PyObject *total(PyObject *module, PyObject *arguments)
{
	PyObject *lines, *discount;
	long customer, cents = 0;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "O!lO", &PyList_Type, &lines, &customer, &discount))
		return NULL;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(lines); i++) {
		struct line line;
		if (!PyArg_ParseTuple(PyList_GET_ITEM(lines, i), "lll", &line.price, &line.count, &line.weight))
			return NULL;
		long full = line_price(&line);
		long percent = percent_to_pay(discount, customer, full);
		if (percent < 0)
			return NULL;
		cents += full * percent / 100;
	}
	return PyLong_FromLong(cents);
}

static PyMethodDef methods[] = {
	{"total", total, METH_VARARGS, "total(lines, customer, discount): the price of an order, in cents."},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "pricing", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_pricing(void);
PyMODINIT_FUNC PyInit_pricing(void)
{
	return PyModule_Create(&definition);
}
