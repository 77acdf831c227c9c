/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Recordings of one thread: refused, begun and ended; every call has its event,
 * with what it named; what was live before is there; sums and peaks are those
 * of the statistics; pools come and go; a file that is full keeps the newest.
 */
#include "fixture.h"
#include "../../recording.h"

#include <fcntl.h>
#include <sys/stat.h>

static char folder[] = "/tmp/gpumem-record-XXXXXX";
static char path[128], second[128];

static void begin(void)
{
	must(gpumem_record_begin(path, 0));
}

/* Ends it, and reads it. */
static struct recording end(void)
{
	struct recording recording;

	must(gpumem_record_end());
	rec_read(path, &recording);
	rec_judge(&recording);
	return recording;
}

static void whole(struct recording *recording, const char *what)
{
	ok(!recording->bad && !recording->twice && !recording->unknown &&
		   !recording->sizes && !recording->header.lost_events &&
		   !recording->header.overwritten_events &&
		   recording->header.end_ns > recording->header.begin_ns,
	   "%s: %zu bad, %zu twice, %zu unknown, %zu sizes", what,
	   recording->bad, recording->twice, recording->unknown,
	   recording->sizes);
}

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

static void read_calls(const struct recording *recording,
		       const struct calls *made)
{
	reading.at = recording->event;
	reading.end = recording->event + recording->count;
	next_block(GPUMEM_RECORD_LIVE, made->before, made->bytes + 1, NULL,
		   "what was live before");
	next_block(GPUMEM_RECORD_ALLOC, made->plain, made->bytes, NULL, "new");
	next_block(GPUMEM_RECORD_FREE, made->plain, made->bytes, NULL, "freed");
	next_block(GPUMEM_RECORD_ALLOC, made->again, made->bytes, NULL,
		   "again");
	next_block(GPUMEM_RECORD_ALLOC, made->aligned, made->bytes, NULL,
		   "aligned");
	next_block(GPUMEM_RECORD_ALLOC, made->whole, made->usable, made->stream,
		   "whole");
	next_block(GPUMEM_RECORD_ALLOC, made->sized, made->bytes, NULL,
		   "sized");
	next_block(GPUMEM_RECORD_ALLOC, made->own, made->bytes, made->stream,
		   "own");
	next_block(GPUMEM_RECORD_ALLOC, made->late, made->bytes, NULL, "late");
	next_block(GPUMEM_RECORD_RESIZE, made->again, made->bytes - 1, NULL,
		   "resized");
	next_block(GPUMEM_RECORD_USE, made->again, made->bytes - 1,
		   made->stream, "used");
	next_block(GPUMEM_RECORD_FREE, made->again, made->bytes - 1, NULL,
		   "freed with a use");
	next_block(GPUMEM_RECORD_FREE, made->aligned, made->bytes, made->stream,
		   "freed on another stream");
	next_block(GPUMEM_RECORD_FREE, made->sized, made->bytes, NULL,
		   "freed with its size");
	next_block(GPUMEM_RECORD_FREE, made->own, made->bytes, made->stream,
		   "freed on its own");
	next_block(GPUMEM_RECORD_FREE, made->late, made->bytes, NULL,
		   "freed after an event");
	next_block(GPUMEM_RECORD_FREE, made->before, made->bytes + 1, NULL,
		   "and what was there before");
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

/* ---- sums ---- */

enum { LIVE = 300, STEPS = 20000 };

static size_t any_bytes(void)
{
	return one_in(10) ? 1 + random_below(4 * MIB)
			  : 1 + random_below(one_in(3) ? 64 * KIB : 2000);
}

static void churn(gpumem_pool *pool, void **ptr, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		void **one = &ptr[random_below(LIVE)];

		if (*one)
			must(gpumem_free(*one, NULL));
		*one = one_in(3) ? NULL : new_block(pool, any_bytes(), NULL);
		if (*one && one_in(20))
			(void)GPUMEM_IGNORE(
				gpumem_resize(*one, any_bytes(), NULL, NULL));
		if (one_in(2000))
			trim(pool);
	}
}

static void test_sums(void)
{
	gpumem_pool *pool = new_pool(0);
	void *ptr[LIVE] = {NULL};
	struct recording recording;
	struct gpumem_stats stats;

	random_seed(17);
	churn(pool, ptr, STEPS / 10);
	must(gpumem_pool_reset_stats(pool, 0));
	begin();
	churn(pool, ptr, STEPS);
	stats = stats_of(pool);
	recording = end();
	whole(&recording, "a random program");
	is_uint(recording.peak_bytes, stats.requested.peak, "its peak");
	is_uint(recording.live_bytes, stats.requested.current, "live");
	is_uint(recording.live, stats.blocks.current, "blocks");
	is_uint(recording.reserved_bytes, stats.reserved.current, "reserved");
	rec_free(&recording);
	churn(pool, ptr, STEPS / 10);
	rec_read(path, &recording);
	rec_judge(&recording);
	is_uint(recording.live_bytes, stats.requested.current,
		"what comes after the end is not in it");
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* ---- pools, and what is no block ---- */

static size_t count_of(const struct recording *recording, uint8_t kind)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->count; i++)
		count += recording->event[i].kind == kind;
	return count;
}

static void test_pools(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *old = new_pool(0), *pool;
	gpumem_stream stream = new_stream();
	const struct gpumem_record_definition *one;
	struct recording recording;
	void *ptr;

	config.name = "of the test";
	config.limit_bytes = 8 * MIB;
	begin();
	must(gpumem_pool_create(device, &config, &pool));
	ptr = new_block(pool, 6 * MIB, stream);
	is_status(gpumem_alloc(pool, 6 * MIB, NULL, &ptr), GPUMEM_LIMIT,
		  "too much");
	must(gpumem_pool_drop_stream(pool, stream));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	recording = end();
	is_uint(count_of(&recording, GPUMEM_RECORD_POOL), 2, "two pools");
	is_uint(count_of(&recording, GPUMEM_RECORD_POOL_END), 1, "one ends");
	is_uint(count_of(&recording, GPUMEM_RECORD_OOM), 1, "one failure");
	is_uint(count_of(&recording, GPUMEM_RECORD_DROP), 1, "a stream goes");
	for (size_t i = 0; i < recording.count; i++)
		if (recording.event[i].kind == GPUMEM_RECORD_OOM)
			ok(recording.event[i].values == 3 &&
				   recording.event[i].value[0] == 6 * MIB &&
				   (int64_t)recording.event[i].value[1] ==
					   GPUMEM_LIMIT &&
				   recording.event[i].value[2] <= 8 * MIB &&
				   recording.event[i].pool == 2,
			   "which says how much, and why");
	one = rec_definition(&recording, GPUMEM_RECORD_DEFINITION_POOL, 2);
	ok(one && !strcmp((const char *)(one + 1), "of the test") &&
		   !strcmp((const char *)(one + 1) + 12, "host:0"),
	   "the pool has its name and device");
	is_str(recording.header.library, GPUMEM_VERSION_STRING, "the library");
	is_uint(recording.header.pid, (uint64_t)getpid(), "the process");
	rec_free(&recording);
	must(gpumem_pool_destroy(old, 0));
	must(gpumem_stream_destroy(device, stream));
}

/* ---- a full file ---- */

static void test_full(void)
{
	gpumem_pool *pool = new_pool(0);
	struct recording recording;
	struct stat about;
	void *last = NULL;

	must(gpumem_record_begin(path, MIB));
	for (unsigned i = 0; i < scaled(200000, 100000); i++) {
		last = new_block(pool, 256 + i % 7, NULL);
		must(gpumem_free(last, NULL));
	}
	last = new_block(pool, 777, NULL);
	recording = end();
	ok(!stat(path, &about) && about.st_size <= (off_t)MIB,
	   "the file has its size");
	ok(recording.header.overwritten_events > 50000 &&
		   !recording.header.lost_events && !recording.bad &&
		   !recording.twice && recording.unknown <= 1 &&
		   recording.count > 40000,
	   "the oldest went: %llu, %zu are left",
	   (ull)recording.header.overwritten_events, recording.count);
	ok(recording.count &&
		   recording.event[recording.count - 1].address ==
			   (uintptr_t)last &&
		   recording.event[recording.count - 1].bytes == 777,
	   "the newest is there");
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* Blocks of 4 GiB and more, which have an event more. */
static void test_huge(void)
{
	gpumem_pool *pool;
	struct recording recording;
	void *ptr[2];

	device_start("64GiB", true);
	pool = new_pool(0);
	ptr[0] = new_block(pool, ((size_t)4 << 30) - 1, NULL);
	begin();
	ptr[1] = new_block(pool, ((size_t)5 << 30) + 3, NULL);
	must(gpumem_free(ptr[0], NULL));
	must(gpumem_free(ptr[1], NULL));
	recording = end();
	whole(&recording, "huge blocks");
	is_uint(recording.peak_bytes,
		((size_t)4 << 30) - 1 + ((size_t)5 << 30) + 3, "their sizes");
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "all given back");
}

int main(void)
{
	if (!mkdtemp(folder))
		bail("no folder in /tmp");
	snprintf(path, sizeof(path), "%s/record", folder);
	snprintf(second, sizeof(second), "%s/second", folder);
	device_start("1GiB", true);
	test_refused();
	for (unsigned i = 0; i < 8; i++)
		test_calls(i & 1 ? MIB : 1000, i & 2, i & 4);
	test_sums();
	test_pools();
	test_full();
	ok(device_end(), "all given back");
	device_start("1GiB", false);
	test_calls(1000, true, false);
	test_sums();
	ok(device_end(), "all given back");
	test_huge();
	unlink(path);
	unlink(second);
	ok(!rmdir(folder), "nothing is left behind");
	return done_testing();
}
