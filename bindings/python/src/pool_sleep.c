/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A pool's blocks asleep and awake, and what their tags say of it. Module-level
 * functions over several pools are in gpumem/_sleep.py. Under the GIL, which is
 * let go while the pool waits and copies.
 */
#include "core.h"

static bool sleep_from(const char *word, gpumem_sleep *sleep_out)
{
	for (int i = GPUMEM_SLEEP_INHERIT; i <= GPUMEM_SLEEP_ZERO; i++)
		if (strcmp(word, gpumem_sleep_name((gpumem_sleep)i)) == 0) {
			*sleep_out = (gpumem_sleep)i;
			return true;
		}
	PyErr_Format(PyExc_ValueError,
		     "sleep is \"inherit\", \"stay\", \"keep\", \"drop\" or "
		     "\"zero\", not \"%s\"",
		     word);
	return false;
}

PyObject *tag_set_sleep(PyObject *module, PyObject *args, PyObject *names)
{
	static char *keys[] = {"tag", "sleep", NULL};
	struct number tag = {"tag", 0};
	gpumem_sleep sleep;
	const char *word;

	(void)module;
	if (!parse(args, names, "O&s:tag_set_sleep", keys, count_from, &tag,
		   &word) ||
	    !sleep_from(word, &sleep))
		return NULL;
	return none_or_raise(
		gpumem_tag_set_sleep((uint32_t)tag.value, sleep));
}

static bool content_from(const char *word, uint32_t *flags_out)
{
	static const struct {
		const char *word;
		uint32_t flags;
	} known[] = {
		{"pinned", 0},
		{"retained", GPUMEM_SLEEP_RETAIN},
		{"pageable", GPUMEM_SLEEP_PAGEABLE},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strcmp(word, known[i].word) == 0) {
			*flags_out = known[i].flags;
			return true;
		}
	PyErr_Format(PyExc_ValueError,
		     "content is \"pinned\", \"retained\" or \"pageable\", not "
		     "\"%s\"",
		     word);
	return false;
}

/* path NULL: all blocks. */
static bool tag_from(const char *path, uint32_t *tag_out)
{
	gpumem_status status =
		path ? gpumem_tag_intern(path, tag_out) : GPUMEM_OK;

	if (status != GPUMEM_OK)
		raise_last(status);
	return status == GPUMEM_OK;
}

/* A gpumem.Slept, or the exception. */
static PyObject *slept_or_raise(gpumem_status status,
				const struct gpumem_slept *slept)
{
	if (status != GPUMEM_OK)
		return raise_last(status);
	return reported(
		"slept",
		Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "kept_bytes",
			      (unsigned long long)slept->kept_bytes,
			      "dropped_bytes",
			      (unsigned long long)slept->dropped_bytes,
			      "device_bytes",
			      (unsigned long long)slept->device_bytes,
			      "host_bytes",
			      (unsigned long long)slept->host_bytes, "wait_ns",
			      (unsigned long long)slept->wait_ns, "copy_ns",
			      (unsigned long long)slept->copy_ns, "map_ns",
			      (unsigned long long)slept->map_ns));
}

/* Consumes the folder, which may be NULL. */
static PyObject *fall_asleep(gpumem_pool *handle,
			     struct gpumem_sleep_options *options,
			     PyObject *folder)
{
	struct gpumem_slept slept = GPUMEM_INIT(struct gpumem_slept);
	gpumem_status status;

	options->folder = folder ? PyBytes_AsString(folder) : NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_sleep(handle, options, &slept);
	Py_END_ALLOW_THREADS;
	Py_XDECREF(folder);
	return slept_or_raise(status, &slept);
}

PyObject *pool_sleep(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"tag",	     "content",		 "folder",
			       "timeout_ns", "host_limit_bytes", NULL};
	struct gpumem_sleep_options options =
		GPUMEM_INIT(struct gpumem_sleep_options);
	gpumem_pool *handle = pool_handle((struct pool *)object);
	struct number timeout = {"timeout_ns", 0};
	struct number host_limit = {"host_limit_bytes", 0};
	const char *path = NULL, *content = "pinned";
	PyObject *folder = Py_None, *bytes = NULL;

	if (!handle ||
	    !parse(args, names, "|z$sOO&O&:sleep", keys, &path, &content,
		   &folder, bytes_from, &timeout, bytes_from, &host_limit) ||
	    !content_from(content, &options.flags) ||
	    !tag_from(path, &options.tag))
		return NULL;
	options.timeout_ns = timeout.value;
	options.host_limit_bytes = host_limit.value;
	if (folder != Py_None && !PyUnicode_FSConverter(folder, &bytes))
		return NULL;
	return fall_asleep(handle, &options, bytes);
}

PyObject *pool_wake(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"tag", NULL};
	struct gpumem_slept slept = GPUMEM_INIT(struct gpumem_slept);
	gpumem_pool *handle = pool_handle((struct pool *)object);
	const char *path = NULL;
	gpumem_status status;
	uint32_t tag = 0;

	if (!handle || !parse(args, names, "|z:wake", keys, &path) ||
	    !tag_from(path, &tag))
		return NULL;
	Py_BEGIN_ALLOW_THREADS;
	status = gpumem_pool_wake(handle, tag, &slept);
	Py_END_ALLOW_THREADS;
	return slept_or_raise(status, &slept);
}
