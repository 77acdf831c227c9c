/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Recordings of one thread, call by call: refused, begun and ended; every call
 * has its event, with what it named; what was live before is there.
 */
#include "record.h"

static char second[128];

static void test_refused(void)
{
	char name[256];

	is_status(gpumem_record_end(), GPUMEM_INVALID, "nothing is recorded");
	is_status(gpumem_record_begin(NULL, 0), GPUMEM_INVALID, "no path");
	is_status(gpumem_record_begin("/nowhere/at/all", 0), GPUMEM_INVALID,
		  "a folder that is not there");
	ok(strstr(last_text(), "/nowhere/at/all"), "is named: %s", last_text());
	is_status(gpumem_record_begin(folder, 0), GPUMEM_INVALID, "a folder");
	is_status(gpumem_record_begin("/dev/null", 0), GPUMEM_INVALID,
		  "a device");
	snprintf(name, sizeof(name), "%s/fifo", folder);
	if (!mkfifo(name, 0600))
		is_status(gpumem_record_begin(name, 0), GPUMEM_INVALID,
			  "a pipe, without waiting");
	unlink(name);
	is_status(gpumem_record_begin(path, MIB - 1), GPUMEM_INVALID,
		  "too small");
	ok(access(path, F_OK) != 0, "and no file is left");
	begin();
	is_status(gpumem_record_begin(second, 0), GPUMEM_BUSY, "one is on");
	must(gpumem_record_end());
	is_status(gpumem_record_end(), GPUMEM_INVALID, "it has ended");
	snprintf(name, sizeof(name), "%s/of-%%p.record", folder);
	must(gpumem_record_begin(name, 0));
	must(gpumem_record_end());
	snprintf(name, sizeof(name), "%s/of-%ld.record", folder,
		 (long)getpid());
	ok(!unlink(name), "%%p is the process");
}

/* ---- each call ---- */

enum {
	LIVE = GPUMEM_RECORD_LIVE,
	ALLOC = GPUMEM_RECORD_ALLOC,
	FREE = GPUMEM_RECORD_FREE,
	RESIZE = GPUMEM_RECORD_RESIZE,
	USE = GPUMEM_RECORD_USE
};

static struct {
	const struct rec *at, *end;
} reading;

static void next_block(uint8_t kind, const void *ptr, uint64_t bytes,
		       gpumem_stream stream, const char *what)
{
	const struct rec *event = reading.at;

	while (event < reading.end && !rec_is_block(event))
		event++;
	if (event == reading.end) {
		ok(false, "%s: there is no further event", what);
		return;
	}
	ok(event->kind == kind && event->address == (uintptr_t)ptr &&
		   event->bytes == bytes &&
		   event->stream == (uintptr_t)stream &&
		   event->thread == (uint32_t)gettid(),
	   "%s: kind %u of %llu bytes", what, event->kind, (ull)event->bytes);
	reading.at = event + 1;
}

struct calls {
	gpumem_stream stream;
	size_t bytes;
	void *before, *plain, *again, *aligned, *whole, *sized, *own, *late;
	uint64_t usable;
};

/* What is freed is in the cache, and is taken from it again. */
static void make_calls(gpumem_pool *pool, struct calls *made)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	gpumem_event *event;

	options.flags = GPUMEM_ALLOC_WHOLE | GPUMEM_ALLOC_ZERO;
	made->plain = new_block(pool, made->bytes, NULL);
	must(gpumem_free(made->plain, NULL));
	made->again = new_block(pool, made->bytes, NULL);
	must(gpumem_alloc_aligned(pool, made->bytes, 64 * KIB, NULL,
				  &made->aligned));
	must(gpumem_alloc_with(pool, made->bytes, made->stream, &options,
			       &made->whole, &made->usable));
	made->sized = new_block(pool, made->bytes, NULL);
	made->own = new_block(pool, made->bytes, made->stream);
	made->late = new_block(pool, made->bytes, NULL);
	must(gpumem_resize(made->again, made->bytes - 1, NULL, NULL));
	must(gpumem_use_on(made->again, made->stream));
	must(gpumem_free(made->again, NULL));
	must(gpumem_free(made->aligned, made->stream));
	must(gpumem_free_sized(made->sized, made->bytes, NULL));
	must(gpumem_free_own(made->own));
	must(gpumem_event_create(device, &event));
	must(gpumem_event_record(event, made->stream));
	must(gpumem_free_after(made->late, event));
	must(gpumem_event_destroy(event));
	must(gpumem_free(made->before, NULL));
	/* No event. */
	must(gpumem_free(NULL, NULL));
	is_status(gpumem_free(made->before, NULL), GPUMEM_BAD_POINTER,
		  "a double free");
}

static void read_calls(const struct recording *recording, const struct calls *m)
{
	const struct {
		uint8_t kind;
		const void *ptr;
		uint64_t bytes;
		gpumem_stream stream;
		const char *what;
	} event[] = {
		{LIVE, m->before, m->bytes + 1, NULL, "what was live before"},
		{ALLOC, m->plain, m->bytes, NULL, "new"},
		{FREE, m->plain, m->bytes, NULL, "freed"},
		{ALLOC, m->again, m->bytes, NULL, "again"},
		{ALLOC, m->aligned, m->bytes, NULL, "aligned"},
		{ALLOC, m->whole, m->usable, m->stream, "whole"},
		{ALLOC, m->sized, m->bytes, NULL, "sized"},
		{ALLOC, m->own, m->bytes, m->stream, "own"},
		{ALLOC, m->late, m->bytes, NULL, "late"},
		{RESIZE, m->again, m->bytes - 1, NULL, "resized"},
		{USE, m->again, m->bytes - 1, m->stream, "used"},
		{FREE, m->again, m->bytes - 1, NULL, "freed with a use"},
		{FREE, m->aligned, m->bytes, m->stream, "freed on another"},
		{FREE, m->sized, m->bytes, NULL, "freed with its size"},
		{FREE, m->own, m->bytes, m->stream, "freed on its own"},
		{FREE, m->late, m->bytes, NULL, "freed after an event"},
		{FREE, m->before, m->bytes + 1, NULL, "and what was before"},
	};

	reading.at = recording->event;
	reading.end = recording->event + recording->count;
	for (size_t i = 0; i < sizeof(event) / sizeof(event[0]); i++)
		next_block(event[i].kind, event[i].ptr, event[i].bytes,
			   event[i].stream, event[i].what);
	while (reading.at < reading.end && !rec_is_block(reading.at))
		reading.at++;
	ok(reading.at == reading.end, "and no more");
}

static void silent(gpumem_pool *pool, const struct gpumem_hook_event *event,
		   void *user)
{
	(void)pool;
	(void)event;
	(void)user;
}

static void test_calls(size_t bytes, bool warm, bool hooked)
{
	gpumem_pool *pool = new_pool(0);
	struct calls made = {.bytes = bytes, .stream = new_stream()};
	struct recording recording;
	void *ptr[2];

	made.before = new_block(pool, bytes + 1, NULL);
	if (warm) {
		ptr[0] = new_block(pool, bytes, NULL);
		ptr[1] = new_block(pool, bytes, NULL);
		must(gpumem_free(ptr[0], NULL));
		must(gpumem_free(ptr[1], NULL));
	}
	if (hooked)
		must(gpumem_pool_hook_set(pool, silent, NULL));
	begin();
	make_calls(pool, &made);
	recording = end();
	diag("%zu bytes%s%s", bytes, warm ? ", warm" : "",
	     hooked ? ", with a hook" : "");
	whole(&recording, "the recording");
	read_calls(&recording, &made);
	rec_free(&recording);
	must(gpumem_free(made.whole, made.stream));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, made.stream));
}

int main(void)
{
	folder_make();
	snprintf(second, sizeof(second), "%s/second", folder);
	device_start("1GiB", true);
	test_refused();
	for (unsigned i = 0; i < 8; i++)
		test_calls(i & 1 ? MIB : 1000, i & 2, i & 4);
	ok(device_end(), "all given back");
	device_start("1GiB", false);
	test_calls(1000, true, false);
	ok(device_end(), "all given back");
	unlink(second);
	folder_remove();
	return done_testing();
}
