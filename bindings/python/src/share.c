/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Blocks that several processes use: a buffer's description, and the memory of
 * another process's by address. gpumem._share has the object of it. The GIL is
 * let go for calls of the driver.
 */
#include "core.h"

#include <unistd.h>

/* A list of ints, in which the descriptors are the caller's; NULL: they are
 * closed, and an exception is set. */
static PyObject *list_of(const int *fds, uint32_t count)
{
	PyObject *list = PyList_New(0);

	for (uint32_t i = 0; i < count && list; i++) {
		PyObject *number = PyLong_FromLong(fds[i]);

		if (!number || PyList_Append(list, number) < 0)
			Py_CLEAR(list);
		Py_XDECREF(number);
	}
	for (uint32_t i = 0; i < count && !list; i++)
		close(fds[i]);
	return list;
}

static gpumem_status export_to(void *ptr, struct gpumem_shared *shared,
			       int *fds, size_t room)
{
	gpumem_status status;

	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_export(ptr, shared, fds, room);
	Py_END_ALLOW_THREADS;
	return status;
}

PyObject *buffer_share(PyObject *object, PyObject *unused)
{
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	struct buffer *self = (struct buffer *)object;
	PyObject *list = NULL;
	gpumem_status status;
	int *fds;

	(void)unused;
	if (!buffer_live(self))
		return NULL;
	status = export_to(self->ptr, &shared, NULL, 0);
	if (status != GPUMEM_OK)
		return raise_last(status);
	fds = PyMem_Malloc((shared.fd_count + 1) * sizeof(*fds));
	if (!fds)
		return PyErr_NoMemory();
	shared.size = sizeof(shared);
	status = export_to(self->ptr, &shared, fds, shared.fd_count);
	if (status == GPUMEM_OK)
		list = list_of(fds, shared.fd_count);
	else
		raise_last(status);
	PyMem_Free(fds);
	return list ? Py_BuildValue("y#N", (const char *)&shared,
				    (Py_ssize_t)sizeof(shared), list)
		    : NULL;
}

/* To be freed by PyMem_Free(); NULL: an exception is set. */
static int *fds_from(PyObject *list, size_t *count_out)
{
	Py_ssize_t count = PySequence_Size(list);
	int *fds;

	if (count < 0)
		return NULL;
	fds = PyMem_Malloc(((size_t)count + 1) * sizeof(*fds));
	if (!fds) {
		PyErr_NoMemory();
		return NULL;
	}
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *number = PySequence_GetItem(list, i);

		fds[i] = number ? (int)PyLong_AsLong(number) : -1;
		Py_XDECREF(number);
		if (PyErr_Occurred()) {
			PyMem_Free(fds);
			return NULL;
		}
	}
	*count_out = (size_t)count;
	return fds;
}

PyObject *share_import(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"device", "description", "fds", NULL};
	struct gpumem_shared shared = {0};
	const char *bytes;
	Py_ssize_t size;
	PyObject *device, *list;
	gpumem_status status;
	size_t count;
	void *ptr;
	int *fds;

	(void)module;
	if (!parse(args, names, "O!y#O:share_import", keys, device_type,
		   &device, &bytes, &size, &list))
		return NULL;
	if ((size_t)size < sizeof(shared)) {
		PyErr_SetString(PyExc_ValueError,
				"that is no description of a block");
		return NULL;
	}
	memcpy(&shared, bytes, sizeof(shared));
	fds = fds_from(list, &count);
	if (!fds)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_import(((struct device *)device)->handle, &shared, fds,
			       count, &ptr);
	Py_END_ALLOW_THREADS;
	PyMem_Free(fds);
	if (status != GPUMEM_OK)
		return raise_last(status);
	return Py_BuildValue("NK", PyLong_FromVoidPtr(ptr),
			     (unsigned long long)shared.bytes);
}

PyObject *share_close(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"address", NULL};
	PyObject *address;
	gpumem_status status;
	void *ptr;

	(void)module;
	if (!parse(args, names, "O:share_close", keys, &address) ||
	    !address_from(address, &ptr))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_import_close(ptr);
	Py_END_ALLOW_THREADS;
	return none_or_raise(status);
}

static gpumem_status copy(PyObject *device, void *to, const void *from,
			  size_t bytes, gpumem_stream stream)
{
	gpumem_device *handle = ((struct device *)device)->handle;
	gpumem_status status;

	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_copy(handle, to, from, bytes, stream);
	if (status == GPUMEM_OK)
		status = gpumem_stream_sync(handle, stream);
	Py_END_ALLOW_THREADS;
	return status;
}

PyObject *share_read(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"device", "address", "nbytes", "stream", NULL};
	struct offset count = {"nbytes", 0};
	PyObject *device, *address, *bytes;
	gpumem_stream stream = NULL;
	gpumem_status status;
	void *ptr;

	(void)module;
	if (!parse(args, names, "O!OO&|O&:share_read", keys, device_type,
		   &device, &address, offset_from, &count, stream_from,
		   &stream) ||
	    !address_from(address, &ptr))
		return NULL;
	bytes = PyBytes_FromStringAndSize(NULL, count.value);
	if (!bytes)
		return NULL;
	status = copy(device, PyBytes_AsString(bytes), ptr, (size_t)count.value,
		      stream);
	if (status == GPUMEM_OK)
		return bytes;
	Py_DECREF(bytes);
	return raise_last(status);
}

PyObject *share_write(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"device", "address", "data", "stream", NULL};
	gpumem_stream stream = NULL;
	PyObject *device, *address;
	const char *bytes;
	Py_ssize_t size;
	void *ptr;

	(void)module;
	if (!parse(args, names, "O!Oy#|O&:share_write", keys, device_type,
		   &device, &address, &bytes, &size, stream_from, &stream) ||
	    !address_from(address, &ptr))
		return NULL;
	return none_or_raise(copy(device, ptr, bytes, (size_t)size, stream));
}
