/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the state keeps for served.h and named.h. The mutex of the state guards
 * it.
 */
#ifndef GPUMEM_PRELOAD_SERVEDS_H
#define GPUMEM_PRELOAD_SERVEDS_H

#include "ledger.h"

#include <stdbool.h>
#include <stdint.h>

#define NAMED_POOLS 64

struct served_device {
	void *device, *pool; /* gpumem_device, gpumem_pool; NULL: not open */
	const void *context; /* the primary one */
	uint64_t bytes;	     /* that the program has of it */
	uint32_t peers;	     /* bit for each that reaches it */
	bool tried;	     /* to open it, without success */
};

/* A pool of the driver's, by the handle that the program has; `handle` NULL:
 * none, or it was destroyed and `bytes` are left of it. */
struct named_pool {
	const void *handle;
	uint64_t bytes, high_bytes; /* that the program has of it here */
	uint64_t promised_bytes;    /* that it will have, or not */
	uint64_t reserved_high_bytes;
	uint64_t most_bytes; /* that it may have; 0: any */
	int device;
	bool passed_on; /* it gets nothing here any more */
};

struct serveds {
	struct served_device devices[LEDGER_DEVICES];
	struct named_pool names[NAMED_POOLS];
	unsigned
		retained[LEDGER_DEVICES]; /* primary contexts, by the program */
	unsigned users;	     /* threads between served_begin() and _end() */
	bool changing;	     /* a device is being opened or closed */
	uint32_t number;     /* of the last block */
	uint64_t first, end; /* all addresses that were served are between */
	uint64_t blocks;     /* that the program has */
	bool library_open;   /* or was tried */
};

#endif
