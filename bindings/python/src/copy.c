/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The bytes of a buffer: in, out, and filled. Needs CAP_COPY. A copy waits for
 * its stream, so that no memory of Python's has to outlive the call. Without
 * the GIL while it waits.
 */
#include "core.h"

static bool in_range(const struct buffer *self, Py_ssize_t offset,
		     Py_ssize_t bytes)
{
	if (offset >= 0 && bytes >= 0 && (size_t)offset <= self->bytes &&
	    (size_t)bytes <= self->bytes - (size_t)offset)
		return true;
	PyErr_Format(PyExc_ValueError,
		     "%zd bytes at %zd are not within a buffer of %zu bytes",
		     bytes, offset, self->bytes);
	return false;
}

gpumem_status buffer_copy(const struct buffer *self, void *to, const void *from,
			  size_t bytes, gpumem_stream stream)
{
	gpumem_device *device = self->pool->device->handle;
	gpumem_status status;

	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_copy(device, to, from, bytes, stream);
	if (status == GPUMEM_OK)
		status = gpumem_stream_sync(device, stream);
	Py_END_ALLOW_THREADS;
	return status;
}

PyObject *buffer_write(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"data", "offset", "stream", NULL};
	struct buffer *self = (struct buffer *)object;
	gpumem_stream stream = self->stream;
	struct offset offset = {"offset", 0};
	PyObject *data, *bytes, *result = NULL;
	Py_ssize_t count;
	char *from;

	if (!parse(args, names, "O|O&O&:write", keys, &data, offset_from,
		   &offset, other_stream_from, &stream) ||
	    !buffer_live(self))
		return NULL;
	/* The same object if it is bytes already. */
	bytes = PyBytes_FromObject(data);
	if (bytes && PyBytes_AsStringAndSize(bytes, &from, &count) == 0 &&
	    in_range(self, offset.value, count))
		result = none_or_raise(
			buffer_copy(self, (char *)self->ptr + offset.value,
				    from, (size_t)count, stream));
	Py_XDECREF(bytes);
	return result;
}

PyObject *buffer_read(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"nbytes", "offset", "stream", NULL};
	struct buffer *self = (struct buffer *)object;
	gpumem_stream stream = self->stream;
	struct offset count = {"nbytes", -1}, offset = {"offset", 0};
	gpumem_status status;
	PyObject *bytes;

	if (!parse(args, names, "|O&O&O&:read", keys, offset_from, &count,
		   offset_from, &offset, other_stream_from, &stream) ||
	    !buffer_live(self))
		return NULL;
	if (count.value == -1)
		count.value = (Py_ssize_t)self->bytes - offset.value;
	if (!in_range(self, offset.value, count.value))
		return NULL;
	bytes = PyBytes_FromStringAndSize(NULL, count.value);
	if (!bytes)
		return NULL;
	status = buffer_copy(self, PyBytes_AsString(bytes),
			     (const char *)self->ptr + offset.value,
			     (size_t)count.value, stream);
	if (status == GPUMEM_OK)
		return bytes;
	Py_DECREF(bytes);
	return raise_last(status);
}

PyObject *buffer_fill(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"value", "stream", NULL};
	struct buffer *self = (struct buffer *)object;
	gpumem_stream stream = self->stream;
	struct number value = {"value", 0};

	if (!parse(args, names, "|O&O&:fill", keys, byte_from, &value,
		   other_stream_from, &stream) ||
	    !buffer_live(self))
		return NULL;
	return none_or_raise(gpumem_fill(self->pool->device->handle, self->ptr,
					 (unsigned char)value.value,
					 self->bytes, stream));
}
