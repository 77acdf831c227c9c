/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The group VM: pages behind addresses. See conform.h.
 */
#include "conform.h"

#define PAGES 4

struct mapping {
	struct conform *c;
	uint64_t page_bytes;
	uint64_t base; /* room for 4 * PAGES pages */
	gpumem_page pages[PAGES];
};

static uint64_t place(const struct mapping *m, int index)
{
	return m->base + (uint64_t)index * m->page_bytes;
}

static gpumem_status map(const struct mapping *m, int at,
			 const gpumem_page *pages, size_t count)
{
	return m->c->ops->map(m->c->device, place(m, at), pages, count,
			      m->page_bytes);
}

static gpumem_status unmap(const struct mapping *m, int at, size_t count)
{
	return m->c->ops->unmap(m->c->device, place(m, at), count,
				m->page_bytes);
}

static gpumem_status paint(const struct mapping *m, int at, int value)
{
	return conform_paint(m->c, place(m, at), (uint8_t)value, m->page_bytes);
}

static gpumem_status verify(const struct mapping *m, int at, int value)
{
	return conform_verify(m->c, place(m, at), (uint8_t)value,
			      m->page_bytes);
}

/* Page i, mapped at place i, gets the value 11 * (i + 1). */
static gpumem_status paint_all(const struct mapping *m)
{
	gpumem_status status = GPUMEM_OK;

	for (int i = 0; i < PAGES && status == GPUMEM_OK; i++)
		status = paint(m, i, 11 * (i + 1));
	for (int i = 0; i < PAGES && status == GPUMEM_OK; i++)
		status = verify(m, i, 11 * (i + 1));
	return status;
}

/* All pages move, in reverse order, to other addresses. The checks from here
 * on give false when pages may still be mapped: then nothing can be given back
 * any more, and nothing more be tried. */
static bool check_move(const struct mapping *m)
{
	gpumem_status status = GPUMEM_OK;
	struct conform *c = m->c;
	int i;

	if (!conform_is(c, unmap(m, 0, PAGES), GPUMEM_OK,
			"unmap them in one call"))
		return false;
	for (i = 0; i < PAGES && status == GPUMEM_OK; i++)
		status = map(m, 2 * PAGES - 1 - i, &m->pages[i], 1);
	if (!conform_is(c, status, GPUMEM_OK, "map them elsewhere, one by one"))
		return i == 1; /* the first failed: nothing is mapped */
	for (i = 0; i < PAGES && status == GPUMEM_OK; i++)
		status = verify(m, 2 * PAGES - 1 - i, 11 * (i + 1));
	conform_is(c, status, GPUMEM_OK, "the pages kept their content");
	/* Two of four mappings made by separate calls, then the others. */
	if (!conform_is(c, unmap(m, PAGES + 1, 2), GPUMEM_OK,
			"unmap two in the middle at once"))
		return false;
	conform_is(c, verify(m, PAGES, 11 * PAGES), GPUMEM_OK,
		   "their neighbour is untouched");
	return conform_is(c, unmap(m, PAGES, 1), GPUMEM_OK,
			  "unmap the first") &&
	       conform_is(c, unmap(m, 2 * PAGES - 1, 1), GPUMEM_OK,
			  "unmap the last");
}

/* Where the host sees what is mapped: none of the pages is where the map that
 * failed would have put them. */
static bool any_stayed(const struct mapping *m)
{
	uint8_t byte;

	if (!conform_has(m->c, GPUMEM_CAP_HOST_ACCESS) ||
	    !conform_has(m->c, GPUMEM_CAP_COPY))
		return false;
	return (conform_host_reads(place(m, 0), &byte) && byte == 11) ||
	       (conform_host_reads(place(m, 2), &byte) && byte == 33);
}

/* A map of three pages has failed because the second place is taken: then no
 * page is behind the others, and each can be mapped elsewhere. */
static bool check_none(const struct mapping *m)
{
	struct conform *c = m->c;
	gpumem_status status = GPUMEM_OK;
	bool unmapped = true;

	conform_ok(c, !any_stayed(m),
		   "map fails where one place is taken, and maps none");
	for (int i = 0; i < 3 && status == GPUMEM_OK && unmapped; i++) {
		status = map(m, PAGES + i, &m->pages[i], 1);
		if (status == GPUMEM_OK)
			unmapped = unmap(m, PAGES + i, 1) == GPUMEM_OK;
	}
	return conform_is(c, status, GPUMEM_OK,
			  "each of the three is free for other places") &&
	       conform_ok(c, unmapped, "and unmapped again");
}

/* Page 3 lies where the second of three pages would go. Where that can be
 * mapped over it, all of it is unmapped again. */
static bool check_all_or_none(const struct mapping *m)
{
	struct conform *c = m->c;

	if (!conform_is(c, map(m, 1, &m->pages[3], 1), GPUMEM_OK,
			"map one page"))
		return true;
	conform_is(c, paint(m, 1, 77), GPUMEM_OK, "fill it");
	if (map(m, 0, m->pages, 3) == GPUMEM_OK) {
		conform_skip(c, "map takes all pages or none",
			     "the device maps over what is mapped");
		return conform_is(c, unmap(m, 0, 3), GPUMEM_OK, "unmap them");
	}
	if (!check_none(m))
		return false;
	conform_is(c, verify(m, 1, 77), GPUMEM_OK,
		   "what was there is untouched");
	if (!conform_is(c, unmap(m, 1, 1), GPUMEM_OK, "unmap it"))
		return false;
	return conform_is(c, map(m, 0, m->pages, 3), GPUMEM_OK,
			  "then all fit: none of the three had stayed") &&
	       conform_is(c, unmap(m, 0, 3), GPUMEM_OK, "unmap them");
}

/* Page 0 at two places: the same bytes, also when one of them is gone. */
static bool check_alias(const struct mapping *m)
{
	struct conform *c = m->c;

	if (!conform_has(c, GPUMEM_CAP_ALIAS)) {
		conform_skip(c, "a page at two addresses",
			     "the device has no CAP_ALIAS");
		return true;
	}
	if (!conform_is(c, map(m, 0, m->pages, 1), GPUMEM_OK,
			"map a page, once") ||
	    !conform_is(c, map(m, PAGES, m->pages, 1), GPUMEM_OK,
			"and at a second address"))
		return false;
	conform_is(c, paint(m, 0, 99), GPUMEM_OK, "fill it at the first");
	conform_is(c, verify(m, PAGES, 99), GPUMEM_OK,
		   "the second shows the same bytes");
	conform_is(c, paint(m, PAGES, 55), GPUMEM_OK, "fill it at the second");
	conform_is(c, verify(m, 0, 55), GPUMEM_OK,
		   "the first shows the same bytes");
	if (!conform_is(c, unmap(m, 0, 1), GPUMEM_OK, "unmap the first"))
		return false;
	conform_is(c, verify(m, PAGES, 55), GPUMEM_OK,
		   "the second has kept them");
	return conform_is(c, unmap(m, PAGES, 1), GPUMEM_OK, "unmap the second");
}

static bool check_mapping(const struct mapping *m)
{
	struct conform *c = m->c;

	if (!conform_is(c, map(m, 0, m->pages, PAGES), GPUMEM_OK,
			"map %d pages in one call", PAGES))
		return true;
	conform_is(c, paint_all(m), GPUMEM_OK, "each keeps its bytes");
	return check_move(m) && check_all_or_none(m) && check_alias(m);
}

static void make_and_check(struct mapping *m)
{
	uint64_t bytes = 4 * PAGES * m->page_bytes;
	const struct gpumem_backend *ops = m->c->ops;
	gpumem_status status =
		ops->va_reserve(m->c->device, bytes, m->page_bytes, &m->base);
	int count = 0;

	if (!conform_is(m->c, status, GPUMEM_OK,
			"addresses for pages of %llu bytes",
			(unsigned long long)m->page_bytes))
		return;
	while (count < PAGES && status == GPUMEM_OK) {
		status = ops->page_create(m->c->device, m->page_bytes,
					  &m->pages[count]);
		count += status == GPUMEM_OK;
	}
	if (conform_is(m->c, status, GPUMEM_OK, "%d pages", PAGES) &&
	    !check_mapping(m))
		return;
	for (status = GPUMEM_OK; count && status == GPUMEM_OK; count--)
		status = ops->page_destroy(m->c->device, m->pages[count - 1],
					   m->page_bytes);
	conform_is(m->c, status, GPUMEM_OK, "the pages are destroyed");
	conform_is(m->c, ops->va_release(m->c->device, m->base, bytes),
		   GPUMEM_OK, "the addresses are released");
}

void conform_mapping(struct conform *c)
{
	uint64_t grain = c->info.granularity_bytes;
	struct mapping one = {.c = c, .page_bytes = grain};
	struct mapping many = {.c = c, .page_bytes = 4 * grain};

	if (!conform_has(c, GPUMEM_CAP_VM)) {
		conform_skip(c, "mapping", "the device has no virtual memory");
		return;
	}
	make_and_check(&one);
	if (PAGES * many.page_bytes <= c->budget_bytes)
		make_and_check(&many);
	else
		conform_skip(c, "mapping of large pages",
			     "there is not room for them");
}
