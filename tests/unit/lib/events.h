/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of a program's events share: two streams, and an event. Only
 * the main thread calls it.
 */
#ifndef LIB_EVENTS_H
#define LIB_EVENTS_H

#include "fixture.h"

static gpumem_stream a, b;

LIB_USE gpumem_event *new_event(void)
{
	gpumem_event *event = NULL;

	must(gpumem_event_create(device, &event));
	return event;
}

LIB_USE void events_start(bool vm)
{
	device_start("256MiB", vm);
	a = new_stream();
	b = new_stream();
}

LIB_USE void events_end(void)
{
	must(gpumem_stream_destroy(device, a));
	must(gpumem_stream_destroy(device, b));
	ok(device_end(), "the device is empty");
}

#endif
