/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How other libraries see a buffer: DLPack, CUDA's array interface, NumPy's.
 * Always one dimension of bytes; a consumer views them as what they are. The
 * tensor of a DLPack capsule refers to the buffer, and with it to the block.
 */
#include "core.h"

#include <stdlib.h>

/* ---- DLPack, as every version before 1.0 has it -------------------------- */

enum {
	DL_CPU = 1,
	DL_CUDA = 2,
	DL_CUDA_HOST = 3,
	DL_OPENCL = 4,
	DL_ROCM = 10,
	DL_ROCM_HOST = 11,
	DL_CUDA_MANAGED = 13,
	DL_UINT = 1,
};

struct dl_tensor {
	void *data;
	int32_t device_type, device_id;
	int32_t dimensions;
	uint8_t type, bits;
	uint16_t lanes;
	int64_t *shape, *strides;
	uint64_t offset;
};

struct dl_managed {
	struct dl_tensor tensor;
	void *context;
	void (*deleter)(struct dl_managed *self);
	int64_t shape; /* ours */
};

/* ---- which device -----------------------------------------------------------
 */

static bool is_backend(const struct buffer *self, const char *name)
{
	return strcmp(self->pool->device->backend, name) == 0;
}

static bool host_reads(const struct buffer *self)
{
	return self->pool->kind != GPUMEM_KIND_DEVICE ||
	       self->pool->device->caps & GPUMEM_CAP_HOST_ACCESS;
}

/* 0: DLPack has no name for it. */
static int32_t device_type_of(const struct buffer *self)
{
	gpumem_kind kind = self->pool->kind;

	if (self->pool->device->caps & GPUMEM_CAP_OBJECTS &&
	    kind == GPUMEM_KIND_DEVICE)
		return 0; /* an address there is a number of ours */
	if (is_backend(self, "cuda"))
		return kind == GPUMEM_KIND_PINNED    ? DL_CUDA_HOST
		       : kind == GPUMEM_KIND_MANAGED ? DL_CUDA_MANAGED
						     : DL_CUDA;
	if (is_backend(self, "hip"))
		return kind == GPUMEM_KIND_PINNED ? DL_ROCM_HOST : DL_ROCM;
	return host_reads(self) ? DL_CPU : 0;
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
	*type_out = device_type_of(self);
	*number_out = *type_out == DL_CPU || !colon
			      ? 0
			      : (int32_t)strtol(colon + 1, NULL, 10);
	if (*type_out)
		return true;
	PyErr_Format(PyExc_BufferError,
		     "DLPack cannot name memory of %s; Buffer.object and "
		     "Buffer.view are its objects",
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

/* The host reads: all that was queued has to be over. */
static gpumem_status settle(const struct buffer *self)
{
	gpumem_status status;

	if (!(self->pool->device->caps & GPUMEM_CAP_STREAMS))
		return GPUMEM_OK;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_stream_sync(self->pool->device->handle, self->stream);
	Py_END_ALLOW_THREADS;
	return status;
}

/* `stream` of __dlpack__(): None is the default one, -1 no order. */
static bool order_for(const struct buffer *self, PyObject *stream, int32_t type)
{
	gpumem_status status;
	void *handle;

	if (type == DL_CPU) {
		status = settle(self);
	} else {
		if (PyLong_Check(stream) && PyLong_AsLong(stream) == -1 &&
		    !PyErr_Occurred())
			return true;
		PyErr_Clear();
		if (!stream_from(stream, &handle))
			return false;
		status = follow(self, consumer(handle));
	}
	if (status != GPUMEM_OK)
		raise_last(status);
	return status == GPUMEM_OK;
}

/* ---- DLPack
 * --------------------------------------------------------------------- */

/* From any thread. */
static void delete (struct dl_managed *managed)
{
	struct buffer *self = managed->context;
	PyGILState_STATE state;

	free(managed);
	if (!Py_IsInitialized())
		return;
	state = PyGILState_Ensure();
	self->exports--;
	Py_DECREF(self);
	PyGILState_Release(state);
}

/* Who takes the tensor renames the capsule. */
static void capsule_gone(PyObject *capsule)
{
	struct dl_managed *managed;

	if (!PyCapsule_IsValid(capsule, "dltensor"))
		return;
	managed = PyCapsule_GetPointer(capsule, "dltensor");
	managed->deleter(managed);
}

static PyObject *capsule_of(struct buffer *self, int32_t type, int32_t number)
{
	struct dl_managed *managed = calloc(1, sizeof(*managed));
	PyObject *capsule;

	if (!managed)
		return PyErr_NoMemory();
	managed->shape = (int64_t)self->bytes;
	managed->tensor = (struct dl_tensor){
		.data = self->ptr,
		.device_type = type,
		.device_id = number,
		.dimensions = 1,
		.type = DL_UINT,
		.bits = 8,
		.lanes = 1,
		.shape = &managed->shape,
	};
	managed->context = self;
	managed->deleter = delete;
	capsule = PyCapsule_New(managed, "dltensor", capsule_gone);
	if (!capsule) {
		free(managed);
		return NULL;
	}
	Py_INCREF(self);
	self->exports++;
	return capsule;
}

/* What the consumer asks for beside the stream: no other device, no copy. */
static bool as_asked(PyObject *device, PyObject *copy, int32_t type,
		     int32_t number)
{
	int wanted_type = type, wanted_number = number;

	if (device != Py_None &&
	    !PyArg_ParseTuple(device, "ii", &wanted_type, &wanted_number))
		return false;
	if (wanted_type == type && wanted_number == number && copy != Py_True)
		return true;
	PyErr_SetString(PyExc_BufferError,
			"a buffer is neither copied nor moved to another "
			"device by __dlpack__()");
	return false;
}

PyObject *buffer_dlpack(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"stream", "max_version", "dl_device", "copy",
			       NULL};
	struct buffer *self = (struct buffer *)object;
	PyObject *stream = Py_None, *version, *device = Py_None,
		 *copy = Py_None;
	int32_t type, number;

	if (!PyArg_ParseTupleAndKeywords(args, names, "|OOOO", keys, &stream,
					 &version, &device, &copy) ||
	    !buffer_live(self) || !device_of(self, &type, &number) ||
	    !as_asked(device, copy, type, number) ||
	    !order_for(self, stream, type))
		return NULL;
	return capsule_of(self, type, number);
}

/* ---- array interfaces
 * -------------------------------------------------------- */

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
	if (!is_backend(self, "cuda") && !is_backend(self, "hip")) {
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
	if (!host_reads(self) || device_type_of(self) == 0) {
		PyErr_SetString(PyExc_AttributeError,
				"__array_interface__ is of memory that the "
				"host can use");
		return NULL;
	}
	if (!buffer_live(self))
		return NULL;
	status = settle(self);
	return status == GPUMEM_OK ? interface_of(self) : raise_last(status);
}
