/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pressure callbacks. The library may be inside a callback in another thread
 * when it is removed, so what it was given is never freed: it only loses its
 * Python function, under the GIL. Any call of Python's, a comparison or the end
 * of a function, may add and remove callbacks too: what a loop stands on stays
 * readable, and is looked for again.
 */
#include "core.h"

#include <stdlib.h>

struct pressure {
	struct pressure *next; /* of the pool's callbacks, newest first */
	PyObject *callback;    /* NULL: removed */
};

static const char *limit_name(gpumem_pressure_limit limit)
{
	switch (limit) {
	case GPUMEM_PRESSURE_SOFT:
		return "soft";
	case GPUMEM_PRESSURE_HARD:
		return "hard";
	case GPUMEM_PRESSURE_DEVICE:
		return "device";
	}
	return "unknown";
}

static bool call(PyObject *callback, const struct gpumem_pressure *pressure)
{
	PyObject *result = PyObject_CallFunction(
		callback, "{s:K,s:s,s:K,s:K}", "needed_bytes",
		(unsigned long long)pressure->needed_bytes, "limit",
		limit_name(pressure->limit), "limit_bytes",
		(unsigned long long)pressure->limit_bytes, "reserved_bytes",
		(unsigned long long)pressure->reserved_bytes);
	int again = result ? PyObject_IsTrue(result) : -1;

	Py_XDECREF(result);
	if (again < 0)
		PyErr_WriteUnraisable(callback);
	return again > 0;
}

/* No lock is held, and the thread may be one that Python has never seen. */
static bool on_pressure(gpumem_pool *pool,
			const struct gpumem_pressure *pressure, void *user)
{
	struct pressure *own = user;
	PyGILState_STATE state;
	PyObject *callback;
	bool again = false;

	(void)pool;
	if (!Py_IsInitialized())
		return false;
	state = PyGILState_Ensure();
	callback = own->callback;
	if (callback) {
		Py_INCREF(callback);
		again = call(callback, pressure);
		Py_DECREF(callback);
	}
	PyGILState_Release(state);
	return again;
}

static char *keys[] = {"callback", NULL};

PyObject *pool_pressure_add(PyObject *object, PyObject *args, PyObject *names)
{
	struct pool *self = (struct pool *)object;
	gpumem_pool *handle = pool_handle(self);
	struct pressure *own;
	gpumem_status status;
	PyObject *callback;

	if (!handle || !parse(args, names, "O:pressure_add", keys, &callback))
		return NULL;
	if (!PyCallable_Check(callback))
		return refuse(keys[0], "callable", callback);
	own = malloc(sizeof(*own));
	if (!own)
		return PyErr_NoMemory();
	own->callback = callback;
	status = gpumem_pool_pressure_add(handle, on_pressure, own);
	if (status != GPUMEM_OK) {
		free(own);
		return raise_last(status);
	}
	Py_INCREF(callback);
	own->next = self->callbacks;
	self->callbacks = own;
	Py_RETURN_NONE;
}

/* False: it is in the list no more. */
static bool take_out(struct pool *self, struct pressure *own)
{
	struct pressure **link = &self->callbacks;

	while (*link && *link != own)
		link = &(*link)->next;
	if (!*link)
		return false;
	*link = own->next;
	if (self->handle)
		GPUMEM_IGNORE(gpumem_pool_pressure_remove(self->handle,
							  on_pressure, own));
	Py_CLEAR(own->callback);
	return true;
}

/* As PyObject_RichCompareBool(); one that was removed meanwhile is no other. */
static int is_same(const struct pressure *own, PyObject *callback)
{
	PyObject *mine = own->callback;
	int same;

	if (!mine)
		return 0;
	Py_INCREF(mine);
	same = PyObject_RichCompareBool(mine, callback, Py_EQ);
	Py_DECREF(mine);
	return same;
}

PyObject *pool_pressure_remove(PyObject *object, PyObject *args,
			       PyObject *names)
{
	struct pool *self = (struct pool *)object;
	struct pressure *at, *found = NULL;
	PyObject *callback;

	if (!pool_handle(self) ||
	    !parse(args, names, "O:pressure_remove", keys, &callback))
		return NULL;
	for (at = self->callbacks; at; at = at->next) {
		int same = is_same(at, callback);

		if (same < 0)
			return NULL;
		if (same)
			found = at; /* the last is the oldest */
	}
	if (found && take_out(self, found))
		Py_RETURN_NONE;
	PyErr_SetString(PyExc_ValueError,
			"no such callback was added by this Pool");
	return NULL;
}

int pool_pressure_visit(const struct pool *self, visitproc visit, void *arg)
{
	for (const struct pressure *at = self->callbacks; at; at = at->next)
		Py_VISIT(at->callback);
	return 0;
}

void pool_pressure_drop(struct pool *self)
{
	while (self->callbacks)
		take_out(self, self->callbacks);
}
