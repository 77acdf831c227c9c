/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Ranges of a pool's addresses: which there are, and pins. Python has no hook:
 * it would be called with the pool's lock held, and need the GIL, which another
 * thread may hold that waits for the pool.
 */
#include "core.h"

#include <stdlib.h>

struct list {
	struct gpumem_range *of;
	size_t count;
	bool failed;
};

/* With the pool's lock held: nothing of Python's is touched. */
static void keep(gpumem_pool *pool, const struct gpumem_range *range,
		 void *user)
{
	struct list *list = user;
	struct gpumem_range *more =
		realloc(list->of, (list->count + 1) * sizeof(*more));

	(void)pool;
	if (!more) {
		list->failed = true;
		return;
	}
	list->of = more;
	more[list->count++] = *range;
}

static PyObject *list_of(const struct list *list)
{
	PyObject *result = PyList_New(0);

	for (size_t i = 0; i < list->count && result; i++) {
		PyObject *pair = Py_BuildValue(
			"(NK)", PyLong_FromVoidPtr(list->of[i].ptr),
			(unsigned long long)list->of[i].bytes);

		if (!pair || PyList_Append(result, pair) < 0)
			Py_CLEAR(result);
		Py_XDECREF(pair);
	}
	return result;
}

PyObject *pool_ranges(PyObject *object, PyObject *unused)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);
	struct list list = {0};
	gpumem_status status;
	PyObject *result;

	(void)unused;
	if (!handle)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_range_hook_add(handle, keep, &list);
	if (status == GPUMEM_OK)
		status = gpumem_range_hook_remove(handle, keep, &list);
	Py_END_ALLOW_THREADS;
	if (status != GPUMEM_OK)
		result = raise_last(status);
	else
		result = list.failed ? PyErr_NoMemory() : list_of(&list);
	free(list.of);
	return result;
}

typedef gpumem_status pin_fn(gpumem_pool *pool, const void *ptr, size_t bytes,
			     const char *name);

static PyObject *pin(PyObject *object, PyObject *args, PyObject *names,
		     const char *format, pin_fn *call)
{
	static char *keys[] = {"address", "nbytes", "name", NULL};
	gpumem_pool *handle = pool_handle((struct pool *)object);
	struct number count = {"nbytes", 0};
	const char *name = "python";
	PyObject *address;
	gpumem_status status;
	void *ptr;

	if (!handle ||
	    !parse(args, names, format, keys, &address, bytes_from, &count,
		   &name) ||
	    !address_from(address, &ptr))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = call(handle, ptr, (size_t)count.value, name);
	Py_END_ALLOW_THREADS;
	return none_or_raise(status);
}

PyObject *pool_pin(PyObject *object, PyObject *args, PyObject *names)
{
	return pin(object, args, names, "OO&|s:pin", gpumem_range_pin);
}

PyObject *pool_unpin(PyObject *object, PyObject *args, PyObject *names)
{
	return pin(object, args, names, "OO&|s:unpin", gpumem_range_unpin);
}
