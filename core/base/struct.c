/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See struct.h. */
#include "struct.h"
#include "error.h"

#include <stddef.h>
#include <string.h>

/* Where a struct would end whose last field this is. */
#define BYTES_UP_TO(type, last)                                                \
	((offsetof(struct type, last) + sizeof(((struct type *)NULL)->last) +  \
	  _Alignof(struct type) - 1) /                                         \
	 _Alignof(struct type) * _Alignof(struct type))

const struct gm_struct gm_structs[GM_STRUCT_COUNT] = {
#define STRUCT_ROW(type, last)                                                 \
	{#type, BYTES_UP_TO(type, last), sizeof(struct type)},
	GM_STRUCT_LIST(STRUCT_ROW)
#undef STRUCT_ROW
};

#define STRUCT_FITS(type, last)                                                \
	_Static_assert(sizeof(struct type) <= GM_STRUCT_BYTES_MAX &&           \
			       offsetof(struct type, size) == 0,               \
		       #type " begins with its size, and is small");
GM_STRUCT_LIST(STRUCT_FITS)
#undef STRUCT_FITS

static size_t size_of(const void *given)
{
	size_t size;

	memcpy(&size, given, sizeof(size));
	return size;
}

bool gm_struct_fits(const struct gm_struct *of, const void *given)
{
	size_t size = size_of(given);

	return size >= of->first && size <= GM_STRUCT_BYTES_MAX;
}

gpumem_status gm_struct_check(const struct gm_struct *of, const void *given)
{
	size_t size = size_of(given);

	if (gm_struct_fits(of, given))
		return GPUMEM_OK;
	if (!size)
		return gm_fail(GPUMEM_INVALID,
			       "struct %s has size 0; initialise it with "
			       "GPUMEM_INIT(struct %s)",
			       of->name, of->name);
	return gm_fail(GPUMEM_INVALID,
		       "struct %s has size %zu, and no version of it has: they "
		       "begin with %zu bytes; initialise it with "
		       "GPUMEM_INIT(struct %s)",
		       of->name, size, of->first, of->name);
}

gpumem_status gm_struct_take(const struct gm_struct *of, void *own,
			     const void *given)
{
	const unsigned char *byte = given;
	gpumem_status status = gm_struct_check(of, given);
	size_t size = size_of(given);

	if (status != GPUMEM_OK)
		return status;
	for (size_t i = of->now; i < size; i++)
		if (byte[i])
			return gm_fail(GPUMEM_UNSUPPORTED,
				       "struct %s has size %zu, this version "
				       "of gpumem (%s) knows %zu bytes of it, "
				       "and byte %zu is not 0: the program "
				       "needs a newer version",
				       of->name, size, GPUMEM_VERSION_STRING,
				       of->now, i);
	gm_struct_copy(own, given);
	return GPUMEM_OK;
}

void gm_struct_copy(void *dst, const void *src)
{
	size_t head = sizeof(size_t), have = size_of(src), want = size_of(dst);
	size_t copied;

	if (want <= head)
		return;
	copied = have < want ? have : want;
	if (copied > head)
		memcpy((char *)dst + head, (const char *)src + head,
		       copied - head);
	else
		copied = head;
	memset((char *)dst + copied, 0, want - copied);
}
