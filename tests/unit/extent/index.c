/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The index of free extents and its bins, against arrays that are searched from
 * end to end. */
#include "extent/bins.h"
#include "extent/index.h"
#include "../../tap.h"

enum { EXTENTS = 160 };

/* Number 0 is none's. */
static struct gm_extent extent[EXTENTS + 1];
static bool inside[EXTENTS + 1];
static const struct gm_nodes nodes = {.node = extent};
static struct gm_index subject;

static uint64_t chance_state = 88172645463325252u;

static uint64_t chance(uint64_t below)
{
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return (chance_state >> 11) % below;
}

/* Sizes of every order, many of them equal, some odd, some larger than any bin.
 */
static size_t random_bytes(void)
{
	switch (chance(8)) {
	case 0:
		return 1 + chance(4096);
	case 1:
		return ((size_t)1 << (50 + chance(5))) + 256 * chance(3);
	case 2:
		return 256 * (1 + chance(8));
	case 3:
		return (size_t)1 << (8 + chance(40));
	default:
		return 256 * (1 + chance((uint64_t)1 << chance(30)));
	}
}

static size_t pages_of(const struct gm_extent *e, size_t page)
{
	size_t first, end;

	if (!page)
		return 0;
	first = (e->address + page - 1) / page;
	end = (e->address + e->bytes) / page;
	return end > first ? end - first : 0;
}

/* The naive order: by size, then by address. */
static bool less(const struct gm_extent *a, const struct gm_extent *b)
{
	return a->bytes != b->bytes ? a->bytes < b->bytes
				    : a->address < b->address;
}

static struct gm_extent *naive_fit(size_t bytes)
{
	struct gm_extent *best = NULL;

	for (size_t i = 1; i <= EXTENTS; i++)
		if (inside[i] && extent[i].bytes >= bytes &&
		    (!best || less(&extent[i], best)))
			best = &extent[i];
	return best;
}

static unsigned wrong_sums(size_t page)
{
	size_t bytes = 0, pages = 0, count = 0;
	struct gm_extent *largest = NULL;
	unsigned wrong = 0;

	for (size_t i = 1; i <= EXTENTS; i++) {
		if (!inside[i])
			continue;
		count++;
		bytes += extent[i].bytes;
		pages += page ? pages_of(&extent[i], page) : 0;
		if (!largest || less(largest, &extent[i]))
			largest = &extent[i];
	}
	wrong += subject.bytes != bytes;
	wrong += subject.count != count;
	wrong += subject.whole_pages != pages;
	wrong += gm_index_largest(&subject) != largest;
	for (unsigned i = 0; i < GM_SIZE_BINS; i++)
		wrong += !subject.tree[i] != !gm_bins_has(subject.size_map, i);
	for (unsigned i = 0; i < GM_PAGE_BINS; i++)
		wrong += !subject.ring[i] != !gm_bins_has(subject.page_map, i);
	return wrong;
}

/* The whole walk by pages: everything that has a whole page, once, bin by bin
 * downwards. */
static unsigned wrong_walk(size_t page)
{
	struct gm_extent *at = gm_index_most_pages(&subject);
	bool seen[EXTENTS + 1] = {false};
	unsigned last = GM_PAGE_BINS, wrong = 0;

	for (; at && !wrong; at = gm_index_fewer_pages(&subject, at)) {
		size_t i = (size_t)(at - extent), pages = pages_of(at, page);

		wrong += !inside[i] || seen[i] || !pages;
		wrong += gm_index_page_bin(pages) > last;
		seen[i] = true;
		last = gm_index_page_bin(pages);
	}
	for (size_t i = 1; i <= EXTENTS; i++)
		wrong += inside[i] && pages_of(&extent[i], page) && !seen[i];
	return wrong;
}

/* The same upwards from so many pages on, while what the walk comes by becomes
 * smaller: everything that is large enough, once. */
static unsigned wrong_climb(size_t page, size_t from)
{
	struct gm_extent *at = gm_index_least_pages(&subject, from), *next;
	unsigned last = gm_index_page_bin(from), first = last, wrong = 0;
	bool due[EXTENTS + 1];

	for (size_t i = 1; i <= EXTENTS; i++)
		due[i] = inside[i] && pages_of(&extent[i], page) &&
			 gm_index_page_bin(pages_of(&extent[i], page)) >= first;
	for (; at && !wrong; at = next) {
		size_t i = (size_t)(at - extent), pages = pages_of(at, page);

		next = gm_index_more_pages(&subject, at);
		wrong += !due[i] || gm_index_page_bin(pages) < last;
		due[i] = false;
		last = gm_index_page_bin(pages);
		if (pages < 2 || last == GM_PAGE_BINS - 1 || chance(3))
			continue;
		gm_index_remove(&subject, at);
		at->bytes -= page * ((pages + 1) / 2);
		gm_index_insert(&subject, at);
	}
	for (size_t i = 1; i <= EXTENTS; i++)
		wrong += due[i];
	return wrong;
}

/* As a trim does: what can be made smaller is, and the walk begins anew below
 * the last one that could not. In the end none is left that could, and each was
 * looked at. */
static unsigned wrong_trim(size_t page)
{
	struct gm_extent *at = gm_index_most_pages(&subject), *stuck = NULL;
	bool looked[EXTENTS + 1] = {false};
	unsigned wrong = 0, steps = 0;

	for (; at && steps < 64 * EXTENTS; steps++) {
		size_t i = (size_t)(at - extent), pages = pages_of(at, page);

		if (pages > 1 && chance(3)) {
			gm_index_remove(&subject, at);
			at->bytes -= page * (1 + chance(1 + pages / 64));
			gm_index_insert(&subject, at);
		} else {
			wrong += looked[i];
			looked[i] = true;
			stuck = at;
		}
		at = stuck ? gm_index_fewer_pages(&subject, stuck)
			   : gm_index_most_pages(&subject);
	}
	for (size_t i = 1; i <= EXTENTS; i++)
		wrong += inside[i] && pages_of(&extent[i], page) && !looked[i];
	return wrong + (at != NULL);
}

static void toggle(size_t i)
{
	if (inside[i]) {
		gm_index_remove(&subject, &extent[i]);
		inside[i] = false;
		return;
	}
	extent[i] = (struct gm_extent){
		.address = ((uintptr_t)i << 56) + 256 * chance(1 << 24),
		.bytes = random_bytes(),
	};
	gm_index_insert(&subject, &extent[i]);
	inside[i] = true;
}

static void test_model(size_t page)
{
	long rounds = scaled(6000, 600);
	unsigned fits = 0, sums = 0, walks = 0, climbs = 0, trims = 0;

	gm_index_init(&subject, &nodes, page);
	memset(inside, 0, sizeof(inside));
	for (long round = 0; round < rounds; round++) {
		/* Full, empty, and everything between. */
		size_t some = 1 + (size_t)(round / 50 % EXTENTS);

		toggle(1 + chance(some));
		for (int k = 0; k < 8; k++) {
			size_t bytes = random_bytes();

			if (k < 2)
				bytes = extent[1 + chance(EXTENTS)].bytes + k;
			fits += gm_index_fit(&subject, bytes) !=
				naive_fit(bytes);
		}
		sums += wrong_sums(page);
		walks += wrong_walk(page);
		if (round % 8 == 0)
			climbs += wrong_climb(page, 1 + chance(1 << chance(9)));
		if (round % 16 == 0)
			trims += wrong_trim(page);
	}
	is_uint(fits, 0, "pages of %zu: the best fit, lowest address", page);
	is_uint(sums, 0, "pages of %zu: sums, bits and the largest", page);
	is_uint(walks, 0, "pages of %zu: the order by pages", page);
	is_uint(climbs, 0, "pages of %zu: the same upwards", page);
	is_uint(trims, 0, "pages of %zu: a walk that takes pages", page);
	for (size_t i = 1; i <= EXTENTS; i++)
		if (inside[i])
			toggle(i);
	is_uint(wrong_sums(page), 0, "pages of %zu: empty in the end", page);
	ok(!gm_index_most_pages(&subject) && !gm_index_fit(&subject, 1) &&
		   !gm_index_largest(&subject),
	   "pages of %zu: nothing is left", page);
}

/* ---- the bins alone ---- */

static void test_bins(void)
{
	enum { COUNT = 256 };
	unsigned wrong = 0, last = 0, wide = 0;
	size_t begin = 0;

	for (size_t n = 0; n < 1 << 17; n++) {
		unsigned bin = gm_bin_of(n, GM_PAGE_BINS);

		wrong += n < GM_BINS_EXACT ? bin != n
					   : bin != last && bin != last + 1;
		if (bin != last)
			begin = n;
		wide += n - begin > n >> GM_BIN_BITS;
		last = bin;
	}
	is_uint(wrong, 0, "a bin for each small number, then no gap");
	is_uint(wide, 0, "and none is wider than a part of a doubling");
	is_uint(last, GM_PAGE_BINS - 1, "up to the last bin");
	is_uint(gm_bin_of(SIZE_MAX, COUNT), COUNT - 1, "which has no end");
}

static void test_bits(void)
{
	enum { COUNT = 192 };
	uint64_t map[COUNT / 64] = {0};
	bool set[COUNT] = {false};
	unsigned wrong = 0;

	for (int round = 0; round < 2000; round++) {
		unsigned bin = (unsigned)chance(COUNT), from;
		int below;

		set[bin] = !set[bin];
		if (set[bin])
			gm_bins_set(map, bin);
		else
			gm_bins_clear(map, bin);
		wrong += gm_bins_has(map, bin) != set[bin];
		bin = (unsigned)chance(COUNT + 1);
		for (from = bin; from < COUNT && !set[from]; from++)
			continue;
		for (below = (int)bin - 1; below >= 0 && !set[below]; below--)
			continue;
		wrong += gm_bins_from(map, bin, COUNT) != from;
		wrong += gm_bins_below(map, bin) != below;
		if (round % 200 == 0) {
			memset(map, 0, sizeof(map));
			memset(set, 0, sizeof(set));
		}
	}
	is_uint(wrong, 0, "the next bin that is used, up and down");
}

int main(void)
{
	test_bins();
	test_bits();
	test_model(0);
	test_model(4096);
	test_model(2 << 20);
	return done_testing();
}
