/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Who is told of an allocation that failed for memory: the program's function,
 * the files of options `oom` and `oom_snapshot`, and a recording. A mutex of
 * its own guards the function, which is called without it. See oom.h.
 */
#include "oom.h"
#include "oom_snapshot.h"
#include "base/error.h"
#include "base/log.h"
#include "base/option.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

/* Of the JSON: the shorter one fits into the first. */
enum { SHORT_BYTES = 10 * 1024, LONG_BYTES = 4 << 20 };

struct listener {
	gpumem_oom_fn fn;
	void *user;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct listener listener; /* under the mutex */

/* The thread is telling: what fails meanwhile is told nobody. */
static _Thread_local bool telling;

void gm_oom_set(gpumem_oom_fn fn, void *user)
{
	pthread_mutex_lock(&mutex);
	listener = (struct listener){.fn = fn, .user = user};
	pthread_mutex_unlock(&mutex);
}

static struct listener listener_now(void)
{
	struct listener now;

	pthread_mutex_lock(&mutex);
	now = listener;
	pthread_mutex_unlock(&mutex);
	return now;
}

/* ---- the JSON ---- */

/*
 *     used < room, with a NUL behind what is used
 *     it has grown  <=>  at != first
 */
struct json {
	char first[SHORT_BYTES];
	char *at;
	size_t used, room;
	bool cut; /* something is missing */
};

static bool grow(struct json *json, size_t room)
{
	char *larger = room > LONG_BYTES ? NULL : malloc(room);

	if (!larger)
		return false;
	memcpy(larger, json->at, json->used + 1);
	if (json->at != json->first)
		free(json->at);
	json->at = larger;
	json->room = room;
	return true;
}

static void append(const char *text, void *user)
{
	struct json *json = user;
	size_t length = strlen(text), room = json->room;

	while (json->used + length >= room)
		room *= 2;
	if (json->cut || (room > json->room && !grow(json, room))) {
		json->cut = true;
		return;
	}
	memcpy(json->at + json->used, text, length + 1);
	json->used += length;
}

static void json_begin(struct json *json)
{
	json->at = json->first;
	json->room = sizeof(json->first);
	json->used = 0;
	json->first[0] = '\0';
	json->cut = false;
}

static void json_end(struct json *json)
{
	if (json->at != json->first)
		free(json->at);
}

/* What needs no memory: it fits into `first`. */
static void json_fill_short(struct json *json, const struct gm_oom *oom,
			    uint64_t fits_bytes, const char *text)
{
	json_begin(json);
	(void)gm_oom_print(oom, fits_bytes, text, false, append, json);
}

/* Whole, or what needs no memory. It ends with a newline. */
static void json_fill(struct json *json, const struct gm_oom *oom,
		      uint64_t fits_bytes, const char *text)
{
	json_begin(json);
	if (gm_oom_print(oom, fits_bytes, text, true, append, json) !=
		    GPUMEM_OK ||
	    json->cut) {
		json_end(json);
		json_fill_short(json, oom, fits_bytes, text);
	}
}

/* ---- the file ---- */

static void tell_file(const char *path, const struct json *json)
{
	struct gm_own own;

	if (!gm_path_add(&own, path, json->at, json->used))
		gm_log(GPUMEM_LOG_ERROR,
		       "option \"oom\": nothing can be added to "
		       "\"%.400s\": %s",
		       path, own.why);
}

/* ---- the recording ---- */

static bool is_recorded(struct gm_heap *heap)
{
	bool recorded;

	pthread_mutex_lock(&heap->mutex);
	recorded = heap->record != 0;
	pthread_mutex_unlock(&heap->mutex);
	return recorded;
}

/* If it still is: without the newline. */
static void record_json(struct gm_heap *heap, const struct json *json)
{
	pthread_mutex_lock(&heap->mutex);
	if (heap->record)
		gm_record_text(heap->record, GPUMEM_RECORD_REPORT, json->at,
			       json->used - 1);
	pthread_mutex_unlock(&heap->mutex);
}

static void record_short(const struct gm_oom *oom, uint64_t fits_bytes,
			 const char *text)
{
	struct json json;

	json_fill_short(&json, oom, fits_bytes, text);
	record_json(&oom->pool->heap, &json);
}

static void tell_recording(const struct gm_oom *oom, uint64_t fits_bytes,
			   const char *text, const struct json *json)
{
	if (json->used <= GM_RECORD_TEXT_MAX)
		record_json(&oom->pool->heap, json);
	else
		record_short(oom, fits_bytes, text);
}

/* ---- all of them ---- */

/* What may be had now, before a callback frees anything. */
static uint64_t fits_bytes(const struct gm_oom *oom)
{
	struct gpumem_capacity capacity = {.size = sizeof(capacity)};
	uint64_t room = gm_heap_tag_room(&oom->pool->heap, oom->request->tag);

	if (gm_pool_capacity(oom->pool, oom->request->stream, oom->request->tag,
			     &capacity) != GPUMEM_OK)
		return 0;
	return capacity.now_bytes < room ? capacity.now_bytes : room;
}

static void tell_program(const struct listener *now, const struct gm_oom *oom,
			 uint64_t fits, const char *text, const char *json)
{
	const struct gm_request *request = oom->request;
	const struct gpumem_oom told = {
		.size = sizeof(told),
		.pool = oom->pool,
		.status = oom->status,
		.advice = oom->advice,
		.bytes = request->bytes,
		.alignment = request->alignment,
		.stream = request->stream,
		.flags = request->flags,
		.tag = request->tag,
		.fits_bytes = fits,
		.requested_bytes = oom->stats.requested.current,
		.reserved_bytes = oom->stats.reserved.current,
		.free_bytes = oom->stats.free_bytes,
		.limit_bytes = oom->stats.limit_bytes,
		.text = text,
		.json = json};

	now->fn(&told, now->user);
}

static void tell(const struct listener *now, const char *path, bool recorded,
		 const struct gm_oom *oom)
{
	struct gpumem_error error = {.size = sizeof(error)};
	struct json json;
	uint64_t fits;

	gm_error_get(&error);
	fits = fits_bytes(oom);
	json_fill(&json, oom, fits, error.text);
	if (path)
		tell_file(path, &json);
	gm_snapshot_tell(oom, error.text);
	if (recorded)
		tell_recording(oom, fits, error.text, &json);
	json.at[json.used - 1] = '\0';
	if (now->fn)
		tell_program(now, oom, fits, error.text, json.at);
	json_end(&json);
	gm_error_set(&error);
}

void gm_oom_tell(const struct gm_oom *oom)
{
	struct listener now = listener_now();
	char path[512];
	bool file = gm_option_given(GM_TEXT_oom, path, sizeof(path)) && *path;
	bool recorded = is_recorded(&oom->pool->heap);

	if (telling || (!now.fn && !file && !recorded && !gm_snapshot_wanted()))
		return;
	telling = true;
	tell(&now, file ? path : NULL, recorded, oom);
	telling = false;
}
