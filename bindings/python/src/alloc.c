/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pool.alloc() and Pool.malloc(), the hot path of this module: with nothing but
 * a size and a stream the arguments are parsed by hand. The GIL is let go for
 * the allocation, which may wait for a device, or for a callback that needs it.
 */
#include "core.h"

static struct buffer *made(struct pool *pool, void *ptr, size_t bytes,
			   gpumem_stream stream)
{
	struct buffer *self = PyObject_GC_New(struct buffer, buffer_type);

	if (!self) {
		GPUMEM_IGNORE(gpumem_free(ptr, stream));
		return NULL;
	}
	Py_INCREF(pool);
	self->weak = NULL;
	self->pool = pool;
	self->ptr = ptr;
	self->bytes = bytes;
	self->stream = stream;
	self->exports = 0;
	self->freed = false;
	PyObject_GC_Track((PyObject *)self);
	return self;
}

/* nbytes, or nbytes and a stream, and no names. */
static bool is_plain(PyObject *args, PyObject *names)
{
	Py_ssize_t count = PyTuple_Size(args);

	return !names && (count == 1 || count == 2);
}

static bool two_from(PyObject *args, size_t *bytes, gpumem_stream *stream)
{
	struct number number = {"nbytes", 0};

	if (!bytes_from(PyTuple_GetItem(args, 0), &number))
		return false;
	*bytes = (size_t)number.value;
	*stream = NULL;
	return PyTuple_Size(args) == 1 ||
	       stream_from(PyTuple_GetItem(args, 1), stream);
}

static bool options_from(PyObject *args, PyObject *names, size_t *bytes,
			 gpumem_stream *stream,
			 struct gpumem_alloc_options *options)
{
	static char *keys[] = {"nbytes", "stream", "alignment", "zero",
			       "wait",	 "grow",   NULL};
	struct number size = {"nbytes", 0}, alignment = {"alignment", 0};
	int zero = 0, wait = 1, grow = 1;

	*stream = NULL;
	if (!parse(args, names, "O&|O&$O&ppp:alloc", keys, bytes_from, &size,
		   stream_from, stream, bytes_from, &alignment, &zero, &wait,
		   &grow))
		return false;
	*bytes = (size_t)size.value;
	options->alignment = (size_t)alignment.value;
	options->flags = (zero ? GPUMEM_ALLOC_ZERO : 0) |
			 (wait ? 0 : GPUMEM_ALLOC_NO_WAIT) |
			 (grow ? 0 : GPUMEM_ALLOC_NO_GROW);
	return true;
}

PyObject *pool_alloc(PyObject *object, PyObject *args, PyObject *names)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	struct pool *self = (struct pool *)object;
	gpumem_pool *handle = pool_handle(self);
	gpumem_status status;
	gpumem_stream stream;
	size_t bytes;
	void *ptr;
	bool plain;

	if (!handle)
		return NULL;
	plain = is_plain(args, names);
	if (plain ? !two_from(args, &bytes, &stream)
		  : !options_from(args, names, &bytes, &stream, &options))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	if (plain)
		status = gpumem_alloc(handle, bytes, stream, &ptr);
	else
		status = gpumem_alloc_with(handle, bytes, stream, &options,
					   &ptr, NULL);
	Py_END_ALLOW_THREADS;
	if (status != GPUMEM_OK)
		return raise_last(status);
	return (PyObject *)made(self, ptr, bytes, stream);
}

struct buffer *buffer_like(const struct buffer *self)
{
	gpumem_pool *handle = pool_handle(self->pool);
	gpumem_status status;
	void *ptr;

	if (!handle)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_alloc(handle, self->bytes, self->stream, &ptr);
	Py_END_ALLOW_THREADS;
	if (status != GPUMEM_OK) {
		raise_last(status);
		return NULL;
	}
	return made(self->pool, ptr, self->bytes, self->stream);
}

/* The same by names. */
static bool two_named(PyObject *args, PyObject *names, size_t *bytes,
		      gpumem_stream *stream)
{
	static char *keys[] = {"nbytes", "stream", NULL};
	struct number size = {"nbytes", 0};

	*stream = NULL;
	if (!parse(args, names, "O&|O&:malloc", keys, bytes_from, &size,
		   stream_from, stream))
		return false;
	*bytes = (size_t)size.value;
	return true;
}

PyObject *pool_malloc(PyObject *object, PyObject *args, PyObject *names)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);
	gpumem_status status;
	gpumem_stream stream;
	size_t bytes;
	void *ptr;

	if (!handle ||
	    !(is_plain(args, names) ? two_from(args, &bytes, &stream)
				    : two_named(args, names, &bytes, &stream)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_alloc(handle, bytes, stream, &ptr);
	Py_END_ALLOW_THREADS;
	return status == GPUMEM_OK ? PyLong_FromVoidPtr(ptr)
				   : raise_last(status);
}
