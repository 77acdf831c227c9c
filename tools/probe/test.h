/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The checks of gpumem-probe --test. Each is given an open device with a pool
 * of its own, leaves no block live, and writes its line.
 */
#ifndef GPUMEM_TOOLS_PROBE_TEST_H
#define GPUMEM_TOOLS_PROBE_TEST_H

#include "probe.h"

struct probe_test {
	gpumem_device *device;
	gpumem_pool *pool;
	const struct gpumem_device_info *info;
	uint64_t free_bytes; /* of the device, when the test began */
	struct probe_line *line;
};

/* Each writes the line's detail and gives the verdict. */
enum probe_verdict probe_failed(struct probe_test *test, const char *format,
				...) __attribute__((format(printf, 2, 3)));
/* With the library's last sentence behind it. */
enum probe_verdict probe_failed_last(struct probe_test *test, const char *what);
enum probe_verdict probe_skipped(struct probe_test *test, const char *why);
enum probe_verdict probe_passed(struct probe_test *test, const char *format,
				...) __attribute__((format(printf, 2, 3)));

/* Waits for the default stream, where there are streams. */
gpumem_status probe_sync(const struct probe_test *test);

/* Sets a block to `value`, or looks whether every byte has that value, through
 * `host`, as large. GPUMEM_CORRUPT: it has not. */
gpumem_status probe_paint(const struct probe_test *test, void *ptr,
			  uint8_t value, size_t bytes);
gpumem_status probe_verify(const struct probe_test *test, const void *ptr,
			   uint8_t value, size_t bytes, uint8_t *host);

enum probe_verdict probe_check_allocate(struct probe_test *test);
enum probe_verdict probe_check_copy(struct probe_test *test);
enum probe_verdict probe_check_remap(struct probe_test *test);
enum probe_verdict probe_check_trim(struct probe_test *test);
enum probe_verdict probe_check_raw(struct probe_test *test);
enum probe_verdict probe_check_cached(struct probe_test *test);

#endif
