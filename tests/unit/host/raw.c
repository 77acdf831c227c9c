/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host backend's raw allocations: content, alignment that is no better than
 * promised, exact accounts, refusals; and many random operations on pages and
 * allocations together, against a model.
 */
#include "fake.h"

#define THINGS 64
#define PLACES 64

static uint32_t *word(uint64_t address)
{
	return (uint32_t *)(uintptr_t)address;
}

static uint64_t allocate(void *device, uint64_t bytes)
{
	uint64_t address = 0;

	if (host->alloc(device, bytes, &address) != GPUMEM_OK)
		bail("alloc: %s", fake_error.text);
	return address;
}

/* Without virtual memory, as aligned as promised, sometimes no better. */
static void test_alignment(const char *text, uint64_t alignment)
{
	uint64_t address[8];
	bool aligned = true, better = true, best = false, apart = true;
	void *device;

	option("host.vm", "off");
	option("host.alignment", text);
	device = open_device(0);
	for (int i = 0; i < 8; i++) {
		address[i] = allocate(device, 12288);
		aligned = aligned && address[i] % alignment == 0;
		better = better && address[i] % (2 * alignment) == 0;
		best = best || address[i] % (2 * alignment) == 0;
		memset(word(address[i]), i, 12288);
	}
	for (int i = 0; i < 8; i++)
		apart = apart && *word(address[i]) == (uint32_t)i * 0x1010101 &&
			*word(address[i] + 12284) == (uint32_t)i * 0x1010101;
	ok(aligned, "every address is aligned to %s", text);
	ok(!better && best, "some no better, others better");
	ok(apart, "contents are apart");
	is_uint(gpumem_host_used_bytes(0), 8 * 12288, "the account is exact");
	for (int i = 0; i < 8; i++)
		aligned = host->free(device, address[i], 12288) == GPUMEM_OK &&
			  aligned;
	ok(aligned, "all are freed");
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is used");
	host->device_close(device);
	option("host.vm", NULL);
	option("host.alignment", NULL);
}

static void test_refusals(void)
{
	uint64_t address = 77, page = 77, first;
	void *device;

	option("host.capacity", "8MiB");
	option("host.max_alloc", "6MiB");
	device = open_device(0);
	is_status(host->alloc(device, 7 << 20, &address), GPUMEM_INVALID,
		  "more than max_alloc");
	is_status(host->alloc(device, 0, &address), GPUMEM_INVALID, "nothing");
	first = allocate(device, 6 << 20);
	is_status(host->alloc(device, 4 << 20, &address), GPUMEM_NO_MEMORY,
		  "more than there is");
	is_status(host->page_create(device, 2 * PAGE, &page), GPUMEM_NO_MEMORY,
		  "pages come out of the same memory");
	ok(address == 77 && page == 77, "outputs are left alone");
	is_status(host->free(device, first + 4096, (6 << 20) - 4096),
		  GPUMEM_INVALID, "free of the inside");
	is_status(host->free(device, first + 4096, 6 << 20), GPUMEM_INVALID,
		  "free from the inside on");
	is_status(host->page_destroy(device, UINT64_C(1) << 32 | 1, 6 << 20),
		  GPUMEM_INVALID, "an allocation is no page");
	is_status(host->free(device, first, 2 << 20), GPUMEM_INVALID,
		  "free of a part");
	is_status(host->free(device, 4096, 4096), GPUMEM_INVALID,
		  "free of nobody's");
	*word(first + (6 << 20) - 4) = 1;
	is_status(host->free(device, first, 6 << 20), GPUMEM_OK, "free");
	is_status(host->free(device, first, 6 << 20), GPUMEM_INVALID,
		  "free twice");
	first = allocate(device, 1);
	is_uint(gpumem_host_used_bytes(0), 4096, "one byte takes one unit");
	is_status(host->free(device, first, 1), GPUMEM_OK, "free");
	host->device_close(device);
	option("host.capacity", NULL);
	option("host.max_alloc", NULL);
}

/* Raw allocation at `address`, or a page that is mapped at `place` + 1. */
struct thing {
	bool used, raw;
	uint64_t bytes, address;
	gpumem_page page;
	unsigned place;
	uint32_t mark; /* in its first and last word; 0: never written */
};

static struct {
	void *device;
	uint64_t base;
	uint64_t used, capacity;
	struct thing thing[THINGS];
	bool taken[PLACES]; /* granules of the reservation */
	unsigned long wrong;
} model;

static uint64_t seed = 88172645463325252;

static uint64_t random_below(uint64_t bound)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % bound;
}

static void check_mark(struct thing *thing)
{
	uint32_t *first = word(thing->address);
	uint32_t *last = word(thing->address + thing->bytes - 4);

	if (thing->mark && (*first != thing->mark || *last != thing->mark))
		model.wrong++;
	thing->mark = (uint32_t)random_below(UINT32_MAX) + 1;
	*first = *last = thing->mark;
}

static void make(struct thing *thing)
{
	bool raw = random_below(2), fits;
	uint64_t bytes = raw ? (1 + random_below(3000)) * 4096
			     : (1 + random_below(4)) * PAGE;
	gpumem_status status;

	*thing = (struct thing){.raw = raw, .bytes = bytes};
	if (raw)
		status = host->alloc(model.device, bytes, &thing->address);
	else
		status = host->page_create(model.device, bytes, &thing->page);
	fits = model.used + bytes <= model.capacity;
	model.wrong += status != (fits ? GPUMEM_OK : GPUMEM_NO_MEMORY);
	thing->used = status == GPUMEM_OK;
	model.used += thing->used ? bytes : 0;
	if (thing->used && raw)
		check_mark(thing);
}

static void destroy(struct thing *thing)
{
	gpumem_status status, want = GPUMEM_OK;

	if (thing->raw) {
		check_mark(thing);
		status = host->free(model.device, thing->address, thing->bytes);
	} else {
		want = thing->place ? GPUMEM_INVALID : GPUMEM_OK;
		status = host->page_destroy(model.device, thing->page,
					    thing->bytes);
	}
	model.wrong += status != want;
	if (want != GPUMEM_OK)
		return;
	thing->used = false;
	model.used -= thing->bytes;
}

static void set_taken(const struct thing *thing, unsigned place, bool taken)
{
	for (uint64_t i = 0; i < thing->bytes / PAGE; i++)
		model.taken[place + i] = taken;
}

static void map(struct thing *thing)
{
	unsigned place = (unsigned)random_below(PLACES);
	uint64_t address = model.base + place * PAGE;
	bool free = place + thing->bytes / PAGE <= PLACES;
	gpumem_status status =
		host->map(model.device, address, &thing->page, 1, thing->bytes);

	for (uint64_t i = 0; free && i < thing->bytes / PAGE; i++)
		free = !model.taken[place + i];
	model.wrong += status != (free ? GPUMEM_OK : GPUMEM_INVALID);
	if (!free)
		return;
	thing->place = place + 1;
	thing->address = address;
	set_taken(thing, place, true);
	check_mark(thing);
}

static void unmap(struct thing *thing)
{
	check_mark(thing);
	model.wrong += host->unmap(model.device, thing->address, 1,
				   thing->bytes) != GPUMEM_OK;
	set_taken(thing, thing->place - 1, false);
	thing->place = 0;
}

static void step(void)
{
	struct thing *thing = &model.thing[random_below(THINGS)];

	if (!thing->used)
		make(thing);
	else if (thing->raw || !random_below(3))
		destroy(thing);
	else if (thing->place)
		unmap(thing);
	else
		map(thing);
	model.wrong += gpumem_host_used_bytes(0) != model.used;
}

static void test_random(void)
{
	long steps = scaled(100000, 5000);

	option("host.capacity", "256MiB");
	model.device = open_device(0);
	model.capacity = UINT64_C(256) << 20;
	if (host->va_reserve(model.device, PLACES * PAGE, PAGE, &model.base) !=
	    GPUMEM_OK)
		bail("va_reserve: %s", fake_error.text);
	for (long i = 0; i < steps && !model.wrong; i++)
		step();
	is_uint(model.wrong, 0, "%ld random operations agree with the model",
		steps);
	for (int i = 0; i < THINGS; i++) {
		struct thing *thing = &model.thing[i];

		if (thing->used && thing->place)
			unmap(thing);
		if (thing->used)
			destroy(thing);
	}
	is_uint(model.wrong, 0, "and so does taking all apart");
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is used");
	is_status(host->va_release(model.device, model.base, PLACES * PAGE),
		  GPUMEM_OK, "va_release");
	host->device_close(model.device);
	option("host.capacity", NULL);
}

int main(void)
{
	fake_start();
	test_alignment("16", 16);
	test_alignment("256", 256);
	test_alignment("4KiB", 4096);
	test_alignment("2MiB", 2 << 20);
	test_refusals();
	test_random();
	return done_testing();
}
