/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Ranges of addresses that do not overlap, each with a number: in the order of
 * addresses, cut into leaves. The last address is part of a range, so that one
 * can end where addresses do. No locks.
 */
#ifndef GPUMEM_TOOLS_RANGES_H
#define GPUMEM_TOOLS_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* first <= last */
struct range {
	uint64_t first, last;
	uint64_t value;
};

enum { RANGES_OF_LEAF = 256 };

/* count > 0 */
struct ranges_leaf {
	uint32_t count;
	struct range list[RANGES_OF_LEAF];
};

/* {0} is empty. No range of leaf[i] begins before from[i], and none of leaf[i -
 * 1] ends behind it. */
struct ranges {
	struct ranges_leaf **leaf;
	uint64_t *from;
	size_t count, room;
	size_t last; /* the leaf that was looked at last */
};

/* The last of so many bytes from there on, at least one; at most the last
 * address that there is. */
uint64_t range_last(uint64_t first, uint64_t bytes);
/* The first that has an address from first to last, until another function is
 * called; NULL: none. */
struct range *ranges_find(struct ranges *ranges, uint64_t first, uint64_t last);
/* A range that overlaps no other. False: out of memory. */
bool ranges_add(struct ranges *ranges, struct range range);
void ranges_remove(struct ranges *ranges, struct range *range);
/* Takes the addresses from first to last out of all ranges, and adds up how
 * many those had. False: out of memory. */
bool ranges_cut(struct ranges *ranges, uint64_t first, uint64_t last,
		uint64_t *bytes_out);
/* These addresses get the value, whatever they had; the greatest of that is
 * given, 0 if they had none. False: out of memory. */
bool ranges_replace(struct ranges *ranges, struct range range,
		    uint64_t *greatest_out);
/* Each of them, in the order of addresses. */
void ranges_visit(const struct ranges *ranges,
		  void (*fn)(const struct range *range, void *user),
		  void *user);
void ranges_free(struct ranges *ranges);

#endif
