/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The module gpumem._torch: gives Python the addresses of the plug's functions,
 * and the plug what only Python knows. Under the GIL; the waiter takes it.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include "plug.hpp"

#include <vector>

static PyObject *waiter, *current; /* of a device by its number */

/* From any thread. */
static void wait_for(int number)
{
	if (!Py_IsInitialized())
		return;
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *done = PyObject_CallFunction(waiter, "i", number);

	if (!done)
		PyErr_WriteUnraisable(waiter);
	Py_XDECREF(done);
	PyGILState_Release(state);
}

static plug::stream current_of(int number)
{
	if (!Py_IsInitialized())
		return nullptr;
	PyGILState_STATE state = PyGILState_Ensure();
	PyObject *handle = PyObject_CallFunction(current, "i", number);
	plug::stream found = handle ? PyLong_AsVoidPtr(handle) : nullptr;

	if (PyErr_Occurred())
		PyErr_WriteUnraisable(current);
	Py_XDECREF(handle);
	PyGILState_Release(state);
	return found;
}

template <typename Function>
static bool put(PyObject *dict, const char *name, Function *function)
{
	PyObject *value =
		PyLong_FromVoidPtr(reinterpret_cast<void *>(function));
	bool done = value && PyDict_SetItemString(dict, name, value) == 0;

	Py_XDECREF(value);
	return done;
}

static PyObject *addresses(PyObject *, PyObject *)
{
	PyObject *dict = PyDict_New();

	if (dict && put(dict, "alloc", plug::hook_alloc) &&
	    put(dict, "free", plug::hook_free) &&
	    put(dict, "init", plug::hook_init) &&
	    put(dict, "reset", plug::hook_reset) &&
	    put(dict, "fraction", plug::hook_fraction) &&
	    put(dict, "base", plug::hook_base) &&
	    put(dict, "record", plug::hook_record) &&
	    put(dict, "begin", plug::hook_begin) &&
	    put(dict, "end", plug::hook_end) &&
	    put(dict, "release", plug::hook_release))
		return dict;
	Py_XDECREF(dict);
	return nullptr;
}

static PyObject *configure(PyObject *, PyObject *args)
{
	const char *backend;
	PyObject *wait, *stream;

	if (!PyArg_ParseTuple(args, "sOO", &backend, &wait, &stream))
		return nullptr;
	if (!plug::watch_forks())
		return PyErr_NoMemory();
	Py_INCREF(wait);
	Py_INCREF(stream);
	Py_XDECREF(waiter);
	Py_XDECREF(current);
	waiter = wait;
	current = stream;
	plug::use_backend(backend);
	plug::use_asked({wait_for, current_of});
	Py_RETURN_NONE;
}

static PyObject *find_errors(PyObject *, PyObject *args)
{
	std::vector<const char *> paths;

	for (Py_ssize_t i = 0; i < PyTuple_Size(args); i++) {
		PyObject *path = PyTuple_GetItem(args, i);
		const char *text =
			PyBytes_Check(path) ? PyBytes_AsString(path) : nullptr;

		if (!text) {
			PyErr_SetString(PyExc_TypeError, "a path is bytes");
			return nullptr;
		}
		paths.push_back(text);
	}
	return PyBool_FromLong(plug::find_errors(paths.data(), paths.size()));
}

static PyObject *opened(PyObject *, PyObject *number)
{
	long value = PyLong_AsLong(number);

	if (value == -1 && PyErr_Occurred())
		return nullptr;
	return PyBool_FromLong(plug::opened(static_cast<int>(value)) !=
			       nullptr);
}

static PyMethodDef functions[] = {
	{"addresses", addresses, METH_NOARGS,
	 "addresses() -> dict\n\nOf the plug's functions."},
	{"configure", configure, METH_VARARGS,
	 "configure(backend, wait, stream)\n\nwait(number) waits for a device, "
	 "stream(number) is its current stream."},
	{"find_errors", find_errors, METH_VARARGS,
	 "find_errors(*paths) -> bool\n\nWhether an out of memory can be "
	 "PyTorch's own; looks there."},
	{"opened", opened, METH_O,
	 "opened(number) -> bool\n\nWhether anything was allocated there."},
	{nullptr, nullptr, 0, nullptr},
};

static PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	"gpumem._torch",
	"gpumem's plug for PyTorch. Use gpumem.torch.",
	-1,
	functions,
	nullptr,
	nullptr,
	nullptr,
	nullptr,
};

PyMODINIT_FUNC PyInit__torch()
{
	return PyModule_Create(&definition);
}
