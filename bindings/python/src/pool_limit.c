/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How much a pool may have, and giving back what it has too much: limits, trim,
 * capacity. Under the GIL, which is let go while the pool asks the driver.
 */
#include "core.h"

PyObject *pool_trim(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"keep_bytes", NULL};
	gpumem_pool *handle = pool_handle((struct pool *)object);
	struct number keep = {"keep_bytes", 0};
	uint64_t released = 0;
	gpumem_status status;

	if (!handle || !parse(args, names, "|O&:trim", keys, bytes_from, &keep))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_trim(handle, keep.value, &released);
	Py_END_ALLOW_THREADS;
	return status == GPUMEM_OK ? PyLong_FromUnsignedLongLong(released)
				   : raise_last(status);
}

PyObject *pool_capacity(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"stream", NULL};
	struct gpumem_capacity capacity = GPUMEM_INIT(struct gpumem_capacity);
	gpumem_pool *handle = pool_handle((struct pool *)object);
	gpumem_stream stream = NULL;
	gpumem_status status;

	if (!handle ||
	    !parse(args, names, "|O&:capacity", keys, stream_from, &stream))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_capacity(handle, stream, &capacity);
	Py_END_ALLOW_THREADS;
	if (status != GPUMEM_OK)
		return raise_last(status);
	return Py_BuildValue("{s:K,s:K}", "max_alloc_bytes",
			     (unsigned long long)capacity.max_alloc_bytes,
			     "now_bytes",
			     (unsigned long long)capacity.now_bytes);
}

PyObject *pool_set_limit(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"limit_bytes", "soft_limit_bytes", NULL};
	struct number limit = {keys[0], 0}, soft = {keys[1], 0};
	gpumem_pool *handle = pool_handle((struct pool *)object);
	gpumem_status status;

	if (!handle || !parse(args, names, "|O&O&:set_limit", keys, bytes_from,
			      &limit, bytes_from, &soft))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_set_limit(handle, limit.value);
	if (status == GPUMEM_OK)
		status = gpumem_pool_set_soft_limit(handle, soft.value);
	Py_END_ALLOW_THREADS;
	return none_or_raise(status);
}

/* ---- limits, as attributes ----------------------------------------------- */

/* `which` is NULL for the hard one. */
PyObject *pool_limit(PyObject *object, void *which)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	gpumem_pool *handle = pool_handle((struct pool *)object);
	gpumem_status status;

	if (!handle)
		return NULL;
	status = gpumem_pool_stats(handle, &stats);
	if (status != GPUMEM_OK)
		return raise_last(status);
	return PyLong_FromUnsignedLongLong(which ? stats.soft_limit_bytes
						 : stats.limit_bytes);
}

/* The other one stays. */
int pool_limit_set(PyObject *object, PyObject *value, void *which)
{
	struct number own = {which ? which : "limit_bytes", 0};
	gpumem_pool *handle = pool_handle((struct pool *)object);
	gpumem_status status;
	PyObject *done;

	if (!value) {
		PyErr_SetString(PyExc_AttributeError,
				"a limit cannot be deleted: 0 is none");
		return -1;
	}
	if (!handle || !bytes_from(value, &own))
		return -1;
	Py_BEGIN_ALLOW_THREADS;
	status = which ? gpumem_pool_set_soft_limit(handle, own.value)
		       : gpumem_pool_set_limit(handle, own.value);
	Py_END_ALLOW_THREADS;
	done = none_or_raise(status);
	Py_XDECREF(done);
	return done ? 0 : -1;
}
