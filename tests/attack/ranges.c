/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Attacks: hooks of ranges, and pins. What is pinned is unpinned in the same
 * step, so that it is nobody's end that is refused. */
#include "attack.h"
#include "rows.h"

static void hear(gpumem_pool *handle, const struct gpumem_range *range,
		 void *user)
{
	const struct pool *pool = user;

	expect(range->size == sizeof(*range) && range->ptr && range->bytes &&
		       (range->kind == GPUMEM_RANGE_MAPPED ||
			range->kind == GPUMEM_RANGE_UNMAPPING),
	       "a hook is told of %llu bytes", (ull)range->bytes);
	expect(pool->handle == handle, "a hook of another pool");
}

static gpumem_range_fn pick_hook(void)
{
	if (!rarely())
		return hear;
	wrong(B(INVALID));
	return NULL;
}

void attack_gpumem_range_hook_add(void)
{
	struct pool *pool = pick_pool();
	gpumem_range_fn fn = pick_hook();

	(void)judge(gpumem_range_hook_add(pool_of(pool), fn, pool));
}

void attack_gpumem_range_hook_remove(void)
{
	struct pool *pool = pick_pool();
	gpumem_range_fn fn = pick_hook();

	(void)judge(gpumem_range_hook_remove(pool_of(pool), fn, pool));
}

static const char *pick_name(void)
{
	static const char *const bad[] = {
		NULL, "",
		"a name that has as many characters as there is no room for in "
		"it"};

	if (!rarely())
		return "attack";
	wrong(B(INVALID));
	return bad[random_below(COUNT(bad))];
}

static size_t pick_size_of(const struct block *block)
{
	size_t bytes = block ? (size_t)block->bytes : 1;

	if (!rarely())
		return 1 + random_below(bytes);
	wrong(B(INVALID) | B(BAD_POINTER) | B(NOT_FOUND));
	return one_in(2) ? 0 : SIZE_MAX - random_below(4096);
}

void attack_gpumem_range_pin(void)
{
	struct block *block = pick_block();
	struct pool *pool = block && !rarely() ? block->pool : pick_pool();
	void *ptr = block && !rarely() ? block->ptr : pick_nowhere();
	const char *name = pick_name();
	size_t bytes = pick_size_of(block);

	/* Near a block there is memory that is free. */
	if (!block || block->pool != pool || ptr != block->ptr)
		step.wrong = B(BAD_POINTER) | B(INVALID);
	if (!judge(gpumem_range_pin(pool_of(pool), ptr, bytes, name)))
		return;
	GPUMEM_IGNORE(gpumem_pool_trim(pool->handle, 0, NULL));
	expect(!gpumem_pool_check(pool->handle), "%s", gpumem_error_text());
	expect(!gpumem_range_unpin(pool->handle, ptr, bytes, name),
	       "what was pinned is not");
}

/* Of what was just pinned, or is not. */
void attack_gpumem_range_unpin(void)
{
	struct block *block = pick_block();
	struct pool *pool = block ? block->pool : pick_pool();
	void *ptr = block ? block->ptr : (void *)&block;
	const char *name = pick_name();
	size_t bytes = pick_size_of(block);
	bool pinned =
		one_in(2) && block && name &&
		gpumem_range_pin(pool->handle, ptr, bytes, name) == GPUMEM_OK;

	if (!pinned)
		step.wrong = B(NOT_FOUND) | B(INVALID);
	(void)judge(gpumem_range_unpin(pool_of(pool), ptr, bytes, name));
}
