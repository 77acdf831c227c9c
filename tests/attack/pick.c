/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Arguments: mostly right ones, and now and then one that is not, of which
 * `step` then says what the call may answer.
 */
#include "attack.h"

static uint64_t state = 1;

/* xorshift64*, by Vigna; never 0. */
static uint64_t random_next(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1du;
}

void random_seed(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15u;
	if (!state)
		state = 1;
	for (int i = 0; i < 8; i++)
		random_next();
}

uint64_t random_below(uint64_t end)
{
	return (random_next() >> 11) % end;
}

bool one_in(uint64_t n)
{
	return random_below(n) == 0;
}

void wrong(unsigned statuses)
{
	step.wrong |= statuses;
}

bool rarely(void)
{
	return one_in(24);
}

struct device *pick_device(void)
{
	unsigned first = (unsigned)random_below(DEVICES);

	if (rarely()) {
		wrong(B(INVALID));
		return NULL;
	}
	for (unsigned i = 0; i < DEVICES; i++) {
		struct device *device = &world.device[(first + i) % DEVICES];

		if (device->handle)
			return device;
	}
	device_need(&world.device[0]);
	return &world.device[0];
}

struct pool *pick_any_pool(void)
{
	unsigned first = (unsigned)random_below(POOLS);
	gpumem_pool *handle = NULL;

	for (unsigned i = 0; i < POOLS; i++) {
		struct pool *pool = &world.pool[(first + i) % POOLS];

		if (pool->handle)
			return pool;
	}
	device_need(&world.device[0]);
	must(gpumem_device_pool(world.device[0].handle, &handle));
	return pool_new(&world.device[0], handle);
}

struct pool *pick_pool(void)
{
	if (!rarely())
		return pick_any_pool();
	wrong(B(INVALID));
	return NULL;
}

struct block *pick_block(void)
{
	return world.blocks ? &world.block[random_below(world.blocks)] : NULL;
}

gpumem_stream pick_stream(const struct device *device, int *index_out)
{
	int index = (int)random_below(STREAMS);

	*index_out = -1;
	if (rarely()) {
		const struct device *other =
			&world.device[random_below(DEVICES)];

		/* Another device's, one that is gone, or none: a pool need not
		 * see it before it asks the driver about the stream. */
		step.perhaps |= B(INVALID) | B(DRIVER);
		if (one_in(3))
			return pick_nowhere();
		return other->stream[random_below(STREAMS)];
	}
	if (!device || !device->there[index])
		index = 0;
	*index_out = index;
	return device ? device->stream[index] : NULL;
}

void *pick_nowhere(void)
{
	static const uintptr_t nowhere[] = {1,
					    8,
					    255,
					    4096,
					    65535,
					    UINTPTR_MAX,
					    UINTPTR_MAX - 255,
					    UINTPTR_MAX / 2 + 1,
					    (uintptr_t)1 << 47,
					    (uintptr_t)1 << 48,
					    (uintptr_t)1 << 63};

	return (void *)nowhere[random_below(COUNT(nowhere))];
}

static bool is_live(uintptr_t address)
{
	for (unsigned i = 0; i < world.blocks; i++)
		if (address - (uintptr_t)world.block[i].ptr <
		    world.block[i].bytes)
			return true;
	return false;
}

/* A block's start, or else something that begins no live block. */
void *pick_pointer(struct block **block_out)
{
	static uintptr_t last; /* one that was a block's at some time */
	struct block *block = pick_block();
	uintptr_t address = block ? (uintptr_t)block->ptr : last;

	*block_out = NULL;
	if (block && !rarely()) {
		last = one_in(8) ? address : last;
		*block_out = block;
		return block->ptr;
	}
	wrong(B(BAD_POINTER));
	switch (random_below(5)) {
	case 0:
		return &last;
	case 1:
		return __builtin_frame_address(0);
	case 2:
		return pick_nowhere();
	case 3:
		address += 1 + random_below(block ? block->bytes - 1 : 256);
		return block ? (void *)address : pick_nowhere();
	default:
		return !last || is_live(last) ? pick_nowhere() : (void *)last;
	}
}

uint64_t pick_bytes(void)
{
	static const uint64_t odd[] = {0,
				       1,
				       255,
				       256,
				       257,
				       4096,
				       256 * KIB + 1,
				       2 * MIB,
				       5 * MIB,
				       300 * MIB,
				       1 << 30,
				       UINT32_MAX,
				       INT64_MAX,
				       SIZE_MAX,
				       SIZE_MAX - 1,
				       SIZE_MAX - 255,
				       SIZE_MAX / 2 + 1};

	if (one_in(10))
		return odd[random_below(COUNT(odd))];
	return 1 + random_below((uint64_t)1 << (6 + random_below(17)));
}

uint64_t pick_pool_bytes(void)
{
	static const uint64_t sizes[] = {
		0,	   1,	       255,	   4096,
		256 * KIB, 3 * MIB,    2 * MIB,	   8 * MIB,
		64 * MIB,  4096 * MIB, 8192 * MIB, UINT64_MAX,
		1 << 30,   UINT32_MAX, INT64_MAX,  UINT64_MAX / 2 + 1};

	return sizes[random_below(COUNT(sizes))];
}

const char *pick_bad_text(void)
{
	static char lengthy[6000];
	static const char *const texts[] = {"",
					    " ",
					    "%s%s%n%d",
					    "\x1b[31mred",
					    "a\nb\tc\r",
					    "\xff\xfe",
					    "host:999",
					    "host:-1",
					    "host:",
					    ":",
					    "host:0x0",
					    "host:0 ",
					    "nothing",
					    "nothing:0",
					    "HOST",
					    "host:00000000",
					    "../x",
					    "/",
					    "key:value,a:b",
					    "\x7f\x01",
					    "-1",
					    "1e9",
					    "18446744073709551616",
					    "100%%"};

	if (!lengthy[0])
		memset(lengthy, 'a', sizeof(lengthy) - 1);
	return one_in(10) ? lengthy : texts[random_below(COUNT(texts))];
}

const char *pick_text(void)
{
	static char text[64];

	if (one_in(4))
		return pick_bad_text();
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		text[i] = (char)(1 + random_below(255));
		if (text[i] == '.') /* which is no end of a sentence */
			text[i] = ',';
	}
	text[random_below(sizeof(text))] = '\0';
	return text;
}

int pick_number(struct device **device_out)
{
	static const int none[] = {-1, 99, 8, 4, INT32_MAX, INT32_MIN};
	int number = (int)random_below(DEVICES);

	*device_out = &world.device[number];
	if (!rarely() && (*device_out)->handle)
		return number;
	*device_out = NULL;
	wrong(B(INVALID));
	return none[random_below(COUNT(none))];
}

bool any_stop(void)
{
	return !one_in(4);
}
