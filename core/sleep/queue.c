/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The streams of a sleep's own, on which it copies. Where the driver does not
 * say that their work is over, nothing that they may still read or write is
 * unmapped, freed or used again: they wait here until it does, and so does the
 * next sleep or wake. But for the blocks of a sleep that failed, which are the
 * program's when the driver was asked once more. See parts.h.
 */
#include "parts.h"
#include "base/error.h"

#include <stdlib.h>

gpumem_status gm_queue_begin(struct gm_heap *heap, struct gm_queue **queue_out)
{
	struct gm_queue *queue = calloc(1, sizeof(*queue));
	gpumem_status status;

	if (!queue)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a stream");
	status = gm_stream_create(heap->driver.device, &queue->stream);
	if (status != GPUMEM_OK) {
		free(queue);
		return status;
	}
	*queue_out = queue;
	return GPUMEM_OK;
}

gpumem_status gm_queue_sync(struct gm_heap *heap, struct gm_queue *queue)
{
	gpumem_status status =
		gm_stream_sync(heap->driver.device, queue->stream);

	queue->unsure = status != GPUMEM_OK;
	return status;
}

void gm_queue_end(struct gm_heap *heap, struct gm_queue *queue)
{
	struct gm_sleep *sleep = heap->sleep;

	if (!queue->unsure) {
		(void)gm_stream_destroy(heap->driver.device, queue->stream);
		free(queue);
		return;
	}
	pthread_mutex_lock(&sleep->mutex);
	queue->next = sleep->unsure;
	sleep->unsure = queue;
	pthread_mutex_unlock(&sleep->mutex);
}

/* NULL: none is unsure. Only who sleeps or wakes ends it. */
static struct gm_queue *first(struct gm_sleep *sleep)
{
	struct gm_queue *queue;

	pthread_mutex_lock(&sleep->mutex);
	queue = sleep->unsure;
	pthread_mutex_unlock(&sleep->mutex);
	return queue;
}

bool gm_queues_unsure(struct gm_heap *heap)
{
	return first(heap->sleep) != NULL;
}

gpumem_status gm_queues_settle(struct gm_heap *heap)
{
	struct gm_sleep *sleep = heap->sleep;
	gpumem_status status = GPUMEM_OK;
	struct gm_queue *queue;

	while (status == GPUMEM_OK && (queue = first(sleep))) {
		status = gm_queue_sync(heap, queue);
		if (status != GPUMEM_OK)
			break;
		pthread_mutex_lock(&sleep->mutex);
		sleep->unsure = queue->next;
		pthread_mutex_unlock(&sleep->mutex);
		gm_queue_end(heap, queue);
	}
	return status;
}

void gm_queues_forget(struct gm_heap *heap)
{
	while (heap->sleep->unsure) {
		struct gm_queue *queue = heap->sleep->unsure;

		heap->sleep->unsure = queue->next;
		free(queue);
	}
}
