/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Tags in recordings: every event of a block has the number of the block's tag,
 * and the file its path, whether the tag or the recording was there first, and
 * once only; what there is no place for is counted.
 */
#include "fixture.h"
#include "../../recording_judge.h"

static char path[64];
static gpumem_pool *pool;
static gpumem_stream stream;

/* Its path in the file; NULL: there is none, or "twice". */
static const char *defined(const struct recording *recording, uint32_t number)
{
	const char *at = recording->text + recording->header.header_bytes;
	const char *end = at + recording->header.definition_bytes;
	const char *found = NULL;

	while (at < end) {
		const struct gpumem_record_definition *definition =
			(const void *)at;

		if (definition->kind == GPUMEM_RECORD_DEFINITION_TAG &&
		    definition->number == number)
			found = found ? "twice"
				      : (const char *)(definition + 1);
		at += definition->bytes;
	}
	return found;
}

static struct recording end(void)
{
	struct recording recording;

	must(gpumem_record_end());
	rec_read(path, &recording);
	rec_judge(&recording);
	return recording;
}

/* All events of the block have the tag; returns a bit for each kind. */
static unsigned kinds_of(const struct recording *recording, const void *ptr,
			 uint32_t tag)
{
	unsigned kinds = 0;

	for (size_t i = 0; i < recording->count; i++) {
		const struct rec *event = &recording->event[i];

		if (!rec_is_block(event) || event->address != (uintptr_t)ptr)
			continue;
		if (event->tag != tag)
			return 0;
		kinds |= 1u << (event->kind - GPUMEM_RECORD_BLOCK);
	}
	return kinds;
}

#define BIT(kind) (1u << (GPUMEM_RECORD_##kind - GPUMEM_RECORD_BLOCK))

/* hook: every call takes the pool's lock. */
static void nothing(gpumem_pool *of, const struct gpumem_hook_event *event,
		    void *user)
{
	(void)of;
	(void)event;
	(void)user;
}

static void test_events(size_t bytes, bool slow)
{
	void *before, *cached, *plain, *used;
	struct recording recording;
	uint32_t early, late;
	char name[32];

	snprintf(name, sizeof(name), "late %zu %d", bytes, slow);
	must(gpumem_tag_push("early"));
	early = gpumem_tag_get();
	before = new_block(pool, bytes, stream);
	/* One for the cache. */
	must(gpumem_free(new_block(pool, bytes, stream), stream));
	must(gpumem_pool_hook_set(pool, slow ? nothing : NULL, NULL));
	must(gpumem_record_begin(path, 0));
	must(gpumem_tag_push(name));
	late = gpumem_tag_get();
	cached = new_block(pool, bytes, stream);
	must(gpumem_resize(cached, bytes / 2, stream, NULL));
	must(gpumem_tag_set(0));
	used = new_block(pool, bytes, stream);
	plain = new_block(pool, bytes, stream);
	must(gpumem_tag_set(early));
	must(gpumem_free(plain, stream));
	must(gpumem_free(cached, stream));
	must(gpumem_use_on(before, NULL));
	must(gpumem_free(before, stream));
	must(gpumem_tag_set(0));
	must(gpumem_free(used, NULL));
	recording = end();
	must(gpumem_pool_hook_set(pool, NULL, NULL));
	is_uint(kinds_of(&recording, before, early),
		BIT(LIVE) | BIT(USE) | BIT(FREE), "of a block that was live");
	is_uint(kinds_of(&recording, cached, late),
		BIT(ALLOC) | BIT(RESIZE) | BIT(FREE), "of one that comes");
	is_uint(kinds_of(&recording, plain, 0), BIT(ALLOC) | BIT(FREE),
		"of one without a tag");
	is_str(defined(&recording, early), "early", "a tag of before");
	is_str(defined(&recording, late)
		       ? strchr(defined(&recording, late), '/') + 1
		       : "",
	       name, "and one that is made meanwhile");
	ok(!recording.bad && !recording.header.lost_definitions,
	   "nothing is lost");
	rec_free(&recording);
}

/* More than a small file has room for. */
static void test_full(void)
{
	struct recording recording;
	uint32_t tag = 0;
	char name[128];
	void *ptr;

	for (unsigned i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "%0100u", i);
		must(gpumem_tag_intern(name, &tag));
	}
	must(gpumem_record_begin(path, MIB));
	must(gpumem_tag_set(tag));
	ptr = new_block(pool, 1000, stream);
	must(gpumem_free(ptr, stream));
	must(gpumem_tag_set(0));
	recording = end();
	ok(recording.header.lost_definitions > 0, "%llu tags are lost",
	   (ull)recording.header.lost_definitions);
	is_ptr(defined(&recording, tag), NULL, "the last one");
	is_uint(kinds_of(&recording, ptr, tag), BIT(ALLOC) | BIT(FREE),
		"its number is there");
	rec_free(&recording);
}

int main(void)
{
	snprintf(path, sizeof(path), "/tmp/gpumem-record-tags.%ld",
		 (long)getpid());
	device_start("1GiB", true);
	pool = new_pool(0);
	stream = new_stream();
	for (unsigned i = 0; i < 2; i++) {
		test_events(1000, i);
		test_events(MIB, i);
	}
	test_full();
	sound(pool, "sound");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "all given back");
	unlink(path);
	return done_testing();
}
