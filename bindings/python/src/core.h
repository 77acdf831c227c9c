/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the extension module share: its three types, and how a
 * status becomes an exception. Uses gpumem.h alone, and of Python what every
 * version from 3.9 on keeps (Py_LIMITED_API), so that one binary serves all.
 * All of it is under the GIL; calls that may wait for a device, a lock or a
 * callback let it go.
 *
 * Python's garbage collector follows all three types, since a callback of a
 * pool may lead back to it. It can undo a pool's callbacks only: what else an
 * object refers to was there before it, and is needed until it has ended, in
 * the order of its dealloc. So a cycle always has a part that can be undone.
 */
#ifndef GPUMEM_PYTHON_CORE_H
#define GPUMEM_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>
#include <gpumem/gpumem.h>

struct device {
	PyObject head;	       /* as PyObject_HEAD */
	gpumem_device *handle; /* one open of it */
	PyObject *owner;       /* of an adopted context, or NULL: a reference */
	uint32_t caps;
	char backend[16];
};

struct pressure;

struct pool {
	PyObject head;
	PyObject *weak;
	struct device *device; /* a reference */
	gpumem_pool *handle;   /* NULL: closed */
	struct pressure *callbacks;
	PyObject *peers; /* a tuple of their devices, or NULL */
	gpumem_kind kind;
	bool owned; /* not the default pool, which ends with its device */
	bool lent;  /* functions() were given out, which nothing takes back */
};

/* A block, or what is left of one. freed implies ptr == NULL, and bytes == 0
 * does too. */
struct buffer {
	PyObject head;
	PyObject *weak;
	struct pool *pool; /* a reference */
	void *ptr;
	size_t bytes;
	gpumem_stream stream; /* that it was allocated on */
	Py_ssize_t exports;   /* DLPack capsules, which keep it from free() */
	bool freed;
};

extern PyTypeObject *device_type, *pool_type, *buffer_type;

/* Each adds what its file has to the module; false: an exception is set. */
bool errors_add(PyObject *module);
bool device_add(PyObject *module);
bool pool_add(PyObject *module);
bool buffer_add(PyObject *module);

/* Sets the exception for what failed last in this thread; NULL, always. */
PyObject *raise_last(gpumem_status status);

/* None, or the exception. Consumes nothing. */
PyObject *none_or_raise(gpumem_status status);

/* An address or a vendor's handle, as an int; None is 0. False: an exception is
 * set. */
bool address_from(PyObject *object, void **out);

/* PyArg_ParseTupleAndKeywords(), whose errors name the argument. */
bool parse(PyObject *args, PyObject *names, const char *format, char **keys,
	   ...);

/* TypeError: "name must be wanted, not the type of object"; NULL, always. */
PyObject *refuse(const char *name, const char *wanted, PyObject *object);

/* For O&: an int, None, or an object that knows its own handle, as the streams
 * of PyTorch, CuPy and Numba and the queues of PyOpenCL do.
 * other_stream_from(): None leaves *out as it is. */
int stream_from(PyObject *object, void *out);
int other_stream_from(PyObject *object, void *out);

/* For O&: an argument by its name. */
struct number {
	const char *name;
	uint64_t value;
};
struct offset {
	const char *name;
	Py_ssize_t value;
};

/* Into a struct number: an int that a uint64_t, an unsigned or a byte holds;
 * another one is an OverflowError. */
int bytes_from(PyObject *object, void *out);
int count_from(PyObject *object, void *out);
int byte_from(PyObject *object, void *out);
/* Into a struct offset. */
int offset_from(PyObject *object, void *out);

/* Of a row of PyMethodDef, for a function that takes names. */
#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function)
#define NAMED (METH_VARARGS | METH_KEYWORDS)

/* What gpumem._report's function makes of it; consumes `argument`, which may be
 * NULL: an exception is set. */
PyObject *reported(const char *function, PyObject *argument);

/* A type of the module, added by its name. */
bool type_add(PyObject *module, PyType_Spec *spec, PyTypeObject **out);

/* The memory of an object that the collector no longer follows, and its type.
 */
void object_gone(PyObject *object);

/* A dict that takes a key and its value; value NULL, or false before: it goes,
 * and false. */
bool dict_put(PyObject *dict, const char *key, PyObject *value);

/* ---- pool ---------------------------------------------------------------- */

/* Its handle; NULL: it was closed, and an exception is set. */
gpumem_pool *pool_handle(const struct pool *self);
/* Of a handle; owned: which ends with it, now if it fails. */
PyObject *pool_wrap(PyTypeObject *type, struct device *device,
		    gpumem_pool *handle, gpumem_kind kind, bool owned);
/* pool.c, for the type. */
PyObject *pool_new(PyTypeObject *type, PyObject *args, PyObject *names);
int pool_traverse(PyObject *object, visitproc visit, void *arg);
int pool_clear(PyObject *object);
void pool_dealloc(PyObject *object);
PyObject *pool_close(PyObject *object, PyObject *unused);
PyObject *pool_enter(PyObject *object, PyObject *unused);
PyObject *pool_exit(PyObject *object, PyObject *args);
PyObject *pool_stats(PyObject *self, PyObject *unused);
PyObject *pool_reset_stats(PyObject *self, PyObject *args, PyObject *names);
PyObject *pool_calls(PyObject *self, PyObject *unused);
PyObject *pool_snapshot(PyObject *self, PyObject *unused);
PyObject *pool_report(PyObject *self, PyObject *args, PyObject *names);
/* pool_limit.c; `which` is NULL for the hard limit, or the name of the soft one
 */
PyObject *pool_trim(PyObject *self, PyObject *args, PyObject *names);
PyObject *pool_capacity(PyObject *self, PyObject *args, PyObject *names);
PyObject *pool_set_limit(PyObject *self, PyObject *args, PyObject *names);
PyObject *pool_limit(PyObject *self, void *which);
int pool_limit_set(PyObject *self, PyObject *value, void *which);
/* pool_peer.c */
PyObject *pool_add_peer(PyObject *self, PyObject *args, PyObject *names);
/* pool_range.c */
PyObject *pool_ranges(PyObject *self, PyObject *unused);
PyObject *pool_pin(PyObject *self, PyObject *args, PyObject *names);
PyObject *pool_unpin(PyObject *self, PyObject *args, PyObject *names);
/* pool_sleep.c */
PyObject *pool_sleep(PyObject *self, PyObject *args, PyObject *names);
PyObject *pool_wake(PyObject *self, PyObject *args, PyObject *names);
/* Appends to a string that *user refers to; NULL once that has failed. */
void text_append(const char *text, void *user);
/* repr(), and what a notebook shows. */
PyObject *pool_repr(PyObject *self);
PyObject *pool_html(PyObject *self, PyObject *unused);
PyObject *gauge_dict(const struct gpumem_gauge *gauge);
PyObject *pool_tags(PyObject *self, PyObject *unused);
PyObject *pool_set_tag_limit(PyObject *self, PyObject *args, PyObject *names);
PyObject *pool_track(PyObject *self, PyObject *args, PyObject *names);
PyObject *pool_untrack(PyObject *self, PyObject *unused);
PyObject *pool_leaks(PyObject *self, PyObject *args, PyObject *names);
PyObject *pool_pressure_add(PyObject *self, PyObject *args, PyObject *names);
PyObject *pool_pressure_remove(PyObject *self, PyObject *args, PyObject *names);
int pool_pressure_visit(const struct pool *self, visitproc visit, void *arg);
void pool_pressure_drop(struct pool *self);
PyObject *pool_functions(PyObject *self, PyObject *args, PyObject *names);

/* ---- functions of tags.c, pool_sleep.c and leaks.c ----------------------- */

PyObject *tag_push(PyObject *module, PyObject *args, PyObject *names);
PyObject *tag_get(PyObject *module, PyObject *unused);
PyObject *tag_intern(PyObject *module, PyObject *args, PyObject *names);
PyObject *tag_set(PyObject *module, PyObject *args, PyObject *names);
PyObject *tag_set_sleep(PyObject *module, PyObject *args, PyObject *names);
PyObject *leak_mark(PyObject *module, PyObject *unused);
PyObject *oom_set(PyObject *module, PyObject *args, PyObject *names);

/* ---- functions of share.c ------------------------------------------------ */

PyObject *share_import(PyObject *module, PyObject *args, PyObject *names);
PyObject *share_close(PyObject *module, PyObject *args, PyObject *names);
PyObject *share_read(PyObject *module, PyObject *args, PyObject *names);
PyObject *share_write(PyObject *module, PyObject *args, PyObject *names);

/* ---- device -------------------------------------------------------------- */

PyObject *device_info_dict(const struct gpumem_device_info *info);
PyObject *caps_list(uint32_t caps);

/* ---- buffer -------------------------------------------------------------- */

PyObject *pool_alloc(PyObject *self, PyObject *args, PyObject *names);
PyObject *pool_malloc(PyObject *self, PyObject *args, PyObject *names);
/* False: it was freed, and an exception is set. */
bool buffer_live(const struct buffer *self);
PyObject *buffer_write(PyObject *self, PyObject *args, PyObject *names);
PyObject *buffer_read(PyObject *self, PyObject *args, PyObject *names);
PyObject *buffer_fill(PyObject *self, PyObject *args, PyObject *names);
PyObject *buffer_share(PyObject *self, PyObject *unused);
/* Between memory of the buffer's device and the host's, or of the device alone;
 * waits until it is done. */
gpumem_status buffer_copy(const struct buffer *self, void *to, const void *from,
			  size_t bytes, gpumem_stream stream);
/* Another of its pool, size and stream; NULL: an exception is set. */
struct buffer *buffer_like(const struct buffer *self);
/* Waits until what was queued on its stream is over, for the host to read. */
gpumem_status buffer_settle(const struct buffer *self);
bool buffer_host_reads(const struct buffer *self);
bool buffer_is_of(const struct buffer *self, const char *backend);
/* Its type of device in DLPack; 0: it has no name there. */
int32_t dlpack_type(const struct buffer *self);
PyObject *buffer_dlpack(PyObject *self, PyObject *args, PyObject *names);
PyObject *buffer_dlpack_device(PyObject *self, PyObject *unused);
PyObject *buffer_cuda_interface(PyObject *self, void *unused);
PyObject *buffer_array_interface(PyObject *self, void *unused);

#endif
