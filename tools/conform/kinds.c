/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The group KINDS: pinned and managed memory, which host and device both use.
 * Only a little of it is taken. See conform.h.
 */
#include "conform.h"

#include <string.h>

#define BLOCKS 4
#define UNTOUCHED UINT64_C(0x5555555555555555)

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

static bool sane(const struct conform *c, const struct blocks *b)
{
	for (int i = 0; i < b->count; i++) {
		if (!conform_address_good(c, b->address[i], b->bytes, 1))
			return false;
		for (int j = 0; j < i; j++)
			if (b->address[i] < b->address[j] + b->bytes &&
			    b->address[j] < b->address[i] + b->bytes)
				return false;
	}
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
		status = conform_paint(c, b->address[i], (uint8_t)(i + 101),
				       b->bytes);
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
	bool good;

	take(c, &b);
	good = conform_ok(c, sane(c, &b), "%s: below 2^48, and no two overlap",
			  name);
	c->hopeless = c->hopeless || !good;
	if (good && conform_has(c, GPUMEM_CAP_COPY))
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

		if (!conform_has(c, kinds[i].cap) ||
		    c->ops->kind_alloc(c->device, kinds[i].kind, bytes,
				       &address) != GPUMEM_OK)
			continue;
		if (conform_has(c, GPUMEM_CAP_COPY) &&
		    c->ops->fill(c->device, address, 1, bytes, NULL) ==
			    GPUMEM_OK)
			(void)c->ops->stream_sync(c->device, NULL);
		(void)c->ops->kind_free(c->device, kinds[i].kind, address,
					bytes);
	}
}

void conform_kinds(struct conform *c)
{
	uint64_t address = UNTOUCHED;

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
	conform_ok(c, address == UNTOUCHED,
		   "the failure left its output alone");
}
