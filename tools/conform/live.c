/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See live.h: a list, since there are never many. */
#include "live.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct live {
	enum live_class class;
	uint64_t from, bytes;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct live *list; /* under the mutex */
static size_t count, room;

static bool overlaps(enum live_class class, uint64_t from, uint64_t bytes)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].class == class &&
		    from - list[i].from < list[i].bytes)
			return true;
		else if (list[i].class == class && list[i].from - from < bytes)
			return true;
	return false;
}

/* Without host memory for the list nothing is known, and nothing claimed. */
static bool grow(void)
{
	size_t more = room ? 2 * room : 64;
	struct live *larger = realloc(list, more * sizeof(*list));

	if (!larger)
		return false;
	list = larger;
	room = more;
	return true;
}

bool live_add(enum live_class class, uint64_t from, uint64_t bytes)
{
	bool clear;

	pthread_mutex_lock(&mutex);
	clear = !overlaps(class, from, bytes);
	if (clear && (count < room || grow()))
		list[count++] = (struct live){class, from, bytes};
	pthread_mutex_unlock(&mutex);
	return clear;
}

uint64_t live_remove(enum live_class class, uint64_t from)
{
	uint64_t bytes = 0;

	pthread_mutex_lock(&mutex);
	for (size_t i = 0; i < count && !bytes; i++)
		if (list[i].class == class && list[i].from == from) {
			bytes = list[i].bytes;
			list[i] = list[--count];
		}
	pthread_mutex_unlock(&mutex);
	return bytes;
}
