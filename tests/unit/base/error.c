/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The thread's last error, and the copy of structs of other sizes. */
#include "base/error.h"
#include "../../tap.h"
#include <pthread.h>
#include <unistd.h>

static struct gpumem_error get(void)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gm_error_get(&error);
	return error;
}

static void test_fail(void)
{
	struct gpumem_error error = get();
	char large[3000];

	is_status(error.status, GPUMEM_OK, "nothing failed yet");
	is_str(error.text, "", "and nothing is said");

	is_status(gm_fail(GPUMEM_LIMIT, "%d of %s", 3, "pages"), GPUMEM_LIMIT,
		  "gm_fail gives the status");
	error = get();
	is_status(error.status, GPUMEM_LIMIT, "status");
	is_str(error.text, "3 of pages", "text");
	is_str(error.backend, "", "no backend");
	is_int(error.native_code, 0, "no native code");

	memset(large, 'x', sizeof(large));
	large[sizeof(large) - 1] = '\0';
	gm_fail(GPUMEM_INVALID, "%s", large);
	error = get();
	is_uint(strlen(error.text), sizeof(error.text) - 1, "text is cut");
	gm_error_context("%s", large);
	error = get();
	is_uint(strlen(error.text), sizeof(error.text) - 1, "context is cut");
}

/* Sentences quote names that others chose, and are printed to terminals. */
static void test_printable(void)
{
	struct gpumem_error error;

	gm_fail(GPUMEM_NOT_FOUND, "no device \"%s\"", "\033[2J\377");
	error = get();
	is_str(error.text, "no device \"\\x1b[2J\\xff\"",
	       "what is not printable is escaped");
	gm_error_context("pool \"%s\"", "\033]0;x\a");
	error = get();
	is_str(error.text,
	       "pool \"\\x1b]0;x\\x07\": no device \"\\x1b[2J\\xff\"",
	       "in a context too, and once only");
	gm_native_error(3, "E\033[1m", "of\tthe\ndriver\b");
	gm_fail_native(GPUMEM_DRIVER, "cuda", "cuda:0: map");
	error = get();
	is_str(error.text, "cuda:0: map: of the driver\\x08 (E\\x1b[1m, 3)",
	       "and what a driver says");
	is_str(error.native_name, "E\\x1b[1m", "with its name");
}

static void test_context(void)
{
	struct gpumem_error error;

	gm_native_error(2, "E_TWO", "two");
	gm_fail_native(GPUMEM_DRIVER, "cuda", "cuda:0: map");
	gm_error_context("pool \"%s\"", "p");
	gm_error_context("outer");
	error = get();
	is_str(error.text, "outer: pool \"p\": cuda:0: map: two (E_TWO, 2)",
	       "contexts are put before");
	is_int(error.native_code, 2, "and the rest is kept: code");
	is_str(error.native_name, "E_TWO", "name");
	is_str(error.backend, "cuda", "backend");
	is_status(error.status, GPUMEM_DRIVER, "status");

	/* An argument that points into the old sentence. */
	gm_fail(GPUMEM_INVALID, "first");
	error = get();
	gm_fail(GPUMEM_BUSY, "[%s]", error.text);
	error = get();
	is_str(error.text, "[first]", "the old sentence in the new one");
}

static void check_native(int64_t code, const char *name, const char *text,
			 const char *expected)
{
	struct gpumem_error error;

	gm_native_clear();
	if (text)
		gm_native_error(code, name, "%s", text);
	gm_fail_native(GPUMEM_NO_MEMORY, "hip", "hip:1: alloc");
	error = get();
	is_str(error.text, expected, "%s", expected);
	is_int(error.native_code, code, "native code");
	is_str(error.native_name, name ? name : "", "native name");
	is_str(error.backend, "hip", "backend");
}

static void test_native(void)
{
	struct gpumem_error error;

	check_native(2, "hipErrorOutOfMemory", "no memory",
		     "hip:1: alloc: no memory (hipErrorOutOfMemory, 2)");
	check_native(-9000000000, "", "strange",
		     "hip:1: alloc: strange (-9000000000)");
	check_native(0, "NAME", "odd", "hip:1: alloc: odd (NAME)");
	check_native(0, "", "own words", "hip:1: alloc: own words");
	check_native(0, NULL, "no name", "hip:1: alloc: no name");
	check_native(0, "", "", "hip:1: alloc: device out of memory");
	check_native(0, "", NULL, "hip:1: alloc: device out of memory");

	gm_native_error(5, "FIVE", "five");
	gm_fail_native(GPUMEM_DRIVER, "hip", "a");
	gm_fail_native(GPUMEM_DRIVER, "hip", "b");
	error = get();
	is_str(error.text, "b: the driver reported an error",
	       "what a plugin said is used once");
	gm_native_error(5, "FIVE", "five");
	gm_native_clear();
	gm_fail_native(GPUMEM_DRIVER, "hip", "c");
	error = get();
	is_int(error.native_code, 0, "cleared before a call");
	gm_native_error(5, "FIVE", "five");
	gm_fail(GPUMEM_INVALID, "ours");
	error = get();
	is_int(error.native_code, 0, "our own failures have no native code");
	gm_native_clear();
}

static void test_save(void)
{
	struct gpumem_error saved, error;

	gm_native_error(9, "NINE", "nine");
	gm_fail_native(GPUMEM_LOST, "opencl", "opencl:0: free");
	saved = get();
	gm_fail(GPUMEM_BUSY, "cleaning up failed too");
	gm_error_set(&saved);
	error = get();
	ok(memcmp(&saved, &error, sizeof(saved)) == 0,
	   "a saved error comes back whole");
}

static void *thread(void *user)
{
	struct gpumem_error error = get();

	*(gpumem_status *)user = error.status;
	gm_fail(GPUMEM_CORRUPT, "in a thread");
	return NULL;
}

static void test_thread(void)
{
	gpumem_status status = GPUMEM_BUSY;
	struct gpumem_error error;
	pthread_t id;

	gm_fail(GPUMEM_INVALID, "in main");
	pthread_create(&id, NULL, thread, &status);
	pthread_join(id, NULL);
	is_status(status, GPUMEM_OK, "a new thread has no error");
	error = get();
	is_str(error.text, "in main", "and leaves ours alone");
}

/* What was there before is gone, though the sentence is copied later. */
static void test_refuse(void)
{
	struct gpumem_error error, saved = {.size = sizeof(saved)};

	gm_native_error(7, "SEVEN", "the driver says seven");
	gm_fail_native(GPUMEM_DRIVER, "mock", "mock:0: call");
	is_status(gm_refuse(GPUMEM_BUSY, "not now"), GPUMEM_BUSY,
		  "gm_refuse returns the status");
	is_str(gm_error_text(), "not now", "its sentence");
	error = get();
	ok(error.status == GPUMEM_BUSY && !error.native_code &&
		   !error.native_name[0] && !error.backend[0],
	   "and nothing of the error before");
	gm_refuse(GPUMEM_BUSY, "first");
	gm_error_context("second");
	is_str(get().text, "second: first", "it can be put in context");
	gm_refuse(GPUMEM_BUSY, "third");
	gm_error_get(&saved);
	gm_fail(GPUMEM_INVALID, "fourth");
	is_str(get().text, "fourth", "a later failure hides it");
	gm_refuse(GPUMEM_BUSY, "fifth");
	gm_error_set(&saved);
	is_str(get().text, "third", "so does one that is put back");
}

/* Errors as an older and a newer program see them. */
static void test_sizes(void)
{
	struct gpumem_error error;
	struct {
		struct gpumem_error now;
		char later[64];
	} newer;
	size_t size;

	gm_fail(GPUMEM_INVALID, "sizes");
	for (size = 0; size <= sizeof(error); size++) {
		size_t i, touched = 0;

		memset(&error, 0x5a, sizeof(error));
		error.size = size;
		gm_error_get(&error);
		for (i = size < sizeof(size) ? sizeof(size) : size;
		     i < sizeof(error); i++)
			touched += ((unsigned char *)&error)[i] != 0x5a;
		if (touched || error.size != size)
			break;
	}
	is_uint(size, sizeof(error) + 1,
		"nothing beyond the caller's size is written");
	is_str(error.text, "sizes", "the last one was ours");

	memset(&newer, 0x5a, sizeof(newer));
	newer.now.size = sizeof(newer);
	gm_error_get(&newer.now);
	is_str(newer.now.text, "sizes", "a newer caller gets ours");
	for (size = 0; size < sizeof(newer.later); size++)
		if (newer.later[size])
			break;
	is_uint(size, sizeof(newer.later), "and zero for what we have not");
	is_uint(newer.now.size, sizeof(newer), "its size stays");
}

int main(void)
{
	alarm(60);
	test_fail();
	test_printable();
	test_context();
	test_native();
	test_save();
	test_thread();
	test_refuse();
	test_sizes();
	return done_testing();
}
