/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Checks that all files of the API layer make: api*.c. */
#ifndef GM_API_CHECK_H
#define GM_API_CHECK_H

#include "base/error.h"
#include "base/fork.h"
#include "base/scope.h"
#include "base/struct.h"
#include "base/tag.h"
#include "device/device.h"

static inline gpumem_status gm_null_argument(const char *name)
{
	return gm_fail(GPUMEM_INVALID, "%s is NULL", name);
}

/* OK when the caller has set the size of the struct that `given` points to. */
#define gm_check_struct(type, given)                                           \
	gm_struct_check(&gm_structs[GM_STRUCT_##type], (given))

static inline gpumem_status gm_check_flags(unsigned flags, unsigned known)
{
	if (!(flags & ~known))
		return GPUMEM_OK;
	return gm_fail(GPUMEM_INVALID,
		       "flags is 0x%x, of which 0x%x is not known", flags,
		       flags & ~known);
}

/* 0, no tag, is one as well. */
static inline gpumem_status gm_check_tag(uint32_t tag)
{
	if (!tag || gm_tag_is(tag))
		return GPUMEM_OK;
	return gm_fail(GPUMEM_INVALID,
		       "%u is no tag: gpumem_tag_intern() gives numbers of "
		       "tags",
		       tag);
}

/* OK in the process that may use devices. */
static inline gpumem_status gm_enter(void)
{
	gm_fork_init();
	if (!gm_forked())
		return GPUMEM_OK;
	return gm_fail(GPUMEM_FORKED,
		       "the process was forked after gpumem was used; only its "
		       "parent can use devices");
}

/* The same, and none of the pointers is NULL. `names` are those of the
 * arguments, as in a call. */
gpumem_status gm_enter_with_all(const char *names, const void *const *arguments,
				size_t count);

#define GM_ENTER(...)                                                          \
	gm_enter_with_all(#__VA_ARGS__, (const void *const[]){__VA_ARGS__},    \
			  sizeof((const void *const[]){__VA_ARGS__}) /         \
				  sizeof(void *))

/* OK when `of`, which the argument of that name points to, may be printed. */
static inline gpumem_status
gm_enter_print(const void *of, const char *name,
	       void (*write)(const char *text, void *user), unsigned flags)
{
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!of)
		return gm_null_argument(name);
	if (!write)
		return gm_null_argument("write");
	return gm_check_flags(flags, GPUMEM_PRINT_JSON);
}

/* OK when the device may also be used for what needs `cap`. */
static inline gpumem_status gm_enter_with(const gpumem_device *device,
					  enum gpumem_cap cap, const char *what)
{
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!device)
		return gm_null_argument("device");
	if (gm_device_has(device, cap))
		return GPUMEM_OK;
	return gm_fail(GPUMEM_UNSUPPORTED, "%s has no %s", device->info.name,
		       what);
}

#endif
