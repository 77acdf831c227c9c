/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of sleep and wake share: blocks whose content says which they
 * are, and calls with the figures that they gave. Include this once. Only the
 * main thread calls what is here.
 */
#ifndef LIB_SLEEP_H
#define LIB_SLEEP_H

#include "fixture.h"

static struct gpumem_slept slept;

/* Each word of a block says which block and which word it is. */
LIB_USE void mark_block(void *ptr, size_t bytes, uint32_t number)
{
	uint32_t *word = ptr;

	for (size_t i = 0; i < bytes / sizeof(*word); i++)
		word[i] = number * 2654435761u ^ (uint32_t)i;
}

LIB_USE bool is_marked(const void *ptr, size_t bytes, uint32_t number)
{
	const uint32_t *word = ptr;

	for (size_t i = 0; i < bytes / sizeof(*word); i++)
		if (word[i] != (number * 2654435761u ^ (uint32_t)i))
			return false;
	return true;
}

/* Blocks of a MiB, each marked with its place. */
LIB_USE bool are_marked(void *const *block, unsigned count)
{
	bool whole = true;

	for (unsigned i = 0; i < count; i++)
		whole &= is_marked(block[i], MIB, i);
	return whole;
}

/* On a device of its own, with handles of one page, which has 256 KiB. */
LIB_USE gpumem_pool *small_pool(void)
{
	option("page", "256KiB");
	option("host.page", "256KiB");
	option("handle_max", "256KiB");
	device_start("64MiB", true);
	return new_pool(0);
}

LIB_USE bool is_zero(const void *ptr, size_t bytes)
{
	const unsigned char *byte = ptr;

	for (size_t i = 0; i < bytes; i++)
		if (byte[i])
			return false;
	return true;
}

LIB_USE uint32_t tag_of(const char *path, gpumem_sleep sleep)
{
	uint32_t tag;

	must(gpumem_tag_intern(path, &tag));
	must(gpumem_tag_set_sleep(tag, sleep));
	return tag;
}

LIB_USE void *tagged_block(gpumem_pool *pool, size_t bytes, uint32_t tag,
			   gpumem_stream stream)
{
	void *ptr;

	must(gpumem_tag_set(tag));
	ptr = new_block(pool, bytes, stream);
	must(gpumem_tag_set(0));
	return ptr;
}

LIB_USE gpumem_status sleep_with(gpumem_pool *pool, uint32_t tag,
				 uint32_t flags, const char *folder)
{
	struct gpumem_sleep_options options =
		GPUMEM_INIT(struct gpumem_sleep_options);

	options.tag = tag;
	options.flags = flags;
	options.folder = folder;
	slept = GPUMEM_INIT(struct gpumem_slept);
	return gpumem_pool_sleep(pool, &options, &slept);
}

LIB_USE gpumem_status sleep_all(gpumem_pool *pool)
{
	return sleep_with(pool, 0, 0, NULL);
}

LIB_USE gpumem_status wake(gpumem_pool *pool, uint32_t tag)
{
	slept = GPUMEM_INIT(struct gpumem_slept);
	return gpumem_pool_wake(pool, tag, &slept);
}

#endif
