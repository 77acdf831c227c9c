/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where the memory of a device is: the rows of its pools, and what the driver
 * says of the rest. Everything is collected first, then printed with no lock
 * held. See table.h.
 */
#include "table.h"
#include "base/error.h"

#include <stdlib.h>

enum { TRIES = 8 };

static void count(struct gm_table *table, const struct gm_row *row,
		  uint64_t bytes)
{
	if (row->beside)
		return;
	table->total_bytes += bytes;
	if (row->number)
		table->reserved_bytes += bytes;
}

void gm_table_grow(struct gm_table *table, struct gm_row *row, uint64_t bytes)
{
	row->bytes += bytes;
	count(table, row, bytes);
}

void gm_table_add(struct gm_table *table, const struct gm_row *row)
{
	size_t room = table->room ? 2 * table->room : 32;
	struct gm_row *larger;

	if (!row->bytes)
		return;
	if (table->count == table->room) {
		larger = realloc(table->row, room * sizeof(*larger));
		if (!larger) {
			table->no_memory = true;
			return;
		}
		table->row = larger;
		table->room = room;
	}
	table->row[table->count++] = *row;
	count(table, row, row->bytes);
}

static void add_pools(struct gm_table *table, struct gpumem_device *device)
{
	struct gm_device_link *link;

	table->count = 0;
	table->pools = 0;
	table->reserved_bytes = table->total_bytes = 0;
	pthread_mutex_lock(&device->mutex);
	for (link = device->pools.next; link != &device->pools;
	     link = link->next)
		gm_table_add_pool(table, gm_pool_of_link(link));
	pthread_mutex_unlock(&device->mutex);
}

static void add_rest(struct gm_table *table, enum gm_place place,
		     uint64_t bytes)
{
	const struct gm_row row = {.place = place, .bytes = bytes};

	gm_table_add(table, &row);
}

/* One moment, if one of a few tries meets one in which no pool grows or
 * shrinks. Otherwise what other threads took or gave back since the driver was
 * asked is left out of what it had free, and at last of what is outside. */
static gpumem_status collect(struct gm_table *table,
			     struct gpumem_device *device)
{
	struct gpumem_memory memory = {.size = sizeof(memory)};
	gpumem_status status = GPUMEM_OK;
	struct gm_driver driver;
	uint64_t rest;

	gm_driver_init(&driver, device);
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = atomic_load(&device->reserved_bytes);

		status = gm_driver_memory_info(&driver, &memory);
		if (status != GPUMEM_OK)
			return status;
		add_pools(table, device);
		if (table->reserved_bytes == before &&
		    atomic_load(&device->reserved_bytes) == before)
			break;
	}
	rest = memory.total_bytes > table->reserved_bytes
		       ? memory.total_bytes - table->reserved_bytes
		       : 0;
	if (memory.free_bytes > rest)
		memory.free_bytes = rest;
	add_rest(table, GM_PLACE_outside, rest - memory.free_bytes);
	add_rest(table, GM_PLACE_free, memory.free_bytes);
	return GPUMEM_OK;
}

static bool add_process(const struct gpumem_process *process, void *user)
{
	struct gm_processes *processes = user;
	size_t room = processes->room ? 2 * processes->room : 16;
	struct gpumem_process *larger;

	if (processes->count == processes->room) {
		larger = realloc(processes->list, room * sizeof(*larger));
		if (!larger) {
			processes->no_memory = true;
			return false;
		}
		processes->list = larger;
		processes->room = room;
	}
	processes->list[processes->count++] = *process;
	return true;
}

/* A driver that does not list them is no failure, and leaves no error. */
static void collect_processes(struct gm_processes *processes,
			      struct gpumem_device *device)
{
	struct gpumem_error error = {.size = sizeof(error)};

	gm_error_get(&error);
	processes->known =
		gm_process_visit(device, add_process, processes) == GPUMEM_OK;
	gm_error_set(&error);
}

gpumem_status gm_table_make(struct gm_table *table,
			    struct gm_processes *processes,
			    struct gpumem_device *device)
{
	gpumem_status status = collect(table, device);

	if (status == GPUMEM_OK)
		collect_processes(processes, device);
	if (status == GPUMEM_OK && (table->no_memory || processes->no_memory))
		status = gm_fail(GPUMEM_NO_HOST_MEMORY,
				 "no host memory for a report of %s",
				 device->info.name);
	return status;
}

void gm_table_end(struct gm_table *table, struct gm_processes *processes)
{
	free(processes->list);
	free(table->row);
}

gpumem_status gm_device_report(struct gpumem_device *device, bool json,
			       void (*write)(const char *text, void *user),
			       void *user)
{
	struct gm_processes processes = {0};
	struct gm_table table = {0};
	gpumem_status status = gm_table_make(&table, &processes, device);
	struct gm_print print;

	if (status == GPUMEM_OK && json) {
		gm_print_begin(&print, true, write, user);
		gm_table_print_json(&table, &processes, device, &print);
		gm_print_end(&print);
	} else if (status == GPUMEM_OK) {
		gm_table_print_text(&table, &processes, device, write, user);
	}
	gm_table_end(&table, &processes);
	return status;
}
