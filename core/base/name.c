/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See name.h. A value outside its enum is an answer here, not undefined
 * behaviour: all are compared as numbers.
 */
#include "name.h"

#include <gpumem/record.h>
#include <strings.h>

#define WORD(name, number, word)                                               \
	case number:                                                           \
		return word;
#define WORD_OF_FOUR(name, number, word, text) WORD(name, number, word)
#define WORD_OF_STATISTIC(name, number, statistic, text)                       \
	WORD(name, number, #statistic)
#define WORD_OF_BIT(name, bit, word, text) WORD(name, 1u << (bit), word)

#define DEFINE(type, name, as_number, list, row)                               \
	const char *gm_##name(type value)                                      \
	{                                                                      \
		switch ((as_number)value) {                                    \
			list(row)                                              \
		}                                                              \
		return "unknown";                                              \
	}

DEFINE(gpumem_advice, advice_name, int, GPUMEM_ADVICE_LIST, WORD)
DEFINE(gpumem_block_state, block_state_name, int, GPUMEM_BLOCK_LIST, WORD)
DEFINE(uint32_t, cap_name, uint32_t, GPUMEM_CAP_LIST, WORD_OF_BIT)
DEFINE(gpumem_hook_kind, hook_kind_name, int, GPUMEM_HOOK_LIST, WORD)
DEFINE(gpumem_kind, kind_name, int, GPUMEM_KIND_LIST, WORD_OF_FOUR)
DEFINE(gpumem_log_level, log_level_name, int, GPUMEM_LOG_LIST, WORD)
DEFINE(gpumem_pressure_limit, pressure_limit_name, int, GPUMEM_PRESSURE_LIST,
       WORD)
DEFINE(gpumem_range_kind, range_kind_name, int, GPUMEM_RANGE_LIST, WORD)
DEFINE(unsigned, record_kind_name, unsigned, GPUMEM_RECORD_LIST, WORD_OF_FOUR)
DEFINE(unsigned, served_name, unsigned, GPUMEM_SERVED_LIST, WORD_OF_STATISTIC)
DEFINE(gpumem_share, share_name, int, GPUMEM_SHARE_LIST, WORD)
DEFINE(gpumem_sleep, sleep_name, int, GPUMEM_SLEEP_LIST, WORD_OF_FOUR)

bool gm_log_level_parse(const char *text, gpumem_log_level *level_out)
{
	int level;

	for (level = GPUMEM_LOG_NONE; level <= GPUMEM_LOG_DEBUG; level++) {
		if (strcasecmp(text, gm_log_level_name(level)) != 0)
			continue;
		*level_out = (gpumem_log_level)level;
		return true;
	}
	return false;
}
