/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Tags: the thread's own, and what a pool has of each. The context manager on
 * top of it is in gpumem/_tags.py. Under the GIL, which is let go while the
 * pool is walked.
 */
#include "core.h"

#include <stdlib.h>

PyObject *tag_push(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"name", NULL};
	const char *name;

	(void)module;
	if (!parse(args, names, "s:tag_push", keys, &name))
		return NULL;
	return none_or_raise(gpumem_tag_push(name));
}

PyObject *tag_get(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyLong_FromUnsignedLong(gpumem_tag_get());
}

PyObject *tag_intern(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"path", NULL};
	gpumem_status status;
	const char *path;
	uint32_t tag;

	(void)module;
	if (!parse(args, names, "s:tag_intern", keys, &path))
		return NULL;
	status = gpumem_tag_intern(path, &tag);
	return status == GPUMEM_OK ? PyLong_FromUnsignedLong(tag)
				   : raise_last(status);
}

PyObject *tag_set(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"tag", NULL};
	struct number tag = {"tag", 0};

	(void)module;
	if (!parse(args, names, "O&:tag_set", keys, count_from, &tag))
		return NULL;
	return none_or_raise(gpumem_tag_set((uint32_t)tag.value));
}

/* ---- of a pool ------------------------------------------------------------
 */

/* The walk holds the pool's lock, so nothing of Python happens in it. */
struct walk {
	struct gpumem_tag *tags;
	size_t count, room;
	bool failed;
};

static bool on_tag(const struct gpumem_tag *tag, void *user)
{
	struct walk *walk = user;

	if (walk->count == walk->room) {
		size_t room = walk->room ? 2 * walk->room : 64;
		void *larger = realloc(walk->tags, room * sizeof(*tag));

		walk->failed = !larger;
		if (!larger)
			return false;
		walk->tags = larger;
		walk->room = room;
	}
	walk->tags[walk->count++] = *tag;
	return true;
}

static PyObject *tag_dict(const struct gpumem_tag *tag)
{
	return Py_BuildValue("{s:s,s:N,s:N,s:K,s:K}", "path", tag->path,
			     "bytes", gauge_dict(&tag->bytes), "blocks",
			     gauge_dict(&tag->blocks), "limit_bytes",
			     (unsigned long long)tag->limit_bytes, "held_bytes",
			     (unsigned long long)tag->held_bytes);
}

static PyObject *listed(const struct walk *walk)
{
	PyObject *list = PyList_New((Py_ssize_t)walk->count);

	for (size_t i = 0; list && i < walk->count; i++) {
		PyObject *dict = tag_dict(&walk->tags[i]);

		if (!dict || PyList_SetItem(list, (Py_ssize_t)i, dict) != 0)
			Py_CLEAR(list);
	}
	return list;
}

PyObject *pool_tags(PyObject *object, PyObject *unused)
{
	gpumem_pool *handle = pool_handle((struct pool *)object);
	struct walk walk = {0};
	gpumem_status status;
	PyObject *list = NULL;

	(void)unused;
	if (!handle)
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_tag_visit(handle, on_tag, &walk);
	Py_END_ALLOW_THREADS;
	if (status != GPUMEM_OK)
		raise_last(status);
	else if (walk.failed)
		PyErr_NoMemory();
	else
		list = listed(&walk);
	free(walk.tags);
	return list;
}

PyObject *pool_set_tag_limit(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"path", "limit_bytes", NULL};
	gpumem_pool *handle = pool_handle((struct pool *)object);
	struct number limit = {"limit_bytes", 0};
	gpumem_status status;
	const char *path;
	uint32_t tag;

	if (!handle || !parse(args, names, "sO&:set_tag_limit", keys, &path,
			      bytes_from, &limit))
		return NULL;
	status = gpumem_tag_intern(path, &tag);
	if (status == GPUMEM_OK) {
		Py_BEGIN_ALLOW_THREADS;
		status = gpumem_tag_set_limit(handle, tag, limit.value);
		Py_END_ALLOW_THREADS;
	}
	return none_or_raise(status);
}
