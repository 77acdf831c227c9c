/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Trees of stretches that do not overlap, by libc's search trees: two that
 * share a number count as the same, so the one that holds a number is found by
 * a stretch of that number alone.
 */
#include "hip_fake.h"

#include <search.h>

static int order(const void *a, const void *b)
{
	const struct hip_span *left = a, *right = b;

	if (left->start + left->bytes <= right->start)
		return -1;
	return right->start + right->bytes <= left->start;
}

bool hip_span_add(void **tree, struct hip_span *span)
{
	return tsearch(span, tree, order);
}

void hip_span_remove(void **tree, const struct hip_span *span)
{
	(void)tdelete(span, tree, order);
}

void *hip_span_find(void *const *tree, uint64_t number)
{
	struct hip_span wanted = {number, 1};
	void *node = tfind(&wanted, tree, order);

	return node ? *(void **)node : NULL;
}
