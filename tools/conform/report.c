/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Test Anything Protocol, and the helpers of all groups. See conform.h.
 */
#include "conform.h"

#include "common/clean.h"
#include "common/tool.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of what is larger than two of these, both ends are looked at. */
#define END_BYTES ((uint64_t)4 << 20)

static FILE *out;
/* Of lines, and of the counts: a broken rule is told by any thread. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void conform_report_to(FILE *stream)
{
	out = stream;
}

/* A line's text, which names what a plugin chose. */
static void put(const char *format, va_list args)
{
	char *text = clean_format(format, args);

	fprintf(out, "%s\n", text ? text : "out of memory");
	fflush(out);
	free(text);
}

static void result(struct conform *c, bool passed, const char *format,
		   va_list args)
{
	pthread_mutex_lock(&mutex);
	fprintf(out, "%sok %ld - ", passed ? "" : "not ", ++c->run);
	put(format, args);
	c->failed += !passed;
	conform_count(c->run);
	pthread_mutex_unlock(&mutex);
}

bool conform_ok(struct conform *c, bool passed, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	result(c, passed, format, args);
	va_end(args);
	c->failing = !passed;
	return passed;
}

bool conform_is(struct conform *c, gpumem_status got, gpumem_status wanted,
		const char *format, ...)
{
	va_list args;

	va_start(args, format);
	result(c, got == wanted, format, args);
	va_end(args);
	c->failing = got != wanted;
	if (got != wanted)
		conform_note("got %s, expected %s", gpumem_status_name(got),
			     gpumem_status_name(wanted));
	return got == wanted;
}

void conform_skip(struct conform *c, const char *name, const char *why)
{
	pthread_mutex_lock(&mutex);
	fprintf(out, "ok %ld - %s # SKIP %s\n", ++c->run, name, why);
	fflush(out);
	c->skipped++;
	conform_count(c->run);
	pthread_mutex_unlock(&mutex);
}

void conform_broken(struct conform *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	result(c, false, format, args);
	va_end(args);
}

static void line(const char *mark, const char *format, va_list args)
{
	pthread_mutex_lock(&mutex);
	fputs(mark, out);
	put(format, args);
	pthread_mutex_unlock(&mutex);
}

void conform_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line("# ", format, args);
	va_end(args);
}

void conform_bail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line("Bail out! ", format, args);
	va_end(args);
}

void conform_skip_all(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line("1..0 # SKIP ", format, args);
	va_end(args);
}

int conform_end(const struct conform *c)
{
	fprintf(out, "1..%ld\n", c->run);
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
	conform_bail("waiting for a stream gave %s: work may still be running "
		     "on memory that would be given back",
		     gpumem_status_name(status));
	conform_calls(NULL);
	conform_ends();
	_exit(TOOL_FAILED);
}

gpumem_status conform_paint(const struct conform *c, uint64_t address,
			    uint8_t value, uint64_t bytes)
{
	uint64_t part = bytes > 2 * END_BYTES ? END_BYTES : bytes;
	gpumem_status status;

	if (!conform_has(c, GPUMEM_CAP_COPY))
		return GPUMEM_OK;
	status = c->ops->fill(c->device, address, value, part, NULL);
	if (status == GPUMEM_OK && part < bytes)
		status = c->ops->fill(c->device, address + bytes - part, value,
				      part, NULL);
	return status == GPUMEM_OK ? conform_sync(c, NULL) : status;
}

static gpumem_status verify_part(const struct conform *c, uint64_t address,
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

gpumem_status conform_verify(const struct conform *c, uint64_t address,
			     uint8_t value, uint64_t bytes)
{
	uint64_t part = bytes > 2 * END_BYTES ? END_BYTES : bytes;
	gpumem_status status = verify_part(c, address, value, part);

	if (status == GPUMEM_OK && part < bytes)
		status = verify_part(c, address + bytes - part, value, part);
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

uint64_t conform_raw(const struct conform *c, uint64_t bytes)
{
	uint64_t most = c->info.max_alloc_bytes / c->info.granularity_bytes *
			c->info.granularity_bytes;

	bytes = conform_round(c, bytes);
	return bytes < most ? bytes : most;
}

/* The system looks for us: a write from where there is no memory fails. */
bool conform_host_reads(uint64_t address, uint8_t *value_out)
{
	bool readable = false;
	int ends[2];

	if (pipe(ends))
		return false;
	if (syscall(SYS_write, ends[1], (const void *)(uintptr_t)address, 1) ==
	    1)
		readable = read(ends[0], value_out, 1) == 1;
	close(ends[0]);
	close(ends[1]);
	return readable;
}
