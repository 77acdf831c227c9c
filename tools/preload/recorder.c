/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See recorder.h: the events. A free is stamped when its block leaves the
 * table, which is before the driver is told, and written when the driver has
 * done it; an allocation is stamped when its block enters the table.
 */
#include "recorder.h"
#include "base/scope.h"
#include "record/record.h"

#include <stdio.h>

#define BYTES_MAX (UINT64_C(1) << 47) /* of a block, so that it can be read */

/* A handle and an object of OpenCL have no address. They get one from here on,
 * above those of programs, of a size that is a power of two, and it is used
 * again for one of that size. */
#define MADE_FIRST (UINT64_C(1) << 47)
#define MADE_BYTES (UINT64_C(1) << 47)

static const struct {
	const char *name;
	bool on_device;
} kinds[LEDGER_KINDS] = {
#define KIND(name, key, text, on_device) {key, on_device},
	LEDGER_KIND_LIST(KIND)
#undef KIND
};

/* The others are memory of the host. */
static bool is_recorded(unsigned kind)
{
	return kinds[kind].on_device || kind == LEDGER_MANAGED;
}

/* Where the number of its pool is. */
static unsigned half_of(const struct block *block)
{
	return block->space >= BLOCK_HIP;
}

static uint16_t define_pool(const struct ledger *ledger,
			    const struct block *block)
{
	const char *device = ledger->devices[block->device].name;
	char number[16];
	uint16_t pool;

	snprintf(number, sizeof(number), "%s:%d", ledger_api_name(ledger->api),
		 block->device);
	recorder_check_file();
	pool = gm_record_pool(kinds[block->kind].name,
			      *device ? device : number,
			      block->kind == LEDGER_MANAGED ? "managed memory"
							    : "device memory");
	/* What is kept is not the program's: nothing is reserved. */
	GM_RECORD(pool, GPUMEM_RECORD_POOL, 0);
	return pool;
}

/* 0: it is not recorded. */
static uint16_t pool_of(struct recorder *recorder, struct ledger *ledger,
			const struct block *block)
{
	uint16_t *pool =
		&recorder->pools[half_of(block)][block->device][block->kind];

	if (!is_recorded(block->kind) || !recorder_begin(recorder, ledger))
		return 0;
	if (!*pool)
		*pool = define_pool(ledger, block);
	return *pool;
}

static unsigned class_of(uint64_t bytes)
{
	return bytes <= GPUMEM_RECORD_UNIT
		       ? 8
		       : 64 - (unsigned)__builtin_clzll(bytes - 1);
}

/* 0: there is none. */
static uint64_t make_address(struct recorder *recorder, unsigned class)
{
	uint64_t bytes = UINT64_C(1) << class, address = recorder->spare[class];
	struct block taken;

	if (address) {
		(void)blocks_take(&recorder->spares, BLOCK_ADDRESS, address,
				  &taken);
		recorder->spare[class] = taken.link;
		return address;
	}
	if (bytes > MADE_BYTES - recorder->made)
		return 0;
	address = MADE_FIRST + recorder->made;
	recorder->made += bytes;
	return address;
}

static void give_address_back(struct recorder *recorder, uint64_t address,
			      unsigned class)
{
	const struct block spare = {.key = address,
				    .link = recorder->spare[class],
				    .space = BLOCK_ADDRESS};

	if (blocks_put(&recorder->spares, &spare))
		recorder->spare[class] = address;
}

/* No two blocks that live share any. 0: there is none. */
static uint64_t address_of(struct recorder *recorder,
			   const struct ledger *ledger,
			   const struct block *block)
{
	/* Shared virtual memory is another's before we know that it ended. */
	if (ledger->api != LEDGER_OPENCL &&
	    (block->space == BLOCK_ADDRESS ||
	     block->space == BLOCK_HIP_ADDRESS) &&
	    block->key % GPUMEM_RECORD_UNIT == 0 && block->key < MADE_FIRST)
		return block->key;
	return make_address(recorder, class_of(block->bytes));
}

static void put(const struct recorder *recorder, const struct block *block,
		enum gpumem_record_kind kind, uint64_t time)
{
	const struct gm_record_block event = {
		.time = time,
		.address = block->recorded,
		.bytes = block->bytes,
		.stream = (gpumem_stream)(uintptr_t)block->stream,
		.pool = recorder->pools[half_of(block)][block->device]
				       [block->kind],
		.kind = (uint8_t)kind};

	if (!gm_record_ready(time, event.pool, event.stream, 2))
		recorder_check_file();
	gm_record_block(&event);
}

void recorder_alloc(struct recorder *recorder, struct ledger *ledger,
		    struct block *block)
{
	GM_SCOPE;

	block->recorded = 0;
	if (!block->bytes || block->bytes > BYTES_MAX ||
	    !pool_of(recorder, ledger, block))
		return;
	block->recorded = address_of(recorder, ledger, block);
	if (block->recorded)
		put(recorder, block, GPUMEM_RECORD_ALLOC,
		    gm_record_now_after());
}

void recorder_stamp(const struct recorder *recorder, struct block *block)
{
	if (recorder->open)
		block->freed = gm_record_now_after();
}

void recorder_free(struct recorder *recorder, const struct block *block)
{
	GM_SCOPE;

	if (!recorder->open || !block->recorded)
		return;
	put(recorder, block, GPUMEM_RECORD_FREE, block->freed);
	if (block->recorded >= MADE_FIRST)
		give_address_back(recorder, block->recorded,
				  class_of(block->bytes));
}

void recorder_oom(struct recorder *recorder, struct ledger *ledger,
		  const struct block *wanted, bool limit)
{
	GM_SCOPE;
	gpumem_status status = limit ? GPUMEM_LIMIT : GPUMEM_NO_MEMORY;
	uint16_t pool = pool_of(recorder, ledger, wanted);

	if (!pool)
		return;
	recorder_check_file();
	GM_RECORD(pool, GPUMEM_RECORD_OOM, wanted->bytes,
		  (uint64_t)(int64_t)status,
		  ledger->devices[wanted->device].reserved_bytes);
}
