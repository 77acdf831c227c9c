/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Definitions: what events name by a number. They are few, and made under the
 * mutex: definition_bytes says how many are whole.
 */
#include "file.h"
#include "base/tag.h"

#include <string.h>

/* So many numbers there are. */
enum { POOLS_MAX = UINT16_MAX };

char *gm_record_define(enum gpumem_record_definition_kind kind, uint64_t number,
		       size_t bytes)
{
	struct gm_record_file *file = &gm_record_file;
	struct gpumem_record_header *header = file->header;
	struct gpumem_record_definition *at;
	size_t all = (sizeof(*at) + bytes + 7) / 8 * 8;

	if (all > file->definition_room - header->definition_bytes) {
		header->lost_definitions++;
		return NULL;
	}
	at = (void *)(file->map + header->header_bytes +
		      header->definition_bytes);
	*at = (struct gpumem_record_definition){
		.bytes = (uint32_t)all, .kind = kind, .number = number};
	return (char *)(at + 1);
}

void gm_record_publish(const char *text)
{
	const struct gpumem_record_definition *at =
		(const void *)(text - sizeof(*at));
	struct gpumem_record_header *header = gm_record_file.header;

	atomic_store_explicit(gm_record_count(&header->definition_bytes),
			      header->definition_bytes + at->bytes,
			      memory_order_release);
}

uint16_t gm_record_pool(const char *name, const char *device, const char *kind)
{
	const char *const part[] = {name, device, kind};
	struct gm_record_file *file = &gm_record_file;
	uint16_t number = 0;
	size_t bytes = 0;
	char *text, *at;

	for (unsigned i = 0; i < 3; i++)
		bytes += strlen(part[i]) + 1;
	pthread_mutex_lock(&file->mutex);
	text = at = file->map && file->pools < POOLS_MAX
			    ? gm_record_define(GPUMEM_RECORD_DEFINITION_POOL,
					       file->pools + 1u, bytes)
			    : NULL;
	if (text) {
		for (unsigned i = 0; i < 3; i++)
			at = stpcpy(at, part[i]) + 1;
		gm_record_publish(text);
		number = ++file->pools;
	}
	pthread_mutex_unlock(&file->mutex);
	return number;
}

/* Under the mutex. */
static void define_tag(uint32_t number)
{
	const char *path = gm_tag_path(number);
	size_t bytes = strlen(path) + 1;
	char *text =
		gm_record_define(GPUMEM_RECORD_DEFINITION_TAG, number, bytes);

	if (!text)
		return;
	memcpy(text, path, bytes);
	gm_record_publish(text);
}

/* A tag is made before it is looked whether a recording is open, and that is
 * open before it is looked which tags there are: none is missed. */
void gm_record_tags(void)
{
	struct gm_record_file *file = &gm_record_file;
	uint32_t count = atomic_load(&gm_tag_count);

	if (!atomic_load(&gm_recorder.generation) ||
	    atomic_load(&file->tags) >= count)
		return;
	pthread_mutex_lock(&file->mutex);
	while (file->map && atomic_load(&file->tags) < count)
		define_tag(atomic_fetch_add(&file->tags, 1) + 1);
	pthread_mutex_unlock(&file->mutex);
}
