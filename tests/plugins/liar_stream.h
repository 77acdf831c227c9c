/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Lies about streams, events, fill, copy and capture. Included by liar.c. */
#ifndef LIAR_STREAM_H
#define LIAR_STREAM_H

#include "late.h"
#include "liar.h"

#include <pthread.h>

static gpumem_status never_ready(void *device, void *event)
{
	(void)device;
	(void)event;
	return GPUMEM_NOT_READY;
}

static gpumem_status does_not_wait(void *device, void *event)
{
	(void)device;
	(void)event;
	return GPUMEM_OK;
}

static gpumem_status ends_at_once(void *device, void *event, uint64_t ns)
{
	(void)device;
	(void)event;
	(void)ns;
	return GPUMEM_OK;
}

static gpumem_status no_order(void *device, gpumem_stream stream, void *event)
{
	(void)device;
	(void)stream;
	(void)event;
	return GPUMEM_OK;
}

/* Says why it is not ready, once after each record. */
static bool was_recorded;

static gpumem_status records(void *device, void *event, gpumem_stream stream)
{
	was_recorded = true;
	return honest()->event_record(device, event, stream);
}

static gpumem_status excuses(void *device, void *event)
{
	if (!was_recorded)
		return honest()->event_query(device, event);
	was_recorded = false;
	services.error(600, "LIAR_NOT_READY", "it is not ready");
	return GPUMEM_NOT_READY;
}

static gpumem_status ends_thread(void *device, void *event)
{
	(void)device;
	(void)event;
	pthread_exit(NULL);
}

static gpumem_status event_null(void *device, void **event_out)
{
	(void)device;
	*event_out = NULL;
	return GPUMEM_OK;
}

static gpumem_status event_unset(void *device, void **event_out)
{
	(void)device;
	(void)event_out;
	return GPUMEM_OK;
}

static gpumem_status event_again(void *device, void **event_out)
{
	static void *event;
	gpumem_status status = GPUMEM_OK;

	if (!event)
		status = honest()->event_create(device, &event);
	*event_out = event;
	return status;
}

static gpumem_status event_stays(void *device, void *event)
{
	(void)device;
	(void)event;
	return GPUMEM_OK;
}

static gpumem_status stream_null(void *device, gpumem_stream *stream_out)
{
	(void)device;
	*stream_out = NULL;
	return GPUMEM_OK;
}

static gpumem_status stream_unset(void *device, gpumem_stream *stream_out)
{
	(void)device;
	(void)stream_out;
	return GPUMEM_OK;
}

static gpumem_status stream_again(void *device, gpumem_stream *stream_out)
{
	static gpumem_stream stream;
	gpumem_status status = GPUMEM_OK;

	if (!stream)
		status = honest()->stream_create(device, &stream);
	*stream_out = stream;
	return status;
}

/* ---- fill, copy, capture ------------------------------------------------ */

/* A status that fill may give, but not without a word. */
static gpumem_status silent_fill(void *device, uint64_t address, uint8_t value,
				 uint64_t bytes, gpumem_stream stream)
{
	(void)device;
	(void)address;
	(void)value;
	(void)bytes;
	(void)stream;
	return GPUMEM_BAD_POINTER;
}

static gpumem_status fills_more(void *device, uint64_t address, uint8_t value,
				uint64_t bytes, gpumem_stream stream)
{
	return honest()->fill(device, address, value, bytes + bytes % 2,
			      stream);
}

static gpumem_status copies_less(void *device, uint64_t to, uint64_t from,
				 uint64_t bytes, gpumem_stream stream)
{
	return honest()->copy(device, to, from, bytes / 2 * 2 + (bytes == 1),
			      stream);
}

static gpumem_status captures(void *device, gpumem_stream stream,
			      uint64_t *id_out)
{
	(void)device;
	(void)stream;
	*id_out = 1;
	return GPUMEM_OK;
}

static gpumem_status copy_aborts(void *device, uint64_t to, uint64_t from,
				 uint64_t bytes, gpumem_stream stream)
{
	(void)device;
	(void)to;
	(void)from;
	(void)bytes;
	(void)stream;
	abort();
}

static gpumem_status capture_unset(void *device, gpumem_stream stream,
				   uint64_t *id_out)
{
	(void)device;
	(void)stream;
	(void)id_out;
	return GPUMEM_OK;
}

#endif
