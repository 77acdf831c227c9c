/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A status becomes an exception: gpumem.Error, or of an out of memory
 * gpumem.OutOfMemoryError, which is a MemoryError too. Both have the status by
 * its name and what the driver said. Under the GIL.
 */
#include "core.h"

static PyObject *error_class, *oom_class;

static const char error_doc[] =
	"A call into gpumem failed.\n\n"
	"status: the name of the status, as \"GPUMEM_LIMIT\". backend: which\n"
	"backend was involved, or \"\". native_name, native_code: the "
	"driver's\n"
	"own error, or \"\" and 0.";

static const char oom_doc[] =
	"Out of memory: of the device, of the pool's limit, or of the host.\n\n"
	"The text contains \" out of memory\" and says what holds the memory.";

static bool add_ref(PyObject *module, const char *name, PyObject *object)
{
	Py_INCREF(object);
	return PyModule_AddObject(module, name, object) == 0;
}

bool errors_add(PyObject *module)
{
	PyObject *bases;

	error_class = PyErr_NewExceptionWithDoc("gpumem.Error", error_doc,
						PyExc_RuntimeError, NULL);
	if (!error_class)
		return false;
	bases = PyTuple_Pack(2, error_class, PyExc_MemoryError);
	if (!bases)
		return false;
	oom_class = PyErr_NewExceptionWithDoc("gpumem.OutOfMemoryError",
					      oom_doc, bases, NULL);
	Py_DECREF(bases);
	return oom_class && add_ref(module, "Error", error_class) &&
	       add_ref(module, "OutOfMemoryError", oom_class);
}

static bool attribute(PyObject *object, const char *name, PyObject *value)
{
	bool done = value && PyObject_SetAttrString(object, name, value) == 0;

	Py_XDECREF(value);
	return done;
}

PyObject *raise_last(gpumem_status status)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	const char *name = gpumem_status_name(status);
	PyObject *class = error_class, *raised;

	if (status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT ||
	    status == GPUMEM_NO_HOST_MEMORY)
		class = oom_class;
	gpumem_last_error(&error);
	if (error.status != status)
		snprintf(error.text, sizeof(error.text), "%s",
			 gpumem_status_text(status));
	raised = PyObject_CallFunction(class, "s", error.text);
	if (raised && attribute(raised, "status", PyUnicode_FromString(name)) &&
	    attribute(raised, "backend", PyUnicode_FromString(error.backend)) &&
	    attribute(raised, "native_name",
		      PyUnicode_FromString(error.native_name)) &&
	    attribute(raised, "native_code",
		      PyLong_FromLongLong(error.native_code)))
		PyErr_SetObject(class, raised);
	Py_XDECREF(raised);
	return NULL;
}

PyObject *none_or_raise(gpumem_status status)
{
	if (status != GPUMEM_OK)
		return raise_last(status);
	Py_RETURN_NONE;
}
