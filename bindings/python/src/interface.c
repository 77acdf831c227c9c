/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How other libraries see a buffer by an attribute: CUDA's array interface,
 * NumPy's. Always one dimension of bytes; a consumer views them as what they
 * are, and keeps the buffer. DLPack is dlpack.c. Under the GIL.
 */
#include "core.h"

bool buffer_is_of(const struct buffer *self, const char *backend)
{
	return strcmp(self->pool->device->backend, backend) == 0;
}

bool buffer_host_reads(const struct buffer *self)
{
	return self->pool->kind != GPUMEM_KIND_DEVICE ||
	       self->pool->device->caps & GPUMEM_CAP_HOST_ACCESS;
}

gpumem_status buffer_settle(const struct buffer *self)
{
	gpumem_status status;

	if (!(self->pool->device->caps & GPUMEM_CAP_STREAMS))
		return GPUMEM_OK;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_stream_sync(self->pool->device->handle, self->stream);
	Py_END_ALLOW_THREADS;
	return status;
}

static PyObject *interface_of(const struct buffer *self)
{
	return Py_BuildValue("{s:(n),s:s,s:(NO),s:i}", "shape",
			     (Py_ssize_t)self->bytes, "typestr", "|u1", "data",
			     PyLong_FromVoidPtr(self->ptr), Py_False, "version",
			     3);
}

PyObject *buffer_cuda_interface(PyObject *object, void *unused)
{
	struct buffer *self = (struct buffer *)object;
	PyObject *dict;

	(void)unused;
	if (!buffer_is_of(self, "cuda") && !buffer_is_of(self, "hip")) {
		PyErr_SetString(PyExc_AttributeError,
				"__cuda_array_interface__ is of cuda and hip "
				"devices");
		return NULL;
	}
	if (!buffer_live(self))
		return NULL;
	dict = interface_of(self);
	/* 0 is not allowed there; 1 is the default stream. */
	if (!dict_put(
		    dict, "stream",
		    PyLong_FromSize_t(self->stream ? (size_t)self->stream : 1)))
		Py_CLEAR(dict);
	return dict;
}

PyObject *buffer_array_interface(PyObject *object, void *unused)
{
	struct buffer *self = (struct buffer *)object;
	gpumem_status status;

	(void)unused;
	if (!buffer_host_reads(self) || dlpack_type(self) == 0) {
		PyErr_SetString(PyExc_AttributeError,
				"__array_interface__ is of memory that the "
				"host can use");
		return NULL;
	}
	if (!buffer_live(self))
		return NULL;
	status = buffer_settle(self);
	return status == GPUMEM_OK ? interface_of(self) : raise_last(status);
}
