/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem.Device: an open device, its streams, and moving bytes. Closed when the
 * last object that refers to it is gone. Under the GIL, but for calls that wait
 * or ask the driver.
 */
#include "core.h"

PyTypeObject *device_type;

PyObject *caps_list(uint32_t caps)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} rows[] = {
#define ROW(name, bit, word, text) {#name, 1u << (bit)},
		GPUMEM_CAP_LIST(ROW)
#undef ROW
	};
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < sizeof(rows) / sizeof(*rows); i++) {
		PyObject *name;

		if (!(caps & rows[i].bit))
			continue;
		name = PyUnicode_FromString(rows[i].name);
		if (!name || PyList_Append(list, name) != 0)
			Py_CLEAR(list);
		Py_XDECREF(name);
	}
	return list;
}

PyObject *device_info_dict(const struct gpumem_device_info *info)
{
	return Py_BuildValue(
		"{s:s,s:s,s:s,s:s,s:K,s:K,s:K,s:K,s:N,s:s}", "name", info->name,
		"product", info->product, "uuid", info->uuid, "pci", info->pci,
		"total_bytes", (unsigned long long)info->total_bytes,
		"granularity_bytes",
		(unsigned long long)info->granularity_bytes, "alignment_bytes",
		(unsigned long long)info->alignment_bytes, "max_alloc_bytes",
		(unsigned long long)info->max_alloc_bytes, "caps",
		caps_list(info->caps), "note", info->note);
}

static PyObject *opened(PyTypeObject *type, gpumem_device *handle,
			PyObject *owner)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	gpumem_status status = gpumem_device_get_info(handle, &info);
	struct device *self = NULL;
	char *colon;

	if (status == GPUMEM_OK)
		self = PyObject_GC_New(struct device, type);
	if (!self) {
		GPUMEM_IGNORE(gpumem_device_close(handle));
		return status == GPUMEM_OK ? NULL : raise_last(status);
	}
	self->handle = handle;
	Py_XINCREF(owner);
	self->owner = owner;
	self->caps = info.caps;
	colon = strchr(info.name, ':');
	if (colon)
		*colon = '\0';
	snprintf(self->backend, sizeof(self->backend), "%.15s", info.name);
	PyObject_GC_Track((PyObject *)self);
	return (PyObject *)self;
}

static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
	static char *keys[] = {"name", NULL};
	gpumem_device *handle;
	const char *name = NULL;
	gpumem_status status;

	if (!parse(args, names, "|z:Device", keys, &name))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_device_open(name, &handle);
	Py_END_ALLOW_THREADS;
	return status == GPUMEM_OK ? opened(type, handle, NULL)
				   : raise_last(status);
}

static PyObject *device_adopt(PyObject *type, PyObject *args, PyObject *names)
{
	static char *keys[] = {"backend", "context", "device", "owner", NULL};
	PyObject *first, *second, *owner = NULL;
	void *context, *native;
	gpumem_device *handle;
	const char *backend;
	gpumem_status status;

	if (!parse(args, names, "sOO|O:adopt", keys, &backend, &first, &second,
		   &owner) ||
	    !address_from(first, &context) || !address_from(second, &native))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_device_adopt(backend, context, native, &handle);
	Py_END_ALLOW_THREADS;
	return status == GPUMEM_OK ? opened((PyTypeObject *)type, handle, owner)
				   : raise_last(status);
}

static int device_traverse(PyObject *object, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(object));
	Py_VISIT(((struct device *)object)->owner);
	return 0;
}

static void device_dealloc(PyObject *object)
{
	struct device *self = (struct device *)object;

	PyObject_GC_UnTrack(object);
	Py_BEGIN_ALLOW_THREADS;
	GPUMEM_IGNORE(gpumem_device_close(self->handle));
	Py_END_ALLOW_THREADS;
	Py_XDECREF(self->owner);
	object_gone(object);
}

/* ---- what it is ---------------------------------------------------------- */

static PyObject *device_info(PyObject *object, void *unused)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	gpumem_status status;

	(void)unused;
	status = gpumem_device_get_info(((struct device *)object)->handle,
					&info);
	return status == GPUMEM_OK ? device_info_dict(&info)
				   : raise_last(status);
}

static PyObject *device_name(PyObject *object, void *unused)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	gpumem_status status;

	(void)unused;
	status = gpumem_device_get_info(((struct device *)object)->handle,
					&info);
	return status == GPUMEM_OK ? PyUnicode_FromString(info.name)
				   : raise_last(status);
}

static PyObject *device_backend(PyObject *object, void *unused)
{
	(void)unused;
	return PyUnicode_FromString(((struct device *)object)->backend);
}

static PyObject *device_pool(PyObject *object, void *unused)
{
	struct device *self = (struct device *)object;
	gpumem_status status;
	gpumem_pool *handle;

	(void)unused;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_device_pool(self->handle, &handle);
	Py_END_ALLOW_THREADS;
	if (status != GPUMEM_OK)
		return raise_last(status);
	return pool_wrap(pool_type, self, handle, GPUMEM_KIND_DEVICE, false);
}

/* For gpumem.torch, whose C++ has one that never ends. */
static PyObject *device_pinned_pool(PyObject *object, PyObject *address)
{
	void *handle;

	if (!address_from(address, &handle))
		return NULL;
	return pool_wrap(pool_type, (struct device *)object, handle,
			 GPUMEM_KIND_PINNED, false);
}

static PyObject *device_memory(PyObject *object, PyObject *unused)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	gpumem_status status;

	(void)unused;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_device_memory(((struct device *)object)->handle,
				      &memory);
	Py_END_ALLOW_THREADS;
	if (status != GPUMEM_OK)
		return raise_last(status);
	return Py_BuildValue(
		"{s:K,s:K,s:K,s:K}", "total_bytes",
		(unsigned long long)memory.total_bytes, "free_bytes",
		(unsigned long long)memory.free_bytes, "reserved_bytes",
		(unsigned long long)memory.reserved_bytes, "outside_bytes",
		(unsigned long long)memory.outside_bytes);
}

static PyObject *device_repr(PyObject *object)
{
	PyObject *name = device_name(object, NULL), *text;

	if (!name)
		return NULL;
	text = PyUnicode_FromFormat("<gpumem.Device %U>", name);
	Py_DECREF(name);
	return text;
}

static PyObject *device_report(PyObject *object, PyObject *unused)
{
	PyObject *text = PyUnicode_FromString("");
	gpumem_status status;

	(void)unused;
	if (!text)
		return NULL;
	status = gpumem_device_report(((struct device *)object)->handle, 0,
				      text_append, &text);
	if (status == GPUMEM_OK)
		return reported("Report", text);
	Py_XDECREF(text);
	return raise_last(status);
}

/* A device that is opened again has the same handle. */
static PyObject *device_compare(PyObject *object, PyObject *other, int how)
{
	bool same;

	if ((how != Py_EQ && how != Py_NE) ||
	    !PyObject_TypeCheck(other, device_type))
		Py_RETURN_NOTIMPLEMENTED;
	same = ((struct device *)object)->handle ==
	       ((struct device *)other)->handle;
	return PyBool_FromLong(same == (how == Py_EQ));
}

static Py_hash_t device_hash(PyObject *object)
{
	uintptr_t number = (uintptr_t)((struct device *)object)->handle;

	return (Py_hash_t)(number >> 4); /* never -1, which says "failed" */
}

/* ---- what it does -------------------------------------------------------- */

static PyObject *device_trim(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"keep_bytes", NULL};
	struct number keep = {"keep_bytes", 0};
	uint64_t released = 0;
	gpumem_status status;

	if (!parse(args, names, "|O&:trim", keys, bytes_from, &keep))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_device_trim(((struct device *)object)->handle,
				    keep.value, &released);
	Py_END_ALLOW_THREADS;
	return status == GPUMEM_OK ? PyLong_FromUnsignedLongLong(released)
				   : raise_last(status);
}

static PyObject *stream_create(PyObject *object, PyObject *unused)
{
	gpumem_stream stream;
	gpumem_status status;

	(void)unused;
	status = gpumem_stream_create(((struct device *)object)->handle,
				      &stream);
	return status == GPUMEM_OK ? PyLong_FromVoidPtr(stream)
				   : raise_last(status);
}

static PyObject *stream_call(PyObject *object, PyObject *args, PyObject *names,
			     gpumem_status (*call)(gpumem_device *,
						   gpumem_stream))
{
	static char *keys[] = {"stream", NULL};
	gpumem_stream stream;
	gpumem_status status;

	if (!parse(args, names, "O&", keys, stream_from, &stream))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = call(((struct device *)object)->handle, stream);
	Py_END_ALLOW_THREADS;
	return none_or_raise(status);
}

static PyObject *stream_destroy(PyObject *object, PyObject *args,
				PyObject *names)
{
	return stream_call(object, args, names, gpumem_stream_destroy);
}

static PyObject *stream_sync(PyObject *object, PyObject *args, PyObject *names)
{
	return stream_call(object, args, names, gpumem_stream_sync);
}

static PyMethodDef methods[] = {
	{"adopt", KEYWORDS(device_adopt), NAMED | METH_CLASS,
	 "adopt($type, backend, context, device, owner=None)\n--\n\nA device "
	 "that works in the program's own context, which must outlive it:\na "
	 "CUcontext and CUdevice, or a cl_context and cl_device_id, as ints. "
	 "The device\nkeeps `owner`, whose context that is."},
	{"memory", device_memory, METH_NOARGS,
	 "memory($self)\n--\n\nBytes: total, free, reserved by gpumem's pools, "
	 "and in use outside them."},
	{"report", device_report, METH_NOARGS,
	 "report($self)\n--\n\nWhere the memory of the device is, as lines for "
	 "people that add up: of each\npool what is live by tag, pending and "
	 "free, then what is outside gpumem."},
	{"trim", KEYWORDS(device_trim), NAMED,
	 "trim($self, keep_bytes=0)\n--\n\nGives unused memory of all pools of "
	 "the device back to the driver; bytes."},
	{"_pinned_pool", device_pinned_pool, METH_O,
	 "_pinned_pool($self, address, /)\n--\n\nThe pool of pinned memory at "
	 "that address, which never ends."},
	{"stream_create", stream_create, METH_NOARGS,
	 "stream_create($self)\n--\n\nA new stream, by its handle."},
	{"stream_destroy", KEYWORDS(stream_destroy), NAMED,
	 "stream_destroy($self, stream)\n--\n\nEnds a stream of "
	 "stream_create()."},
	{"stream_sync", KEYWORDS(stream_sync), NAMED,
	 "stream_sync($self, stream)\n--\n\nWaits for all work on the stream."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
	{"name", device_name, NULL, "Its name, as \"cuda:0\".", NULL},
	{"backend", device_backend, NULL, "Its backend, as \"cuda\".", NULL},
	{"info", device_info, NULL, "What it is, as a dict.", NULL},
	{"pool", device_pool, NULL, "Its default pool.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_doc,
	 "Device(name=None)\n--\n\nAn open device: \"cuda:0\", \"hip\", "
	 "\"opencl:1\", \"host\", or None for the\none that "
	 "GPUMEM_BACKEND picks. The same device opened twice is "
	 "one."},
	{Py_tp_new, device_new},
	{Py_tp_dealloc, device_dealloc},
	{Py_tp_traverse, device_traverse},
	{Py_tp_repr, device_repr},
	{Py_tp_richcompare, device_compare},
	{Py_tp_hash, device_hash},
	{Py_tp_methods, methods},
	{Py_tp_getset, attributes},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "gpumem.Device",
	.basicsize = sizeof(struct device),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = slots,
};

bool device_add(PyObject *module)
{
	return type_add(module, &spec, &device_type);
}
