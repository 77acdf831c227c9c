/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is given back is gone: raw memory that is taken and freed many times
 * does not use up the process's address space. A driver that maps nothing into
 * the process passes, and addresses alone, of va_reserve, a driver may keep.
 * See conform.h.
 */
#include "conform.h"

#include <unistd.h>

#define ROUNDS 1024
#define BYTES ((uint64_t)1 << 20)

/* What the process has of addresses; 0: the system does not say. */
static uint64_t address_space(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static gpumem_status raw_round(const struct conform *c, uint64_t bytes)
{
	uint64_t address;
	gpumem_status status = c->ops->alloc(c->device, bytes, &address);

	return status == GPUMEM_OK ? c->ops->free(c->device, address, bytes)
				   : status;
}

/* Half of what would be kept if each round kept its own: others in the process
 * may take some. */
void conform_given_back(struct conform *c)
{
	uint64_t bytes = conform_raw(c, BYTES), before, after;
	gpumem_status status = raw_round(c, bytes); /* is set up once */

	before = address_space();
	for (int i = 0; i < ROUNDS && status == GPUMEM_OK; i++)
		status = raw_round(c, bytes);
	after = address_space();
	conform_is(c, status, GPUMEM_OK, "alloc and free, %d times", ROUNDS);
	if (!before)
		conform_skip(c, "free keeps no addresses",
			     "there is no /proc");
	else
		conform_ok(c, after < before + bytes * ROUNDS / 2,
			   "free keeps no addresses of the process");
}
