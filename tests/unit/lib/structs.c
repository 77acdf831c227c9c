/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every struct that a program gives to a public call, with every kind of size:
 * forgotten, too small, right, that of a newer program, and garbage. What is
 * refused leaves the struct alone and says which one it was.
 */
#include "fixture.h"
#include <stddef.h>
#include <stddef.h>

/* A newer program's struct, more than there can be. */
enum { ROOM = 8192, LATER = 64, FILL = 0xa5 };

static gpumem_pool *pool;
static void *ptr;

static gpumem_status read_block(void *given)
{
	return gpumem_query(ptr, given);
}

static gpumem_status read_info(void *given)
{
	return gpumem_device_get_info(device, given);
}

static gpumem_status read_memory(void *given)
{
	return gpumem_device_memory(device, given);
}

static gpumem_status read_option(void *given)
{
	return gpumem_option_get("wait", given);
}

static gpumem_status read_shared(void *given)
{
	return gpumem_export(ptr, given, NULL, 0);
}

static gpumem_status read_stats(void *given)
{
	return gpumem_pool_stats(pool, given);
}

static gpumem_status read_calls(void *given)
{
	struct gpumem_call_stats map = GPUMEM_INIT(struct gpumem_call_stats);

	/* Without virtual memory nothing is mapped. */
	must(gpumem_pool_calls(pool, GPUMEM_CALL_MAP, &map));
	return gpumem_pool_calls(
		pool, map.count ? GPUMEM_CALL_MAP : GPUMEM_CALL_ALLOC, given);
}

static gpumem_status read_capacity(void *given)
{
	return gpumem_pool_capacity(pool, NULL, given);
}

static gpumem_status give_config(void *given)
{
	gpumem_pool *made = pool;
	gpumem_status status = gpumem_pool_create(device, given, &made);

	if (!status)
		must(gpumem_pool_destroy(made, 0));
	else if (made != pool)
		ok(false, "a failure has written its output");
	return status;
}

static gpumem_status give_options(void *given)
{
	void *made = &made;
	gpumem_status status =
		gpumem_alloc_with(pool, 100, NULL, given, &made, NULL);

	if (!status)
		must(gpumem_free(made, NULL));
	else if (made != &made)
		ok(false, "a failure has written its output");
	return status;
}

/* `last` was the last field of version 0.1. */
#define ROW(type, last, call)                                                  \
	{                                                                      \
#type,                                                         \
			offsetof(struct type, last) +                          \
				sizeof(((struct type *)NULL)->last),           \
			sizeof(struct type), call                              \
	}

static const struct row {
	const char *name;
	size_t first, bytes; /* in version 0.1, and now */
	gpumem_status (*call)(void *given);
} outputs[] = {
	ROW(gpumem_block, thread, read_block),
	ROW(gpumem_call_stats, ns, read_calls),
	ROW(gpumem_capacity, now_bytes, read_capacity),
	ROW(gpumem_device_info, note, read_info),
	ROW(gpumem_memory, outside_bytes, read_memory),
	ROW(gpumem_option, text, read_option),
	ROW(gpumem_shared, handle, read_shared),
	ROW(gpumem_stats, served_waited, read_stats),
};

/* Likewise; the program gives them. */
static const struct row inputs[] = {
	ROW(gpumem_alloc_options, tag, give_options),
	ROW(gpumem_pool_config, shareable, give_config),
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static union {
	size_t size;
	unsigned char byte[ROOM];
} box;

static void fill_box(size_t size, int value)
{
	memset(&box, value, sizeof(box));
	box.size = size;
}

/* Bytes from `from` on, before `to`, that are not `value`. */
static size_t others(size_t from, size_t to, int value)
{
	size_t count = 0;

	for (; from < to; from++)
		count += box.byte[from] != value;
	return count;
}

static void says(const char *name, const char *part)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	char init[64];

	gpumem_last_error(&error);
	snprintf(init, sizeof(init), "GPUMEM_INIT(struct %s)", name);
	ok(strstr(error.text, part) && strstr(error.text, init), "says: %s",
	   error.text);
}

static void output_refused(const struct row *of, size_t size, const char *part)
{
	fill_box(size, FILL);
	is_status(of->call(&box), GPUMEM_INVALID, "struct %s of size %zu",
		  of->name, size);
	says(of->name, part);
	is_uint(box.size, size, "its size stays");
	is_uint(others(sizeof(size_t), ROOM, FILL), 0, "nothing is written");
}

static void output_taken(const struct row *of, size_t size, int fill)
{
	size_t known = size < of->bytes ? size : of->bytes;

	fill_box(size, fill);
	is_status(of->call(&box), GPUMEM_OK, "struct %s of size %zu", of->name,
		  size);
	if (of->call != read_shared)
		is_uint(box.size, size, "its size stays");
	ok(others(sizeof(size_t), known, fill), "it is written");
	is_uint(others(known, size, 0), 0, "what is unknown is 0");
	is_uint(others(size, ROOM, fill), 0, "nothing beyond is touched");
}

static void test_output(const struct row *of)
{
	output_refused(of, 0, "has size 0");
	output_refused(of, 1, "has size 1,");
	output_refused(of, sizeof(size_t), "has size 8,");
	output_refused(of, of->first - 1, "begin with");
	output_refused(of, 4097, "has size 4097,");
	output_refused(of, SIZE_MAX, "begin with");
	output_taken(of, (of->first + 7) / 8 * 8, FILL);
	output_taken(of, of->bytes, FILL);
	output_taken(of, of->bytes + LATER, 0);
	output_taken(of, of->bytes + LATER, FILL);
	output_taken(of, 4096, FILL);
}

/* Of a description the size is its own, not that of the caller's struct. */
static void test_description(void)
{
	fill_box(sizeof(struct gpumem_shared) + LATER, FILL);
	must(read_shared(&box));
	is_uint(box.size, sizeof(struct gpumem_shared),
		"a description has its own size");
}

/* It has no status to return. */
static void test_error(void)
{
	static const size_t bad[] = {
		0,    1,       sizeof(size_t), sizeof(struct gpumem_error) - 1,
		4097, SIZE_MAX};
	const struct gpumem_error *error = (const void *)&box;

	(void)!gpumem_alloc(NULL, 1, NULL, NULL);
	for (size_t i = 0; i < COUNT(bad); i++) {
		fill_box(bad[i], FILL);
		gpumem_last_error((void *)&box);
		is_uint(others(sizeof(size_t), ROOM, FILL), 0,
			"an error of size %zu is left alone", bad[i]);
	}
	for (size_t later = 0; later <= LATER; later += LATER) {
		fill_box(sizeof(*error) + later, FILL);
		gpumem_last_error((void *)&box);
		is_status(error->status, GPUMEM_INVALID,
			  "the error is there still");
		is_uint(others(sizeof(*error), sizeof(*error) + later, 0), 0,
			"what is unknown is 0");
		is_uint(others(sizeof(*error) + later, ROOM, FILL), 0,
			"nothing beyond is touched");
	}
}

static void input_refused(const struct row *of, size_t size, const char *part)
{
	fill_box(size, 0);
	is_status(of->call(&box), GPUMEM_INVALID, "struct %s of size %zu",
		  of->name, size);
	says(of->name, part);
}

static void test_input(const struct row *of)
{
	const size_t bytes = of->bytes;

	input_refused(of, 0, "has size 0");
	input_refused(of, 1, "has size 1,");
	input_refused(of, sizeof(size_t), "has size 8,");
	input_refused(of, of->first - 1, "begin with");
	input_refused(of, 4097, "has size 4097,");
	input_refused(of, SIZE_MAX, "begin with");
	fill_box(bytes, 0);
	is_status(of->call(&box), GPUMEM_OK, "struct %s of its size", of->name);
	memset(box.byte + bytes, FILL, ROOM - bytes);
	is_status(of->call(&box), GPUMEM_OK, "nothing beyond is read");
	fill_box(bytes + LATER, 0);
	is_status(of->call(&box), GPUMEM_OK, "a newer one without news");
	fill_box(4096, 0);
	is_status(of->call(&box), GPUMEM_OK, "the largest without news");
	for (size_t i = bytes; i < bytes + LATER; i++) {
		fill_box(bytes + LATER, 0);
		box.byte[i] = 1;
		is_status(of->call(&box), GPUMEM_UNSUPPORTED,
			  "a newer one with a news in byte %zu", i);
	}
}

/* What is set, but for the size. */
static void test_forgotten(void)
{
	struct gpumem_pool_config config = {.limit_bytes = 4 << 20};
	struct gpumem_alloc_options options = {.alignment = 512};

	is_status(give_config(&config), GPUMEM_INVALID,
		  "a limit without a size");
	says("gpumem_pool_config", "has size 0");
	is_status(give_options(&options), GPUMEM_INVALID,
		  "an alignment without a size");
	says("gpumem_alloc_options", "has size 0");
}

/* What comes from another process says how long it is, not how much memory
 * the program has received it in. */
static void test_import(void)
{
	static const struct {
		size_t size;
		gpumem_status status;
	} cases[] = {
		{0, GPUMEM_INVALID},
		{sizeof(size_t), GPUMEM_INVALID},
		{sizeof(struct gpumem_shared) - 1, GPUMEM_INVALID},
		{sizeof(struct gpumem_shared) + 8, GPUMEM_UNSUPPORTED},
		{4097, GPUMEM_INVALID},
		{SIZE_MAX, GPUMEM_INVALID},
	};
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	void *got = NULL;

	must(gpumem_export(ptr, &shared, NULL, 0));
	for (size_t i = 0; i < COUNT(cases); i++) {
		shared.size = cases[i].size;
		is_status(gpumem_import(device, &shared, NULL, 0, &got),
			  cases[i].status, "a description of size %zu",
			  cases[i].size);
	}
	is_ptr(got, NULL, "no output is touched");
}

int main(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	open_device(60);
	config.shareable = GPUMEM_SHARE_ANY;
	must(gpumem_pool_create(device, &config, &pool));
	ptr = new_block(pool, 1000, NULL);
	for (size_t i = 0; i < COUNT(outputs); i++)
		test_output(&outputs[i]);
	test_description();
	test_error();
	for (size_t i = 0; i < COUNT(inputs); i++)
		test_input(&inputs[i]);
	test_forgotten();
	test_import();
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_device_close(device));
	return done_testing();
}
