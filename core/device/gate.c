/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See gate.h. */
#include "gate.h"

#include <stdlib.h>

static struct gm_gate *gates; /* under the lock of gm_gate_of()'s callers */

struct gm_gate *gm_gate_of(const struct gpumem_backend *ops)
{
	struct gm_gate *gate = gates;

	while (gate && gate->ops != ops)
		gate = gate->next;
	if (gate)
		return gate;
	gate = calloc(1, sizeof(*gate));
	if (!gate)
		return NULL;
	pthread_mutex_init(&gate->mutex, NULL);
	pthread_cond_init(&gate->opened, NULL);
	gate->ops = ops;
	gate->next = gates;
	gates = gate;
	return gate;
}

/* How often the thread is in. A call within a growth is not counted: its end
 * would stand for another's. */
static __attribute__((
	tls_model("initial-exec"))) _Thread_local unsigned depth;

void gm_gate_enter(struct gm_gate *gate)
{
	if (depth++ == 0)
		atomic_fetch_add(&gate->entered, 1);
}

/* Either this sees the one that pauses, or that one sees that this has left. */
void gm_gate_leave(struct gm_gate *gate)
{
	if (--depth)
		return;
	atomic_fetch_add(&gate->left, 1);
	if (!atomic_load(&gate->paused))
		return;
	pthread_mutex_lock(&gate->mutex);
	pthread_cond_broadcast(&gate->opened);
	pthread_mutex_unlock(&gate->mutex);
}

void gm_gate_give_way(struct gm_gate *gate)
{
	uint64_t entered = atomic_load(&gate->entered);

	if (atomic_load(&gate->left) >= entered)
		return;
	pthread_mutex_lock(&gate->mutex);
	atomic_fetch_add(&gate->paused, 1);
	while (atomic_load(&gate->left) < entered)
		pthread_cond_wait(&gate->opened, &gate->mutex);
	atomic_fetch_sub(&gate->paused, 1);
	pthread_mutex_unlock(&gate->mutex);
}
