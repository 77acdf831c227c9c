/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How often an allocation waits for other pools: as long as there is work to
 * wait for. What they give back without a wait counts once in a row, since they
 * may go on for ever. That they give it back is lib/siblings.c's.
 */
#include "fixture.h"

/* What each call finds: 'w' work, '+' something without a wait, '-' nothing. */
static const char *finds;
static size_t asked;

static void trim_nobody(struct gm_heap *of)
{
	(void)of;
}

static bool find(struct gm_heap *of, bool *waited_out)
{
	char found = finds[asked++];

	(void)of;
	*waited_out = found == 'w';
	return found != '-';
}

static bool ask_nobody(struct gm_heap *of, uint64_t bytes, gpumem_status why)
{
	(void)of;
	(void)bytes;
	(void)why;
	return false;
}

static const struct gm_helpers helpers = {trim_nobody, find, ask_nobody};

static void test_calls(const char *found, size_t calls_made)
{
	const struct gm_request wants = {.bytes = 30 * MIB, .alignment = 1};
	void *ptr;

	finds = found;
	asked = 0;
	is_status(gm_heap_alloc(&heap, &wants, &ptr), GPUMEM_NO_MEMORY,
		  "%s: there is too little", found);
	is_uint(asked, calls_made, "after so many calls");
}

int main(void)
{
	const struct gm_heap_config config = {.helpers = &helpers};

	alarm(60);
	device_start();
	must(gm_heap_init(&heap, device, &config));
	(void)block(arena_of(NULL), 40 * MIB);
	test_calls("-", 1);
	test_calls("www-", 4);
	test_calls("++++++++", 2);
	test_calls("w+w+w-", 6);
	test_calls("+ww+++++", 5);
	heap_end();
	device_end();
	return done_testing();
}
