/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a pool reports: statistics, driver calls, its blocks, a text. Rows come
 * from the lists of gpumem.h, so that a new statistic is here by itself. Under
 * the GIL, which is let go while the pool is walked.
 */
#include "core.h"

#include <stdlib.h>

PyObject *gauge_dict(const struct gpumem_gauge *gauge)
{
	return Py_BuildValue("{s:K,s:K,s:K}", "current",
			     (unsigned long long)gauge->current, "peak",
			     (unsigned long long)gauge->peak, "total",
			     (unsigned long long)gauge->total);
}

PyObject *pool_stats(PyObject *object, PyObject *unused)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	gpumem_pool *handle = pool_handle((struct pool *)object);
	gpumem_status status;
	PyObject *dict;

	(void)unused;
	if (!handle)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_stats(handle, &stats);
	Py_END_ALLOW_THREADS;
	if (status != GPUMEM_OK)
		return raise_last(status);
	dict = PyDict_New();
#define OF_GAUGE(name) gauge_dict(&stats.name)
#define OF_COUNTER(name) PyLong_FromUnsignedLongLong(stats.name)
#define OF_VALUE(name) PyLong_FromUnsignedLongLong(stats.name)
#define OF_RATIO(name) PyFloat_FromDouble(stats.name)
#define PUT(name, type, unit)                                                  \
	if (!dict_put(dict, #name, OF_##type(name)))                           \
		Py_CLEAR(dict);
	GPUMEM_STATS_LIST(PUT)
#undef PUT
	return dict;
}

PyObject *pool_reset_stats(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"totals", NULL};
	gpumem_pool *handle = pool_handle((struct pool *)object);
	int totals = 0;

	if (!handle || !parse(args, names, "|p:reset_stats", keys, &totals))
		return NULL;
	return none_or_raise(gpumem_pool_reset_stats(
		handle, totals ? GPUMEM_RESET_TOTALS : 0));
}

PyObject *pool_calls(PyObject *object, PyObject *unused)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);
	PyObject *dict = handle ? PyDict_New() : NULL;

	(void)unused;
	for (unsigned call = 0; dict && call < GPUMEM_CALL_COUNT; call++) {
		struct gpumem_call_stats stats =
			GPUMEM_INIT(struct gpumem_call_stats);
		gpumem_status status = gpumem_pool_calls(handle, call, &stats);

		if (status != GPUMEM_OK)
			raise_last(status);
		if (status != GPUMEM_OK ||
		    !dict_put(dict, gpumem_call_name(call),
			      Py_BuildValue(
				      "{s:K,s:K,s:K}", "count",
				      (unsigned long long)stats.count, "failed",
				      (unsigned long long)stats.failed, "ns",
				      (unsigned long long)stats.ns)))
			Py_CLEAR(dict);
	}
	return dict;
}

/* ---- blocks ----------------------------------------------------------------
 */

/* The walk holds the pool's lock, so nothing of Python happens in it. */
struct walk {
	struct gpumem_block *blocks;
	size_t count, room;
	bool failed;
};

static bool on_block(const struct gpumem_block *block, void *user)
{
	struct walk *walk = user;

	if (walk->count == walk->room) {
		size_t room = walk->room ? 2 * walk->room : 256;
		void *larger = realloc(walk->blocks, room * sizeof(*block));

		walk->failed = !larger;
		if (!larger)
			return false;
		walk->blocks = larger;
		walk->room = room;
	}
	walk->blocks[walk->count++] = *block;
	return true;
}

static const char *state_name(gpumem_block_state state)
{
	switch (state) {
	case GPUMEM_BLOCK_LIVE:
		return "live";
	case GPUMEM_BLOCK_PENDING:
		return "pending";
	case GPUMEM_BLOCK_FREE:
		return "free";
	case GPUMEM_BLOCK_HOLE:
		return "hole";
	}
	return "unknown";
}

static PyObject *block_dict(const struct gpumem_block *block)
{
	return Py_BuildValue("{s:N,s:K,s:K,s:N,s:s}", "address",
			     PyLong_FromVoidPtr(block->ptr), "bytes",
			     (unsigned long long)block->bytes,
			     "requested_bytes",
			     (unsigned long long)block->requested_bytes,
			     "stream", PyLong_FromVoidPtr(block->stream),
			     "state", state_name(block->state));
}

static PyObject *listed(const struct walk *walk)
{
	PyObject *list = PyList_New((Py_ssize_t)walk->count);

	for (size_t i = 0; list && i < walk->count; i++) {
		PyObject *dict = block_dict(&walk->blocks[i]);

		if (!dict || PyList_SetItem(list, (Py_ssize_t)i, dict) != 0)
			Py_CLEAR(list);
	}
	return list;
}

PyObject *pool_snapshot(PyObject *object, PyObject *unused)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);
	struct walk walk = {0};
	gpumem_status status;
	PyObject *list = NULL;

	(void)unused;
	if (!handle)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_block_visit(handle, on_block, &walk);
	Py_END_ALLOW_THREADS;
	if (status != GPUMEM_OK)
		raise_last(status);
	else if (walk.failed)
		PyErr_NoMemory();
	else
		list = listed(&walk);
	free(walk.blocks);
	return list;
}

/* ---- text ------------------------------------------------------------------
 */

/* `write` is called without a lock, in this thread. */
void text_append(const char *text, void *user)
{
	PyObject **all = user, *before = *all;

	*all = before ? PyUnicode_FromFormat("%U%s", before, text) : NULL;
	Py_XDECREF(before);
}

PyObject *reported(const char *function, PyObject *argument)
{
	PyObject *module =
		argument ? PyImport_ImportModule("gpumem._report") : NULL;
	PyObject *result =
		module ? PyObject_CallMethod(module, function, "O", argument)
		       : NULL;

	Py_XDECREF(module);
	Py_XDECREF(argument);
	return result;
}

PyObject *pool_report(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"all", NULL};
	gpumem_pool *handle = pool_handle((struct pool *)object);
	gpumem_status status;
	PyObject *text;
	int all = 0;

	if (!handle || !parse(args, names, "|p:report", keys, &all))
		return NULL;
	text = PyUnicode_FromString("");
	if (!text)
		return NULL;
	status = gpumem_pool_print(handle, 0, text_append, &text);
	if (status == GPUMEM_OK)
		return reported(all ? "Report" : "short", text);
	Py_XDECREF(text);
	return raise_last(status);
}

PyObject *pool_repr(PyObject *self)
{
	if (!((struct pool *)self)->handle)
		return PyUnicode_FromString("<gpumem.Pool, closed>");
	Py_INCREF(self);
	return reported("pool_text", self);
}

PyObject *pool_html(PyObject *self, PyObject *unused)
{
	(void)unused;
	Py_INCREF(self);
	return reported("pool_html", self);
}
