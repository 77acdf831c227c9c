/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Leaks, and the function that is told of an out of memory: what the library
 * says of both as JSON, as the objects that Python makes of it. Under the GIL.
 */
#include "core.h"

/* What json.loads() makes of it; consumes `text`, which may be NULL: an
 * exception is set. */
static PyObject *loaded(PyObject *text)
{
	PyObject *json = text ? PyImport_ImportModule("json") : NULL;
	PyObject *value =
		json ? PyObject_CallMethod(json, "loads", "O", text) : NULL;

	Py_XDECREF(json);
	Py_XDECREF(text);
	return value;
}

/* ---- leaks ----------------------------------------------------------------
 */

PyObject *pool_track(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"frames", NULL};
	gpumem_pool *handle = pool_handle((struct pool *)object);
	struct number frames = {"frames", 0};
	gpumem_status status;

	if (!handle ||
	    !parse(args, names, "|O&:track", keys, count_from, &frames))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_track_begin(handle, (unsigned)frames.value);
	Py_END_ALLOW_THREADS;
	return none_or_raise(status);
}

PyObject *pool_untrack(PyObject *object, PyObject *unused)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);
	gpumem_status status;

	(void)unused;
	if (!handle)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_track_end(handle);
	Py_END_ALLOW_THREADS;
	return none_or_raise(status);
}

PyObject *leak_mark(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyLong_FromUnsignedLongLong(gpumem_leak_mark());
}

/* Between the marks, `write` is called without a lock, in this thread. */
PyObject *pool_leaks(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"since", "until", NULL};
	gpumem_pool *handle = pool_handle((struct pool *)object);
	struct number since = {"since", 0}, until = {"until", 0};
	gpumem_status status;
	PyObject *text;

	if (!handle || !parse(args, names, "|O&O&:leaks", keys, bytes_from,
			      &since, bytes_from, &until))
		return NULL;
	text = PyUnicode_FromString("");
	if (!text)
		return NULL;
	status = gpumem_pool_print_leaks(handle, since.value, until.value,
					 GPUMEM_PRINT_JSON, text_append, &text);
	if (status == GPUMEM_OK)
		return reported("Leaks", loaded(text));
	Py_XDECREF(text);
	return raise_last(status);
}

/* ---- out of memory --------------------------------------------------------
 */

/* The program's function, or NULL. Read and written under the GIL. */
static PyObject *told;

static void tell(const char *json)
{
	PyObject *callback = told, *dict, *result = NULL;

	if (!callback)
		return;
	Py_INCREF(callback);
	dict = loaded(PyUnicode_DecodeUTF8(json, (Py_ssize_t)strlen(json),
					   "replace"));
	if (dict)
		result = PyObject_CallFunctionObjArgs(callback, dict, NULL);
	if (!result)
		PyErr_WriteUnraisable(callback);
	Py_XDECREF(result);
	Py_XDECREF(dict);
	Py_DECREF(callback);
}

/* No lock is held, and the thread may be one that Python has never seen. */
static void on_oom(const struct gpumem_oom *oom, void *user)
{
	PyGILState_STATE state;

	(void)user;
	if (!Py_IsInitialized())
		return;
	state = PyGILState_Ensure();
	tell(oom->json);
	PyGILState_Release(state);
}

PyObject *oom_set(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"callback", NULL};
	PyObject *callback, *before;

	(void)module;
	if (!parse(args, names, "O:oom_set", keys, &callback))
		return NULL;
	if (callback != Py_None && !PyCallable_Check(callback))
		return refuse(keys[0], "callable or None", callback);
	before = told;
	told = callback == Py_None ? NULL : callback;
	Py_XINCREF(told);
	gpumem_oom_set(told ? on_oom : NULL, NULL);
	Py_XDECREF(before);
	Py_RETURN_NONE;
}
