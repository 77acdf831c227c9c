/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Structs of the caller: each begins with `size_t size`, its size in the
 * caller's header. One list names them all, and one pair of functions decides
 * which sizes are accepted. Pure but for the thread's last error.
 *
 *     first <= now <= GM_STRUCT_BYTES_MAX
 *
 * A size below `first` is no version's: it was not set, or is garbage, and is
 * refused. One above `now` is a newer program's. Then the bytes that this
 * library does not know must be 0 in an input, and are zeroed in an output.
 */
#ifndef GM_BASE_STRUCT_H
#define GM_BASE_STRUCT_H

#include <gpumem/gpumem.h>

/* No version of any struct is larger: a size beyond is garbage, and nothing
 * of that many bytes is read or written. */
#define GM_STRUCT_BYTES_MAX ((size_t)4096)

/* struct, and the last field that it had in version 0.1, which is the first.
 * That stays as it is when a field is appended. What is appended begins at
 * `first` or behind it, never in the padding before it, which programs of the
 * first version do not set. */
#define GM_STRUCT_LIST(X)                                                      \
	X(gpumem_alloc_options, tag)                                           \
	X(gpumem_block, thread)                                                \
	X(gpumem_call_stats, ns)                                               \
	X(gpumem_capacity, now_bytes)                                          \
	X(gpumem_device_info, note)                                            \
	X(gpumem_error, text)                                                  \
	X(gpumem_memory, outside_bytes)                                        \
	X(gpumem_option, text)                                                 \
	X(gpumem_pool_config, soft_limit_percent)                              \
	X(gpumem_shared, handle)                                               \
	X(gpumem_sleep_options, folder)                                        \
	X(gpumem_slept, map_ns)                                                \
	X(gpumem_stats, served_waited)

struct gm_struct {
	const char *name;  /* "gpumem_stats" */
	size_t first, now; /* bytes, in the first version and in this one */
};

enum gm_struct_number {
#define GM_STRUCT_NUMBER(type, last) GM_STRUCT_##type,
	GM_STRUCT_LIST(GM_STRUCT_NUMBER)
#undef GM_STRUCT_NUMBER
		GM_STRUCT_COUNT
};

extern const struct gm_struct gm_structs[GM_STRUCT_COUNT];

/* Whether some version may have the size that `given` begins with. */
bool gm_struct_fits(const struct gm_struct *of, const void *given);

/* For an output, before anything is done; `given` begins with its size. OK, or
 * INVALID with a sentence that names the struct. */
gpumem_status gm_struct_check(const struct gm_struct *of, const void *given);

/* An input: copies `given` into `own`, whose size is set, and what it is too
 * short for is 0. OK, INVALID, or UNSUPPORTED: it says something that this
 * version does not know. */
gpumem_status gm_struct_take(const struct gm_struct *of, void *own,
			     const void *given);

/* An output whose size has been found good, or our own struct: dst->size stays,
 * no more than the smaller of the two sizes is written, and what is beyond
 * src's size is zeroed. */
void gm_struct_copy(void *dst, const void *src);

#endif
