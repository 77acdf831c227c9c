/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pool.add_peer(). Under the GIL, which is let go while the pool is opened. A
 * device that was closed before the pool could not be closed at all: so the
 * pool refers to its peers.
 */
#include "core.h"

/* A tuple, which the collector does not empty before the pool has ended. False:
 * an exception is set. */
static bool keep(struct pool *self, PyObject *device)
{
	PyObject *before = self->peers, *one, *all;
	int had = before ? PySequence_Contains(before, device) : 0;

	if (had)
		return had > 0;
	one = PyTuple_Pack(1, device);
	all = one;
	if (one && before) {
		all = PySequence_Concat(before, one);
		Py_DECREF(one);
	}
	if (!all)
		return false;
	self->peers = all;
	Py_XDECREF(before);
	return true;
}

PyObject *pool_add_peer(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"device", NULL};
	struct pool *self = (struct pool *)object;
	gpumem_pool *handle = pool_handle(self);
	gpumem_status status;
	PyObject *device;

	if (!handle || !parse(args, names, "O:add_peer", keys, &device))
		return NULL;
	if (!PyObject_TypeCheck(device, device_type))
		return refuse(keys[0], "a gpumem.Device", device);
	if (!keep(self, device))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status =
		gpumem_pool_add_peer(handle, ((struct device *)device)->handle);
	Py_END_ALLOW_THREADS;
	return none_or_raise(status);
}
