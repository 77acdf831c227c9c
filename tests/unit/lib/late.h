/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams that lag behind, for sweeps: they are held, each step of the program
 * queues work on its stream, and what is more than so many works old is done.
 * Only the main thread calls what is here.
 */
#ifndef LIB_LATE_H
#define LIB_LATE_H

#include "fixture.h"

#define LATE_FOR_EVER UINT64_MAX

static uint64_t late_by; /* works; 0: streams run by themselves */

static void late_nothing(void *arg)
{
	(void)arg;
}

/* From now on, until its end. */
LIB_USE void late_hold(gpumem_stream stream)
{
	if (late_by)
		must(gpumem_host_hold(0, stream, true));
}

/* It runs by itself again: for the end of a pool, which asks again and again
 * where the driver fails to wait, and nobody else does what is queued. */
LIB_USE void late_go(gpumem_stream stream)
{
	if (late_by)
		must(gpumem_host_hold(0, stream, false));
}

/* Nothing to be done on a device that is lost. */
LIB_USE void late_step(gpumem_stream stream)
{
	uint64_t queued;

	if (!late_by || gpumem_host_launch(0, stream, late_nothing, NULL))
		return;
	queued = gpumem_host_queued(0, stream);
	if (queued > late_by)
		must(gpumem_host_step(0, stream, queued - late_by));
}

#endif
