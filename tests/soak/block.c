/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See block.h. Blocks on their way to another thread are under the mutex. */
#include "block.h"

#include <stdlib.h>
#include <string.h>

#define PROBE_BYTES ((uint64_t)64)

static pthread_mutex_t trade_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct block traded[TRADED_MAX];
static size_t traded_count;

/* ---- what it holds ---- */

struct look {
	const unsigned char *ptr;
	uint64_t bytes;
	uint8_t value;
};

static bool has_value(const unsigned char *at, uint64_t bytes, uint8_t value)
{
	for (uint64_t i = 0; i < bytes; i++)
		if (at[i] != value)
			return false;
	return true;
}

static uint64_t probe_bytes(uint64_t bytes)
{
	return bytes < PROBE_BYTES ? bytes : PROBE_BYTES;
}

/* In the stream's thread. */
static void look(void *arg)
{
	struct look *l = arg;
	uint64_t probe = probe_bytes(l->bytes);

	if (!has_value(l->ptr, probe, l->value) ||
	    !has_value(l->ptr + l->bytes - probe, probe, l->value))
		finding("a block of %llu bytes at %p was written over",
			(unsigned long long)l->bytes, (const void *)l->ptr);
	tally.looks++;
	free(l);
}

/* Queued behind what the block's stream has to do. */
void block_look(const struct block *block)
{
	struct look *l;

	if (!block->filled)
		return;
	l = malloc(sizeof(*l));
	if (!l)
		return;
	*l = (struct look){block->ptr, block->bytes, block->value};
	if (gpumem_host_launch(0, block->stream, look, l))
		free(l);
}

/* Both ends. Bytes of objects cannot be looked at, and a lost device drops what
 * it had to do. */
void block_fill(struct block *block, uint8_t value)
{
	uint64_t probe = probe_bytes(block->bytes);
	unsigned char *end = block->ptr + block->bytes - probe;

	if (world.lossy || strstr(world.options, "host.objects:on"))
		return;
	block->value = value;
	block->filled = took(gpumem_fill(world.device, block->ptr, value, probe,
					 block->stream),
			     "gpumem_fill") &&
			took(gpumem_fill(world.device, end, value, probe,
					 block->stream),
			     "gpumem_fill");
}

/* ---- from thread to thread ---- */

struct block block_trade(struct random *random, const struct block *block)
{
	struct block other = {0};

	pthread_mutex_lock(&trade_mutex);
	if (traded_count == TRADED_MAX || (traded_count && one_in(random, 2))) {
		uint64_t at = random_below(random, traded_count);

		other = traded[at];
		traded[at] = *block;
	} else {
		traded[traded_count++] = *block;
	}
	pthread_mutex_unlock(&trade_mutex);
	return other;
}

void trade_clear(void)
{
	while (traded_count) {
		struct block *block = &traded[traded_count - 1];

		if (gave(gpumem_free(block->ptr, NULL), "gpumem_free"))
			traded_count--;
	}
}
