/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a slot answers when it is not OK: a number of a foreign plugin, which
 * becomes one of the statuses that backend.h lets a slot give. No lock.
 */
#ifndef GM_LOADER_ANSWER_H
#define GM_LOADER_ANSWER_H

#include <gpumem/backend.h>

/* The status; or DRIVER, and what the plugin did is said as services->error
 * says things. NOT_READY is none here: who asks for it looks before. */
gpumem_status gm_answer(enum gpumem_slot slot, gpumem_status status);

#endif
