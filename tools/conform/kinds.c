/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The group KINDS: pinned and managed memory, which host and device both use.
 * Only a little of it is taken. See conform.h.
 */
#include "conform.h"

#include <string.h>

#define BLOCKS 4

struct blocks {
	gpumem_kind kind;
	const char *name;
	uint64_t bytes, address[BLOCKS];
	int count;
};

static void take(struct conform *c, struct blocks *b)
{
	gpumem_status status = GPUMEM_OK;

	while (b->count < BLOCKS && status == GPUMEM_OK) {
		status = c->ops->kind_alloc(c->device, b->kind, b->bytes,
					    &b->address[b->count]);
		b->count += status == GPUMEM_OK;
	}
	conform_is(c, status, GPUMEM_OK, "%s: %d blocks", b->name, BLOCKS);
}

static void give(struct conform *c, const struct blocks *b)
{
	gpumem_status first = GPUMEM_OK;

	for (int i = 0; i < b->count; i++) {
		gpumem_status status = c->ops->kind_free(
			c->device, b->kind, b->address[i], b->bytes);

		first = first == GPUMEM_OK ? status : first;
	}
	conform_is(c, first, GPUMEM_OK, "%s: all freed", b->name);
}

/* The host uses it as it is: not before it is known that it can. */
static bool host_can(const struct blocks *b)
{
	uint8_t byte;

	for (int i = 0; i < b->count; i++)
		if (!conform_host_reads(b->address[i], &byte) ||
		    !conform_host_reads(b->address[i] + b->bytes - 1, &byte))
			return false;
	return true;
}

static bool all_are(uint64_t address, uint8_t value, uint64_t bytes)
{
	const uint8_t *at = (const uint8_t *)(uintptr_t)address;

	while (bytes && *at == value) {
		at++;
		bytes--;
	}
	return !bytes;
}

/* What the host wrote is there for the device, and the other way round. */
static void both_ways(struct conform *c, const struct blocks *b)
{
	gpumem_status status = GPUMEM_OK;
	int wrong = 0;

	for (int i = 0; i < b->count && status == GPUMEM_OK; i++) {
		memset((void *)(uintptr_t)b->address[i], i + 1, b->bytes);
		status = conform_verify(c, b->address[i], (uint8_t)(i + 1),
					b->bytes);
	}
	conform_is(c, status, GPUMEM_OK,
		   "%s: the device reads what the host "
		   "wrote",
		   b->name);
	for (int i = 0; i < b->count && status == GPUMEM_OK; i++)
		status = c->ops->fill(c->device, b->address[i],
				      (uint8_t)(i + 101), b->bytes, NULL);
	if (status == GPUMEM_OK)
		status = conform_sync(c, NULL);
	for (int i = 0; i < b->count && status == GPUMEM_OK; i++)
		wrong += !all_are(b->address[i], (uint8_t)(i + 101), b->bytes);
	conform_ok(c, status == GPUMEM_OK && !wrong,
		   "%s: the host reads what the device wrote", b->name);
}

static void check_kind(struct conform *c, gpumem_kind kind, const char *name)
{
	struct blocks b = {
		.kind = kind,
		.name = name,
		.bytes = c->info.granularity_bytes,
	};

	take(c, &b);
	if (conform_ok(c, host_can(&b), "%s: the host can read it", name) &&
	    conform_has(c, GPUMEM_CAP_COPY))
		both_ways(c, &b);
	give(c, &b);
}

void conform_kinds_warm(const struct conform *c)
{
	static const struct {
		enum gpumem_cap cap;
		gpumem_kind kind;
	} kinds[] = {
		{GPUMEM_CAP_PINNED, GPUMEM_KIND_PINNED},
		{GPUMEM_CAP_MANAGED, GPUMEM_KIND_MANAGED},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		uint64_t bytes = c->info.granularity_bytes, address;
		uint8_t byte;

		if (!conform_has(c, kinds[i].cap) ||
		    c->ops->kind_alloc(c->device, kinds[i].kind, bytes,
				       &address) != GPUMEM_OK)
			continue;
		if (conform_has(c, GPUMEM_CAP_COPY) &&
		    conform_host_reads(address, &byte) &&
		    c->ops->fill(c->device, address, 1, bytes, NULL) ==
			    GPUMEM_OK)
			(void)conform_sync(c, NULL);
		(void)c->ops->kind_free(c->device, kinds[i].kind, address,
					bytes);
	}
}

void conform_kinds(struct conform *c)
{
	uint64_t address;

	if (conform_has(c, GPUMEM_CAP_PINNED))
		check_kind(c, GPUMEM_KIND_PINNED, "pinned memory");
	else
		conform_skip(c, "pinned memory", "the device has none");
	if (conform_has(c, GPUMEM_CAP_MANAGED))
		check_kind(c, GPUMEM_KIND_MANAGED, "managed memory");
	else
		conform_skip(c, "managed memory", "the device has none");
	if (!c->ops->kind_alloc)
		return;
	conform_is(c,
		   c->ops->kind_alloc(c->device, GPUMEM_KIND_DEVICE,
				      c->info.granularity_bytes, &address),
		   GPUMEM_UNSUPPORTED, "device memory is no such kind");
}
