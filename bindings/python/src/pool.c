/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem.Pool: a pool of a device, or a device's default one. What it reports
 * is in pool_report.c, its callbacks in pressure.c, its peers in pool_peer.c,
 * its blocks in buffer.c. Under the GIL, but for calls that may wait.
 */
#include "core.h"

#include <stddef.h>
#include <structmember.h>

PyTypeObject *pool_type;

gpumem_pool *pool_handle(const struct pool *self)
{
	if (!self->handle)
		PyErr_SetString(PyExc_ValueError, "the pool was closed");
	return self->handle;
}

static PyObject *wrap(PyTypeObject *type, struct device *device,
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

PyObject *pool_default(struct device *device)
{
	gpumem_status status;
	gpumem_pool *handle;

	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_device_pool(device->handle, &handle);
	Py_END_ALLOW_THREADS;
	if (status != GPUMEM_OK)
		return raise_last(status);
	return wrap(pool_type, device, handle, GPUMEM_KIND_DEVICE, false);
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

/* A new reference to `device`, or to one that is opened by its name. */
static struct device *device_from(PyObject *device)
{
	if (PyObject_TypeCheck(device, device_type)) {
		Py_INCREF(device);
		return (struct device *)device;
	}
	return (struct device *)PyObject_CallFunctionObjArgs(
		(PyObject *)device_type, device, NULL);
}

static PyObject *pool_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
	static char *keys[] = {
		"device",     "name", "limit_bytes", "soft_limit_bytes",
		"page_bytes", "kind", NULL};
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	PyObject *object = Py_None, *self = NULL;
	const char *kind = "device";
	struct device *device;
	gpumem_status status;
	gpumem_pool *handle;

	if (!PyArg_ParseTupleAndKeywords(args, names, "|O$zO&O&O&s", keys,
					 &object, &config.name, bytes_from,
					 &config.limit_bytes, bytes_from,
					 &config.soft_limit_bytes, bytes_from,
					 &config.page_bytes, &kind) ||
	    !kind_from(kind, &config.kind))
		return NULL;
	device = device_from(object);
	if (!device)
		return NULL;
	status = gpumem_pool_create(device->handle, &config, &handle);
	if (status == GPUMEM_OK)
		self = wrap(type, device, handle, config.kind, true);
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

static int pool_traverse(PyObject *object, visitproc visit, void *arg)
{
	struct pool *self = (struct pool *)object;

	Py_VISIT(Py_TYPE(object));
	Py_VISIT(self->device);
	Py_VISIT(self->peers);
	return pool_pressure_visit(self, visit, arg);
}

static int pool_clear(PyObject *object)
{
	pool_pressure_drop((struct pool *)object);
	return 0;
}

static void pool_dealloc(PyObject *object)
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

static PyObject *pool_close(PyObject *object, PyObject *unused)
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

/* ---- limits and giving back ---------------------------------------------- */

static PyObject *pool_trim(PyObject *object, PyObject *args)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);
	uint64_t keep = 0;
	uint64_t released = 0;
	gpumem_status status;

	if (!handle || !PyArg_ParseTuple(args, "|O&", bytes_from, &keep))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_trim(handle, keep, &released);
	Py_END_ALLOW_THREADS;
	return status == GPUMEM_OK ? PyLong_FromUnsignedLongLong(released)
				   : raise_last(status);
}

static PyObject *pool_set_limit(PyObject *object, PyObject *args,
				PyObject *names)
{
	static char *keys[] = {"limit_bytes", "soft_limit_bytes", NULL};
	gpumem_pool *handle = pool_handle((struct pool *)object);
	uint64_t limit = 0, soft = 0;
	gpumem_status status;

	if (!handle ||
	    !PyArg_ParseTupleAndKeywords(args, names, "|O&O&", keys, bytes_from,
					 &limit, bytes_from, &soft))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_set_limit(handle, soft, limit);
	Py_END_ALLOW_THREADS;
	return none_or_raise(status);
}

static PyObject *pool_capacity(PyObject *object, PyObject *args)
{
	struct gpumem_capacity capacity = GPUMEM_INIT(struct gpumem_capacity);
	gpumem_pool *handle = pool_handle((struct pool *)object);
	gpumem_stream stream = NULL;
	gpumem_status status;

	if (!handle || !PyArg_ParseTuple(args, "|O&", stream_from, &stream))
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

static PyObject *pool_reset_stats(PyObject *object, PyObject *args)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);
	int totals = 0;

	if (!handle || !PyArg_ParseTuple(args, "|p", &totals))
		return NULL;
	return none_or_raise(gpumem_pool_reset_stats(
		handle, totals ? GPUMEM_RESET_TOTALS : 0));
}

static PyObject *pool_check(PyObject *object, PyObject *unused)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);

	(void)unused;
	return handle ? none_or_raise(gpumem_pool_check(handle)) : NULL;
}

static PyObject *pool_drop_stream(PyObject *object, PyObject *argument)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);
	gpumem_stream stream;

	if (!handle || !stream_from(argument, &stream))
		return NULL;
	return none_or_raise(gpumem_pool_drop_stream(handle, stream));
}

static PyObject *pool_name(PyObject *object, void *unused)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);

	(void)unused;
	return handle ? PyUnicode_FromString(gpumem_pool_name(handle)) : NULL;
}

static PyObject *pool_device(PyObject *object, void *unused)
{
	PyObject *device = (PyObject *)((struct pool *)object)->device;

	(void)unused;
	Py_INCREF(device);
	return device;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef methods[] = {
	{"alloc", KEYWORDS(pool_alloc), METH_VARARGS | METH_KEYWORDS,
	 "alloc(nbytes, stream=None, *, alignment=0, zero=False, wait=True, "
	 "grow=True)\n\nA Buffer for work queued on the stream from now on. "
	 "zero: filled with zeros\nin the order of the stream. wait=False: "
	 "waits for no device. grow=False:\nonly from what the pool has "
	 "reserved. OutOfMemoryError if there is none."},
	{"malloc", pool_malloc, METH_VARARGS,
	 "malloc(nbytes, stream=None) -> int\n\nA block by its address, which "
	 "gpumem.free() ends. For adapters."},
	{"functions", pool_functions, METH_VARARGS,
	 "functions(stream=None) -> dict\n\nThe addresses of C functions over "
	 "the pool and this stream, for programs\nthat take an allocator so: "
	 "void *alloc(size_t), which returns NULL when it\nfails, void "
	 "free(void *), void empty_cache(void); and the stream's handle.\nThey "
	 "and the pool last until the process ends."},
	{"stats", pool_stats, METH_NOARGS,
	 "stats() -> dict\n\nThe statistics of gpumem_stats(3)."},
	{"calls", pool_calls, METH_NOARGS,
	 "calls() -> dict\n\nDriver calls by their name: count, failed, ns."},
	{"snapshot", pool_snapshot, METH_NOARGS,
	 "snapshot() -> list\n\nEvery block in the order of addresses, free "
	 "ones and holes too."},
	{"report", pool_report, METH_NOARGS,
	 "report() -> str\n\nAll of it, as lines for people."},
	{"tags", pool_tags, METH_NOARGS,
	 "tags() -> list\n\nWhat its blocks have by tag; path \"\" is those "
	 "without one."},
	{"set_tag_limit", pool_set_tag_limit, METH_VARARGS,
	 "set_tag_limit(path, limit_bytes)\n\nA limit on the requested bytes "
	 "of the blocks with this tag, or one\ninside it; 0: none."},
	{"track", pool_track, METH_VARARGS,
	 "track(frames=0)\n\nFrom now on it is known of each block when it "
	 "was allocated, by which\nthread, and so many frames of the C stack; "
	 "slower."},
	{"untrack", pool_untrack, METH_NOARGS, "untrack()\n\nForgets that."},
	{"leaks", KEYWORDS(pool_leaks), METH_VARARGS | METH_KEYWORDS,
	 "leaks(since=0, until=0) -> dict\n\nThe live blocks, the largest "
	 "groups of one tag and stack first: all, or\nthose that were "
	 "allocated between two marks of leak_mark()."},
	{"reset_stats", pool_reset_stats, METH_VARARGS,
	 "reset_stats(totals=False)\n\nPeaks become current; totals and "
	 "counters 0 too."},
	{"trim", pool_trim, METH_VARARGS,
	 "trim(keep_bytes=0) -> int\n\nGives unused memory back to the driver "
	 "until at most keep_bytes are\nreserved; waits for no stream. Returns "
	 "the bytes given back."},
	{"set_limit", KEYWORDS(pool_set_limit), METH_VARARGS | METH_KEYWORDS,
	 "set_limit(limit_bytes=0, soft_limit_bytes=0)\n\nBounds on reserved "
	 "bytes; 0: none. Lowering the hard one trims at once."},
	{"capacity", pool_capacity, METH_VARARGS,
	 "capacity(stream=None) -> dict\n\nHow large a block can be, at most "
	 "and now."},
	{"pressure_add", pool_pressure_add, METH_O,
	 "pressure_add(callback)\n\ncallback(pressure: dict) -> bool is called "
	 "when an allocation is about to\nexceed the soft limit or to fail: "
	 "free what you can, and return True to\nhave it tried again."},
	{"pressure_remove", pool_pressure_remove, METH_O,
	 "pressure_remove(callback)\n\nRemoves what was added first."},
	{"add_peer", pool_add_peer, METH_O,
	 "add_peer(device)\n\nKernels of that device may use the pool's blocks "
	 "from now on, live ones too; it stays open as long as the pool."},
	{"drop_stream", pool_drop_stream, METH_O,
	 "drop_stream(stream)\n\nA stream that the program destroys itself is "
	 "about to go."},
	{"check", pool_check, METH_NOARGS,
	 "check()\n\nCompares everything with every counter and invariant."},
	{"close", pool_close, METH_NOARGS,
	 "close()\n\nEnds the pool; Error while blocks are live. Of a default "
	 "pool: forgets it."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
	{"name", pool_name, NULL, "Its name.", NULL},
	{"device", pool_device, NULL, "Its device.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
	{"__weaklistoffset__", T_PYSSIZET, offsetof(struct pool, weak),
	 READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_doc,
	 "Pool(device=None, *, name=None, limit_bytes=0, "
	 "soft_limit_bytes=0,\npage_bytes=0, kind=\"device\")\n\n"
	 "A pool of a Device, or of one by its name. kind: "
	 "\"device\", \"pinned\" or\n\"managed\" memory. It lives as "
	 "long as it, or one of its buffers, does."},
	{Py_tp_new, pool_new},
	{Py_tp_dealloc, pool_dealloc},
	{Py_tp_traverse, pool_traverse},
	{Py_tp_clear, pool_clear},
	{Py_tp_methods, methods},
	{Py_tp_getset, attributes},
	{Py_tp_members, members},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "gpumem.Pool",
	.basicsize = sizeof(struct pool),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = slots,
};

bool pool_add(PyObject *module)
{
	return type_add(module, &spec, &pool_type);
}
