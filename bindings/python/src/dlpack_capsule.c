/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A capsule with a tensor of DLPack: the struct of 1.x for a consumer that says
 * it knows it, else that of before. The tensor refers to the buffer, and with
 * it to the block, or has a copy of its own. Its end may come from any thread.
 */
#include "dlpack.h"

#include <stdlib.h>

struct dl_tensor {
	void *data;
	int32_t device_type, device_id;
	int32_t dimensions;
	uint8_t type, bits;
	uint16_t lanes;
	int64_t *shape, *strides;
	uint64_t offset;
};

struct dl_before {
	struct dl_tensor tensor;
	void *context;
	void (*deleter)(struct dl_before *self);
};

struct dl_since {
	uint32_t major, minor;
	void *context;
	void (*deleter)(struct dl_since *self);
	uint64_t flags;
	struct dl_tensor tensor;
};

/* One of them, as the consumer asks, and what both refer to. Either the buffer
 * or the copy is not NULL, or there are no bytes. */
struct exported {
	union {
		struct dl_before before;
		struct dl_since since;
	};
	int64_t shape, stride;
	struct buffer *of; /* a reference */
	void *copy;	   /* ordinary memory */
};

static const char *const NAMES[] = {"dltensor", "dltensor_versioned"};

/* From any thread. */
static void end(struct exported *made)
{
	struct buffer *of = made->of;
	PyGILState_STATE state;

	free(made->copy);
	free(made);
	if (!of || !Py_IsInitialized())
		return;
	state = PyGILState_Ensure();
	of->exports--;
	Py_DECREF(of);
	PyGILState_Release(state);
}

static void end_before(struct dl_before *managed)
{
	end(managed->context);
}

static void end_since(struct dl_since *managed)
{
	end(managed->context);
}

/* Who takes the tensor renames the capsule. */
static void capsule_gone(PyObject *capsule)
{
	for (int i = 0; i < 2; i++)
		if (PyCapsule_IsValid(capsule, NAMES[i]))
			end(PyCapsule_GetPointer(capsule, NAMES[i]));
}

/* A version that the consumer knows. */
static struct dl_since since_for(const struct wish *wish, uint64_t flags)
{
	bool older = wish->major == DL_MAJOR && wish->minor < DL_MINOR;

	return (struct dl_since){
		.major = DL_MAJOR,
		.minor = older ? (uint32_t)wish->minor : DL_MINOR,
		.deleter = end_since,
		.flags = flags,
	};
}

PyObject *dlpack_capsule(struct buffer *of, void *copy, size_t bytes,
			 const struct wish *wish, uint64_t flags)
{
	struct exported *made = calloc(1, sizeof(*made));
	bool versioned = wish->major >= 1;
	struct dl_tensor tensor = {
		.data = of ? of->ptr : copy,
		.device_type = wish->type,
		.device_id = wish->number,
		.dimensions = 1,
		.type = DL_UINT,
		.bits = 8,
		.lanes = 1,
	};
	PyObject *capsule;

	if (!made) {
		free(copy);
		return PyErr_NoMemory();
	}
	made->shape = (int64_t)bytes;
	made->stride = 1;
	made->copy = copy;
	tensor.shape = &made->shape;
	tensor.strides = &made->stride;
	if (versioned) {
		made->since = since_for(wish, flags);
		made->since.context = made;
		made->since.tensor = tensor;
	} else {
		made->before = (struct dl_before){tensor, made, end_before};
	}
	capsule = PyCapsule_New(made, NAMES[versioned], capsule_gone);
	if (!capsule) {
		end(made);
		return NULL;
	}
	if (of) {
		Py_INCREF(of);
		of->exports++;
		made->of = of;
	}
	return capsule;
}
