/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Handles: small numbers cast to pointers, so that a stale or foreign one is
 * detected without a lock and without touching what it points to. A table's
 * mutex guards taking and giving; finding needs none.
 */
#include "host_device.h"

#include <stdlib.h>

/* handle = turn % 256 << 40 | kind << 38 | device << 32 | slot << 8 */
#define TURN_SHIFT 40
#define KIND_SHIFT 38
#define DEVICE_SHIFT 32
#define SLOT_SHIFT 8

_Static_assert(HOST_CHUNK_OBJECTS *HOST_CHUNKS == 1u << HOST_SLOT_BITS,
	       "slots fill their bits");
_Static_assert(HOST_DEVICES_MAX <= 1 << (KIND_SHIFT - DEVICE_SHIFT),
	       "devices fit in their bits");

void gm_host_table_init(struct host_table *table, size_t object_bytes,
			enum host_kind kind, int device)
{
	table->object_bytes = object_bytes;
	table->kind = kind;
	table->device = device;
	pthread_mutex_init(&table->mutex, NULL);
}

void gm_host_table_free(struct host_table *table)
{
	for (uint32_t i = 0; i < HOST_CHUNKS; i++)
		free(atomic_load(&table->chunks[i]));
	pthread_mutex_destroy(&table->mutex);
}

void *gm_host_table_at(struct host_table *table, uint32_t slot)
{
	char *chunk;
	struct host_object *object;

	if (slot >> HOST_SLOT_BITS)
		return NULL;
	chunk = atomic_load_explicit(&table->chunks[slot / HOST_CHUNK_OBJECTS],
				     memory_order_acquire);
	if (!chunk)
		return NULL;
	object = (void *)(chunk +
			  slot % HOST_CHUNK_OBJECTS * table->object_bytes);
	return object;
}

static uint64_t handle_of(const struct host_table *table, uint32_t slot,
			  uint32_t turn)
{
	return (uint64_t)(turn & 0xff) << TURN_SHIFT |
	       (uint64_t)table->kind << KIND_SHIFT |
	       (uint64_t)table->device << DEVICE_SHIFT |
	       (uint64_t)slot << SLOT_SHIFT;
}

/* A slot that was never used. The mutex is held. */
static struct host_object *make(struct host_table *table)
{
	uint32_t slot = table->made;
	_Atomic(char *) *place;
	struct host_object *object;

	if (slot >> HOST_SLOT_BITS)
		return NULL;
	place = &table->chunks[slot / HOST_CHUNK_OBJECTS];
	if (!atomic_load(place)) {
		char *chunk = calloc(HOST_CHUNK_OBJECTS, table->object_bytes);

		if (!chunk)
			return NULL;
		atomic_store_explicit(place, chunk, memory_order_release);
	}
	object = gm_host_table_at(table, slot);
	object->slot = slot;
	table->made++;
	return object;
}

void *gm_host_table_take(struct host_table *table)
{
	struct host_object *object;

	pthread_mutex_lock(&table->mutex);
	if (table->free_list) {
		object = gm_host_table_at(table, table->free_list - 1);
		table->free_list = object->next_free;
	} else {
		object = make(table);
	}
	if (object)
		object->turn++;
	pthread_mutex_unlock(&table->mutex);
	return object;
}

uint64_t gm_host_table_publish(struct host_table *table, void *taken)
{
	struct host_object *object = taken;
	uint64_t handle = handle_of(table, object->slot, object->turn);

	atomic_store_explicit(&object->handle, handle, memory_order_release);
	return handle;
}

bool gm_host_table_retract(void *published, uint64_t handle)
{
	struct host_object *object = published;

	return atomic_compare_exchange_strong(&object->handle, &handle, 0);
}

void gm_host_table_give(struct host_table *table, void *retracted)
{
	struct host_object *object = retracted;

	pthread_mutex_lock(&table->mutex);
	object->next_free = table->free_list;
	table->free_list = object->slot + 1;
	pthread_mutex_unlock(&table->mutex);
}

void *gm_host_table_find(struct host_table *table, uint64_t handle)
{
	uint32_t slot = (uint32_t)(handle >> SLOT_SHIFT) &
			((1u << (DEVICE_SHIFT - SLOT_SHIFT)) - 1);
	struct host_object *object = gm_host_table_at(table, slot);

	if (!handle || !object ||
	    atomic_load_explicit(&object->handle, memory_order_acquire) !=
		    handle)
		return NULL;
	return object;
}
