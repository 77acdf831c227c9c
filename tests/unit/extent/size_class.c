/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Size classes, exhaustively: every size, every unit, every offset of every
 * run. The expected values are found by counting, not by the same arithmetic.
 */
#include "extent/size_class.h"
#include "../../tap.h"

#define CACHE_BYTES (128 * 1024)
#define SLOTS_MIN 8

/* The sizes that size_class.h promises, in order; returns how many. */
static unsigned promised(uint32_t unit, uint32_t *bytes)
{
	unsigned count = 0;

	for (uint32_t n = 1; n <= 4 && n * unit <= GM_SMALL_MAX; n++)
		bytes[count++] = n * unit;
	for (uint32_t base = 4 * unit; base < GM_SMALL_MAX; base *= 2)
		for (uint32_t n = 1; n <= 4; n++)
			bytes[count++] = base + n * (base / 4);
	return count;
}

static void test_list(const struct gm_classes *classes, uint32_t unit)
{
	uint32_t bytes[64];
	unsigned count = promised(unit, bytes);
	bool same = count == classes->count && count <= GM_CLASS_COUNT;

	for (unsigned i = 0; same && i < count; i++)
		same = classes->of[i].bytes == bytes[i];
	ok(same, "unit %u: the %u promised classes", unit, count);
}

static bool is_power(uint32_t n)
{
	return (n & (n - 1)) == 0;
}

/* Every size has the smallest class that holds it. */
static void test_sizes(const struct gm_classes *classes, uint32_t unit)
{
	unsigned smallest = 0, wrong = 0, wasteful = 0, inexact = 0;

	for (uint32_t bytes = 1; bytes <= GM_SMALL_MAX; bytes++) {
		unsigned index = gm_class_of(classes, bytes);
		uint32_t got;

		if (classes->of[smallest].bytes < bytes)
			smallest++;
		wrong += index != smallest || index >= classes->count;
		got = classes->of[smallest].bytes;
		wasteful += bytes > 4 * unit && 5 * (got - bytes) >= got;
		inexact += bytes >= unit && is_power(bytes) && got != bytes;
	}
	is_uint(wrong, 0, "unit %u: every size has its smallest class", unit);
	is_uint(wasteful, 0, "unit %u: rounding wastes less than 1/5", unit);
	is_uint(inexact, 0, "unit %u: powers of two are exact", unit);
}

/* Every byte of a run lies in the slot that counting says. */
static unsigned wrong_slots(const struct gm_class *class)
{
	uint32_t slot = 0, within = 0;
	unsigned wrong = 0;

	for (uint32_t at = 0; at < class->run_bytes; at++) {
		wrong += gm_class_slot(class, at) != slot;
		if (++within == class->bytes) {
			within = 0;
			slot++;
		}
	}
	return wrong;
}

/* The part of a run of this length that is wasted, as a fraction of 2^32. */
static uint64_t waste(uint32_t run, uint32_t bytes)
{
	return ((uint64_t)(run % bytes) << 32) / run;
}

/* No shorter run is good enough; a bad one is bad because all are. */
static bool run_is_best(const struct gm_class *class)
{
	const uint64_t enough = (1ull << 32) / 32;
	uint64_t got = waste(class->run_bytes, class->bytes);

	for (uint32_t run = GM_RUN_UNIT; run <= GM_RUN_MAX;
	     run += GM_RUN_UNIT) {
		uint64_t other = waste(run, class->bytes);

		if (run / class->bytes < SLOTS_MIN)
			continue;
		if (run < class->run_bytes && other <= enough)
			return false;
		if (got > enough && other < got)
			return false;
	}
	return true;
}

static void test_runs(const struct gm_classes *classes, uint32_t unit)
{
	unsigned misplaced = 0, bad = 0, wasteful = 0;

	for (unsigned i = 0; i < classes->count; i++) {
		const struct gm_class *class = &classes->of[i];

		misplaced += wrong_slots(class);
		bad += class->bytes % unit != 0;
		bad += class->run_bytes % GM_RUN_UNIT != 0;
		bad += class->run_bytes > GM_RUN_MAX;
		bad += class->slots != class->run_bytes / class->bytes;
		bad += class->slots < SLOTS_MIN || class->slots > GM_SLOTS_MAX;
		wasteful += !run_is_best(class);
	}
	is_uint(misplaced, 0, "unit %u: every byte has its slot", unit);
	is_uint(bad, 0, "unit %u: runs and slots are within bounds", unit);
	is_uint(wasteful, 0, "unit %u: runs waste as little as they can", unit);
}

static void test_keep(uint32_t unit)
{
	static const uint64_t cache[] = {0,	      1,       1000,
					 CACHE_BYTES, 1 << 20, UINT64_MAX};
	unsigned bad = 0;

	for (size_t k = 0; k < sizeof(cache) / sizeof(cache[0]); k++) {
		struct gm_classes classes;

		gm_classes_init(&classes, unit, cache[k]);
		for (unsigned i = 0; i < classes.count; i++) {
			uint64_t fit = cache[k] / classes.of[i].bytes;
			uint64_t keep = classes.of[i].keep;

			bad += keep < 2 || keep > GM_BIN_SLOTS;
			bad += fit >= 2 && fit <= GM_BIN_SLOTS && keep != fit;
			bad += fit > GM_BIN_SLOTS && keep != GM_BIN_SLOTS;
			bad += fit < 2 && keep != 2;
		}
	}
	is_uint(bad, 0, "unit %u: a thread keeps what the option says", unit);
}

/* The first class that holds `bytes` and whose slots are all aligned. */
static unsigned first_aligned(const struct gm_classes *classes, size_t bytes,
			      size_t alignment)
{
	unsigned i = 0;

	while (classes->of[i].bytes < bytes || classes->of[i].bytes % alignment)
		i++;
	return i;
}

static void test_aligned(const struct gm_classes *classes, uint32_t unit)
{
	long step = scaled(1, 61);
	unsigned wrong = 0;

	for (size_t alignment = 1; alignment <= GM_SMALL_MAX; alignment *= 2) {
		for (long n = 0; n < GM_SMALL_MAX; n += step) {
			size_t bytes = (size_t)(GM_SMALL_MAX - n);

			wrong += gm_class_aligned(classes, bytes, alignment) !=
				 first_aligned(classes, bytes, alignment);
		}
	}
	is_uint(wrong, 0, "unit %u: aligned sizes have their smallest class",
		unit);
}

int main(void)
{
	struct gm_classes classes;

	for (uint32_t unit = GM_UNIT_MIN; unit <= GM_SMALL_MAX; unit *= 2) {
		gm_classes_init(&classes, unit, CACHE_BYTES);
		test_list(&classes, unit);
		test_sizes(&classes, unit);
		test_runs(&classes, unit);
		test_keep(unit);
		test_aligned(&classes, unit);
	}
	return done_testing();
}
