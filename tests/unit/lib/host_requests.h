/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Requests of the library for host memory that fail when they are told to:
 * malloc and its kin are those of this file. The linker finds them before the C
 * library's, for the library as well. For one file of a program, and not with a
 * sanitizer, which has a malloc of its own. Any thread.
 */
#ifndef LIB_HOST_REQUESTS_H
#define LIB_HOST_REQUESTS_H

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Where the library's code is; from 0 on: no requests are counted. */
static uintptr_t code_begin, code_end;
static _Atomic unsigned long requests, first_failing, last_failing;
/* What the library asked for and nobody freed. It frees what libc made for it,
 * too, and what libc's functions free for it was its own, so not who frees
 * counts but what: all that it has is in a table, by address. */
static _Atomic long alive;
enum { OWNED = 1 << 16 };
static void *owned[OWNED]; /* open addressing; 0: never used */
static char gone;	   /* its address: used once */
static atomic_flag owned_lock = ATOMIC_FLAG_INIT;

static void *(*real_malloc)(size_t bytes);
static void *(*real_aligned)(size_t alignment, size_t bytes);
static void *(*real_calloc)(size_t count, size_t bytes);
static void *(*real_realloc)(void *ptr, size_t bytes);
static void (*real_free)(void *ptr);

/* What the dynamic linker asks for while it looks for the real ones. */
static _Alignas(16) char early[4096];
static size_t early_used;

static void *early_take(size_t bytes)
{
	void *ptr = early + early_used;

	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > sizeof(early) - early_used)
		abort();
	early_used += bytes;
	return ptr;
}

static void find_real(void)
{
	static bool finding;

	if (finding)
		return;
	finding = true;
	*(void **)&real_aligned = dlsym(RTLD_NEXT, "aligned_alloc");
	*(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&real_free = dlsym(RTLD_NEXT, "free");
	*(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
}

static bool is_ours(const void *caller)
{
	return (uintptr_t)caller >= code_begin && (uintptr_t)caller < code_end;
}

/* Whether this request has to fail. */
static bool must_fail(void)
{
	unsigned long number = atomic_fetch_add(&requests, 1) + 1;

	return number >= atomic_load(&first_failing) &&
	       number <= atomic_load(&last_failing);
}

/* The place of `what` from where `ptr` belongs on. */
static void **owned_find(const void *ptr, const void *what)
{
	size_t at = (uintptr_t)ptr / 16 * 0x9e3779b1u % OWNED;

	for (int i = 0; i < OWNED; i++, at = (at + 1) % OWNED)
		if (owned[at] == what || !owned[at])
			return &owned[at];
	abort();
}

static void *count_alive(void *ptr)
{
	void **place;

	if (!ptr)
		return NULL;
	while (atomic_flag_test_and_set(&owned_lock))
		;
	place = owned_find(ptr, &gone);
	*place = ptr;
	atomic_flag_clear(&owned_lock);
	atomic_fetch_add(&alive, 1);
	return ptr;
}

/* False: the library did not ask for it. */
static bool count_gone(void *ptr)
{
	void **place;
	bool found;

	while (atomic_flag_test_and_set(&owned_lock))
		;
	place = owned_find(ptr, ptr);
	found = *place == ptr;
	if (found)
		*place = &gone;
	atomic_flag_clear(&owned_lock);
	if (found)
		atomic_fetch_sub(&alive, 1);
	return found;
}

void *malloc(size_t bytes)
{
	if (!real_malloc)
		find_real();
	if (!real_malloc)
		return early_take(bytes);
	if (!is_ours(__builtin_return_address(0)))
		return real_malloc(bytes);
	return must_fail() ? NULL : count_alive(real_malloc(bytes));
}

void *calloc(size_t count, size_t bytes)
{
	if (!real_calloc)
		find_real();
	if (!real_calloc)
		return early_take(count * bytes);
	if (!is_ours(__builtin_return_address(0)))
		return real_calloc(count, bytes);
	return must_fail() ? NULL : count_alive(real_calloc(count, bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	if (!real_aligned)
		find_real();
	if (!is_ours(__builtin_return_address(0)))
		return real_aligned(alignment, bytes);
	return must_fail() ? NULL : count_alive(real_aligned(alignment, bytes));
}

void *realloc(void *ptr, size_t bytes)
{
	bool ours = is_ours(__builtin_return_address(0));
	void *larger;

	if (!real_realloc)
		find_real();
	if (ours && must_fail())
		return NULL;
	/* Another thread may get the address at once. */
	ours = (ptr && count_gone(ptr)) || ours;
	larger = real_realloc(ptr, bytes);
	if (ours)
		(void)count_alive(larger ? larger : ptr);
	return larger;
}

void free(void *ptr)
{
	char *at = ptr;

	if (!ptr || (at >= early && at < early + sizeof(early)))
		return;
	(void)count_gone(ptr);
	if (!real_free)
		find_real();
	real_free(ptr);
}

static int find_code(struct dl_phdr_info *info, size_t size, void *inside)
{
	uintptr_t begin = 0, end = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		begin = info->dlpi_addr + part->p_vaddr;
		end = begin + part->p_memsz;
		if ((uintptr_t)inside >= begin && (uintptr_t)inside < end)
			break;
		begin = end = 0;
	}
	code_begin = begin;
	code_end = end;
	return begin != 0;
}

/* Before anything else. False: the library's code is not to be found. */
static bool requests_begin(void)
{
	return dl_iterate_phdr(find_code,
			       dlsym(RTLD_DEFAULT, "gpumem_pool_create"));
}

#endif
