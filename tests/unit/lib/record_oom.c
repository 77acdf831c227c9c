/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * An out of memory in a recording: behind its event the JSON that the program's
 * function gets, also where there is none; a shorter one where that has no
 * room; and none of what fails in the function.
 */
#include "oom.h"
#include "record.h"

static gpumem_pool *pool;

static void fail(void)
{
	void *ptr = NULL;

	is_status(gpumem_alloc(pool, 32 * MIB, NULL, &ptr), GPUMEM_LIMIT,
		  "out of memory");
}

/* The number of REPORTs; *text_out, to be freed, is that of the last. Each is
 * behind an OOM. */
static size_t reports(const struct recording *recording, char **text_out)
{
	bool after = false;
	size_t count = 0;

	*text_out = NULL;
	for (size_t i = 0; i < recording->count; i++) {
		const struct rec *event = &recording->event[i];

		if (event->kind == GPUMEM_RECORD_REPORT) {
			ok(after, "a report is behind an out of memory");
			free(*text_out);
			*text_out = rec_text(event);
			count++;
		}
		if (event->kind == GPUMEM_RECORD_OOM)
			after = true;
	}
	return count;
}

static void test_same(void)
{
	struct recording recording;
	char *text;

	gpumem_oom_set(told_note, &told);
	begin();
	fail();
	recording = end();
	whole(&recording, "with a report");
	is_uint(reports(&recording, &text), 1, "one report");
	is_str(text ? text : "", told.json, "which is what the program got");
	free(text);
	rec_free(&recording);
	gpumem_oom_set(NULL, NULL);
}

static void test_alone(void)
{
	struct recording recording;
	char *text;

	begin();
	fail();
	fail();
	recording = end();
	is_uint(reports(&recording, &text), 2, "a report of each");
	ok(text && json_whole(text), "also where nobody else is told");
	is_uint(text ? json_number(strstr(text, "\"request\": "), "bytes") : 0,
		32 * MIB, "with the request");
	ok(text && strstr(text, "\"table\": "), "and the table");
	free(text);
	rec_free(&recording);
}

/* Each tag has a row of the table. */
static void test_many_tags(void)
{
	enum { TAGS = 400 };
	void *ptr[TAGS];
	struct recording recording;
	char *text;

	for (unsigned i = 0; i < TAGS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "layer %u", i);
		must(gpumem_tag_push(name));
		ptr[i] = new_block(pool, 1000, NULL);
		must(gpumem_tag_pop());
	}
	begin();
	fail();
	recording = end();
	whole(&recording, "with many tags");
	is_uint(reports(&recording, &text), 1, "one report");
	ok(text && json_whole(text) && strlen(text) < 16384 &&
		   !strstr(text, "\"table\": "),
	   "which is shorter");
	free(text);
	rec_free(&recording);
	for (unsigned i = 0; i < TAGS; i++)
		must(gpumem_free(ptr[i], NULL));
}

static void fail_again(const struct gpumem_oom *oom, void *user)
{
	void *ptr = NULL;

	(void)oom;
	(void)user;
	is_status(gpumem_alloc(pool, 32 * MIB, NULL, &ptr), GPUMEM_LIMIT,
		  "once more");
}

static void test_within(void)
{
	struct recording recording;
	size_t failures = 0;
	char *text;

	gpumem_oom_set(fail_again, NULL);
	begin();
	fail();
	recording = end();
	for (size_t i = 0; i < recording.count; i++)
		failures += recording.event[i].kind == GPUMEM_RECORD_OOM;
	is_uint(failures, 2, "two failures");
	is_uint(reports(&recording, &text), 1, "one of them reported");
	free(text);
	rec_free(&recording);
	gpumem_oom_set(NULL, NULL);
}

int main(void)
{
	alarm(60);
	folder_make();
	device_start("64MiB", true);
	pool = new_pool(16 * MIB);
	test_same();
	test_alone();
	test_many_tags();
	test_within();
	must(gpumem_pool_destroy(pool, 0));
	device_end();
	folder_remove();
	return done_testing();
}
