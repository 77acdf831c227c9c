/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The words of the public enums but gpumem_status (see status.h), from their
 * lists: "unknown" for a number that is none. Numbers come from callers, so any
 * is fine. Constant data: no locks.
 */
#ifndef GM_BASE_NAME_H
#define GM_BASE_NAME_H

#include <gpumem/gpumem.h>

const char *gm_advice_name(gpumem_advice advice);
const char *gm_block_state_name(gpumem_block_state state);
const char *gm_cap_name(uint32_t cap);
const char *gm_hook_kind_name(gpumem_hook_kind kind);
const char *gm_kind_name(gpumem_kind kind);
const char *gm_log_level_name(gpumem_log_level level);
const char *gm_pressure_limit_name(gpumem_pressure_limit limit);
const char *gm_range_kind_name(gpumem_range_kind kind);
const char *gm_record_kind_name(unsigned kind);
const char *gm_served_name(unsigned served);
const char *gm_share_name(gpumem_share share);
const char *gm_sleep_name(gpumem_sleep sleep);

/* "none", "error", "warn", "info", "debug", in any case. */
bool gm_log_level_parse(const char *text, gpumem_log_level *level_out);

#endif
