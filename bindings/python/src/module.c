/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The module gpumem._core: functions that belong to no object, and the helpers
 * by which arguments and results are converted. Python code on top of it is in
 * gpumem/__init__.py. Under the GIL.
 */
#include "core.h"

#include <limits.h>

bool address_from(PyObject *object, void **out)
{
	if (object == Py_None) {
		*out = NULL;
		return true;
	}
	*out = PyLong_AsVoidPtr(object);
	return *out || !PyErr_Occurred();
}

/* 1: *value_out is its attribute; 0: it has none; -1: an exception. */
static int attribute(PyObject *object, const char *name, PyObject **value_out)
{
	*value_out = PyObject_GetAttrString(object, name);
	if (*value_out)
		return 1;
	if (!PyErr_ExceptionMatches(PyExc_AttributeError))
		return -1;
	PyErr_Clear();
	return 0;
}

/* (version, handle), of cuda.core's protocol. */
static int by_protocol(PyObject *method, void *out)
{
	PyObject *pair = PyObject_CallObject(method, NULL);
	PyObject *handle = pair ? PySequence_GetItem(pair, 1) : NULL;
	int done = handle && address_from(handle, out);

	Py_XDECREF(pair);
	Py_XDECREF(handle);
	Py_DECREF(method);
	return done;
}

int stream_from(PyObject *object, void *out)
{
	static const char *const names[] = {"cuda_stream", "ptr", "int_ptr"};
	PyObject *value;
	int found, done;

	if (object == Py_None || PyLong_Check(object))
		return address_from(object, out);
	found = attribute(object, "__cuda_stream__", &value);
	if (found != 0)
		return found > 0 && by_protocol(value, out);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		found = attribute(object, names[i], &value);
		if (found < 0)
			return 0;
		if (found) {
			done = address_from(value, out);
			Py_DECREF(value);
			return done;
		}
	}
	PyErr_SetString(PyExc_TypeError,
			"a stream is an int, None, or an object with "
			"__cuda_stream__, cuda_stream, ptr or int_ptr");
	return 0;
}

int bytes_from(PyObject *object, void *out)
{
	PyObject *number = PyNumber_Index(object);
	unsigned long long value;

	if (!number)
		return 0;
	value = PyLong_AsUnsignedLongLong(number);
	Py_DECREF(number);
	*(uint64_t *)out = value;
	return value != (unsigned long long)-1 || !PyErr_Occurred();
}

int count_from(PyObject *object, void *out)
{
	uint64_t value;

	if (!bytes_from(object, &value))
		return 0;
	if (value > UINT_MAX) {
		PyErr_SetString(PyExc_OverflowError, "the number is too large");
		return 0;
	}
	*(unsigned *)out = (unsigned)value;
	return 1;
}

bool type_add(PyObject *module, PyType_Spec *spec, PyTypeObject **out)
{
	PyObject *type = PyType_FromSpec(spec);

	*out = (PyTypeObject *)type;
	if (!type)
		return false;
	Py_INCREF(type);
	return PyModule_AddObject(module, strrchr(spec->name, '.') + 1, type) ==
	       0;
}

void object_gone(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	PyObject_GC_Del(object);
	Py_DECREF(type);
}

bool dict_put(PyObject *dict, const char *key, PyObject *value)
{
	bool done =
		dict && value && PyDict_SetItemString(dict, key, value) == 0;

	Py_XDECREF(value);
	return done;
}

/* ---- functions ----------------------------------------------------------- */

static PyObject *version(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyUnicode_FromString(gpumem_version());
}

static PyObject *option_set(PyObject *module, PyObject *args)
{
	const char *key, *value;

	(void)module;
	if (!PyArg_ParseTuple(args, "sz", &key, &value))
		return NULL;
	return none_or_raise(gpumem_option_set(key, value));
}

static PyObject *option_get(PyObject *module, PyObject *args)
{
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);
	gpumem_status status;
	const char *key;

	(void)module;
	if (!PyArg_ParseTuple(args, "s", &key))
		return NULL;
	status = gpumem_option_get(key, &option);
	if (status != GPUMEM_OK)
		return raise_last(status);
	return PyUnicode_FromString(option.value);
}

/* What a walk has put together; NULL once that has failed. */
struct list {
	PyObject *items;
};

static bool append(struct list *list, PyObject *item)
{
	if (!item || PyList_Append(list->items, item) != 0)
		Py_CLEAR(list->items);
	Py_XDECREF(item);
	return list->items;
}

static bool on_backend(const struct gpumem_backend_info *info, void *user)
{
	return append(user,
		      Py_BuildValue("{s:s,s:s,s:s,s:s,s:s,s:i,s:O}", "name",
				    info->name, "status",
				    gpumem_status_name(info->status) +
					    sizeof("GPUMEM"),
				    "reason", info->reason, "driver_version",
				    info->driver_version, "path", info->path,
				    "device_count", info->device_count,
				    "chosen",
				    info->chosen ? Py_True : Py_False));
}

static PyObject *walked(struct list *list, gpumem_status status)
{
	if (status == GPUMEM_OK || !list->items)
		return list->items;
	Py_DECREF(list->items);
	return raise_last(status);
}

static PyObject *backends(PyObject *module, PyObject *unused)
{
	struct list list = {PyList_New(0)};

	(void)module;
	(void)unused;
	if (!list.items)
		return NULL;
	return walked(&list, gpumem_backend_visit(on_backend, &list));
}

static bool on_device(const struct gpumem_device_info *info, void *user)
{
	return append(user, device_info_dict(info));
}

static PyObject *devices(PyObject *module, PyObject *args)
{
	struct list list = {PyList_New(0)};
	const char *backend = NULL;

	(void)module;
	if (!list.items || !PyArg_ParseTuple(args, "|z", &backend)) {
		Py_XDECREF(list.items);
		return NULL;
	}
	return walked(&list, gpumem_device_visit(backend, on_device, &list));
}

static PyObject *free_address(PyObject *module, PyObject *args)
{
	PyObject *address, *on = Py_None;
	void *ptr, *stream;
	gpumem_status status;

	(void)module;
	if (!PyArg_UnpackTuple(args, "free", 1, 2, &address, &on) ||
	    !address_from(address, &ptr))
		return NULL;
	if (on == Py_None)
		status = gpumem_free_own(ptr);
	else if (stream_from(on, &stream))
		status = gpumem_free(ptr, stream);
	else
		return NULL;
	return none_or_raise(status);
}

static PyObject *record_begin(PyObject *module, PyObject *args)
{
	uint64_t bytes = 0;
	const char *path;

	(void)module;
	if (!PyArg_ParseTuple(args, "s|O&", &path, bytes_from, &bytes))
		return NULL;
	return none_or_raise(gpumem_record_begin(path, bytes));
}

static PyObject *record_end(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return none_or_raise(gpumem_record_end());
}

static PyMethodDef functions[] = {
	{"version", version, METH_NOARGS,
	 "version() -> str\n\nThe version of the library that is running."},
	{"option_set", option_set, METH_VARARGS,
	 "option_set(key, value)\n\nSets an option of gpumem_options(5); None "
	 "restores its default.\nDevices read theirs when they are opened, "
	 "pools when they are made."},
	{"option_get", option_get, METH_VARARGS,
	 "option_get(key) -> str\n\nThe value of an option, as text."},
	{"backends", backends, METH_NOARGS,
	 "backends() -> list\n\nEvery backend, and why it cannot be used if "
	 "so."},
	{"devices", devices, METH_VARARGS,
	 "devices(backend=None) -> list\n\nEvery device of a backend, or of "
	 "all that can be used; opens none."},
	{"free", free_address, METH_VARARGS,
	 "free(address, stream=None)\n\nEnds the block that Pool.malloc() gave "
	 "or Buffer.detach() left. Work\nqueued on the stream before may still "
	 "use it; None: the block's own."},
	{"tag_push", tag_push, METH_VARARGS,
	 "tag_push(name)\n\nThe thread's tag is this one inside the one that "
	 "it had."},
	{"tag_get", tag_get, METH_NOARGS,
	 "tag_get() -> int\n\nThe number of the thread's tag; 0: none."},
	{"tag_set", tag_set, METH_VARARGS,
	 "tag_set(tag)\n\nThe thread's tag is the one of this number."},
	{"leak_mark", leak_mark, METH_NOARGS,
	 "leak_mark() -> int\n\nA moment, for Pool.leaks(): what is allocated "
	 "in a tracked pool from now\non comes after it."},
	{"oom_set", oom_set, METH_O,
	 "oom_set(callback)\n\ncallback(oom: dict) is called for each "
	 "allocation that is out of memory,\nin its thread, with the JSON of "
	 "gpumem_oom(3): what would help, and who\nholds the memory. None: no "
	 "callback."},
	{"record_begin", record_begin, METH_VARARGS,
	 "record_begin(path, max_bytes=0)\n\nRecords what happens to blocks "
	 "into a file (gpumem_record(5))."},
	{"record_end", record_end, METH_NOARGS,
	 "record_end()\n\nEnds the recording; the file is whole then."},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
	.m_base = PyModuleDef_HEAD_INIT,
	.m_name = "gpumem._core",
	.m_doc = "gpumem's C library. Use the package gpumem.",
	.m_size = -1,
	.m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
	PyObject *module = PyModule_Create(&definition);

	if (module && errors_add(module) && device_add(module) &&
	    pool_add(module) && buffer_add(module))
		return module;
	Py_XDECREF(module);
	return NULL;
}
