/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See count.h. The table is a copy of the real one in which the slots that a
 * pool calls are our own. The real backend has been started already, so init
 * has nothing to do; its errors reach the core as they always do.
 */
#include "count.h"

#include "common/raw.h"

#include <stdio.h>

static const struct gpumem_backend *real;
static struct gpumem_backend table;
static char table_name[16];
static struct counts counts;

void count_add(struct counts *to, enum gpumem_call call, uint64_t pages,
	       uint64_t bytes)
{
	to->call[call].calls++;
	to->call[call].pages += pages;
	to->call[call].bytes += bytes;
}

const struct counts *count_now(void)
{
	return &counts;
}

static gpumem_status count_init(const struct gpumem_services *services)
{
	(void)services;
	return GPUMEM_OK;
}

static gpumem_status count_memory_info(void *device,
				       struct gpumem_memory *memory_out)
{
	count_add(&counts, GPUMEM_CALL_MEMORY_INFO, 0, 0);
	return real->memory_info(device, memory_out);
}

static gpumem_status count_alloc(void *device, uint64_t bytes,
				 uint64_t *address_out)
{
	count_add(&counts, GPUMEM_CALL_ALLOC, 0, bytes);
	return real->alloc(device, bytes, address_out);
}

static gpumem_status count_free(void *device, uint64_t address, uint64_t bytes)
{
	count_add(&counts, GPUMEM_CALL_FREE, 0, bytes);
	return real->free(device, address, bytes);
}

static gpumem_status count_stream_query(void *device, gpumem_stream stream)
{
	count_add(&counts, GPUMEM_CALL_STREAM_QUERY, 0, 0);
	return real->stream_query(device, stream);
}

static gpumem_status count_event_create(void *device, void **event_out)
{
	count_add(&counts, GPUMEM_CALL_EVENT_CREATE, 0, 0);
	return real->event_create(device, event_out);
}

static gpumem_status count_event_destroy(void *device, void *event)
{
	count_add(&counts, GPUMEM_CALL_EVENT_DESTROY, 0, 0);
	return real->event_destroy(device, event);
}

static gpumem_status count_event_record(void *device, void *event,
					gpumem_stream stream)
{
	count_add(&counts, GPUMEM_CALL_EVENT_RECORD, 0, 0);
	return real->event_record(device, event, stream);
}

static gpumem_status count_event_query(void *device, void *event)
{
	count_add(&counts, GPUMEM_CALL_EVENT_QUERY, 0, 0);
	return real->event_query(device, event);
}

static gpumem_status count_event_sync(void *device, void *event)
{
	count_add(&counts, GPUMEM_CALL_EVENT_SYNC, 0, 0);
	return real->event_sync(device, event);
}

static gpumem_status count_va_reserve(void *device, uint64_t bytes,
				      uint64_t alignment, uint64_t *address_out)
{
	count_add(&counts, GPUMEM_CALL_VA_RESERVE, 0, bytes);
	return real->va_reserve(device, bytes, alignment, address_out);
}

static gpumem_status count_va_release(void *device, uint64_t address,
				      uint64_t bytes)
{
	count_add(&counts, GPUMEM_CALL_VA_RELEASE, 0, bytes);
	return real->va_release(device, address, bytes);
}

static gpumem_status count_page_create(void *device, uint64_t bytes,
				       gpumem_page *page_out)
{
	count_add(&counts, GPUMEM_CALL_PAGE_CREATE, 0, bytes);
	return real->page_create(device, bytes, page_out);
}

static gpumem_status count_page_destroy(void *device, gpumem_page page,
					uint64_t bytes)
{
	count_add(&counts, GPUMEM_CALL_PAGE_DESTROY, 0, bytes);
	return real->page_destroy(device, page, bytes);
}

static gpumem_status count_map(void *device, uint64_t address,
			       const gpumem_page *pages, size_t count,
			       uint64_t page_bytes)
{
	count_add(&counts, GPUMEM_CALL_MAP, count, count * page_bytes);
	return real->map(device, address, pages, count, page_bytes);
}

static gpumem_status count_unmap(void *device, uint64_t address, size_t count,
				 uint64_t page_bytes)
{
	count_add(&counts, GPUMEM_CALL_UNMAP, count, count * page_bytes);
	return real->unmap(device, address, count, page_bytes);
}

static gpumem_status count_capture_id(void *device, gpumem_stream stream,
				      uint64_t *id_out)
{
	count_add(&counts, GPUMEM_CALL_CAPTURE_ID, 0, 0);
	return real->capture_id(device, stream, id_out);
}

/* What the real backend lacks, this one lacks too. */
static void fill_table(void)
{
	table = *real;
	table.size = sizeof(table);
	table.name = table_name;
	table.options = NULL; /* they are the real one's */
	table.init = count_init;
#define COUNT_SLOT(name, slot)                                                 \
	if (real->slot)                                                        \
		table.slot = count_##slot;
	GPUMEM_CALL_LIST(COUNT_SLOT)
#undef COUNT_SLOT
}

gpumem_status count_begin(const char *device, char name_out[COUNT_NAME])
{
	gpumem_status status;
	char backend[16];
	int index;

	if (!raw_split(device, backend, &index))
		return GPUMEM_NOT_FOUND;
	status = gpumem_backend_table(backend, &real);
	if (status != GPUMEM_OK)
		return status;
	snprintf(table_name, sizeof(table_name), "%.9s-count", backend);
	fill_table();
	status = gpumem_backend_register(&table);
	if (status == GPUMEM_OK)
		snprintf(name_out, COUNT_NAME, "%s:%d", table_name, index);
	return status;
}
