/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the program holds, by address or handle: a hash table in pages of its
 * own, so that the program's malloc(), which may be anybody's, is left alone.
 * The caller locks. A table of zeros is empty.
 */
#ifndef GPUMEM_PRELOAD_BLOCKS_H
#define GPUMEM_PRELOAD_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a key is: numbers of different spaces may be equal. */
enum block_space {
	BLOCK_ADDRESS = 1, /* of memory that a call frees */
	BLOCK_REGISTERED,  /* of host memory: may be inside another's */
	BLOCK_HANDLE,	   /* of physical memory; `refs` holds it */
	BLOCK_MAPPING,	   /* address where `link`, a handle, is mapped */
	BLOCK_KEPT,	   /* address of a block that the program freed */
	BLOCK_ARRAY,	   /* handle of an array, mipmapped or not */
	BLOCK_GRAPHS,	   /* 1 + device: what graphs have there */
	BLOCK_NODE,	   /* address of a node; nothing is counted for it */
	BLOCK_SERVED,	/* address inside what is pooled; `link`: see named.h */
	BLOCK_HIP = 16, /* from here on the same of AMD's runtime */
	BLOCK_HIP_ADDRESS = BLOCK_HIP + BLOCK_ADDRESS,
	BLOCK_HIP_REGISTERED,
	BLOCK_HIP_HANDLE,
	BLOCK_HIP_MAPPING,
	BLOCK_HIP_ARRAY = BLOCK_HIP + BLOCK_ARRAY,
	BLOCK_HIP_GRAPHS,
	BLOCK_HIP_NODE
};

struct block {
	uint64_t key;
	uint64_t bytes;
	uint64_t whole_bytes; /* what the driver has for it, >= bytes */
	uint64_t link;
	uint64_t recorded;   /* its address in the recording; 0: it has none */
	uint64_t freed;	     /* when it left the table, for the recording */
	const void *context; /* goes with it; NULL: with none */
	const void *stream;  /* of the call that made it, or frees it */
	uint32_t refs;
	uint8_t space; /* 0: the entry is empty; it has the API, too */
	uint8_t kind, device;
	bool known;  /* others know its address: it is never used again */
	bool pooled; /* memory of the pool that serves, see served.h */
};

/* count * 2 <= room, a power of two, or both 0 */
struct blocks {
	struct block *entries;
	size_t count, room;
};

/* NULL: not there. Valid until the next put or take. */
struct block *blocks_find(const struct blocks *blocks, enum block_space space,
			  uint64_t key);
/* Replaces one of the same key. False: no memory. */
bool blocks_put(struct blocks *blocks, const struct block *block);
/* False: not there. */
bool blocks_take(struct blocks *blocks, enum block_space space, uint64_t key,
		 struct block *block_out);
/* The one that has that address inside. NULL: none. */
struct block *blocks_around(const struct blocks *blocks, enum block_space space,
			    uint64_t address);
void blocks_rename(struct blocks *blocks, const void *from, const void *to);
/* Some block of that space and device; false: there is none. */
bool blocks_first(const struct blocks *blocks, enum block_space space,
		  int device, struct block *block_out);
/* Some block of that context; false: it has none. */
bool blocks_take_of(struct blocks *blocks, const void *context,
		    struct block *block_out);

#endif
