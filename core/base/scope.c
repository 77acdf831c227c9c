/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See scope.h. Each thread has its own. */
#include "scope.h"
#include "log.h"
#include <pthread.h>

static _Thread_local unsigned depth;
static _Thread_local int cancel_state; /* before the outermost one */

void gm_scope_enter(void)
{
	if (!depth++)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
}

void gm_scope_leave(void)
{
	if (--depth)
		return;
	pthread_setcancelstate(cancel_state, NULL);
	gm_log_tell_kept();
}

bool gm_scope_inside(void)
{
	return depth > 0;
}
