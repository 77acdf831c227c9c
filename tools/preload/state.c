/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The state of the process, and the ledgers, each of which it maps when it
 * first has something to count there.
 */
#include "adopted.h"
#include "hooks.h"
#ifdef PRELOAD_CUDA
#include "request.h"
#include "served.h"
#endif

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char ledgers[LEDGER_FOLDER]; /* "": not started by gpumem-run */
static bool followed[PRELOAD_APIS];
static bool pooling, adopting;
static uint64_t decay_ms;
static struct limit_value limit;
static struct preload_state *_Atomic page;
static _Atomic uint64_t notes[PRELOAD_APIS][LEDGER_NOTES];
static const char *_Atomic stopped_by; /* NULL: it is not */
static _Atomic bool blind;	       /* so that nothing is served, either */
static _Atomic bool spoken; /* by gpumem_run_tell(), or in a parent's process */
PRELOAD_LOCAL unsigned depth;
PRELOAD_LOCAL int cancel_state; /* of the program */

static void follow(const char *backend)
{
	followed[LEDGER_CUDA] = !backend || !strcmp(backend, "cuda");
	followed[LEDGER_HIP] = !backend || !strcmp(backend, "hip");
}

__attribute__((constructor)) static void preload_begin(void)
{
	const char *folder = secure_getenv(LEDGER_VARIABLE);
	const char *bytes = getenv(LIMIT_VARIABLE);
	const char *decay = getenv(DECAY_VARIABLE);

	if (!folder || strlen(folder) >= sizeof(ledgers))
		return;
	strcpy(ledgers, folder);
	follow(getenv(BACKEND_VARIABLE));
	recorder_init(folder);
#ifdef PRELOAD_CUDA
	served_init();
#endif
	limit = limit_value_read(bytes);
	decay_ms = decay ? strtoull(decay, NULL, 10) : 0;
	adopting = getenv(ADOPT_VARIABLE);
	/* Tools that watch the driver are to see the program's own calls. */
	pooling = adopting && !getenv(NO_POOL_VARIABLE) &&
		  !getenv("CUDA_INJECTION64_PATH");
}

__attribute__((destructor)) static void preload_end(void)
{
	struct preload_state *state = atomic_load(&page);
	bool counted = false;

	for (int i = 0; state && i < PRELOAD_APIS; i++)
		if (state->ledgers[i]) {
			atomic_store(&state->ledgers[i]->exited, 1);
			if (adopting && !atomic_load(&spoken))
				adopted_miss(state->ledgers[i]);
			counted = true;
		}
	if (state && adopting && state->ledgers[LEDGER_CUDA])
		adopted_look(state->ledgers[LEDGER_CUDA]);
	if (counted)
		recorder_end(&state->recorder, &state->mutex);
}

bool preload_follows(enum ledger_api api)
{
	return followed[api];
}

bool preload_pooling(void)
{
	return pooling;
}

uint64_t preload_decay_ms(void)
{
	return decay_ms;
}

struct limit_value preload_limit(void)
{
	return limit;
}

bool preload_limited(void)
{
	return limit_value_is(limit);
}

/* It finds what uses a block that was freed only if the driver frees it. */
static void look_for_sanitizer(void)
{
	const char *none = NULL;

	if (!pooling || !hook_file_is_loaded("libsanitizer-collection.so"))
		return;
	atomic_store(&blind, true);
	atomic_compare_exchange_strong(&stopped_by, &none, "compute-sanitizer");
}

static struct preload_state *state_make(void)
{
	struct preload_state *state, *other = NULL;

	look_for_sanitizer();
	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (state == MAP_FAILED)
		return NULL;
	/* Without it a child would count into its parent's ledger. */
	if (!madvise(state, sizeof(*state), MADV_WIPEONFORK) &&
	    atomic_compare_exchange_strong(&page, &other, state))
		return state;
	munmap(state, sizeof(*state));
	return other;
}

static struct preload_state *state_get(void)
{
	struct preload_state *state = atomic_load(&page);

	return state ? state : state_make();
}

bool preload_enter_api(enum ledger_api api)
{
	if (depth || !preload_follows(api) || !state_get())
		return false;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	depth++;
	return true;
}

void preload_leave(void)
{
	depth--;
	pthread_setcancelstate(cancel_state, NULL);
}

/* A mutex of zeros is one that nobody holds. */
struct preload_state *preload_lock(void)
{
	struct preload_state *state = atomic_load(&page);

	pthread_mutex_lock(&state->mutex);
	return state;
}

void preload_unlock(struct preload_state *state)
{
	pthread_mutex_unlock(&state->mutex);
}

static void write_note(struct preload_state *state, enum ledger_api api,
		       enum ledger_note note)
{
	if (state->ledgers[api])
		atomic_store(&state->ledgers[api]->notes[note],
			     atomic_load(&notes[api][note]));
}

void preload_note(enum ledger_api api, enum ledger_note note)
{
	struct preload_state *state = state_get();

	atomic_fetch_add(&notes[api][note], 1);
	if (!state)
		return;
	pthread_mutex_lock(&state->mutex);
	write_note(state, api, note);
	pthread_mutex_unlock(&state->mutex);
}

void preload_note_locked(struct preload_state *state, enum ledger_api api,
			 enum ledger_note note)
{
	atomic_fetch_add(&notes[api][note], 1);
	write_note(state, api, note);
}

/* With the mutex. Only blocks of NVIDIA's driver are kept. */
static void write_stop(struct preload_state *state)
{
	struct ledger *ledger = state->ledgers[LEDGER_CUDA];
	const char *why = atomic_load(&stopped_by);

	if (ledger && why)
		snprintf(ledger->stopped, sizeof(ledger->stopped), "%s", why);
}

/* With the mutex. */
static void write_told(struct preload_state *state)
{
	for (int i = 0; i < PRELOAD_APIS; i++)
		if (state->ledgers[i])
			snprintf(state->ledgers[i]->told, LEDGER_TOLD, "%s",
				 state->told);
}

/* With the mutex: what was noted before there was a ledger. */
static void write_earlier(struct preload_state *state, enum ledger_api api)
{
	for (int i = 0; i < LEDGER_NOTES; i++)
		write_note(state, api, (enum ledger_note)i);
	write_stop(state);
	write_told(state);
}

/* With the mutex: for what is kept, by --adopt. */
static void listen(struct preload_state *state, enum ledger_api api)
{
#ifdef PRELOAD_CUDA
	if (api == LEDGER_CUDA && state->ledgers[api] && pooling)
		request_listen(state->ledgers[api]);
#else
	(void)state;
	(void)api;
#endif
}

struct ledger *preload_ledger(struct preload_state *state, enum ledger_api api)
{
	int saved = errno;

	if (!state->tried[api]) {
		state->ledgers[api] = ledger_make(ledgers, api);
		write_earlier(state, api);
		listen(state, api);
	}
	state->tried[api] = true;
	errno = saved;
	return state->ledgers[api];
}

void preload_stop_keeping(const char *why)
{
	struct preload_state *state = state_get();
	const char *none = NULL;

	if (!atomic_compare_exchange_strong(&stopped_by, &none, why) || !state)
		return;
	pthread_mutex_lock(&state->mutex);
	write_stop(state);
	pthread_mutex_unlock(&state->mutex);
}

void preload_stop(const char *why)
{
	atomic_store(&blind, true);
	preload_stop_keeping(why);
}

/* For what is loaded into the program with this library in mind: a sentence of
 * the process's, which the report has behind earlier ones; "": it is there, and
 * has nothing to say. Any thread, any time. */
extern __attribute__((visibility("default"))) void
gpumem_run_tell(const char *text);

void gpumem_run_tell(const char *text)
{
	struct preload_state *state = *ledgers ? state_get() : NULL;
	size_t used;

	atomic_store(&spoken, true);
	if (!state || !*text)
		return;
	pthread_mutex_lock(&state->mutex);
	used = strlen(state->told);
	snprintf(state->told + used, sizeof(state->told) - used, "%s%s",
		 used ? "; " : "", text);
	write_told(state);
	pthread_mutex_unlock(&state->mutex);
}

bool preload_stopped(void)
{
	return atomic_load(&stopped_by);
}

bool preload_blind(void)
{
	return atomic_load(&blind);
}
