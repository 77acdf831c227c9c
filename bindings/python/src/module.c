/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The module gpumem._core: functions that belong to no object, and the helpers
 * by which results are converted. Python code on top of it is in
 * gpumem/__init__.py. Under the GIL.
 */
#include "core.h"

bool type_add(PyObject *module, PyType_Spec *spec, PyTypeObject **out)
{
	PyObject *type = PyType_FromSpec(spec);

	*out = (PyTypeObject *)type;
	if (!type)
		return false;
	Py_INCREF(type);
	return PyModule_AddObject(module, strrchr(spec->name, '.') + 1, type) ==
	       0;
}

void object_gone(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	PyObject_GC_Del(object);
	Py_DECREF(type);
}

bool dict_put(PyObject *dict, const char *key, PyObject *value)
{
	bool done =
		dict && value && PyDict_SetItemString(dict, key, value) == 0;

	Py_XDECREF(value);
	return done;
}

/* ---- functions ----------------------------------------------------------- */

static PyObject *version(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyUnicode_FromString(gpumem_version());
}

static PyObject *option_set(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"key", "value", NULL};
	const char *key, *value;

	(void)module;
	if (!parse(args, names, "sz:option_set", keys, &key, &value))
		return NULL;
	return none_or_raise(gpumem_option_set(key, value));
}

static PyObject *option_get(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"key", NULL};
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);
	gpumem_status status;
	const char *key;

	(void)module;
	if (!parse(args, names, "s:option_get", keys, &key))
		return NULL;
	status = gpumem_option_get(key, &option);
	if (status != GPUMEM_OK)
		return raise_last(status);
	return PyUnicode_FromString(option.value);
}

/* What a walk has put together; NULL once that has failed. */
struct list {
	PyObject *items;
};

static bool append(struct list *list, PyObject *item)
{
	if (!item || PyList_Append(list->items, item) != 0)
		Py_CLEAR(list->items);
	Py_XDECREF(item);
	return list->items;
}

static bool on_backend(const struct gpumem_backend_info *info, void *user)
{
	return append(
		user,
		Py_BuildValue(
			"{s:s,s:s,s:s,s:s,s:s,s:i,s:O}", "name", info->name,
			"status", gpumem_status_name(info->status), "reason",
			info->reason, "driver_version", info->driver_version,
			"path", info->path, "device_count", info->device_count,
			"chosen", info->chosen ? Py_True : Py_False));
}

static PyObject *walked(struct list *list, gpumem_status status)
{
	if (status == GPUMEM_OK || !list->items)
		return list->items;
	Py_DECREF(list->items);
	return raise_last(status);
}

static PyObject *backends(PyObject *module, PyObject *unused)
{
	struct list list = {PyList_New(0)};

	(void)module;
	(void)unused;
	if (!list.items)
		return NULL;
	return walked(&list, gpumem_backend_visit(on_backend, &list));
}

static bool on_device(const struct gpumem_device_info *info, void *user)
{
	return append(user, device_info_dict(info));
}

static PyObject *devices(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"backend", NULL};
	struct list list = {PyList_New(0)};
	const char *backend = NULL;

	(void)module;
	if (!list.items || !parse(args, names, "|z:devices", keys, &backend)) {
		Py_XDECREF(list.items);
		return NULL;
	}
	return walked(&list, gpumem_device_visit(backend, on_device, &list));
}

static PyObject *free_address(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"address", "stream", NULL};
	PyObject *address, *on = Py_None;
	void *ptr, *stream;
	gpumem_status status;

	(void)module;
	if (names ? !parse(args, names, "O|O:free", keys, &address, &on)
		  : !PyArg_UnpackTuple(args, "free", 1, 2, &address, &on))
		return NULL;
	if (!address_from(address, &ptr))
		return NULL;
	if (on == Py_None)
		status = gpumem_free_own(ptr);
	else if (stream_from(on, &stream))
		status = gpumem_free(ptr, stream);
	else
		return NULL;
	return none_or_raise(status);
}

static PyObject *record_begin(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"path", "max_bytes", NULL};
	struct number bytes = {"max_bytes", 0};
	const char *path;

	(void)module;
	if (!parse(args, names, "s|O&:record_begin", keys, &path, bytes_from,
		   &bytes))
		return NULL;
	return none_or_raise(gpumem_record_begin(path, bytes.value));
}

static PyObject *record_end(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return none_or_raise(gpumem_record_end());
}

static PyMethodDef functions[] = {
	{"version", version, METH_NOARGS,
	 "version($module)\n--\n\nThe version of the library that is "
	 "running."},
	{"option_set", KEYWORDS(option_set), NAMED,
	 "option_set($module, key, value)\n--\n\nSets an option of "
	 "gpumem_options(5); None restores its default. Devices read\ntheirs "
	 "when they are opened, pools when they are made."},
	{"option_get", KEYWORDS(option_get), NAMED,
	 "option_get($module, key)\n--\n\nThe value of an option, as text."},
	{"backends", backends, METH_NOARGS,
	 "backends($module)\n--\n\nEvery backend, and why it cannot be used "
	 "if so."},
	{"devices", KEYWORDS(devices), NAMED,
	 "devices($module, backend=None)\n--\n\nEvery device of a backend, or "
	 "of all that can be used; opens none."},
	{"free", KEYWORDS(free_address), NAMED,
	 "free($module, address, stream=None)\n--\n\nEnds the block that "
	 "Pool.malloc() gave or Buffer.detach() left. Work\nqueued on the "
	 "stream before may still use it; None: the block's own."},
	{"tag_push", KEYWORDS(tag_push), NAMED,
	 "tag_push($module, name)\n--\n\nThe thread's tag is this one inside "
	 "the one that it had."},
	{"tag_get", tag_get, METH_NOARGS,
	 "tag_get($module)\n--\n\nThe number of the thread's tag; 0: none."},
	{"tag_set", KEYWORDS(tag_set), NAMED,
	 "tag_set($module, tag)\n--\n\nThe thread's tag is the one of this "
	 "number."},
	{"tag_intern", KEYWORDS(tag_intern), NAMED,
	 "tag_intern($module, path)\n--\n\nThe number of the tag of this "
	 "path."},
	{"tag_set_sleep", KEYWORDS(tag_set_sleep), NAMED,
	 "tag_set_sleep($module, tag, sleep)\n--\n\nWhat becomes of a tag's "
	 "blocks in a sleep: \"inherit\", \"stay\", \"keep\",\n\"drop\" or "
	 "\"zero\"."},
	{"share_import", KEYWORDS(share_import), NAMED,
	 "share_import($module, device, description, fds)\n--\n\n(address, "
	 "nbytes) of a block of another process."},
	{"share_close", KEYWORDS(share_close), NAMED,
	 "share_close($module, address)\n--\n\nEnds one import."},
	{"share_read", KEYWORDS(share_read), NAMED,
	 "share_read($module, device, address, nbytes, stream=None)\n--\n\n"
	 "Copies bytes out of memory of the device."},
	{"share_write", KEYWORDS(share_write), NAMED,
	 "share_write($module, device, address, data, stream=None)\n--\n\n"
	 "Copies bytes into memory of the device."},
	{"leak_mark", leak_mark, METH_NOARGS,
	 "leak_mark($module)\n--\n\nA moment, for Pool.leaks(): what is "
	 "allocated in a tracked pool from now on\ncomes after it."},
	{"oom_set", KEYWORDS(oom_set), NAMED,
	 "oom_set($module, callback)\n--\n\ncallback(oom: dict) is called for "
	 "each allocation that is out of memory,\nin its thread, with the JSON "
	 "of gpumem_oom(3): what would help, and who\nholds the memory. None: "
	 "no "
	 "callback."},
	{"record_begin", KEYWORDS(record_begin), NAMED,
	 "record_begin($module, path, max_bytes=0)\n--\n\nRecords what happens "
	 "to blocks into a file (gpumem_record(5))."},
	{"record_end", record_end, METH_NOARGS,
	 "record_end($module)\n--\n\nEnds the recording; the file is whole "
	 "then."},
	{NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
	.m_base = PyModuleDef_HEAD_INIT,
	.m_name = "gpumem._core",
	.m_doc = "gpumem's C library. Use the package gpumem.",
	.m_size = -1,
	.m_methods = functions,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
	PyObject *module = PyModule_Create(&definition);

	if (module && errors_add(module) && device_add(module) &&
	    pool_add(module) && buffer_add(module))
		return module;
	Py_XDECREF(module);
	return NULL;
}
