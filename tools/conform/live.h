/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a backend has given out and not taken back: addresses, pages, streams
 * and events. Used by the watched slots only; a mutex of its own.
 */
#ifndef GPUMEM_TOOLS_CONFORM_LIVE_H
#define GPUMEM_TOOLS_CONFORM_LIVE_H

#include <stdbool.h>
#include <stdint.h>

enum live_class { LIVE_ADDRESSES, LIVE_PAGES, LIVE_STREAMS, LIVE_EVENTS };

/* False: it overlaps what is live already, and nothing happens. */
bool live_add(enum live_class class, uint64_t from, uint64_t bytes);
/* How many bytes; 0: there is nothing that begins there. Before the call that
 * gives it back: once the backend has it, it may give it to another thread. */
uint64_t live_remove(enum live_class class, uint64_t from);

#endif
