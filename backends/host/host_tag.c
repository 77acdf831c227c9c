/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Keys, and the tag of a name: SipHash-2-4 (Aumasson and Bernstein, 2012) of
 * all that is before it. Without the key no other name with a good tag can be
 * found, not even with good names at hand. Keeps nothing; no locks.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"
#include "host_ipc.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static void format_name(const uint64_t key[2], char name_out[HOST_NAME_BYTES])
{
	snprintf(name_out, HOST_NAME_BYTES,
		 "gpumem-host-%016" PRIx64 "%016" PRIx64, key[0], key[1]);
}

gpumem_status gm_host_key_new(uint64_t key_out[2],
			      char name_out[HOST_NAME_BYTES])
{
	const size_t bytes = 2 * sizeof(key_out[0]);

	if (getrandom(key_out, bytes, 0) != (ssize_t)bytes)
		return gm_host_fail_system(errno, "random numbers");
	format_name(key_out, name_out);
	return GPUMEM_OK;
}

bool gm_host_key_of(int fd, uint64_t key_out[2])
{
	char name[HOST_NAME_BYTES], same[HOST_NAME_BYTES];

	if (!gm_host_file_name(fd, name, sizeof(name)) ||
	    sscanf(name, "gpumem-host-%16" SCNx64 "%16" SCNx64, &key_out[0],
		   &key_out[1]) != 2)
		return false;
	format_name(key_out, same);
	return !strcmp(name, same);
}

enum { TAGGED_BYTES = offsetof(struct host_name, tag) };

_Static_assert(TAGGED_BYTES % 8 == 0, "it is whole words");

static uint64_t turn_left(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], int count)
{
	while (count--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = turn_left(v[1], 13) ^ v[0];
		v[3] = turn_left(v[3], 16) ^ v[2];
		v[0] = turn_left(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = turn_left(v[1], 17) ^ v[2];
		v[3] = turn_left(v[3], 21) ^ v[0];
		v[2] = turn_left(v[2], 32);
	}
}

uint64_t gm_host_name_tag(const struct host_name *name, const uint64_t key[2])
{
	uint64_t v[4] = {
		key[0] ^ UINT64_C(0x736f6d6570736575),
		key[1] ^ UINT64_C(0x646f72616e646f6d),
		key[0] ^ UINT64_C(0x6c7967656e657261),
		key[1] ^ UINT64_C(0x7465646279746573),
	};
	uint64_t word = (uint64_t)TAGGED_BYTES << 56;
	size_t i;

	for (i = 0; i < TAGGED_BYTES; i += sizeof(word)) {
		memcpy(&word, (const char *)name + i, sizeof(word));
		v[3] ^= word;
		rounds(v, 2);
		v[0] ^= word;
	}
	word = (uint64_t)TAGGED_BYTES << 56;
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
