/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * API layer: the names of enumerators, also in a forked child. They are
 * constants and cannot fail: no locks, no errors.
 */
#include "base/name.h"

const char *gpumem_advice_name(gpumem_advice advice)
{
	return gm_advice_name(advice);
}

const char *gpumem_block_state_name(gpumem_block_state state)
{
	return gm_block_state_name(state);
}

const char *gpumem_cap_name(uint32_t cap)
{
	return gm_cap_name(cap);
}

const char *gpumem_hook_kind_name(gpumem_hook_kind kind)
{
	return gm_hook_kind_name(kind);
}

const char *gpumem_kind_name(gpumem_kind kind)
{
	return gm_kind_name(kind);
}

const char *gpumem_log_level_name(gpumem_log_level level)
{
	return gm_log_level_name(level);
}

const char *gpumem_pressure_limit_name(gpumem_pressure_limit limit)
{
	return gm_pressure_limit_name(limit);
}

const char *gpumem_range_kind_name(gpumem_range_kind kind)
{
	return gm_range_kind_name(kind);
}

const char *gpumem_record_kind_name(unsigned kind)
{
	return gm_record_kind_name(kind);
}

const char *gpumem_served_name(unsigned served)
{
	return gm_served_name(served);
}

const char *gpumem_share_name(gpumem_share share)
{
	return gm_share_name(share);
}

const char *gpumem_sleep_name(gpumem_sleep sleep)
{
	return gm_sleep_name(sleep);
}
