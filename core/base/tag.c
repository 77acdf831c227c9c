/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See tag.h. A row is found by the number of its parent and its own name, in a
 * table of lists by hash. It is written whole before anything leads to it, and
 * not again.
 */
#include "tag.h"
#include "error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LISTS = 1024 };

/* Beside the rows, which are not written again. 0: nothing was said. */
static _Atomic uint8_t sleeps[GM_TAGS_MAX];
_Atomic uint16_t gm_tag_fates[GM_TAGS_MAX];

struct row {
	char *path;
	const char *name; /* the end of it */
	uint32_t parent, hash;
	uint16_t next; /* of its list; 0: none */
};

_Atomic uint32_t gm_tag_count;

static struct row rows[GM_TAGS_MAX];
static _Atomic uint16_t lists[LISTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* FNV-1a. */
static uint32_t hash_of(uint32_t parent, const char *name, size_t bytes)
{
	uint32_t hash = 2166136261u ^ parent;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return hash ^ hash >> 16;
}

static uint32_t find(uint32_t parent, const char *name, size_t bytes,
		     uint32_t hash)
{
	uint32_t number = atomic_load_explicit(&lists[hash % LISTS],
					       memory_order_acquire);

	for (; number; number = rows[number].next) {
		const struct row *row = &rows[number];

		if (row->hash == hash && row->parent == parent &&
		    !strncmp(row->name, name, bytes) && !row->name[bytes])
			break;
	}
	return number;
}

/* "parent/name" */
static char *path_of(uint32_t parent, const char *name, size_t bytes)
{
	const char *before = parent ? rows[parent].path : "";
	size_t length = strlen(before);
	char *path = malloc(length + bytes + 2);

	if (!path)
		return NULL;
	memcpy(path, before, length);
	if (length)
		path[length++] = '/';
	memcpy(path + length, name, bytes);
	path[length + bytes] = '\0';
	return path;
}

/* Under the mutex: there is none. */
static gpumem_status add(uint32_t parent, const char *name, size_t bytes,
			 uint32_t hash, uint32_t *number_out)
{
	uint32_t number = atomic_load(&gm_tag_count) + 1;
	_Atomic uint16_t *list = &lists[hash % LISTS];
	char *path;

	if (number == GM_TAGS_MAX)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "there is no room for tag \"%.*s\": the process "
			       "has %d tags already; use fewer names, without "
			       "numbers that go on and on",
			       (int)bytes, name, GM_TAGS_MAX - 1);
	path = path_of(parent, name, bytes);
	if (!path)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for the name of a tag");
	rows[number] = (struct row){.path = path,
				    .name = path + strlen(path) - bytes,
				    .parent = parent,
				    .hash = hash,
				    .next = atomic_load(list)};
	atomic_store(&gm_tag_fates[number], (uint16_t)gm_tag_fate(parent));
	atomic_store(&gm_tag_count, number);
	atomic_store(list, (uint16_t)number);
	*number_out = number;
	return GPUMEM_OK;
}

static gpumem_status check_name(uint32_t parent, const char *name, size_t bytes)
{
	size_t before = parent ? strlen(rows[parent].path) + 1 : 0;

	if (!bytes)
		return gm_fail(GPUMEM_INVALID,
			       "the name of a tag is empty, or a path has an "
			       "empty name");
	if (memchr(name, '/', bytes))
		return gm_fail(GPUMEM_INVALID,
			       "\"%.*s\" is no name of a tag: '/' stands "
			       "between the names of a path",
			       (int)(bytes < GM_TAG_PATH_BYTES
					     ? bytes
					     : GM_TAG_PATH_BYTES),
			       name);
	if (before + bytes >= GM_TAG_PATH_BYTES)
		return gm_fail(GPUMEM_INVALID,
			       "the path of a tag has at most %d bytes, this "
			       "one would have %zu",
			       GM_TAG_PATH_BYTES - 1, before + bytes);
	return GPUMEM_OK;
}

gpumem_status gm_tag_inside(uint32_t parent, const char *name, size_t bytes,
			    uint32_t *number_out)
{
	uint32_t hash = hash_of(parent, name, bytes);
	uint32_t number = bytes ? find(parent, name, bytes, hash) : 0;
	gpumem_status status;

	if (number) {
		*number_out = number;
		return GPUMEM_OK;
	}
	status = check_name(parent, name, bytes);
	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&mutex);
	number = find(parent, name, bytes, hash);
	if (number)
		*number_out = number;
	else
		status = add(parent, name, bytes, hash, number_out);
	pthread_mutex_unlock(&mutex);
	return status;
}

gpumem_status gm_tag_of_path(const char *path, uint32_t *number_out)
{
	uint32_t number = 0;

	for (;;) {
		size_t bytes = strcspn(path, "/");
		gpumem_status status =
			gm_tag_inside(number, path, bytes, &number);

		if (status != GPUMEM_OK)
			return status;
		if (!path[bytes])
			break;
		path += bytes + 1;
	}
	*number_out = number;
	return GPUMEM_OK;
}

const char *gm_tag_path(uint32_t number)
{
	return rows[number].path;
}

uint32_t gm_tag_parent(uint32_t number)
{
	return rows[number].parent;
}

/* What is inside a tag has a larger number. */
static uint32_t fate_of(uint32_t number)
{
	return atomic_load(&sleeps[number]) ? number
					    : gm_tag_fate(rows[number].parent);
}

void gm_tag_set_sleep(uint32_t number, gpumem_sleep sleep)
{
	uint32_t count;

	pthread_mutex_lock(&mutex);
	count = atomic_load(&gm_tag_count);
	atomic_store(&sleeps[number], (uint8_t)sleep);
	if (gm_tag_fate(number) != fate_of(number))
		for (uint32_t i = number; i <= count; i++)
			atomic_store(&gm_tag_fates[i], (uint16_t)fate_of(i));
	pthread_mutex_unlock(&mutex);
}

gpumem_sleep gm_tag_sleep(uint32_t number)
{
	uint32_t fate = gm_tag_fate(number);
	gpumem_sleep sleep = (gpumem_sleep)atomic_load(&sleeps[fate]);

	return sleep ? sleep : GPUMEM_SLEEP_KEEP;
}
