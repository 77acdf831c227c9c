/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How arguments become values of C. What is wrong is told by the name of the
 * argument, which Python's own functions do for those that are missing or
 * unknown only. Under the GIL.
 */
#include "core.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>

/* Of "argument 2 must be str": 2, and where the rest begins; 0: it says nothing
 * of one. */
static long numbered(const char *said, char **rest_out)
{
	static const char word[] = "argument ";
	const char *at = said ? strstr(said, word) : NULL;

	return at ? strtol(at + sizeof(word) - 1, rest_out, 10) : 0;
}

/* "argument 2 must be str, not int" -> "value must be str, not int" */
static void name_argument(char **keys)
{
	PyObject *type, *value, *trace, *text, *bytes = NULL;
	long number, count = 0;
	char *rest;

	PyErr_Fetch(&type, &value, &trace);
	text = value ? PyObject_Str(value) : NULL;
	if (text)
		bytes = PyUnicode_AsUTF8String(text);
	number = numbered(bytes ? PyBytes_AsString(bytes) : NULL, &rest);
	while (keys[count])
		count++;
	if (number < 1 || number > count) {
		PyErr_Restore(type, value, trace);
	} else {
		PyErr_Format(type, "%s%s", keys[number - 1], rest);
		Py_XDECREF(type);
		Py_XDECREF(value);
		Py_XDECREF(trace);
	}
	Py_XDECREF(text);
	Py_XDECREF(bytes);
}

bool parse(PyObject *args, PyObject *names, const char *format, char **keys,
	   ...)
{
	va_list list;
	int done;

	va_start(list, keys);
	done = PyArg_VaParseTupleAndKeywords(args, names, format, keys, list);
	va_end(list);
	if (!done && PyErr_ExceptionMatches(PyExc_TypeError))
		name_argument(keys);
	return done;
}

PyObject *refuse(const char *name, const char *wanted, PyObject *object)
{
	PyObject *kind =
		PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");

	if (kind)
		PyErr_Format(PyExc_TypeError, "%s must be %s, not %U", name,
			     wanted, kind);
	Py_XDECREF(kind);
	return NULL;
}

bool address_from(PyObject *object, void **out)
{
	if (object == Py_None) {
		*out = NULL;
		return true;
	}
	*out = PyLong_AsVoidPtr(object);
	return *out || !PyErr_Occurred();
}

/* 1: *value_out is its attribute; 0: it has none; -1: an exception. */
static int attribute(PyObject *object, const char *name, PyObject **value_out)
{
	*value_out = PyObject_GetAttrString(object, name);
	if (*value_out)
		return 1;
	if (!PyErr_ExceptionMatches(PyExc_AttributeError))
		return -1;
	PyErr_Clear();
	return 0;
}

/* (version, handle), of cuda.core's protocol. */
static int by_protocol(PyObject *method, void *out)
{
	PyObject *pair = PyObject_CallObject(method, NULL);
	PyObject *handle = pair ? PySequence_GetItem(pair, 1) : NULL;
	int done = handle && address_from(handle, out);

	Py_XDECREF(pair);
	Py_XDECREF(handle);
	Py_DECREF(method);
	return done;
}

int stream_from(PyObject *object, void *out)
{
	static const char *const names[] = {"cuda_stream", "ptr", "int_ptr"};
	PyObject *value;
	int found, done;

	if (object == Py_None || PyLong_Check(object))
		return address_from(object, out);
	found = attribute(object, "__cuda_stream__", &value);
	if (found != 0)
		return found > 0 && by_protocol(value, out);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		found = attribute(object, names[i], &value);
		if (found < 0)
			return 0;
		if (found) {
			done = address_from(value, out);
			Py_DECREF(value);
			return done;
		}
	}
	refuse("stream",
	       "an int, None, or an object with __cuda_stream__, cuda_stream, "
	       "ptr or int_ptr",
	       object);
	return 0;
}

int other_stream_from(PyObject *object, void *out)
{
	return object == Py_None || stream_from(object, out);
}

/* An int, or what says that it is one. NULL: an exception is set. */
static PyObject *integer(const char *name, PyObject *object)
{
	PyObject *number =
		PyIndex_Check(object) ? PyNumber_Index(object) : NULL;

	if (!number && !PyErr_Occurred())
		refuse(name, "an int", object);
	return number;
}

/* Says so in place of what Python says of a number that does not fit. */
static int out_of_range(const char *name, unsigned long long most,
			PyObject *number)
{
	PyErr_Clear();
	PyErr_Format(PyExc_OverflowError, "%s must be from 0 to %llu, not %S",
		     name, most, number);
	return 0;
}

static int number_from(PyObject *object, struct number *out,
		       unsigned long long most)
{
	PyObject *number = integer(out->name, object);
	unsigned long long value;
	int done = 1;

	if (!number)
		return 0;
	value = PyLong_AsUnsignedLongLong(number);
	if (value > most || (value == ULLONG_MAX && PyErr_Occurred()))
		done = out_of_range(out->name, most, number);
	out->value = value;
	Py_DECREF(number);
	return done;
}

int bytes_from(PyObject *object, void *out)
{
	return number_from(object, out, UINT64_MAX);
}

int count_from(PyObject *object, void *out)
{
	return number_from(object, out, UINT_MAX);
}

int byte_from(PyObject *object, void *out)
{
	return number_from(object, out, UCHAR_MAX);
}

int offset_from(PyObject *object, void *out)
{
	struct offset *own = out;
	PyObject *number = integer(own->name, object);

	if (!number)
		return 0;
	own->value = PyLong_AsSsize_t(number);
	Py_DECREF(number);
	return own->value != -1 || !PyErr_Occurred();
}
