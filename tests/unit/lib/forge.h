/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Descriptions as a forger makes them: with a good sum, and with what the host
 * backend puts into the handle of a name. Written from what gpumem.h and
 * backends/host/host_ipc.h say, and not shared with them, so that a change of
 * either is seen here.
 */
#ifndef LIB_FORGE_H
#define LIB_FORGE_H

#include <gpumem/gpumem.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FORGE_USE __attribute__((unused)) static

struct forge_name {
	char magic[8];
	int32_t pid, fd;
	uint64_t inode, offset, span, bytes;
	uint32_t shift, turn;
	uint64_t tag;
};

_Static_assert(sizeof(struct forge_name) == GPUMEM_SHARE_HANDLE_BYTES, "");

/* FNV-1a of all that follows `check`. */
FORGE_USE void forge_sum(struct gpumem_shared *shared)
{
	const unsigned char *byte = (const unsigned char *)shared;

	shared->check = UINT64_C(14695981039346656037);
	for (size_t i = offsetof(struct gpumem_shared, method);
	     i < sizeof(*shared); i++)
		shared->check =
			(shared->check ^ byte[i]) * UINT64_C(1099511628211);
}

static inline void forge_round(uint64_t *a, uint64_t *b, uint64_t *c,
			       uint64_t *d)
{
#define FORGE_LEFT(x, n) ((x) << (n) | (x) >> (64 - (n)))
	*a += *b;
	*b = FORGE_LEFT(*b, 13) ^ *a;
	*a = FORGE_LEFT(*a, 32);
	*c += *d;
	*d = FORGE_LEFT(*d, 16) ^ *c;
	*a += *d;
	*d = FORGE_LEFT(*d, 21) ^ *a;
	*c += *b;
	*b = FORGE_LEFT(*b, 17) ^ *c;
	*c = FORGE_LEFT(*c, 32);
}

/* SipHash-2-4. */
FORGE_USE uint64_t forge_hash(const void *data, size_t bytes,
			      const uint64_t key[2])
{
	uint64_t a = key[0] ^ UINT64_C(0x736f6d6570736575);
	uint64_t b = key[1] ^ UINT64_C(0x646f72616e646f6d);
	uint64_t c = key[0] ^ UINT64_C(0x6c7967656e657261);
	uint64_t d = key[1] ^ UINT64_C(0x7465646279746573);

	for (size_t at = 0; at <= bytes; at += 8) {
		size_t part = bytes - at < 8 ? bytes - at : 8;
		uint64_t word = part < 8 ? (uint64_t)bytes << 56 : 0;
		uint64_t more = 0;

		memcpy(&more, (const char *)data + at, part);
		word |= more;
		d ^= word;
		forge_round(&a, &b, &c, &d);
		forge_round(&a, &b, &c, &d);
		a ^= word;
	}
	c ^= 0xff;
	for (int i = 0; i < 4; i++)
		forge_round(&a, &b, &c, &d);
	return a ^ b ^ c ^ d;
}

/* The key of a file that can be looked at, as a link under /proc. */
FORGE_USE bool forge_key(int pid, int fd, uint64_t key_out[2])
{
	char path[64], name[256] = "";
	unsigned long long one, two;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	if (readlink(path, name, sizeof(name) - 1) <= 0 ||
	    sscanf(name, "/memfd:gpumem-host-%16llx%16llx", &one, &two) != 2)
		return false;
	key_out[0] = one;
	key_out[1] = two;
	return true;
}

FORGE_USE struct forge_name forge_read(const struct gpumem_shared *shared)
{
	struct forge_name name;

	memcpy(&name, shared->handle, sizeof(name));
	return name;
}

/* Puts the name into the description, with the tag that goes with the key. */
FORGE_USE void forge_write(struct gpumem_shared *shared,
			   struct forge_name *name, const uint64_t key[2])
{
	name->tag = forge_hash(name, offsetof(struct forge_name, tag), key);
	memcpy(shared->handle, name, sizeof(*name));
	forge_sum(shared);
}

#endif
