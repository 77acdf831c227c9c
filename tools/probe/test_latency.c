/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The checks that measure: what a pair of allocation and free costs at the
 * driver and in the pool. They fail when a call fails, never for a time. See
 * test.h.
 */
#include "test.h"

#include "common/clock.h"
#include "common/human.h"
#include "common/raw.h"

#include <stdlib.h>

#define BATCHES 7
#define BATCH_NS 5000000u

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double values[BATCHES])
{
	qsort(values, BATCHES, sizeof(*values), compare);
	return values[BATCHES / 2];
}

/* Pairs for one batch's time; the mean of a pair in *ns_out. */
static gpumem_status raw_batch(const struct raw_device *raw, uint64_t bytes,
			       double *ns_out)
{
	uint64_t start = clock_ns(), pairs = 0, address, now;
	gpumem_status status;

	do {
		status = raw->table->alloc(raw->handle, bytes, &address);
		if (status == GPUMEM_OK)
			status = raw->table->free(raw->handle, address, bytes);
		pairs++;
		now = clock_ns();
	} while (status == GPUMEM_OK && now - start < BATCH_NS);
	*ns_out = (double)(now - start) / (double)pairs;
	return status;
}

enum probe_verdict probe_check_raw(struct probe_test *test)
{
	struct raw_device raw = {0};
	gpumem_status status = raw_open(test->info->name, &raw);
	uint64_t bytes = test->info->granularity_bytes;
	double ns[BATCHES];
	char time[HUMAN_BYTES], size[HUMAN_BYTES];

	for (int i = 0; i < BATCHES && status == GPUMEM_OK; i++)
		status = raw_batch(&raw, bytes, &ns[i]);
	raw_close(&raw);
	if (status != GPUMEM_OK)
		return probe_failed(test, "%s", gpumem_status_text(status));
	test->line->ns = median(ns);
	return probe_passed(test, "%s a pair of %s",
			    human_ns(time, test->line->ns),
			    human_bytes(size, bytes));
}

static gpumem_status cached_batch(gpumem_pool *pool, double *ns_out)
{
	gpumem_status status = GPUMEM_OK;
	uint64_t start = clock_ns(), pairs = 0, now;

	do {
		for (int i = 0; i < 1024 && status == GPUMEM_OK; i++) {
			void *ptr;

			status = gpumem_alloc(pool, 4096, NULL, &ptr);
			if (status == GPUMEM_OK)
				status = gpumem_free(ptr, NULL);
		}
		pairs += 1024;
		now = clock_ns();
	} while (status == GPUMEM_OK && now - start < BATCH_NS);
	*ns_out = (double)(now - start) / (double)pairs;
	return status;
}

enum probe_verdict probe_check_cached(struct probe_test *test)
{
	gpumem_status status = GPUMEM_OK;
	double ns[BATCHES];
	char time[HUMAN_BYTES];

	for (int i = 0; i < BATCHES && status == GPUMEM_OK; i++)
		status = cached_batch(test->pool, &ns[i]);
	if (status != GPUMEM_OK)
		return probe_failed_last(test, "a pair");
	test->line->ns = median(ns);
	return probe_passed(test, "%s a pair of 4 KiB",
			    human_ns(time, test->line->ns));
}
