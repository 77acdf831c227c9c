/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which device of a backend: what stands behind the colon of "cuda:0",
 * "cuda:UUID" and "cuda:0000:3b:00.0". Nothing is opened. No state, no lock.
 */
#ifndef GM_LOADER_WHICH_H
#define GM_LOADER_WHICH_H

#include "loader.h"

/* It is a number, a UUID or a place on the PCI bus. */
bool gm_which_fits(const char *which);
/* INVALID, with what a name has to be like. */
gpumem_status gm_which_refuse(const char *name);
/* Its index, of a text that fits; NO_DEVICE: there is none. */
gpumem_status gm_which_find(const struct gm_backend *backend, const char *which,
			    int *index_out);

#endif
