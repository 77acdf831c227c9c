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

enum { PLACES_BYTES = GPUMEM_RECORD_PLACES * sizeof(struct gm_record_place) };

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

/* How much of its chunk there is for the next, or for who clears it. */
static void note_used(const struct gm_record_own *own)
{
	struct gm_record_file *file = &gm_record_file;

	file->used[own->chunk] =
		(uint16_t)(GM_CHUNK_WORDS - (own->end - own->at));
	file->filled[own->chunk] = own->filled;
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
		note_used(own);
		before = atomic_exchange(&file->left, (int64_t)own->chunk);
		if (before >= 0)
			atomic_store(&file->state[before], GM_CHUNK_FULL);
	}
	if (own->place)
		munmap(own->place, PLACES_BYTES);
	*own = (struct gm_record_own){0};
	pthread_mutex_unlock(&file->mutex);
}

static void make_key(void)
{
	key_made = !pthread_key_create(&key, thread_exit);
}

/* What a thread needs beside its chunk, until it ends. */
static bool make_places(struct gm_record_own *own)
{
	void *map;

	pthread_once(&once, make_key);
	if (own->place)
		return true;
	if (!key_made || pthread_setspecific(key, &key))
		return false;
	map = mmap(NULL, PLACES_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	own->place = map == MAP_FAILED ? NULL : map;
	return own->place;
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
			 file->used[index] - file->filled[index]);
	/* Who reads meanwhile (read.c) sees by it that what follows goes. */
	atomic_store(sequence, 0);
	memset(&chunk->sequence + 1, 0,
	       GM_RECORD_CHUNK_BYTES - sizeof(chunk->sequence));
}

static void use_chunk(struct gm_record_own *own, uint32_t index, uint32_t used)
{
	uint32_t *first = (uint32_t *)(void *)(gm_record_chunk(index) + 1);

	own->generation = atomic_load(&gm_recorder.generation);
	own->chunk = index;
	own->filled = used ? gm_record_file.filled[index] : 0;
	own->at = first + used;
	own->end = first + GM_CHUNK_WORDS;
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
	if (!is_current(own))
		return;
	note_used(own);
	atomic_store(&gm_record_file.state[own->chunk], GM_CHUNK_FULL);
	own->generation = 0;
}

/* ---- events ---- */

/* What a chunk, or a thread's part of it, begins with: TIME, CONTEXT, THREAD.
 */
enum { PROLOGUE = 3 };

static void put_time(struct gm_record_own *own, uint64_t time)
{
	own->base = time;
	memset(own->place, 0, PLACES_BYTES);
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
	       own->end - own->at >
		       (ptrdiff_t)((PROLOGUE + events) * GM_RECORD_WORDS);
}

/* Calls in here may be cancellation points, and its caller holds a cache. */
static bool next_chunk(struct gm_record_own *own, unsigned events)
{
	GM_SCOPE;

	if (!make_places(own))
		return false;
	leave(own);
	if (take_left(own) && !has_room(own, events))
		leave(own);
	return is_current(own) || take_new(own);
}

bool gm_record_prepare(uint64_t time, uint16_t pool, gpumem_stream stream,
		       unsigned events)
{
	struct gm_record_own *own = &gm_record_own;
	bool same = has_room(own, events);

	if (!same && !next_chunk(own, events))
		return lose();
	if (!same || time - own->base > INT32_MAX)
		put_time(own, time);
	if (!same)
		gm_record_put(time, GPUMEM_RECORD_THREAD, 0, 0,
			      thread_number());
	if (!same || own->pool != pool || own->stream != stream)
		put_context(own, time, pool, stream);
	return true;
}

/* A longer one has what later ones are short by, or a BYTES before it. */
static void put_block(const struct gm_record_block *block)
{
	uint64_t value = gm_record_value(block->address, block->bytes);

	if (block->bytes > UINT32_MAX)
		gm_record_put(block->time, GPUMEM_RECORD_BYTES, 0, 0,
			      block->bytes);
	else if (block->kind == GPUMEM_RECORD_ALLOC ||
		 block->kind == GPUMEM_RECORD_FREE)
		gm_record_own.place[GPUMEM_RECORD_PLACE(value, block->tag)] =
			(struct gm_record_place){
				value,
				gm_record_more(block->tag, block->bytes)};
	gm_record_put(block->time, block->kind, block->tag,
		      (unsigned)(block->bytes >> 24) & 0xff, value);
}

void gm_record_other(const struct gm_record_block *block)
{
	const unsigned events = 2;

	if (!gm_record_ready(block->time, block->pool, block->stream, events) &&
	    !gm_record_prepare(block->time, block->pool, block->stream, events))
		return;
	if (!gm_record_again(block))
		put_block(block);
}

void gm_record_served(uint64_t time, uint16_t pool, gpumem_stream stream,
		      enum gpumem_served served)
{
	/* It, a STACK, a BYTES, and the block's own. */
	const unsigned events = 4;

	if (!gm_record_ready(time, pool, stream, events) &&
	    !gm_record_prepare(time, pool, stream, events))
		return;
	if (!gm_record_put_short(time, GPUMEM_RECORD_SHORT_SERVED, served))
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
