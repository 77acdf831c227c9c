/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A buffer as a tensor of DLPack, of one dimension of bytes: on which device,
 * after which work, and as a copy or not. Nothing here reads tensors of others.
 * Under the GIL.
 */
#include "dlpack.h"

#include <stdlib.h>

/* ---- which device -----------------------------------------------------------
 */

int32_t dlpack_type(const struct buffer *self)
{
	gpumem_kind kind = self->pool->kind;

	if (self->pool->device->caps & GPUMEM_CAP_OBJECTS &&
	    kind == GPUMEM_KIND_DEVICE)
		return 0; /* an address there is a number of ours */
	if (buffer_is_of(self, "cuda"))
		return kind == GPUMEM_KIND_PINNED    ? DL_CUDA_HOST
		       : kind == GPUMEM_KIND_MANAGED ? DL_CUDA_MANAGED
						     : DL_CUDA;
	if (buffer_is_of(self, "hip"))
		return kind == GPUMEM_KIND_PINNED ? DL_ROCM_HOST : DL_ROCM;
	return buffer_host_reads(self) ? DL_CPU : 0;
}

static bool device_of(const struct buffer *self, int32_t *type_out,
		      int32_t *number_out)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	gpumem_status status =
		gpumem_device_get_info(self->pool->device->handle, &info);
	const char *colon = strchr(info.name, ':');

	if (status != GPUMEM_OK) {
		raise_last(status);
		return false;
	}
	*type_out = dlpack_type(self);
	*number_out = *type_out == DL_CPU || !colon
			      ? 0
			      : (int32_t)strtol(colon + 1, NULL, 10);
	if (*type_out)
		return true;
	PyErr_Format(PyExc_BufferError,
		     "DLPack cannot name memory of %s; Buffer.object and "
		     "Buffer.view are its objects, and dl_device=(1, 0) gives "
		     "a copy in the host's memory",
		     info.name);
	return false;
}

PyObject *buffer_dlpack_device(PyObject *object, PyObject *unused)
{
	int32_t type, number;

	(void)unused;
	if (!device_of((struct buffer *)object, &type, &number))
		return NULL;
	return Py_BuildValue("(ii)", (int)type, (int)number);
}

/* ---- order
 * -------------------------------------------------------------------- */

/* What DLPack and CUDA's array interface call 1 is CUDA's NULL. */
static gpumem_stream consumer(gpumem_stream stream)
{
	return (uintptr_t)stream == 1 ? NULL : stream;
}

/* Work on `other` begins when what the block's stream has to do is over, and
 * counts as a use of the block. */
static gpumem_status follow(const struct buffer *self, gpumem_stream other)
{
	gpumem_device *device = self->pool->device->handle;
	gpumem_event *event;
	gpumem_status status;

	if (other == self->stream || !self->ptr)
		return GPUMEM_OK;
	status = gpumem_event_create(device, &event);
	if (status != GPUMEM_OK)
		return status;
	status = gpumem_event_record(event, self->stream);
	if (status == GPUMEM_OK)
		status = gpumem_stream_wait(device, other, event);
	if (status == GPUMEM_OK)
		status = gpumem_use_on(self->ptr, other);
	GPUMEM_IGNORE(gpumem_event_destroy(event));
	return status;
}

static bool is_minus_one(PyObject *stream)
{
	long value = PyLong_Check(stream) ? PyLong_AsLong(stream) : 0;

	if (PyErr_Occurred()) {
		PyErr_Clear(); /* a handle that is too large for it */
		return false;
	}
	return value == -1;
}

/* None is the default stream, of a device; where the host reads too, it may be
 * the host that does. -1 is no order. */
static bool order_for(const struct buffer *self, const struct wish *wish)
{
	gpumem_status status = GPUMEM_OK;
	void *handle;

	if (wish->type != DL_CPU) {
		if (is_minus_one(wish->stream))
			return true;
		if (!stream_from(wish->stream, &handle))
			return false;
		status = follow(self, consumer(handle));
	}
	if (status == GPUMEM_OK &&
	    (wish->type == DL_CPU ||
	     (wish->stream == Py_None && buffer_host_reads(self))))
		status = buffer_settle(self);
	if (status != GPUMEM_OK)
		raise_last(status);
	return status == GPUMEM_OK;
}

/* ---- copies
 * --------------------------------------------------------------------- */

/* In the same pool, by the buffer's stream. */
static PyObject *copy_here(const struct buffer *self, const struct wish *wish)
{
	struct buffer *made = buffer_like(self);
	gpumem_status status = GPUMEM_OK;
	PyObject *capsule = NULL;

	if (!made)
		return NULL;
	if (self->bytes)
		status = gpumem_copy(self->pool->device->handle, made->ptr,
				     self->ptr, self->bytes, self->stream);
	if (status != GPUMEM_OK)
		raise_last(status);
	else if (order_for(made, wish))
		capsule = dlpack_capsule(made, NULL, self->bytes, wish,
					 DL_IS_COPIED);
	Py_DECREF(made);
	return capsule;
}

/* In ordinary memory. */
static PyObject *copy_to_host(const struct buffer *self,
			      const struct wish *wish)
{
	gpumem_status status = GPUMEM_OK;
	void *copy = NULL;

	if (self->bytes && posix_memalign(&copy, DL_ALIGNMENT, self->bytes))
		return PyErr_NoMemory();
	if (copy)
		status = buffer_copy(self, copy, self->ptr, self->bytes,
				     self->stream);
	if (status != GPUMEM_OK) {
		free(copy);
		return raise_last(status);
	}
	return dlpack_capsule(NULL, copy, self->bytes, wish, DL_IS_COPIED);
}

/* ---- what is asked for
 * -------------------------------------------------------- */

/* A pair of ints, or None, which changes nothing. */
static bool pair_from(PyObject *object, const char *name, int *first,
		      int *second)
{
	if (object == Py_None)
		return true;
	if (PyTuple_Check(object) && PyTuple_Size(object) == 2)
		return PyArg_ParseTuple(object, "ii", first, second);
	refuse(name, "a pair of ints", object);
	return false;
}

static bool copy_from(PyObject *object, struct wish *wish)
{
	int truth = object == Py_None ? 0 : PyObject_IsTrue(object);

	wish->copy = truth > 0;
	wish->no_copy = object != Py_None && !truth;
	return truth >= 0;
}

static bool wish_from(PyObject *args, PyObject *names, struct wish *wish)
{
	static char *keys[] = {"stream", "max_version", "dl_device", "copy",
			       NULL};
	PyObject *version = Py_None, *device = Py_None, *copy = Py_None;
	int type = 0, number = 0;

	*wish = (struct wish){.stream = Py_None};
	if (!parse(args, names, "|OOOO:__dlpack__", keys, &wish->stream,
		   &version, &device, &copy) ||
	    !pair_from(version, "max_version", &wish->major, &wish->minor) ||
	    !pair_from(device, "dl_device", &type, &number) ||
	    !copy_from(copy, wish))
		return false;
	wish->type = type;
	wish->number = number;
	return true;
}

static PyObject *refuse_wish(const char *why)
{
	PyErr_SetString(PyExc_BufferError, why);
	return NULL;
}

PyObject *buffer_dlpack(PyObject *object, PyObject *args, PyObject *names)
{
	struct buffer *self = (struct buffer *)object;
	int32_t type = dlpack_type(self), number = 0;
	struct wish wish;
	bool host, same;

	if (!wish_from(args, names, &wish) || !buffer_live(self))
		return NULL;
	host = wish.type == DL_CPU && wish.number == 0 && type != DL_CPU;
	if (!(host && !type) && !device_of(self, &type, &number))
		return NULL;
	same = !wish.type || (wish.type == type && wish.number == number);
	if (!same && !host)
		return refuse_wish("a buffer goes by __dlpack__() to its own "
				   "device or to the host's memory only");
	if (same) {
		wish.type = type;
		wish.number = number;
		if (wish.copy)
			return copy_here(self, &wish);
	} else if (wish.copy || !type || !buffer_host_reads(self)) {
		if (wish.no_copy)
			return refuse_wish("the host cannot read that memory "
					   "without a copy");
		return copy_to_host(self, &wish);
	}
	if (!order_for(self, &wish))
		return NULL;
	return dlpack_capsule(self, NULL, self->bytes, &wish, 0);
}
