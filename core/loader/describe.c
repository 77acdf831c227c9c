/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See describe.h. */
#include "describe.h"
#include "answer.h"
#include "base/error.h"
#include "slots.h"
#include <stdio.h>
#include <string.h>

#define ALIGNMENT_MIN 256 /* what gpumem.h promises for every block */

/* Of all memory: an address has 48 bits. Of what a page begins at multiples of:
 * ranges of addresses begin at those of 4 GiB. */
static const uint64_t bytes_most = UINT64_C(1) << 48;
static const uint64_t granularity_most = UINT64_C(1) << 32;

static const uint32_t known_caps = 0
#define CAP_BIT(name, bit, word, text) | (uint32_t)GPUMEM_CAP_##name
	GPUMEM_CAP_LIST(CAP_BIT)
#undef CAP_BIT
	;

/* What the table lacks, the device cannot do, whatever it says. */
static uint32_t usable_caps(const struct gpumem_backend *ops, uint32_t caps)
{
	unsigned i;

	caps &= known_caps;
	for (i = 0; i < GPUMEM_SLOT_COUNT; i++)
		if (!gm_backend_has(ops, i))
			caps &= ~gm_slot_rows[i].caps;
	if (!(caps & GPUMEM_CAP_VM)) /* they are mapped as others are */
		caps &= ~(uint32_t)GPUMEM_CAP_SHARE_FD;
	return caps;
}

static bool is_power_of_two(uint64_t number)
{
	return number && (number & (number - 1)) == 0;
}

static gpumem_status refuse(const struct gpumem_device_info *info,
			    const char *what, uint64_t bytes, const char *why)
{
	return gm_fail(GPUMEM_DRIVER,
		       "%s: its %s %llu bytes%s: look at the plugin's options "
		       "(gpumem-probe --options), or have it mended",
		       info->name, what, (unsigned long long)bytes, why);
}

/* All later arithmetic stands on these. */
static gpumem_status check_sizes(const struct gpumem_device_info *info)
{
	uint64_t granularity = info->granularity_bytes;
	uint64_t alignment = info->alignment_bytes;
	uint64_t total = info->total_bytes, largest = info->max_alloc_bytes;

	if (!is_power_of_two(granularity))
		return refuse(info, "granularity of", granularity,
			      " is no power of two");
	if (granularity > granularity_most)
		return refuse(info, "granularity of", granularity,
			      " is more than 4 GiB");
	if (!is_power_of_two(alignment))
		return refuse(info, "alignment of", alignment,
			      " is no power of two");
	if (!total)
		return refuse(info, "memory is", total, "");
	if (total > bytes_most)
		return refuse(info, "memory of", total,
			      " is more than addresses of 48 bits reach");
	if (total < granularity)
		return refuse(info, "memory of", total,
			      " is less than one granule");
	if (!largest)
		return refuse(info, "largest allocation is", largest, "");
	if (largest > bytes_most)
		return refuse(info, "largest allocation of", largest,
			      " is more than addresses of 48 bits reach");
	return GPUMEM_OK;
}

static void end_strings(struct gpumem_device_info *info)
{
	info->product[sizeof(info->product) - 1] = '\0';
	info->uuid[sizeof(info->uuid) - 1] = '\0';
	info->pci[sizeof(info->pci) - 1] = '\0';
	info->note[sizeof(info->note) - 1] = '\0';
}

gpumem_status gm_device_describe(const struct gm_backend *backend, int index,
				 struct gpumem_device_info *info_out,
				 uint64_t *raw_alignment_out)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	gpumem_status status;
	char name[sizeof(info.name)];

	snprintf(name, sizeof(name), "%s:%d", backend->info.name, index);
	gm_native_clear();
	status = backend->ops.device_info(index, &info);
	if (status != GPUMEM_OK)
		return gm_fail_native(
			gm_answer(GPUMEM_SLOT_device_info, status),
			backend->info.name, name);
	info.size = sizeof(info);
	memcpy(info.name, name, sizeof(name));
	end_strings(&info);
	info.caps = usable_caps(&backend->ops, info.caps);
	status = check_sizes(&info);
	if (status != GPUMEM_OK)
		return status;
	if (raw_alignment_out)
		*raw_alignment_out = info.alignment_bytes;
	if (info.alignment_bytes < ALIGNMENT_MIN)
		info.alignment_bytes = ALIGNMENT_MIN;
	*info_out = info;
	return GPUMEM_OK;
}
