/* libservice.so: starts Python when it is called, and calls orders.handle(SECONDS) there. */
#include <Python.h>

#include <unistd.h>

namespace service
{
volatile unsigned calls;

[[gnu::noinline]] static PyObject *import_orders()
{
	PyRun_SimpleString("import sys; sys.path.insert(0, '.')");
	PyObject *module = PyImport_ImportModule("orders");
	calls = calls + 1; /* no tail call */
	return module;
}

[[gnu::noinline]] static int serve(PyObject *module, double seconds)
{
	PyObject *result = PyObject_CallMethod(module, "handle", "d", seconds);
	if (result == nullptr) {
		PyErr_Print();
		return 1;
	}
	Py_DECREF(result);
	return 0;
}
} // namespace service

extern "C" int service_run(const char *seconds)
{
	usleep(200000); // until wick has seen the library, also on a busy machine
	Py_InitializeEx(0);
	PyObject *module = service::import_orders();
	if (module == nullptr) {
		PyErr_Print();
		return 1;
	}
	int status = service::serve(module, atof(seconds));
	service::calls = service::calls + 1;
	Py_DECREF(module);
	return status;
}
