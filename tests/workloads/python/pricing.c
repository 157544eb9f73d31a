/* An extension of Python: calls a function of Python for each item, and sorts with qsort(). */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>

static volatile unsigned calls;

__attribute__((noinline)) static PyObject *apply_rule(PyObject *rule, long item)
{
	PyObject *result = PyObject_CallFunction(rule, "l", item);
	calls++; /* no tail call */
	return result;
}

static PyObject *pricing_walk(PyObject *module, PyObject *arguments)
{
	PyObject *rule;
	long count;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "Ol", &rule, &count))
		return NULL;
	for (long i = 0; i < count; i++) {
		PyObject *result = apply_rule(rule, i);
		if (result == NULL)
			return NULL;
		Py_DECREF(result);
	}
	Py_RETURN_NONE;
}

static int compare_prices(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	for (unsigned i = 0; i < 20; i++)
		calls += x ^ y;
	return x < y ? -1 : x > y;
}

static PyObject *pricing_sort(PyObject *module, PyObject *arguments)
{
	unsigned prices[500], state = 1;
	(void)module;
	(void)arguments;
	for (size_t i = 0; i < sizeof(prices) / sizeof(prices[0]); i++)
		prices[i] = (state = state * 1103515245 + 12345) >> 8;
	qsort(prices, sizeof(prices) / sizeof(prices[0]), sizeof(prices[0]), compare_prices);
	calls++;
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{"walk", pricing_walk, METH_VARARGS, NULL},
	{"sort", pricing_sort, METH_NOARGS, NULL},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "pricing", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_pricing(void);
PyMODINIT_FUNC PyInit_pricing(void)
{
	return PyModule_Create(&definition);
}
