/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A pool on the hip backend sleeps and wakes over the doubles of AMD's runtime,
 * also when each call that this takes fails once. Where the runtime has one of
 * the faults that are reported of it, a sleep is refused, and says which.
 */
#include "library.h"

enum { BLOCKS = 6 };

static const char *const names[] = {
	"hipMemCreate",	   "hipMemRelease",	   "hipMemMap",
	"hipMemUnmap",	   "hipMemSetAccess",	   "hipMemcpyAsync",
	"hipHostRegister", "hipHostUnregister",	   "hipHostMalloc",
	"hipHostFree",	   "hipStreamSynchronize", "hipMemsetAsync"};

static const size_t sizes[BLOCKS] = {1000,    20000,	    3 * MIB,
				     2 * MIB, 5 * MIB + 64, 100};

static gpumem_pool *pool;
static unsigned char *block[BLOCKS];
static unsigned char model[6 * MIB], seen[6 * MIB];
static struct fakecuda_held without; /* any pool */
static unsigned wrong;

static void model_of(int i)
{
	for (size_t k = 0; k < sizes[i]; k++)
		model[k] = (unsigned char)(k * 31 + (size_t)i * 7 + (k >> 8));
}

static void make(void)
{
	audit(&without);
	pool = new_pool(0);
	for (int i = 0; i < BLOCKS; i++) {
		block[i] = new_block(pool, sizes[i], NULL);
		model_of(i);
		must(gpumem_copy(device, block[i], model, sizes[i], NULL));
		must(gpumem_stream_sync(device, NULL));
	}
}

static bool is_whole(void)
{
	bool whole = true;

	for (int i = 0; i < BLOCKS; i++) {
		model_of(i);
		must(gpumem_copy(device, seen, block[i], sizes[i], NULL));
		must(gpumem_stream_sync(device, NULL));
		whole &= !memcmp(seen, model, sizes[i]);
	}
	return whole;
}

static void both(void)
{
	struct fakecuda_held held;

	is_status(gpumem_pool_sleep(pool, NULL, NULL), GPUMEM_OK, "it sleeps");
	audit(&held);
	is_uint(held.used_bytes, without.used_bytes, "all memory has gone");
	is_uint(held.handles, without.handles, "its handles are destroyed");
	is_uint(held.mappings, without.mappings, "and nothing is mapped");
	is_status(gpumem_pool_wake(pool, 0, NULL), GPUMEM_OK, "it wakes");
	ok(is_whole(), "with what it held");
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "sound");
}

static void must_be(bool right, const char *what, const char *name, unsigned n)
{
	if (right)
		return;
	wrong++;
	diag("%s:%u: %s: %s", name, n, what, last_text());
}

/* The nth call fails in a sleep and, if there was none, in a wake. False: there
 * was none at all. */
static bool fail_once(const char *name, unsigned n)
{
	uint64_t before = hip_calls_of(name);
	gpumem_status status;
	bool felt;

	(void)fault(name, n, false, n % 2 ? 999 : 2);
	status = gpumem_pool_sleep(pool, NULL, NULL);
	if (status != GPUMEM_OK)
		must_be(!gpumem_pool_sleep(pool, NULL, NULL), "no sleep later",
			name, n);
	status = gpumem_pool_wake(pool, 0, NULL);
	felt = hip_calls_of(name) - before >= n;
	heal();
	if (status != GPUMEM_OK)
		must_be(!gpumem_pool_wake(pool, 0, NULL), "no wake later", name,
			n);
	must_be(!gpumem_pool_check(pool), "not sound", name, n);
	must_be(is_whole(), "not as it was", name, n);
	return felt;
}

static void sleeps(void)
{
	make();
	both();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		unsigned n = 1;

		while (n < 100 && !wrong && fail_once(names[i], n))
			n++;
	}
	is_uint(wrong, 0, "whatever fails, nothing is lost");
	both();
}

static void is_refused(const char *why)
{
	make();
	is_status(gpumem_pool_sleep(pool, NULL, NULL), GPUMEM_UNSUPPORTED,
		  "no sleep");
	ok(strstr(last_text(), why), "%s", last_text());
	ok(is_whole(), "all is as it was");
}

static void is_refused_as_stuck(void)
{
	is_refused("memory that was given back stays taken");
}

static void is_refused_as_foreign(void)
{
	is_refused("pages that are mapped again have other content");
}

static void is_refused_as_off(void)
{
	is_refused("without virtual memory");
}

int main(void)
{
	skip_without_doubles();
	on(6, "auto", "", sleeps);
	on(6, "auto", "joint_unmap", sleeps);
	on(7, "auto", "", sleeps);
	on(6, "auto", "stuck", is_refused_as_stuck);
	on(6, "auto", "never", is_refused_as_stuck);
	on(6, "auto", "foreign", is_refused_as_foreign);
	on(5, "auto", "", is_refused_as_off);
	return done_testing();
}
