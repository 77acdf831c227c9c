/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See blocks.h. Linear probing; a removal moves later entries back, so there
 * are no marks of what was removed.
 */
#include "blocks.h"

#include <sys/mman.h>

#define ROOM_FIRST 256

static size_t home(const struct blocks *blocks, enum block_space space,
		   uint64_t key)
{
	uint64_t hash = (key ^ (uint64_t)space << 58) * 0x9e3779b97f4a7c15u;

	return (size_t)(hash >> 20) & (blocks->room - 1);
}

/* Of the key, or of the empty entry where it would be. */
static size_t place(const struct blocks *blocks, enum block_space space,
		    uint64_t key)
{
	size_t at = home(blocks, space, key);

	while (blocks->entries[at].space &&
	       (blocks->entries[at].space != space ||
		blocks->entries[at].key != key))
		at = (at + 1) & (blocks->room - 1);
	return at;
}

struct block *blocks_find(const struct blocks *blocks, enum block_space space,
			  uint64_t key)
{
	struct block *block;

	if (!blocks->room)
		return NULL;
	block = &blocks->entries[place(blocks, space, key)];
	return block->space ? block : NULL;
}

static bool grow(struct blocks *blocks)
{
	struct blocks bigger = {
		.count = blocks->count,
		.room = blocks->room ? blocks->room * 2 : ROOM_FIRST,
	};

	bigger.entries = mmap(NULL, bigger.room * sizeof(struct block),
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bigger.entries == MAP_FAILED)
		return false;
	for (size_t i = 0; i < blocks->room; i++) {
		const struct block *block = &blocks->entries[i];

		if (block->space)
			bigger.entries[place(&bigger, block->space,
					     block->key)] = *block;
	}
	if (blocks->room)
		munmap(blocks->entries, blocks->room * sizeof(struct block));
	*blocks = bigger;
	return true;
}

bool blocks_put(struct blocks *blocks, const struct block *block)
{
	size_t at;

	if ((blocks->count + 1) * 2 > blocks->room && !grow(blocks))
		return false;
	at = place(blocks, block->space, block->key);
	blocks->count += !blocks->entries[at].space;
	blocks->entries[at] = *block;
	return true;
}

/* The entries behind a hole are moved into it, as far as they may be there. */
static void remove_at(struct blocks *blocks, size_t hole)
{
	size_t mask = blocks->room - 1, at = hole;

	for (;;) {
		const struct block *block;

		at = (at + 1) & mask;
		block = &blocks->entries[at];
		if (!block->space)
			break;
		if (((at - home(blocks, block->space, block->key)) & mask) <
		    ((at - hole) & mask))
			continue;
		blocks->entries[hole] = *block;
		hole = at;
	}
	blocks->entries[hole].space = 0;
	blocks->count--;
}

bool blocks_take(struct blocks *blocks, enum block_space space, uint64_t key,
		 struct block *block_out)
{
	struct block *block = blocks_find(blocks, space, key);

	if (!block)
		return false;
	*block_out = *block;
	remove_at(blocks, (size_t)(block - blocks->entries));
	return true;
}

struct block *blocks_around(const struct blocks *blocks, enum block_space space,
			    uint64_t address)
{
	struct block *block = blocks_find(blocks, space, address);

	for (size_t i = 0; !block && i < blocks->room; i++) {
		struct block *other = &blocks->entries[i];

		if (other->space == space && address >= other->key &&
		    address - other->key < other->whole_bytes)
			block = other;
	}
	return block;
}

void blocks_rename(struct blocks *blocks, const void *from, const void *to)
{
	for (size_t i = 0; from && i < blocks->room; i++)
		if (blocks->entries[i].space &&
		    blocks->entries[i].context == from)
			blocks->entries[i].context = to;
}

bool blocks_first(const struct blocks *blocks, enum block_space space,
		  int device, struct block *block_out)
{
	for (size_t i = 0; i < blocks->room; i++) {
		const struct block *block = &blocks->entries[i];

		if (block->space != space || block->device != device)
			continue;
		*block_out = *block;
		return true;
	}
	return false;
}

bool blocks_take_of(struct blocks *blocks, const void *context,
		    struct block *block_out)
{
	for (size_t i = 0; context && i < blocks->room; i++) {
		const struct block *block = &blocks->entries[i];

		if (!block->space || block->context != context)
			continue;
		*block_out = *block;
		remove_at(blocks, i);
		return true;
	}
	return false;
}
