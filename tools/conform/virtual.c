/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The group VM: addresses and pages, each by itself. What happens when they
 * meet is in mapping.c. See conform.h.
 */
#include "conform.h"

#define GIB ((uint64_t)1 << 30)

static void check_reserve(struct conform *c, uint64_t bytes, uint64_t alignment)
{
	uint64_t before = conform_free_bytes(c), address = 0, other = 0;

	if (!conform_is(
		    c,
		    c->ops->va_reserve(c->device, bytes, alignment, &address),
		    GPUMEM_OK, "reserve %llu bytes aligned to %llu",
		    (unsigned long long)bytes, (unsigned long long)alignment))
		return;
	if (conform_is(c,
		       c->ops->va_reserve(c->device, bytes, alignment, &other),
		       GPUMEM_OK, "once more"))
		conform_is(c, c->ops->va_release(c->device, other, bytes),
			   GPUMEM_OK, "release");
	if (bytes > c->info.total_bytes)
		conform_ok(c, conform_free_bytes(c) + bytes / 2 > before,
			   "addresses are not memory");
	conform_is(c, c->ops->va_release(c->device, address, bytes), GPUMEM_OK,
		   "release");
}

static void check_too_much(struct conform *c)
{
	uint64_t out;
	gpumem_status status = c->ops->va_reserve(
		c->device, (uint64_t)1 << 62, c->info.granularity_bytes, &out);

	conform_ok(c, status != GPUMEM_OK, "no 2^62 bytes of addresses");
	if (conform_has(c, GPUMEM_CAP_LATE_COMMIT)) {
		conform_skip(c, "no page beyond the capacity",
			     "memory is committed at first use");
		return;
	}
	status = c->ops->page_create(
		c->device, conform_round(c, c->info.total_bytes) * 2, &out);
	conform_is(c, status, GPUMEM_NO_MEMORY, "no page beyond the capacity");
}

static void check_page(struct conform *c, uint64_t bytes)
{
	gpumem_page one, two;

	if (2 * bytes > c->budget_bytes) {
		conform_skip(c, "two large pages", "there is not room for two");
		return;
	}
	if (!conform_is(c, c->ops->page_create(c->device, bytes, &one),
			GPUMEM_OK, "a page of %llu bytes",
			(unsigned long long)bytes))
		return;
	if (conform_is(c, c->ops->page_create(c->device, bytes, &two),
		       GPUMEM_OK, "another"))
		conform_is(c, c->ops->page_destroy(c->device, two, bytes),
			   GPUMEM_OK, "destroy it");
	conform_is(c, c->ops->page_destroy(c->device, one, bytes), GPUMEM_OK,
		   "destroy a page that was never mapped");
}

void conform_virtual(struct conform *c)
{
	uint64_t grain = c->info.granularity_bytes;
	uint64_t large = c->info.total_bytes + 64 * GIB;

	if (!conform_has(c, GPUMEM_CAP_VM)) {
		conform_skip(c, "virtual memory",
			     "the device has no virtual memory");
		return;
	}
	check_reserve(c, grain, grain);
	check_reserve(c, 64 * grain, grain > GIB ? grain : GIB);
	check_reserve(c, conform_round(c, large), grain);
	check_page(c, grain);
	check_page(c, 8 * grain);
	check_too_much(c);
}
