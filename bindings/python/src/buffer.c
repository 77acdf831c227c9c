/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem.Buffer: a live block, which ends with it. How one is made is in
 * alloc.c, its bytes in copy.c, other libraries' views of it in interface.c and
 * dlpack.c. Under the GIL, also a free, which waits for nothing.
 */
#include "core.h"

#include <stddef.h>
#include <structmember.h>

PyTypeObject *buffer_type;

bool buffer_live(const struct buffer *self)
{
	if (self->freed)
		PyErr_SetString(PyExc_ValueError, "the buffer was freed");
	return !self->freed;
}

static PyObject *buffer_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
	(void)type;
	(void)args;
	(void)names;
	PyErr_SetString(PyExc_TypeError, "buffers come from Pool.alloc()");
	return NULL;
}

static int buffer_traverse(PyObject *object, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(object));
	Py_VISIT(((struct buffer *)object)->pool);
	return 0;
}

static void buffer_dealloc(PyObject *object)
{
	struct buffer *self = (struct buffer *)object;

	PyObject_GC_UnTrack(object);
	if (self->weak)
		PyObject_ClearWeakRefs(object);
	/* FORKED in a child, which has nothing to give back. */
	if (self->ptr)
		GPUMEM_IGNORE(gpumem_free_own(self->ptr));
	Py_DECREF(self->pool);
	object_gone(object);
}

/* ---- what ends or changes it ------------------------------------------------
 */

static bool ends(const struct buffer *self)
{
	if (!buffer_live(self))
		return false;
	if (self->exports)
		PyErr_Format(PyExc_BufferError,
			     self->exports == 1
				     ? "an array by DLPack uses the buffer"
				     : "%zd arrays by DLPack use the buffer",
			     self->exports);
	return !self->exports;
}

static PyObject *buffer_free(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"stream", NULL};
	struct buffer *self = (struct buffer *)object;
	gpumem_stream stream = self->stream;
	gpumem_status status;

	if ((names || PyTuple_Size(args) > 0) &&
	    !parse(args, names, "|O&:free", keys, other_stream_from, &stream))
		return NULL;
	if (!ends(self))
		return NULL;
	status = gpumem_free(self->ptr, stream);
	if (status == GPUMEM_OK) {
		self->ptr = NULL;
		self->freed = true;
	}
	return none_or_raise(status);
}

static PyObject *buffer_detach(PyObject *object, PyObject *unused)
{
	struct buffer *self = (struct buffer *)object;
	void *ptr = self->ptr;

	(void)unused;
	if (!ends(self))
		return NULL;
	self->ptr = NULL;
	self->freed = true;
	return PyLong_FromVoidPtr(ptr);
}

static PyObject *buffer_use_on(PyObject *object, PyObject *args,
			       PyObject *names)
{
	static char *keys[] = {"stream", NULL};
	struct buffer *self = (struct buffer *)object;
	gpumem_stream stream;

	if (!buffer_live(self) ||
	    !parse(args, names, "O&:use_on", keys, stream_from, &stream))
		return NULL;
	if (!self->ptr)
		Py_RETURN_NONE;
	return none_or_raise(gpumem_use_on(self->ptr, stream));
}

static PyObject *buffer_resize(PyObject *object, PyObject *args,
			       PyObject *names)
{
	static char *keys[] = {"nbytes", "stream", NULL};
	struct buffer *self = (struct buffer *)object;
	gpumem_stream stream = self->stream;
	gpumem_status status;
	struct number bytes = {"nbytes", 0};

	if (!parse(args, names, "O&|O&:resize", keys, bytes_from, &bytes,
		   other_stream_from, &stream) ||
	    !ends(self))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_resize(self->ptr, (size_t)bytes.value, stream, NULL);
	Py_END_ALLOW_THREADS;
	if (status == GPUMEM_OK)
		self->bytes = (size_t)bytes.value;
	return none_or_raise(status);
}

static PyObject *buffer_enter(PyObject *object, PyObject *unused)
{
	(void)unused;
	Py_INCREF(object);
	return object;
}

static PyObject *buffer_exit(PyObject *object, PyObject *unused)
{
	struct buffer *self = (struct buffer *)object;

	(void)unused;
	if (self->ptr) {
		PyObject *none = PyTuple_New(0), *result;

		result = none ? buffer_free(object, none, NULL) : NULL;
		Py_XDECREF(none);
		return result;
	}
	Py_RETURN_NONE;
}

/* ---- what it is
 * --------------------------------------------------------------- */

static PyObject *buffer_ptr(PyObject *object, void *unused)
{
	struct buffer *self = (struct buffer *)object;

	(void)unused;
	return buffer_live(self) ? PyLong_FromVoidPtr(self->ptr) : NULL;
}

static PyObject *buffer_bytes(PyObject *object, void *unused)
{
	(void)unused;
	return PyLong_FromSize_t(((struct buffer *)object)->bytes);
}

static PyObject *buffer_stream(PyObject *object, void *unused)
{
	(void)unused;
	return PyLong_FromVoidPtr(((struct buffer *)object)->stream);
}

static PyObject *buffer_freed(PyObject *object, void *unused)
{
	(void)unused;
	return PyBool_FromLong(((struct buffer *)object)->freed);
}

static PyObject *buffer_exports(PyObject *object, void *unused)
{
	(void)unused;
	return PyLong_FromSsize_t(((struct buffer *)object)->exports);
}

static PyObject *buffer_pool(PyObject *object, void *unused)
{
	PyObject *pool = (PyObject *)((struct buffer *)object)->pool;

	(void)unused;
	Py_INCREF(pool);
	return pool;
}

static PyObject *buffer_object(PyObject *object, void *unused)
{
	struct buffer *self = (struct buffer *)object;
	gpumem_status status;
	uint64_t offset;
	void *handle;

	(void)unused;
	if (!buffer_live(self))
		return NULL;
	status = gpumem_object(self->ptr, &handle, &offset);
	if (status != GPUMEM_OK)
		return raise_last(status);
	return Py_BuildValue("(NK)", PyLong_FromVoidPtr(handle),
			     (unsigned long long)offset);
}

static PyObject *buffer_view(PyObject *object, void *unused)
{
	struct buffer *self = (struct buffer *)object;
	gpumem_status status;
	void *view;

	(void)unused;
	if (!buffer_live(self))
		return NULL;
	status = gpumem_view(self->ptr, &view);
	return status == GPUMEM_OK ? PyLong_FromVoidPtr(view)
				   : raise_last(status);
}

static PyObject *buffer_repr(PyObject *object)
{
	struct buffer *self = (struct buffer *)object;

	if (self->freed)
		return PyUnicode_FromString("<gpumem.Buffer, freed>");
	return PyUnicode_FromFormat("<gpumem.Buffer of %zu byte%s at %p>",
				    self->bytes, self->bytes == 1 ? "" : "s",
				    self->ptr);
}

static Py_ssize_t buffer_length(PyObject *object)
{
	return (Py_ssize_t)((struct buffer *)object)->bytes;
}

static PyMethodDef methods[] = {
	{"free", KEYWORDS(buffer_free), NAMED,
	 "free($self, stream=None)\n--\n\nEnds the block. Work queued on the "
	 "stream before may still use it; None: the\nstream that it was "
	 "allocated on."},
	{"detach", buffer_detach, METH_NOARGS,
	 "detach($self)\n--\n\nThe address of the block, which goes on living "
	 "without this object until\ngpumem.free() ends it."},
	{"use_on", KEYWORDS(buffer_use_on), NAMED,
	 "use_on($self, stream)\n--\n\nWork on that stream uses the block too: "
	 "after a free it is waited for."},
	{"resize", KEYWORDS(buffer_resize), NAMED,
	 "resize($self, nbytes, stream=None)\n--\n\nLonger or shorter where it "
	 "lies; Error with status GPUMEM_BUSY if not."},
	{"write", KEYWORDS(buffer_write), NAMED,
	 "write($self, data, offset=0, stream=None)\n--\n\nCopies bytes into "
	 "it "
	 "and waits until that is done."},
	{"read", KEYWORDS(buffer_read), NAMED,
	 "read($self, nbytes=-1, offset=0, stream=None)\n--\n\nCopies bytes "
	 "out "
	 "of it, when the work queued on the stream is done; -1: all."},
	{"fill", KEYWORDS(buffer_fill), NAMED,
	 "fill($self, value=0, stream=None)\n--\n\nQueues on the stream: all "
	 "bytes become this one."},
	{"share", buffer_share, METH_NOARGS,
	 "share($self)\n--\n\n(description, descriptors) for another process, "
	 "which has the same memory by\ngpumem.Shared(). The descriptors are "
	 "the caller's to close. The pool has to\nbe shareable."},
	{"__dlpack__", KEYWORDS(buffer_dlpack), NAMED,
	 "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, "
	 "copy=None)\n--\n\nA DLPack tensor of bytes, which keeps the block "
	 "alive. Work on the\nconsumer's stream waits for what the block's own "
	 "has to do by now."},
	{"__dlpack_device__", buffer_dlpack_device, METH_NOARGS,
	 "__dlpack_device__($self)\n--\n\n(type, number), as DLPack counts "
	 "them."},
	{"__enter__", buffer_enter, METH_NOARGS,
	 "__enter__($self)\n--\n\nIt itself."},
	{"__exit__", buffer_exit, METH_VARARGS,
	 "__exit__($self, kind, value, trace, /)\n--\n\nEnds it."},
	{NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
	{"ptr", buffer_ptr, NULL, "Its address, as an int.", NULL},
	{"nbytes", buffer_bytes, NULL, "Its size.", NULL},
	{"stream", buffer_stream, NULL, "That it was allocated on.", NULL},
	{"freed", buffer_freed, NULL, "Whether it has ended.", NULL},
	{"exports", buffer_exports, NULL,
	 "How many arrays by DLPack use it: free() raises while there are any.",
	 NULL},
	{"pool", buffer_pool, NULL, "Its pool.", NULL},
	{"object", buffer_object, NULL,
	 "(cl_mem, offset) where the vendor names memory by objects.", NULL},
	{"view", buffer_view, NULL,
	 "A cl_mem for this block alone, which the library owns.", NULL},
	{"__cuda_array_interface__", buffer_cuda_interface, NULL,
	 "Of cuda and hip devices: version 3, bytes.", NULL},
	{"__array_interface__", buffer_array_interface, NULL,
	 "Of memory that the host can use: version 3, bytes.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
	{"__weaklistoffset__", T_PYSSIZET, offsetof(struct buffer, weak),
	 READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_doc,
	 "A block of a pool, from Pool.alloc(). It ends with free(), "
	 "at the end of\n`with`, or when the object and all tensors "
	 "made of it are gone."},
	{Py_tp_new, buffer_new},
	{Py_tp_dealloc, buffer_dealloc},
	{Py_tp_traverse, buffer_traverse},
	{Py_tp_repr, buffer_repr},
	{Py_tp_methods, methods},
	{Py_tp_getset, attributes},
	{Py_tp_members, members},
	{Py_sq_length, buffer_length},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "gpumem.Buffer",
	.basicsize = sizeof(struct buffer),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = slots,
};

bool buffer_add(PyObject *module)
{
	return type_add(module, &spec, &buffer_type);
}
