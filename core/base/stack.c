/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See stack.h. A hash table of chains that only grow: a stack is looked up, and
 * put in front of its chain, without a lock.
 */
#include "stack.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* glibc has an unwinder, and dladdr1() with it. */
#ifdef __GLIBC__
#include <execinfo.h>
#endif

typedef const struct gm_stack *_Atomic bucket_t;

enum {
	BUCKETS = 1 << 14,
	/* Of the library: from the capture up to the public function. */
	OWN_FRAMES = 16
};

static bucket_t buckets[BUCKETS];
static _Atomic uint32_t stack_count;

#ifdef __GLIBC__

/* ---- the library's code ---- */

/* Where it is a shared object of its own. */
static struct {
	uintptr_t begin, end;
} own;

static bool holds(const struct dl_phdr_info *info, const ElfW(Phdr) * header,
		  uintptr_t address)
{
	return header->p_type == PT_LOAD &&
	       address - (info->dlpi_addr + header->p_vaddr) < header->p_memsz;
}

static int look(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)bytes;
	(void)unused;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (!holds(info, header, (uintptr_t)gm_stack_here))
			continue;
		/* The program itself has no name: linked into it, the library's
		 * code cannot be told from the program's. */
		if (info->dlpi_name && *info->dlpi_name) {
			own.begin = info->dlpi_addr + header->p_vaddr;
			own.end = own.begin + header->p_memsz;
		}
		return 1;
	}
	return 0;
}

static void init(void)
{
	void *frame[1];

	dl_iterate_phdr(look, NULL);
	/* The first call loads what it needs. */
	(void)backtrace(frame, 1);
}

void gm_stack_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init);
}

static bool is_own(const void *frame)
{
	return (uintptr_t)frame - own.begin < own.end - own.begin;
}

static unsigned capture(void **frame, unsigned max)
{
	void *all[GM_FRAMES_MAX + OWN_FRAMES];
	int got = backtrace(all, (int)max + OWN_FRAMES);
	unsigned count = got > 0 ? (unsigned)got : 0, skip = 0;

	/* A sanitizer has a backtrace() of its own, which calls this. */
	if (count > 1 && !is_own(all[0]) && is_own(all[1]))
		skip = 1;
	while (skip < count && is_own(all[skip]))
		skip++;
	count -= skip;
	if (count > max)
		count = max;
	memcpy(frame, all + skip, count * sizeof(*frame));
	return count;
}

void gm_frame_find(const void *frame, struct gm_frame *frame_out)
{
	const char *call = (const char *)frame - 1;
	const struct link_map *map = NULL;
	Dl_info info = {0};
	ssize_t length;

	frame_out->module[0] = '\0';
	frame_out->offset = (uintptr_t)call;
	frame_out->symbol = NULL;
	if (!dladdr1(call, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return;
	frame_out->offset -= map->l_addr;
	frame_out->symbol = info.dli_sname;
	if (map->l_name && *map->l_name) {
		snprintf(frame_out->module, sizeof(frame_out->module), "%s",
			 map->l_name);
		return;
	}
	length = readlink("/proc/self/exe", frame_out->module,
			  sizeof(frame_out->module) - 1);
	frame_out->module[length > 0 ? length : 0] = '\0';
}

#else

void gm_stack_init(void)
{
}

static unsigned capture(void **frame, unsigned max)
{
	(void)frame;
	(void)max;
	return 0;
}

void gm_frame_find(const void *frame, struct gm_frame *frame_out)
{
	frame_out->module[0] = '\0';
	frame_out->offset = (uintptr_t)frame - 1;
	frame_out->symbol = NULL;
}

#endif

/* ---- one of each ---- */

static uint64_t hash_of(void *const *frame, unsigned count)
{
	uint64_t hash = count;

	for (unsigned i = 0; i < count; i++) {
		hash = (hash ^ (uintptr_t)frame[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash;
}

static const struct gm_stack *find(const struct gm_stack *from,
				   const struct gm_stack *end, uint64_t hash,
				   void *const *frame, unsigned count)
{
	for (; from != end; from = from->next)
		if (from->hash == hash && from->count == count &&
		    !memcmp(from->frame, frame, count * sizeof(*frame)))
			return from;
	return NULL;
}

/* Those from `seen` on have been looked at: only what another thread has put in
 * front meanwhile can be the same. */
static const struct gm_stack *add(bucket_t *bucket, struct gm_stack *stack,
				  const struct gm_stack *seen)
{
	const struct gm_stack *same;

	stack->next = seen;
	while (!atomic_compare_exchange_weak(bucket, &stack->next, stack)) {
		same = find(stack->next, seen, stack->hash, stack->frame,
			    stack->count);
		if (same) {
			free(stack);
			return same;
		}
		seen = stack->next;
	}
	return stack;
}

static const struct gm_stack *intern(void *const *frame, unsigned count)
{
	uint64_t hash = hash_of(frame, count);
	bucket_t *bucket = &buckets[hash % BUCKETS];
	const struct gm_stack *seen = atomic_load(bucket);
	const struct gm_stack *same = find(seen, NULL, hash, frame, count);
	struct gm_stack *stack;

	if (same || atomic_load(&stack_count) >= GM_STACKS_MAX)
		return same;
	stack = malloc(sizeof(*stack) + count * sizeof(*frame));
	if (!stack)
		return NULL;
	stack->hash = hash;
	atomic_init(&stack->recorded, 0);
	stack->count = count;
	memcpy(stack->frame, frame, count * sizeof(*frame));
	same = add(bucket, stack, seen);
	if (same == stack)
		atomic_fetch_add(&stack_count, 1);
	return same;
}

const struct gm_stack *gm_stack_here(unsigned max)
{
	void *frame[GM_FRAMES_MAX];
	unsigned count = capture(frame, max);

	return count ? intern(frame, count) : NULL;
}
