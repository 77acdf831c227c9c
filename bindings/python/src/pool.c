/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How a gpumem.Pool begins and ends: a pool of a device, or a device's default
 * one. Its type is in pool_type.c. Under the GIL, but for calls that may wait.
 */
#include "core.h"

gpumem_pool *pool_handle(const struct pool *self)
{
	if (!self->handle)
		PyErr_SetString(PyExc_ValueError, "the pool was closed");
	return self->handle;
}

PyObject *pool_wrap(PyTypeObject *type, struct device *device,
		    gpumem_pool *handle, gpumem_kind kind, bool owned)
{
	struct pool *self = PyObject_GC_New(struct pool, type);

	if (!self) {
		if (owned)
			GPUMEM_IGNORE(gpumem_pool_destroy(handle, 0));
		return NULL;
	}
	Py_INCREF(device);
	self->weak = NULL;
	self->device = device;
	self->handle = handle;
	self->callbacks = NULL;
	self->peers = NULL;
	self->kind = kind;
	self->owned = owned;
	self->lent = false;
	PyObject_GC_Track((PyObject *)self);
	return (PyObject *)self;
}

static bool kind_from(const char *name, gpumem_kind *kind_out)
{
	static const char *const names[] = {
		[GPUMEM_KIND_DEVICE] = "device",
		[GPUMEM_KIND_PINNED] = "pinned",
		[GPUMEM_KIND_MANAGED] = "managed",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0) {
			*kind_out = (gpumem_kind)i;
			return true;
		}
	PyErr_Format(
		PyExc_ValueError,
		"kind is \"device\", \"pinned\" or \"managed\", not \"%s\"",
		name);
	return false;
}

static bool share_from(const char *name, uint32_t *share_out)
{
	for (uint32_t i = GPUMEM_SHARE_NONE; i <= GPUMEM_SHARE_IPC; i++)
		if (strcmp(name, gpumem_share_name((gpumem_share)i)) == 0) {
			*share_out = i;
			return true;
		}
	PyErr_Format(PyExc_ValueError,
		     "shareable is \"none\", \"any\", \"fd\" or \"ipc\", not "
		     "\"%s\"",
		     name);
	return false;
}

/* A new reference to `device`, or to one that is opened by its name. */
static struct device *device_from(PyObject *device)
{
	if (PyObject_TypeCheck(device, device_type)) {
		Py_INCREF(device);
		return (struct device *)device;
	}
	if (device != Py_None && !PyUnicode_Check(device)) {
		refuse("device", "a gpumem.Device, its name or None", device);
		return NULL;
	}
	return (struct device *)PyObject_CallFunctionObjArgs(
		(PyObject *)device_type, device, NULL);
}

PyObject *pool_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
	static char *keys[] = {"device",	   "name",	 "limit_bytes",
			       "soft_limit_bytes", "page_bytes", "kind",
			       "shareable",	   NULL};
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct number limit = {"limit_bytes", 0}, page = {"page_bytes", 0};
	struct number soft = {"soft_limit_bytes", 0};
	PyObject *object = Py_None, *self = NULL;
	const char *kind = "device", *share = "none";
	struct device *device;
	gpumem_status status;
	gpumem_pool *handle;

	if (!parse(args, names, "|O$zO&O&O&ss:Pool", keys, &object,
		   &config.name, bytes_from, &limit, bytes_from, &soft,
		   bytes_from, &page, &kind, &share) ||
	    !kind_from(kind, &config.kind) ||
	    !share_from(share, &config.shareable))
		return NULL;
	config.limit_bytes = limit.value;
	config.soft_limit_bytes = soft.value;
	config.page_bytes = page.value;
	device = device_from(object);
	if (!device)
		return NULL;
	status = gpumem_pool_create(device->handle, &config, &handle);
	if (status == GPUMEM_OK)
		self = pool_wrap(type, device, handle, config.kind, true);
	else
		raise_last(status);
	Py_DECREF(device);
	return self;
}

static gpumem_status destroy(gpumem_pool *handle, unsigned flags)
{
	gpumem_status status;

	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_destroy(handle, flags);
	Py_END_ALLOW_THREADS;
	return status;
}

int pool_traverse(PyObject *object, visitproc visit, void *arg)
{
	struct pool *self = (struct pool *)object;

	Py_VISIT(Py_TYPE(object));
	Py_VISIT(self->device);
	Py_VISIT(self->peers);
	return pool_pressure_visit(self, visit, arg);
}

int pool_clear(PyObject *object)
{
	pool_pressure_drop((struct pool *)object);
	return 0;
}

void pool_dealloc(PyObject *object)
{
	struct pool *self = (struct pool *)object;

	PyObject_GC_UnTrack(object);
	if (self->weak)
		PyObject_ClearWeakRefs(object);
	pool_pressure_drop(self);
	/* Blocks of malloc() may be live: then it stays. */
	if (self->handle && self->owned)
		GPUMEM_IGNORE(destroy(self->handle, 0));
	Py_XDECREF(self->peers);
	Py_DECREF(self->device);
	object_gone(object);
}

PyObject *pool_close(PyObject *object, PyObject *unused)
{
	struct pool *self = (struct pool *)object;
	gpumem_pool *handle = self->handle;
	gpumem_status status = GPUMEM_OK;

	(void)unused;
	if (!handle)
		Py_RETURN_NONE;
	if (self->lent) {
		PyErr_SetString(PyExc_ValueError,
				"functions() of the pool were given out, and "
				"last until the process ends");
		return NULL;
	}
	self->handle = NULL;
	if (self->owned)
		status = destroy(handle, 0);
	if (status == GPUMEM_BUSY) {
		self->handle = handle;
	} else {
		pool_pressure_drop(self);
		Py_CLEAR(self->peers);
	}
	return none_or_raise(status);
}

/* ---- with ---------------------------------------------------------------- */

PyObject *pool_enter(PyObject *object, PyObject *unused)
{
	(void)unused;
	if (!pool_handle((struct pool *)object))
		return NULL;
	Py_INCREF(object);
	return object;
}

/* What is on its way hides that blocks, whose variables it has, are live. */
PyObject *pool_exit(PyObject *object, PyObject *args)
{
	PyObject *kind, *value, *trace, *closed;

	if (!PyArg_UnpackTuple(args, "__exit__", 3, 3, &kind, &value, &trace))
		return NULL;
	closed = pool_close(object, NULL);
	if (closed || kind == Py_None)
		return closed;
	PyErr_Clear();
	Py_RETURN_NONE;
}
