/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Test Anything Protocol, and the helpers of all groups. See conform.h.
 */
#include "conform.h"

#include "common/tool.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool result(struct conform *c, bool passed, const char *format,
		   va_list args)
{
	printf("%sok %ld - ", passed ? "" : "not ", ++c->run);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
	c->failed += !passed;
	c->failing = !passed;
	return passed;
}

bool conform_ok(struct conform *c, bool passed, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	result(c, passed, format, args);
	va_end(args);
	return passed;
}

bool conform_is(struct conform *c, gpumem_status got, gpumem_status wanted,
		const char *format, ...)
{
	va_list args;

	va_start(args, format);
	result(c, got == wanted, format, args);
	va_end(args);
	if (got != wanted)
		conform_note("got %s, expected %s", gpumem_status_name(got),
			     gpumem_status_name(wanted));
	return got == wanted;
}

void conform_skip(struct conform *c, const char *name, const char *why)
{
	printf("ok %ld - %s # SKIP %s\n", ++c->run, name, why);
	fflush(stdout);
	c->skipped++;
}

void conform_note(const char *format, ...)
{
	va_list args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

int conform_end(const struct conform *c)
{
	printf("1..%ld\n", c->run);
	conform_note("%ld passed, %ld failed, %ld skipped",
		     c->run - c->failed - c->skipped, c->failed, c->skipped);
	return c->failed || c->run == c->skipped ? TOOL_FAILED : TOOL_OK;
}

uint64_t conform_round(const struct conform *c, uint64_t bytes)
{
	uint64_t grain = c->info.granularity_bytes;

	return (bytes + grain - 1) / grain * grain;
}

bool conform_has(const struct conform *c, enum gpumem_cap cap)
{
	return (c->info.caps & (uint32_t)cap) != 0;
}

gpumem_status conform_sync(const struct conform *c, gpumem_stream stream)
{
	gpumem_status status;

	if (!conform_has(c, GPUMEM_CAP_STREAMS))
		return GPUMEM_OK; /* then nothing is asynchronous */
	status = c->ops->stream_sync(c->device, stream);
	if (status == GPUMEM_OK)
		return status;
	printf("Bail out! waiting for a stream gave %s: work may still be "
	       "running on memory that would be given back\n",
	       gpumem_status_name(status));
	fflush(stdout);
	_exit(TOOL_FAILED);
}

gpumem_status conform_paint(const struct conform *c, uint64_t address,
			    uint8_t value, uint64_t bytes)
{
	gpumem_status status;

	if (!conform_has(c, GPUMEM_CAP_COPY))
		return GPUMEM_OK;
	status = c->ops->fill(c->device, address, value, bytes, NULL);
	return status == GPUMEM_OK ? conform_sync(c, NULL) : status;
}

gpumem_status conform_verify(const struct conform *c, uint64_t address,
			     uint8_t value, uint64_t bytes)
{
	gpumem_status status;
	uint8_t *host;

	if (!conform_has(c, GPUMEM_CAP_COPY))
		return GPUMEM_OK;
	host = malloc(bytes);
	if (!host)
		return GPUMEM_NO_HOST_MEMORY;
	memset(host, (uint8_t)~value, bytes);
	status = c->ops->copy(c->device, (uint64_t)(uintptr_t)host, address,
			      bytes, NULL);
	if (status == GPUMEM_OK)
		status = conform_sync(c, NULL);
	/* All equal the first, which is right. */
	if (status == GPUMEM_OK &&
	    (host[0] != value || memcmp(host, host + 1, bytes - 1)))
		status = GPUMEM_CORRUPT;
	free(host);
	return status;
}

uint64_t conform_free_bytes(struct conform *c)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	gpumem_status status = c->ops->memory_info(c->device, &memory);

	if (status != GPUMEM_OK)
		conform_is(c, status, GPUMEM_OK, "memory info");
	return memory.free_bytes;
}

bool conform_address_good(const struct conform *c, uint64_t address,
			  uint64_t bytes, uint64_t alignment)
{
	uint64_t least = c->info.alignment_bytes;

	return address && bytes <= (uint64_t)1 << 48 &&
	       address <= ((uint64_t)1 << 48) - bytes &&
	       address % (alignment > least ? alignment : least) == 0;
}
