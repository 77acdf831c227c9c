/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A recording of all pools of the process: it begins and ends pool by pool,
 * each while its heap is stopped, so that what a thread does is either before
 * its beginning and in its lists of what is mapped and live, or an event.
 * Locks, in this order: pool/record.c:mutex, pool/registry.c:mutex,
 * extent/heap_core.h:mutex.
 */
#include "pool.h"
#include "base/error.h"
#include "base/log.h"
#include "base/option.h"
#include "base/path.h"

/* Only who begins and ends holds it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool on;	       /* under the registry's mutex */
static bool by_option; /* under ours: the option was looked at */
static bool unnamed;   /* likewise: it is one that only we read */

/* 64 chunks: some hundred thousand allocations and frees. */
enum { UNNAMED_BYTES = 5 << 20 };

static const char *const kind_names[] = {
#define KIND_NAME(name, number, word, text) [number] = text,
	GPUMEM_KIND_LIST(KIND_NAME)
#undef KIND_NAME
};

/* ---- one pool, with the registry locked ---- */

static bool tell_live(const struct gpumem_block *block, void *user)
{
	const struct gm_heap *heap = user;

	if (block->state == GPUMEM_BLOCK_LIVE)
		gm_heap_record(heap, GPUMEM_RECORD_LIVE, gm_record_now(),
			       (uintptr_t)block->ptr, block->requested_bytes,
			       block->tag, block->stream);
	return true;
}

void gm_pool_record(struct gpumem_pool *pool)
{
	struct gm_heap *heap = &pool->heap;

	if (!on)
		return;
	gm_heap_stop(heap);
	heap->record = gm_record_pool(pool->name, pool->device->info.name,
				      kind_names[heap->driver.kind]);
	GM_RECORD(heap->record, GPUMEM_RECORD_POOL,
		  heap->counters.reserved.current);
	if (heap->record) {
		gm_space_record(heap);
		gm_block_visit_stopped(pool, tell_live, heap);
	}
	gm_heap_go(heap);
}

void gm_pool_record_end(struct gpumem_pool *pool)
{
	struct gm_heap *heap = &pool->heap;

	if (!on)
		return;
	gm_heap_stop(heap);
	GM_RECORD(heap->record, GPUMEM_RECORD_POOL_END, heap->record);
	heap->record = 0;
	gm_heap_go(heap);
}

/* ---- all of them ---- */

static bool begin_one(struct gpumem_pool *pool, void *unused)
{
	(void)unused;
	gm_pool_record(pool);
	return true;
}

static bool end_one(struct gpumem_pool *pool, void *unused)
{
	struct gm_heap *heap = &pool->heap;

	(void)unused;
	gm_heap_stop(heap);
	heap->record = 0;
	gm_heap_go(heap);
	return true;
}

static void end(void)
{
	gm_pools_set(&on, false, end_one);
	gm_record_close();
	unnamed = false;
}

static gpumem_status begin(const char *path, uint64_t max_bytes)
{
	char name[GM_PATH_BYTES];
	const struct gm_record_config config = {.path = name,
						.max_bytes = max_bytes};
	gpumem_status status;

	if (max_bytes < GM_RECORD_BYTES_MIN)
		return gm_fail(
			GPUMEM_INVALID,
			"a recording of at most %llu bytes is too small: "
			"it needs 1 MiB",
			(unsigned long long)max_bytes);
	if (unnamed)
		end();
	if (atomic_load(&gm_recorder.generation))
		return gm_fail(GPUMEM_BUSY,
			       "a recording is under way: end it first");
	if (!gm_path_expand(path, name, sizeof(name)))
		return gm_fail(GPUMEM_INVALID,
			       "the name of the recording is too long");
	status = gm_record_open(&config);
	if (status == GPUMEM_OK)
		gm_pools_set(&on, true, begin_one);
	return status;
}

gpumem_status gm_pools_record(const char *path, uint64_t max_bytes)
{
	gpumem_status status;

	pthread_mutex_lock(&mutex);
	status = begin(path, max_bytes ? max_bytes
				       : gm_option_bytes(GM_BYTES_record_max));
	pthread_mutex_unlock(&mutex);
	return status;
}

gpumem_status gm_pools_record_end(void)
{
	gpumem_status status = GPUMEM_OK;

	pthread_mutex_lock(&mutex);
	if (atomic_load(&gm_recorder.generation) && !unnamed)
		end();
	else
		status = gm_fail(GPUMEM_INVALID, "nothing is being recorded");
	pthread_mutex_unlock(&mutex);
	return status;
}

/* A program whose recording cannot be had runs as without. */
void gm_pools_record_by_option(void)
{
	char path[512];
	bool first;

	pthread_mutex_lock(&mutex);
	first = !by_option;
	by_option = true;
	pthread_mutex_unlock(&mutex);
	if (first && gm_option_given(GM_TEXT_record, path, sizeof(path)) &&
	    *path && gm_pools_record(path, 0) != GPUMEM_OK)
		gm_log_unasked("option \"record\": %s", gm_error_text());
}

/* ---- for option oom_snapshot ---- */

void gm_pools_record_unnamed(void)
{
	const struct gm_record_config config = {.max_bytes = UNNAMED_BYTES};

	pthread_mutex_lock(&mutex);
	if (!atomic_load(&gm_recorder.generation) &&
	    gm_record_open(&config) == GPUMEM_OK) {
		unnamed = true;
		gm_pools_set(&on, true, begin_one);
	}
	pthread_mutex_unlock(&mutex);
}

static bool found_one(struct gpumem_pool *pool, void *found)
{
	(void)pool;
	*(bool *)found = true;
	return false;
}

void gm_pools_record_idle(void)
{
	bool any = false;

	pthread_mutex_lock(&mutex);
	if (unnamed)
		gm_pools_visit(found_one, &any);
	if (unnamed && !any)
		end();
	pthread_mutex_unlock(&mutex);
}

bool gm_pools_record_read(bool (*fn)(const struct gm_record_seen *seen,
				     void *user),
			  void *user)
{
	bool good;

	pthread_mutex_lock(&mutex);
	good = !atomic_load(&gm_recorder.generation) ||
	       gm_record_read(fn, user);
	if (unnamed)
		end();
	pthread_mutex_unlock(&mutex);
	return good;
}
