/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Looks at what unpickle.c made. A key that comes twice counts as it came last.
 */
#include "unpickle.h"

static const struct unpickled_container *
container_of(const struct unpickle *unpickle, const struct unpickled *value,
	     enum unpickled_kind kind)
{
	return value && value->kind == kind
		       ? &unpickle->containers[value->container]
		       : NULL;
}

size_t unpickle_count(const struct unpickle *unpickle,
		      const struct unpickled *list)
{
	const struct unpickled_container *container =
		container_of(unpickle, list, UNPICKLED_LIST);

	return container ? container->count : 0;
}

const struct unpickled *unpickle_item(const struct unpickle *unpickle,
				      const struct unpickled *list,
				      size_t index)
{
	const struct unpickled_container *container =
		container_of(unpickle, list, UNPICKLED_LIST);

	return container && index < container->count ? &container->items[index]
						     : NULL;
}

const struct unpickled *unpickle_get(const struct unpickle *unpickle,
				     const struct unpickled *dict,
				     const char *key)
{
	const struct unpickled_container *container =
		container_of(unpickle, dict, UNPICKLED_DICT);

	for (size_t i = container ? container->count : 0; i >= 2; i -= 2)
		if (unpickled_is(&container->items[i - 2], key))
			return &container->items[i - 1];
	return NULL;
}

const struct unpickled *unpickle_key(const struct unpickle *unpickle,
				     const struct unpickled *dict, size_t index)
{
	const struct unpickled_container *container =
		container_of(unpickle, dict, UNPICKLED_DICT);

	return container && index < container->count / 2
		       ? &container->items[2 * index]
		       : NULL;
}

bool unpickled_bits(const struct unpickled *value, uint64_t *value_out)
{
	if (!value || (value->kind != UNPICKLED_INTEGER &&
		       value->kind != UNPICKLED_LARGE))
		return false;
	*value_out = (uint64_t)value->integer;
	return true;
}

bool unpickled_u64(const struct unpickled *value, uint64_t *value_out)
{
	return unpickled_bits(value, value_out) &&
	       (value->kind == UNPICKLED_LARGE || value->integer >= 0);
}

bool unpickle_get_bits(const struct unpickle *unpickle,
		       const struct unpickled *dict, const char *key,
		       uint64_t *value_out)
{
	return unpickled_bits(unpickle_get(unpickle, dict, key), value_out);
}

bool unpickle_get_u64(const struct unpickle *unpickle,
		      const struct unpickled *dict, const char *key,
		      uint64_t *value_out)
{
	return unpickled_u64(unpickle_get(unpickle, dict, key), value_out);
}
