/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The chunks of threads: claimed, begun, left. See record.h for who may write,
 * and record.h of the public headers for what is written.
 */
#include "file.h"
#include "base/fork.h"
#include "base/scope.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

_Thread_local struct gm_record_own gm_record_own;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;

static uint32_t thread_number(void)
{
	static _Thread_local uint32_t number;

	if (!number)
		number = (uint32_t)syscall(SYS_gettid);
	return number;
}

static uint32_t events_of(const struct gm_record_own *own)
{
	return GM_CHUNK_EVENTS - (uint32_t)(own->end - own->at);
}

static bool is_current(const struct gm_record_own *own)
{
	uint32_t generation = atomic_load(&gm_recorder.generation);

	return generation && own->generation == generation;
}

/* ---- the end of a thread ---- */

/* Its chunk goes to the next thread that needs one. The mutex keeps the file
 * open meanwhile. */
static void thread_exit(void *unused)
{
	struct gm_record_own *own = &gm_record_own;
	struct gm_record_file *file = &gm_record_file;
	int64_t before;

	(void)unused;
	if (gm_forked())
		return;
	pthread_mutex_lock(&file->mutex);
	if (is_current(own)) {
		file->used[own->chunk] = (uint16_t)events_of(own);
		before = atomic_exchange(&file->left, (int64_t)own->chunk);
		if (before >= 0)
			atomic_store(&file->state[before], GM_CHUNK_FULL);
	}
	*own = (struct gm_record_own){0};
	pthread_mutex_unlock(&file->mutex);
}

static void make_key(void)
{
	key_made = !pthread_key_create(&key, thread_exit);
}

static void watch_end(struct gm_record_own *own)
{
	pthread_once(&once, make_key);
	own->keyed = key_made && !pthread_setspecific(key, &key);
}

/* ---- claims ---- */

/* The next in turn that nobody writes; false: there is none. */
static bool claim(uint32_t *index_out)
{
	struct gm_record_file *file = &gm_record_file;
	uint32_t limit, tries = 0;

	while ((limit = atomic_load(&file->limit)) && tries++ <= limit) {
		uint32_t index =
			(uint32_t)(atomic_fetch_add(&file->claims, 1) % limit);
		uint8_t state = atomic_load(&file->state[index]);

		if (state == GM_CHUNK_HELD ||
		    !atomic_compare_exchange_strong(&file->state[index], &state,
						    GM_CHUNK_HELD))
			continue;
		if (gm_record_back(index)) {
			*index_out = index;
			return true;
		}
		/* The disk is full: what there is has to do. */
		atomic_store(&file->state[index], state);
		atomic_store(&file->limit, atomic_load(&file->backed));
		tries = 0;
	}
	return false;
}

/* What is in it goes. A chunk that was never used is zero. */
static void clear(uint32_t index)
{
	struct gm_record_file *file = &gm_record_file;
	struct gpumem_record_chunk *chunk = gm_record_chunk(index);
	_Atomic uint64_t *sequence = gm_record_count(&chunk->sequence);

	if (!atomic_load(sequence)) {
		(void)madvise(chunk, GM_RECORD_CHUNK_BYTES,
			      MADV_POPULATE_WRITE);
		return;
	}
	atomic_fetch_add(gm_record_count(&file->header->overwritten_events),
			 file->used[index]);
	/* Who reads meanwhile (read.c) sees by it that what follows goes. */
	atomic_store(sequence, 0);
	memset(&chunk->sequence + 1, 0,
	       GM_RECORD_CHUNK_BYTES - sizeof(chunk->sequence));
}

static void use_chunk(struct gm_record_own *own, uint32_t index, uint32_t used)
{
	struct gpumem_record_event *first =
		(struct gpumem_record_event *)(void *)(gm_record_chunk(index) +
						       1);

	own->generation = atomic_load(&gm_recorder.generation);
	own->chunk = index;
	own->at = first + used;
	own->end = first + GM_CHUNK_EVENTS;
}

/* The chunk of a thread that has ended: the rest of it. */
static bool take_left(struct gm_record_own *own)
{
	struct gm_record_file *file = &gm_record_file;
	int64_t left = atomic_exchange(&file->left, -1);

	if (left < 0)
		return false;
	use_chunk(own, (uint32_t)left, file->used[left]);
	return true;
}

static bool take_new(struct gm_record_own *own)
{
	static _Atomic uint64_t sequences;
	struct gpumem_record_chunk *chunk;
	uint32_t index = 0;

	if (!claim(&index))
		return false;
	clear(index);
	chunk = gm_record_chunk(index);
	chunk->ticks = gm_record_now();
	chunk->ns = gm_record_clock_ns();
	chunk->thread = thread_number();
	atomic_store_explicit(gm_record_count(&chunk->sequence),
			      atomic_fetch_add(&sequences, 1) + 1,
			      memory_order_release);
	use_chunk(own, index, 0);
	return true;
}

/* The thread has no chunk with room any more. */
static void leave(struct gm_record_own *own)
{
	struct gm_record_file *file = &gm_record_file;

	if (!is_current(own))
		return;
	file->used[own->chunk] = (uint16_t)events_of(own);
	atomic_store(&file->state[own->chunk], GM_CHUNK_FULL);
	own->generation = 0;
}

/* ---- events ---- */

/* What a chunk, or a thread's part of it, begins with: TIME, CONTEXT, THREAD.
 */
enum { PROLOGUE = 3 };

static void put_time(struct gm_record_own *own, uint64_t time)
{
	own->base = time;
	gm_record_put(time, GPUMEM_RECORD_TIME, 0, 0, time);
}

static void put_context(struct gm_record_own *own, uint64_t time, uint16_t pool,
			gpumem_stream stream)
{
	own->pool = pool;
	own->stream = stream;
	gm_record_put(time, GPUMEM_RECORD_CONTEXT, pool, 0,
		      (uint64_t)(uintptr_t)stream);
}

static bool lose(void)
{
	atomic_fetch_add(gm_record_count(&gm_record_file.header->lost_events),
			 1);
	return false;
}

static bool has_room(const struct gm_record_own *own, unsigned events)
{
	return is_current(own) &&
	       own->end - own->at >= (ptrdiff_t)(PROLOGUE + events);
}

/* Calls in here may be cancellation points, and its caller holds a cache. */
static bool next_chunk(struct gm_record_own *own, unsigned events)
{
	GM_SCOPE;

	leave(own);
	if (take_left(own) && !has_room(own, events))
		leave(own);
	if (!is_current(own) && !take_new(own))
		return false;
	if (!own->keyed)
		watch_end(own);
	return true;
}

bool gm_record_prepare(uint64_t time, uint16_t pool, gpumem_stream stream,
		       unsigned events)
{
	struct gm_record_own *own = &gm_record_own;
	bool same = has_room(own, events);

	if (!same && !next_chunk(own, events))
		return lose();
	if (!same || time - own->base > UINT32_MAX)
		put_time(own, time);
	if (!same)
		gm_record_put(time, GPUMEM_RECORD_THREAD, 0, 0,
			      thread_number());
	if (!same || own->pool != pool || own->stream != stream)
		put_context(own, time, pool, stream);
	return true;
}

void gm_record_huge(const struct gm_record_block *block)
{
	if (!gm_record_ready(block->time, block->pool, block->stream, 2) &&
	    !gm_record_prepare(block->time, block->pool, block->stream, 2))
		return;
	gm_record_put(block->time, GPUMEM_RECORD_BYTES, 0, 0, block->bytes);
	gm_record_put(block->time, block->kind, block->tag,
		      (unsigned)(block->bytes >> 24),
		      block->address / GPUMEM_RECORD_UNIT << 24 |
			      (block->bytes & 0xffffff));
}

void gm_record_served(uint64_t time, uint16_t pool, gpumem_stream stream,
		      enum gpumem_served served)
{
	/* It, a STACK, a BYTES, and the block's own. */
	const unsigned events = 4;

	if (!gm_record_ready(time, pool, stream, events) &&
	    !gm_record_prepare(time, pool, stream, events))
		return;
	gm_record_put(time, GPUMEM_RECORD_SERVED, 0, 0, served);
}

void gm_record_pool_event(uint16_t pool, enum gpumem_record_kind kind,
			  unsigned count, const uint64_t *value)
{
	struct gm_record_own *own = &gm_record_own;
	gpumem_stream stream = own->pool == pool ? own->stream : NULL;
	uint64_t time = gm_record_now();

	if (!gm_record_ready(time, pool, stream, count) &&
	    !gm_record_prepare(time, pool, stream, count))
		return;
	gm_record_put(time, kind, 0, 0, value[0]);
	for (unsigned i = 1; i < count; i++)
		gm_record_put(time, GPUMEM_RECORD_VALUE, 0, 0, value[i]);
}

void gm_record_text(uint16_t pool, enum gpumem_record_kind kind,
		    const char *text, size_t bytes)
{
	const struct gm_record_own *own = &gm_record_own;
	gpumem_stream stream = own->pool == pool ? own->stream : NULL;
	uint64_t time = gm_record_now();
	unsigned events = 1 + (unsigned)(bytes + 7) / 8;

	if (!gm_record_prepare(time, pool, stream, events))
		return;
	gm_record_put(time, kind, 0, 0, bytes);
	for (size_t at = 0; at < bytes; at += 8) {
		uint64_t piece = 0;

		memcpy(&piece, text + at, bytes - at < 8 ? bytes - at : 8);
		gm_record_put(time, GPUMEM_RECORD_VALUE, 0, 0, piece);
	}
}
