/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host's allocators: glibc's own, and those that are installed. They are
 * loaded beside it, so that all are measured in one process. See bench.h.
 */
#include "bench.h"

#include "common/tool.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TUNABLE "glibc.rtld.optional_static_tls"

static void glibc_trim(void)
{
	(void)malloc_trim(0);
}

static void (*mimalloc_collect)(bool force);

static void mimalloc_trim(void)
{
	if (mimalloc_collect)
		mimalloc_collect(true);
}

static int (*jemalloc_mallctl)(const char *, void *, size_t *, void *, size_t);

static void jemalloc_trim(void)
{
	/* 4096 is MALLCTL_ARENAS_ALL. */
	if (jemalloc_mallctl)
		(void)jemalloc_mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
}

/* The first large block that a program frees teaches glibc to keep up to twice
 * as much. It learns that before the first benchmark, so that its figures do
 * not depend on which ones are run, nor in which order. */
static void glibc_teach(void)
{
	void *volatile block = malloc((size_t)31 << 20);

	free(block);
}

static void *get_nothing(size_t bytes)
{
	static char nothing;

	(void)bytes;
	return &nothing;
}

static void put_nothing(void *ptr)
{
	(void)ptr;
}

const struct bench_peer bench_nobody = {
	.name = "nobody",
	.malloc = get_nothing,
	.free = put_nothing,
};

/* A function's address, without the cast that ISO C lacks. */
static void find_symbol(void *library, const char *name, void *function_out)
{
	void *symbol = dlsym(library, name);

	memcpy(function_out, &symbol, sizeof(symbol));
}

/* jemalloc wants more thread-local memory than the linker keeps for libraries
 * that are loaded later, unless it is told so before the program begins. */
static void run_again(char **argv)
{
	const char *before = getenv("GLIBC_TUNABLES");
	char tunables[1024];

	if (before && strstr(before, TUNABLE))
		return; /* it did not help */
	snprintf(tunables, sizeof(tunables), "%s%s" TUNABLE "=65536",
		 before ? before : "", before ? ":" : "");
	if (setenv("GLIBC_TUNABLES", tunables, 1) == 0)
		execv("/proc/self/exe", argv);
}

static void *load(struct bench *bench, const char *name, const char *file,
		  char **argv)
{
	static char missing[512];
	size_t used = strlen(missing);
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	const char *reason = library ? NULL : dlerror();

	if (library)
		return library;
	if (reason && strstr(reason, "static TLS"))
		run_again(argv);
	snprintf(missing + used, sizeof(missing) - used, "%s%s: %s",
		 used ? "; " : "", name, reason ? reason : "not found");
	bench->missing = missing;
	return NULL;
}

static void add_peer(struct bench *bench, const struct bench_peer *peer)
{
	if (peer->malloc && peer->free)
		bench->peers[bench->peer_count++] = *peer;
}

void bench_find_peers(struct bench *bench, char **argv)
{
	struct bench_peer mimalloc = {"mimalloc", NULL, NULL, mimalloc_trim};
	struct bench_peer jemalloc = {"jemalloc", NULL, NULL, jemalloc_trim};
	struct bench_peer glibc = {"glibc", malloc, free, glibc_trim};
	void *library;

	bench->missing = "";
	bench->peers[0] = (struct bench_peer){.name = "gpumem"};
	bench->peer_count = 1;
	glibc_teach();
	add_peer(bench, &glibc);
	library = load(bench, "mimalloc", "libmimalloc.so.2", argv);
	if (library) {
		find_symbol(library, "mi_malloc", &mimalloc.malloc);
		find_symbol(library, "mi_free", &mimalloc.free);
		find_symbol(library, "mi_collect", &mimalloc_collect);
		add_peer(bench, &mimalloc);
	}
	library = load(bench, "jemalloc", "libjemalloc.so.2", argv);
	if (library) {
		find_symbol(library, "malloc", &jemalloc.malloc);
		find_symbol(library, "free", &jemalloc.free);
		find_symbol(library, "mallctl", &jemalloc_mallctl);
		add_peer(bench, &jemalloc);
	}
}

bool bench_open(struct bench *bench, const struct bench_peer *peer,
		struct bench_target *target_out)
{
	*target_out = (struct bench_target){.peer = peer};
	if (peer->malloc)
		return true;
	if (gpumem_pool_create(bench->device, NULL, &target_out->pool) ==
	    GPUMEM_OK)
		return true;
	tool_error_last("cannot create a pool");
	return false;
}

void bench_close(struct bench_target *target)
{
	if (target->pool &&
	    gpumem_pool_destroy(target->pool, GPUMEM_DESTROY_FORCE) !=
		    GPUMEM_OK)
		tool_error_last("cannot destroy a pool");
	target->pool = NULL;
}
