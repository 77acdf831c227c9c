/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pool.functions(): allocate, free and trim as C functions that need nothing
 * but the size or the address, for programs that take an allocator so. Each
 * pair of a pool and a stream has functions of its own, made here by the
 * compiler; they stay until the process ends, and so does the pool. No GIL is
 * needed to call them, and none is taken.
 *
 * pairs[i] is written under the GIL before its functions are given out, and
 * never changes then: i < count.
 */
#include "core.h"

struct pair {
	gpumem_pool *pool;
	gpumem_stream stream;
};

#define PAIRS 64
#define EACH_8(X, n)                                                           \
	X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define EACH(X)                                                                \
	EACH_8(X, 00)                                                          \
	EACH_8(X, 01)                                                          \
	EACH_8(X, 02)                                                          \
	EACH_8(X, 03)                                                          \
	EACH_8(X, 04) EACH_8(X, 05) EACH_8(X, 06) EACH_8(X, 07)

static struct pair pairs[PAIRS];
static size_t count;

static void *alloc_of(const struct pair *pair, size_t bytes)
{
	void *ptr;

	return gpumem_alloc(pair->pool, bytes, pair->stream, &ptr) == GPUMEM_OK
		       ? ptr
		       : NULL;
}

/* The numbers are octal, as they are written. */
#define FUNCTIONS(n)                                                           \
	static void *alloc_##n(size_t bytes)                                   \
	{                                                                      \
		return alloc_of(&pairs[n], bytes);                             \
	}                                                                      \
	static void free_##n(void *ptr)                                        \
	{                                                                      \
		GPUMEM_IGNORE(gpumem_free(ptr, pairs[n].stream));              \
	}                                                                      \
	static void empty_cache_##n(void)                                      \
	{                                                                      \
		GPUMEM_IGNORE(gpumem_pool_trim(pairs[n].pool, 0, NULL));       \
	}
EACH(FUNCTIONS)

#define ROW(n) {alloc_##n, free_##n, empty_cache_##n},
static const struct {
	void *(*alloc)(size_t bytes);
	void (*free)(void *ptr);
	void (*empty_cache)(void);
} table[PAIRS] = {EACH(ROW)};

/* The pair's number; count: it has none yet. */
static size_t find(gpumem_pool *pool, gpumem_stream stream)
{
	for (size_t i = 0; i < count; i++)
		if (pairs[i].pool == pool && pairs[i].stream == stream)
			return i;
	return count;
}

PyObject *pool_functions(PyObject *object, PyObject *args, PyObject *names)
{
	static char *keys[] = {"stream", NULL};
	struct pool *self = (struct pool *)object;
	gpumem_pool *handle = pool_handle(self);
	gpumem_stream stream = NULL;
	size_t i;

	if (!handle ||
	    !parse(args, names, "|O&:functions", keys, stream_from, &stream))
		return NULL;
	i = find(handle, stream);
	if (i == PAIRS) {
		PyErr_Format(PyExc_RuntimeError,
			     "there are functions for %d pools and streams "
			     "already, and they stay until the process ends",
			     PAIRS);
		return NULL;
	}
	if (i == count) {
		pairs[i] = (struct pair){handle, stream};
		count++;
		Py_INCREF(self); /* for as long as there is this process */
		self->lent = true;
	}
	return Py_BuildValue("{s:N,s:N,s:N,s:N}", "alloc",
			     PyLong_FromVoidPtr((void *)table[i].alloc), "free",
			     PyLong_FromVoidPtr((void *)table[i].free),
			     "empty_cache",
			     PyLong_FromVoidPtr((void *)table[i].empty_cache),
			     "stream", PyLong_FromVoidPtr(stream));
}
