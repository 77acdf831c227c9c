/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Runs the checks in order, each with a pool of its own, and the small checks
 * themselves. See test.h.
 */
#include "test.h"

#include "common/human.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB ((uint64_t)1 << 20)

static void write_detail(struct probe_line *line, const char *format,
			 va_list args)
{
	vsnprintf(line->detail, sizeof(line->detail), format, args);
}

enum probe_verdict probe_failed(struct probe_test *test, const char *format,
				...)
{
	va_list args;

	va_start(args, format);
	write_detail(test->line, format, args);
	va_end(args);
	return PROBE_FAILED;
}

enum probe_verdict probe_failed_last(struct probe_test *test, const char *what)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	return probe_failed(test, "%s: %s", what, error.text);
}

enum probe_verdict probe_skipped(struct probe_test *test, const char *why)
{
	snprintf(test->line->detail, sizeof(test->line->detail), "%s", why);
	return PROBE_SKIPPED;
}

enum probe_verdict probe_passed(struct probe_test *test, const char *format,
				...)
{
	va_list args;

	va_start(args, format);
	write_detail(test->line, format, args);
	va_end(args);
	return PROBE_OK;
}

gpumem_status probe_sync(const struct probe_test *test)
{
	if (!(test->info->caps & GPUMEM_CAP_STREAMS))
		return GPUMEM_OK; /* then nothing is asynchronous */
	return gpumem_stream_sync(test->device, NULL);
}

gpumem_status probe_paint(const struct probe_test *test, void *ptr,
			  uint8_t value, size_t bytes)
{
	gpumem_status status =
		gpumem_fill(test->device, ptr, value, bytes, NULL);

	return status == GPUMEM_OK ? probe_sync(test) : status;
}

gpumem_status probe_verify(const struct probe_test *test, const void *ptr,
			   uint8_t value, size_t bytes, uint8_t *host)
{
	gpumem_status status;

	memset(host, (uint8_t)~value, bytes);
	status = gpumem_copy(test->device, host, ptr, bytes, NULL);
	if (status == GPUMEM_OK)
		status = probe_sync(test);
	/* All equal the first, which is right. */
	if (status == GPUMEM_OK &&
	    (host[0] != value || memcmp(host, host + 1, bytes - 1)))
		status = GPUMEM_CORRUPT;
	return status;
}

/* Allocates, looks at the block and frees it; an explained verdict. */
static enum probe_verdict one_block(struct probe_test *test, size_t bytes)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);
	char text[HUMAN_BYTES];
	void *ptr;

	if (gpumem_alloc(test->pool, bytes, NULL, &ptr) != GPUMEM_OK)
		return probe_failed_last(test, "allocation");
	if ((uintptr_t)ptr % test->info->alignment_bytes)
		return probe_failed(test, "a block at %p is not aligned", ptr);
	if (gpumem_query((char *)ptr + bytes - 1, &block) != GPUMEM_OK ||
	    block.ptr != ptr || block.requested_bytes != bytes)
		return probe_failed(test, "the block of %s is not found again",
				    human_bytes(text, bytes));
	if (gpumem_free(ptr, NULL) != GPUMEM_OK)
		return probe_failed_last(test, "free");
	return PROBE_OK;
}

enum probe_verdict probe_check_allocate(struct probe_test *test)
{
	static const uint64_t sizes[] = {1,	      256,	4096,	 65536,
					 5 * MIB / 4, 20 * MIB, 64 * MIB};
	uint64_t largest = 0;
	char text[HUMAN_BYTES];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (sizes[i] > test->free_bytes / 4)
			break;
		if (one_block(test, (size_t)sizes[i]) != PROBE_OK)
			return PROBE_FAILED;
		largest = sizes[i];
	}
	if (!largest)
		return probe_skipped(test, "the device is full");
	return probe_passed(test, "1 B to %s", human_bytes(text, largest));
}

/* What a device has finished it may say a moment later, and a trim waits for
 * nothing: so it is tried again for a while. */
static enum probe_verdict trim_all(struct probe_test *test,
				   struct gpumem_stats *stats,
				   uint64_t *released)
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000};
	uint64_t more;

	*released = 0;
	for (int i = 0; i < 2000; i++) {
		if (gpumem_pool_trim(test->pool, 0, &more) != GPUMEM_OK)
			return probe_failed_last(test, "trim");
		*released += more;
		if (gpumem_pool_stats(test->pool, stats) != GPUMEM_OK)
			return probe_failed_last(test, "statistics");
		if (!stats->reserved.current)
			break;
		nanosleep(&pause, NULL);
	}
	return PROBE_OK;
}

enum probe_verdict probe_check_trim(struct probe_test *test)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	char text[HUMAN_BYTES];
	uint64_t released;

	for (size_t bytes = 512; bytes <= 4 * MIB; bytes *= 8)
		if (one_block(test, bytes) != PROBE_OK)
			return PROBE_FAILED;
	if (trim_all(test, &stats, &released) != PROBE_OK)
		return PROBE_FAILED;
	if (stats.reserved.current)
		return probe_failed(test, "%s are still reserved",
				    human_bytes(text, stats.reserved.current));
	if (one_block(test, 4096) != PROBE_OK)
		return PROBE_FAILED;
	return probe_passed(test, "%s given back", human_bytes(text, released));
}

static void run_check(gpumem_device *handle, struct probe_device *device,
		      enum probe_verdict (*check)(struct probe_test *test),
		      struct probe_line *line)
{
	struct probe_test test = {
		.device = handle,
		.info = &device->info,
		.free_bytes = device->memory.size ? device->memory.free_bytes
						  : device->info.total_bytes,
		.line = line,
	};

	if (gpumem_pool_create(handle, NULL, &test.pool) != GPUMEM_OK) {
		line->verdict = probe_failed_last(&test, "pool");
		return;
	}
	line->verdict = check(&test);
	/* Where waiting fails, work may still run on blocks of the pool: then
	 * it has to stay, and with it the device. */
	if (line->verdict == PROBE_FAILED && probe_sync(&test) != GPUMEM_OK)
		return;
	if (gpumem_pool_destroy(test.pool, line->verdict == PROBE_FAILED
						   ? GPUMEM_DESTROY_FORCE
						   : 0) != GPUMEM_OK &&
	    line->verdict != PROBE_FAILED)
		line->verdict = probe_failed_last(&test, "end of the pool");
}

void probe_test(gpumem_device *handle, struct probe_device *device)
{
	static const struct {
		const char *name;
		enum probe_verdict (*check)(struct probe_test *test);
	} checks[PROBE_CHECKS] = {
		{"allocate", probe_check_allocate},
		{"fill, copy back, compare", probe_check_copy},
		{"remap", probe_check_remap},
		{"trim", probe_check_trim},
		{"raw latency", probe_check_raw},
		{"cached latency", probe_check_cached},
	};

	for (int i = 0; i < PROBE_CHECKS; i++) {
		struct probe_line *line = &device->lines[device->line_count++];

		line->name = checks[i].name;
		run_check(handle, device, checks[i].check, line);
	}
}
