/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The groups COPY and CAPTURE. See conform.h.
 */
#include "conform.h"

#include <stdlib.h>
#include <string.h>

#define BYTES ((uint64_t)3 << 20)

/* Device memory of `bytes`, and three times as much host memory. */
struct copying {
	struct conform *c;
	uint64_t device_bytes, one, two;
	uint8_t *host;
};

static gpumem_status copy(const struct copying *p, uint64_t to, uint64_t from,
			  uint64_t bytes)
{
	gpumem_status status =
		p->c->ops->copy(p->c->device, to, from, bytes, NULL);

	return status == GPUMEM_OK ? conform_sync(p->c, NULL) : status;
}

static uint64_t host(const struct copying *p, uint64_t part)
{
	return (uint64_t)(uintptr_t)(p->host + part * BYTES);
}

static void make_pattern(uint8_t *bytes, uint32_t state)
{
	for (uint64_t i = 0; i < BYTES; i++) {
		state = state * 1664525u + 1013904223u;
		bytes[i] = (uint8_t)(state >> 24);
	}
}

static void check_ways(const struct copying *p)
{
	struct conform *c = p->c;

	make_pattern(p->host, 1);
	memset(p->host + BYTES, 0, 2 * BYTES);
	conform_is(c, copy(p, p->one, host(p, 0), BYTES), GPUMEM_OK,
		   "copy host to device");
	conform_is(c, copy(p, p->two, p->one, BYTES), GPUMEM_OK,
		   "copy device to device");
	conform_is(c, copy(p, host(p, 1), p->two, BYTES), GPUMEM_OK,
		   "copy device to host");
	conform_ok(c, !memcmp(p->host, p->host + BYTES, BYTES),
		   "every byte came back");
	conform_is(c, copy(p, host(p, 2), host(p, 1), BYTES), GPUMEM_OK,
		   "copy host to host");
	conform_ok(c, !memcmp(p->host, p->host + 2 * BYTES, BYTES),
		   "every byte is there");
}

/* Odd places and sizes: the bytes around must stay. */
static void check_odd(const struct copying *p)
{
	const uint64_t sizes[] = {1, 3, 255, 4097, 1000003};
	struct conform *c = p->c;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint64_t size = sizes[i], at = 2 * i + 1;

		make_pattern(p->host, (uint32_t)i + 7);
		memcpy(p->host + BYTES, p->host, BYTES);
		memset(p->host + BYTES + at, 0xc3, size);
		conform_ok(c,
			   copy(p, p->one, host(p, 0), BYTES) == GPUMEM_OK &&
				   c->ops->fill(c->device, p->one + at, 0xc3,
						size, NULL) == GPUMEM_OK &&
				   conform_sync(c, NULL) == GPUMEM_OK &&
				   copy(p, host(p, 2), p->one, BYTES) ==
					   GPUMEM_OK &&
				   !memcmp(p->host + BYTES, p->host + 2 * BYTES,
					   BYTES),
			   "fill %llu bytes at an odd place, and no others",
			   (unsigned long long)size);
		conform_ok(c,
			   copy(p, p->two + at, p->one + at, size) ==
					   GPUMEM_OK &&
				   conform_verify(c, p->two + at, 0xc3, size) ==
					   GPUMEM_OK,
			   "copy %llu bytes from and to an odd place",
			   (unsigned long long)size);
	}
}

void conform_copy(struct conform *c)
{
	struct copying p = {.c = c, .device_bytes = conform_raw(c, BYTES)};
	gpumem_status status;

	if (!conform_has(c, GPUMEM_CAP_COPY)) {
		conform_skip(c, "fill and copy",
			     "the device has no fill and copy");
		return;
	}
	if (p.device_bytes < BYTES || 2 * p.device_bytes > c->budget_bytes) {
		conform_skip(c, "fill and copy", "there is not room enough");
		return;
	}
	p.host = malloc(3 * BYTES);
	status = p.host ? c->ops->alloc(c->device, p.device_bytes, &p.one)
			: GPUMEM_NO_HOST_MEMORY;
	if (!conform_is(c, status, GPUMEM_OK, "memory to copy from"))
		goto free_host;
	status = c->ops->alloc(c->device, p.device_bytes, &p.two);
	if (!conform_is(c, status, GPUMEM_OK, "memory to copy to"))
		goto free_one;
	check_ways(&p);
	check_odd(&p);
	(void)c->ops->free(c->device, p.two, p.device_bytes);
free_one:
	(void)c->ops->free(c->device, p.one, p.device_bytes);
free_host:
	free(p.host);
}

void conform_capture(struct conform *c)
{
	gpumem_stream stream = NULL;
	uint64_t id = 1;

	if (!conform_has(c, GPUMEM_CAP_CAPTURE)) {
		conform_skip(c, "capture", "the device captures no streams");
		return;
	}
	conform_is(c, c->ops->capture_id(c->device, NULL, &id), GPUMEM_OK,
		   "capture of the default stream");
	conform_ok(c, id == 0, "there is none");
	if (!conform_has(c, GPUMEM_CAP_STREAMS) ||
	    c->ops->stream_create(c->device, &stream) != GPUMEM_OK)
		return;
	id = 1;
	conform_is(c, c->ops->capture_id(c->device, stream, &id), GPUMEM_OK,
		   "capture of an own stream");
	conform_ok(c, id == 0, "there is none");
	(void)c->ops->stream_destroy(c->device, stream);
}
