/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A device whose streams begin to fill only when somebody waits for them, for
 * lies about waiting: however slow the machine is, the work that was not waited
 * for is not done. All but that is kept: what was recorded after late work is
 * recorded again when it is handed on. The default stream is in time. One
 * thread at most uses others; included by liar_stream.h.
 */
#ifndef LATE_H
#define LATE_H

#include "liar.h"

struct late_fill {
	uint64_t address, bytes;
	gpumem_stream stream;
	uint8_t value;
};

static struct {
	struct late_fill fill[8];
	int count;
	void *event; /* recorded after them, or NULL */
	gpumem_stream recorded_on;
} late;

static bool is_late(gpumem_stream stream)
{
	for (int i = 0; i < late.count; i++)
		if (late.fill[i].stream == stream)
			return true;
	return false;
}

/* Hands on all that is late. */
static gpumem_status late_begin(void *device)
{
	gpumem_status status = GPUMEM_OK;

	for (int i = 0; i < late.count && status == GPUMEM_OK; i++)
		status = honest()->fill(device, late.fill[i].address,
					late.fill[i].value, late.fill[i].bytes,
					late.fill[i].stream);
	if (status == GPUMEM_OK && late.event)
		status = honest()->event_record(device, late.event,
						late.recorded_on);
	late.count = 0;
	late.event = NULL;
	return status;
}

static gpumem_status late_fill(void *device, uint64_t address, uint8_t value,
			       uint64_t bytes, gpumem_stream stream)
{
	gpumem_status status = GPUMEM_OK;

	if (!stream)
		return honest()->fill(device, address, value, bytes, stream);
	if (late.count == 8 || late.event)
		status = late_begin(device);
	late.fill[late.count++] = (struct late_fill){
		.address = address,
		.bytes = bytes,
		.stream = stream,
		.value = value,
	};
	return status;
}

static gpumem_status late_record(void *device, void *event,
				 gpumem_stream stream)
{
	if (is_late(stream)) {
		late.event = event;
		late.recorded_on = stream;
	}
	return honest()->event_record(device, event, stream);
}

static gpumem_status late_wait(void *device, gpumem_stream stream, void *event)
{
	gpumem_status status = late_begin(device);

	return status ? status : honest()->stream_wait(device, stream, event);
}

static gpumem_status late_event_sync(void *device, void *event)
{
	gpumem_status status = late_begin(device);

	return status ? status : honest()->event_sync(device, event);
}

/* Only the stream itself is waited for before the others begin. */
static gpumem_status late_sync(void *device, gpumem_stream stream)
{
	gpumem_status status = GPUMEM_OK;

	if (!is_late(stream))
		status = honest()->stream_sync(device, stream);
	if (status == GPUMEM_OK && late.count) {
		status = late_begin(device);
		if (status == GPUMEM_OK)
			status = honest()->stream_sync(device, stream);
	}
	return status;
}

static gpumem_status late_copy(void *device, uint64_t to, uint64_t from,
			       uint64_t bytes, gpumem_stream stream)
{
	gpumem_status status = GPUMEM_OK;

	if (is_late(stream))
		status = late_begin(device);
	return status ? status
		      : honest()->copy(device, to, from, bytes, stream);
}

#endif
