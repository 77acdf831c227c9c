/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of the preloaded library share. It is loaded into programs
 * that know nothing of it, most of which never use a GPU: nothing is done
 * before a program asks for a function of a driver. It never prints, exits,
 * opens a GPU library; where it cannot follow, the driver is called all the
 * same. It starts one thread, under --adopt, in a program that allocates.
 *
 * NVIDIA's driver and AMD's runtime are followed side by side, each with a
 * ledger of its own. Either may be made of the other: what a call does inside
 * is not counted again, so the call that the program makes is the one that
 * counts.
 *
 * All that changes is in pages that a forked child sees as zeros: the child has
 * neither the parent's driver nor its memory, and begins anew.
 */
#ifndef GPUMEM_PRELOAD_PRELOAD_H
#define GPUMEM_PRELOAD_PRELOAD_H

#include "blocks.h"
#include "ledger.h"
#include "limit_value.h"
#include "recorder.h"
#ifdef PRELOAD_CUDA
#include "cache.h"
#include "epoch.h"
#include "serveds.h"
#endif

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define PRELOAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))

/* Those of enum ledger_api that are followed here. */
enum { PRELOAD_APIS = LEDGER_HIP + 1 };

struct preload_state {
	pthread_mutex_t mutex;			      /* guards all of it */
	bool tried[PRELOAD_APIS];		      /* to open the ledger */
	struct ledger *_Atomic ledgers[PRELOAD_APIS]; /* NULL: there is none;
						       * read at exit */
	struct blocks blocks;
	struct recorder recorder;
	char told[LEDGER_TOLD]; /* by the program; "": nothing */
	uint64_t in_flight[PRELOAD_APIS][LEDGER_DEVICES]; /* see limit.h */
	uint64_t totals[PRELOAD_APIS][LEDGER_DEVICES];	  /* the same; 0: not
							   * known */
#ifdef PRELOAD_CUDA
	void *primary[LEDGER_DEVICES]; /* context of each device */
	pthread_mutex_t primaries;     /* while one begins or ends; before
					* mutex */
	struct cache cache;
	struct epochs epochs;
	unsigned ending;	    /* contexts that are being destroyed */
	unsigned returning;	    /* blocks that the driver is freeing */
	pthread_cond_t returned;    /* that is 0; or serveds changed */
	bool tight[LEDGER_DEVICES]; /* little of the device is free */
	struct serveds serveds;
#endif
};

/* Started by gpumem-run, to follow that one; constant. */
bool preload_follows(enum ledger_api api);
/* By --adopt, and without --no-pool; constant. */
bool preload_pooling(void);
/* What was idle for so long goes back; 0: it does not. Constant. */
uint64_t preload_decay_ms(void);
/* Of each device; constant. */
struct limit_value preload_limit(void);
/* Is there one? */
bool preload_limited(void);

/* Around what a wrapper does. False: a driver itself is calling, or there is
 * nothing to count into; the wrapper then only passes on. Between the two the
 * thread is not cancelled: calls of the driver, which are made there with the
 * mutex too, and the wait for other threads are cancellation points. */
bool preload_enter_api(enum ledger_api api);
void preload_leave(void);

static inline bool preload_enter(void)
{
	return preload_enter_api(LEDGER_CUDA);
}

/* Between preload_enter() and preload_leave(). */
struct preload_state *preload_lock(void);
void preload_unlock(struct preload_state *state);
/* With the mutex. NULL: it could not be made. */
struct ledger *preload_ledger(struct preload_state *state, enum ledger_api api);

/* Any time: one more that the counts do not include. */
void preload_note(enum ledger_api api, enum ledger_note note);
/* The same with the mutex. */
void preload_note_locked(struct preload_state *state, enum ledger_api api,
			 enum ledger_note note);

/* Any time, without the mutex: nothing is kept from now on, because of that
 * function of the driver, or that tool, which has to be a constant. */
void preload_stop_keeping(const char *why);
bool preload_stopped(void);
/* The same, and nothing is served: what the program does is not all seen. */
void preload_stop(const char *why);
bool preload_blind(void);

/* The next dlsym() after ours, called so that it sees this library as its
 * caller. */
void *preload_dlsym(void *handle, const char *name);

#endif
