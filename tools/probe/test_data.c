/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The checks that look at bytes in device memory. See test.h.
 */
#include "test.h"

#include "common/human.h"
#include "common/keep.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static void make_pattern(uint8_t *host, size_t bytes)
{
	uint32_t state = 1;

	for (size_t i = 0; i < bytes; i++) {
		state = state * 1664525u + 1013904223u;
		host[i] = (uint8_t)(state >> 24);
	}
}

/* Host to device, device to device, device to host. */
static enum probe_verdict round_trip(struct probe_test *test, uint8_t *host,
				     size_t bytes, void *first, void *second)
{
	gpumem_device *device = test->device;

	make_pattern(host, bytes);
	memset(host + bytes, 0, bytes);
	if (gpumem_copy(device, first, host, bytes, NULL) != GPUMEM_OK ||
	    gpumem_copy(device, second, first, bytes, NULL) != GPUMEM_OK ||
	    gpumem_copy(device, host + bytes, second, bytes, NULL) !=
		    GPUMEM_OK ||
	    probe_sync(test) != GPUMEM_OK)
		return probe_failed_last(test, "copy");
	if (memcmp(host, host + bytes, bytes))
		return probe_failed(test, "what came back differs");
	return PROBE_OK;
}

static enum probe_verdict copy_blocks(struct probe_test *test, uint8_t *host,
				      size_t bytes)
{
	gpumem_status status;
	char text[HUMAN_BYTES];
	void *first, *second;

	if (gpumem_alloc(test->pool, bytes, NULL, &first) != GPUMEM_OK ||
	    gpumem_alloc(test->pool, bytes, NULL, &second) != GPUMEM_OK)
		return probe_failed_last(test, "allocation");
	if (probe_paint(test, first, 0xa5, bytes) != GPUMEM_OK)
		return probe_failed_last(test, "fill");
	status = probe_verify(test, first, 0xa5, bytes, host);
	if (status == GPUMEM_CORRUPT)
		return probe_failed(test, "the filled block differs");
	if (status != GPUMEM_OK)
		return probe_failed_last(test, "copy back");
	if (round_trip(test, host, bytes, first, second) != PROBE_OK)
		return PROBE_FAILED;
	if (gpumem_free(first, NULL) != GPUMEM_OK ||
	    gpumem_free(second, NULL) != GPUMEM_OK)
		return probe_failed_last(test, "free");
	return probe_passed(test, "%s filled, copied three ways",
			    human_bytes(text, bytes));
}

enum probe_verdict probe_check_copy(struct probe_test *test)
{
	const size_t bytes = 4 * MIB + 13;
	enum probe_verdict verdict;
	uint8_t *host;

	if (!(test->info->caps & GPUMEM_CAP_COPY))
		return probe_skipped(test, "the device has no fill and copy");
	if (test->free_bytes < 16 * bytes)
		return probe_skipped(test, "too little memory is free");
	host = malloc(2 * bytes);
	if (!host)
		return probe_failed(test, "out of host memory");
	verdict = copy_blocks(test, host, bytes);
	keep_or_free(host, verdict == PROBE_FAILED);
	return verdict;
}

#define BLOCKS 8

struct remap {
	struct probe_test *test;
	size_t bytes; /* of one block */
	uint8_t *host;
	void *blocks[BLOCKS];
};

static gpumem_status allocate_blocks(struct remap *remap)
{
	gpumem_status status = GPUMEM_OK;

	for (int i = 0; i < BLOCKS && status == GPUMEM_OK; i++) {
		status = gpumem_alloc(remap->test->pool, remap->bytes, NULL,
				      &remap->blocks[i]);
		if (status == GPUMEM_OK)
			status = probe_paint(remap->test, remap->blocks[i],
					     (uint8_t)(i + 1), remap->bytes);
	}
	return status;
}

/* Every other block goes, so that what is free is in pieces. */
static gpumem_status punch_holes(struct remap *remap)
{
	gpumem_status status = GPUMEM_OK;

	for (int i = 0; i < BLOCKS && status == GPUMEM_OK; i += 2)
		status = gpumem_free(remap->blocks[i], NULL);
	return status;
}

static gpumem_status verify_kept(const struct remap *remap)
{
	gpumem_status status = GPUMEM_OK;

	for (int i = 1; i < BLOCKS && status == GPUMEM_OK; i += 2)
		status = probe_verify(remap->test, remap->blocks[i],
				      (uint8_t)(i + 1), remap->bytes,
				      remap->host);
	return status;
}

/* The large block, in pieces of one small block. */
static gpumem_status verify_large(const struct remap *remap, uint8_t *large)
{
	gpumem_status status = probe_paint(remap->test, large, 0x99,
					   remap->bytes * BLOCKS / 2);

	for (int i = 0; i < BLOCKS / 2 && status == GPUMEM_OK; i++)
		status = probe_verify(remap->test,
				      large + (size_t)i * remap->bytes, 0x99,
				      remap->bytes, remap->host);
	return status;
}

static enum probe_verdict explain(struct probe_test *test, gpumem_status status,
				  const char *what)
{
	if (status == GPUMEM_CORRUPT)
		return probe_failed(test, "%s: bytes were lost", what);
	return probe_failed_last(test, what);
}

static gpumem_status free_blocks(const struct remap *remap, void *large)
{
	gpumem_status status = gpumem_free(large, NULL);

	for (int i = 1; i < BLOCKS && status == GPUMEM_OK; i += 2)
		status = gpumem_free(remap->blocks[i], NULL);
	return status;
}

/* With virtual memory the limit forbids to grow, so that the large block must
 * be made of the holes' pages; without it the pool must trim and grow. */
static enum probe_verdict remap_blocks(struct remap *remap)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	struct gpumem_call_stats calls = GPUMEM_INIT(struct gpumem_call_stats);
	struct probe_test *test = remap->test;
	gpumem_status status = allocate_blocks(remap);
	char text[HUMAN_BYTES];
	void *large = NULL;
	bool mapped;

	if (status == GPUMEM_OK)
		status = gpumem_pool_stats(test->pool, &stats);
	if (status == GPUMEM_OK)
		status = gpumem_pool_calls(test->pool, GPUMEM_CALL_MAP, &calls);
	mapped = calls.count > 0;
	if (status == GPUMEM_OK && mapped)
		status = gpumem_pool_set_limit(test->pool,
					       stats.reserved.current);
	if (status == GPUMEM_OK)
		status = punch_holes(remap);
	if (status != GPUMEM_OK)
		return explain(test, status, "blocks with holes between them");
	status = gpumem_alloc(test->pool, remap->bytes * BLOCKS / 2, NULL,
			      &large);
	if (status != GPUMEM_OK)
		return explain(test, status, "a block as large as all holes");
	status = verify_large(remap, large);
	if (status != GPUMEM_OK)
		return explain(test, status, "the block made of holes");
	status = verify_kept(remap);
	if (status != GPUMEM_OK)
		return explain(test, status, "the blocks around");
	if (free_blocks(remap, large) != GPUMEM_OK ||
	    gpumem_pool_stats(test->pool, &stats) != GPUMEM_OK)
		return probe_failed_last(test, "free");
	return probe_passed(test, "%s moved, all bytes kept%s",
			    human_bytes(text, stats.moved_bytes),
			    mapped ? "" : " (no virtual memory: regrown)");
}

enum probe_verdict probe_check_remap(struct probe_test *test)
{
	uint64_t grain = test->info->granularity_bytes;
	struct remap remap = {
		.test = test,
		.bytes = (size_t)(grain > MIB ? 4 * grain : 4 * MIB),
	};
	enum probe_verdict verdict;

	if (!(test->info->caps & GPUMEM_CAP_COPY))
		return probe_skipped(test, "the device has no fill and copy");
	if (test->free_bytes / 16 < remap.bytes)
		return probe_skipped(test, "too little memory is free");
	remap.host = malloc(remap.bytes);
	if (!remap.host)
		return probe_failed(test, "out of host memory");
	verdict = remap_blocks(&remap);
	keep_or_free(remap.host, verdict == PROBE_FAILED);
	return verdict;
}
