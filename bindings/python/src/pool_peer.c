/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pool.add_peer(). Under the GIL, which is let go while the pool is opened. A
 * device that was closed before the pool could not be closed at all: so the pool
 * refers to its peers.
 */
#include "core.h"

PyObject *pool_add_peer(PyObject *object, PyObject *device)
{
	struct pool *self = (struct pool *)object;
	gpumem_pool *handle = pool_handle(self);
	gpumem_status status;

	if (!handle)
		return NULL;
	if (!PyObject_TypeCheck(device, device_type)) {
		PyErr_SetString(PyExc_TypeError, "a peer is a gpumem.Device");
		return NULL;
	}
	if (!self->peers)
		self->peers = PySet_New(NULL);
	if (!self->peers || PySet_Add(self->peers, device) != 0)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_add_peer(handle, ((struct device *)device)->handle);
	Py_END_ALLOW_THREADS;
	return none_or_raise(status);
}
