/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Call stacks: the same place is the same stack, another place another; never
 * more frames than asked for; threads that come to one place at once get one
 * stack between them; without memory a new one is not to be had, and a known
 * one still is.
 */
#include "base/stack.h"
#include "../../tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef __GLIBC__
int main(void)
{
	skip_all("the C library has no unwinder");
	return EXIT_SUCCESS;
}
#else

enum { THREADS = 6, DEPTHS = 40 };

#define NOINLINE __attribute__((noinline))

static _Atomic bool no_memory;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	return atomic_load(&no_memory) ? NULL : __real_malloc(bytes);
}

static NOINLINE const struct gm_stack *one_place(unsigned max)
{
	const struct gm_stack *stack = gm_stack_here(max);

	__asm__ volatile("" : : : "memory"); /* no tail call */
	return stack;
}

static NOINLINE const struct gm_stack *other_place(unsigned max)
{
	const struct gm_stack *stack = gm_stack_here(max);

	__asm__ volatile("" : : : "memory");
	return stack;
}

/* So many calls deep. */
static NOINLINE const struct gm_stack *deep(unsigned depth)
{
	const struct gm_stack *stack =
		depth ? deep(depth - 1) : gm_stack_here(GM_FRAMES_MAX);

	__asm__ volatile("" : : : "memory");
	return stack;
}

static void test_places(void)
{
	const struct gm_stack *stack[3] = {NULL, NULL, NULL};
	const struct gm_stack *other;

	/* Volatile: or else the loop may become several calls. */
	for (volatile unsigned i = 0; i < 3; i++) {
		atomic_store(&no_memory, i == 1);
		stack[i] = one_place(16);
	}
	atomic_store(&no_memory, false);
	other = other_place(16);
	if (!stack[0] || !other)
		bail("no stack");
	ok(stack[0] == stack[1] && stack[1] == stack[2],
	   "one place has one stack, for which no memory is needed again");
	ok(other != stack[0], "another place another");
	ok(stack[0]->count > 2 && stack[0]->count <= 16, "of %u frames",
	   stack[0]->count);
	for (unsigned max = 1; max <= GM_FRAMES_MAX; max++) {
		other = deep(100) ? one_place(max) : NULL;
		if (!other || other->count > max)
			ok(false, "%u frames of %u", other ? other->count : 0,
			   max);
	}
	is_uint(deep(100)->count, GM_FRAMES_MAX, "a deep one is cut");
}

static void test_frame(void)
{
	const struct gm_stack *stack = one_place(16);
	struct gm_frame frame;
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length > 0 ? length : 0] = '\0';
	gm_frame_find(stack->frame[1], &frame);
	is_str(frame.module, path, "a frame is in this program");
	ok(frame.offset && frame.offset < (1 << 24), "at %#llx",
	   (unsigned long long)frame.offset);
	gm_frame_find((const void *)(uintptr_t)1, &frame);
	is_str(frame.module, "", "an address of nothing has no module");
	is_uint(frame.offset, 0, "and is the offset");
}

static const struct gm_stack *seen[THREADS][DEPTHS];
static pthread_barrier_t barrier;

static void *visit(void *arg)
{
	const struct gm_stack **own = arg;

	/* What is below deep() is the same in all threads. */
	for (unsigned i = 0; i < DEPTHS; i++) {
		pthread_barrier_wait(&barrier);
		own[i] = deep(i);
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread[THREADS];
	unsigned differ = 0, same = 0;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, visit, seen[i]))
			bail("no thread");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned depth = 0; depth < DEPTHS; depth++) {
		for (unsigned i = 1; i < THREADS; i++)
			differ += seen[i][depth] != seen[0][depth];
		same += depth && seen[0][depth] == seen[0][depth - 1];
	}
	is_uint(differ, 0, "threads share their stacks");
	is_uint(same, 0, "each depth has its own");
	pthread_barrier_destroy(&barrier);
}

static void test_no_memory(void)
{
	const struct gm_stack *stack[2];

	for (volatile unsigned i = 0; i < 2; i++) {
		atomic_store(&no_memory, i == 0);
		stack[i] = other_place(5);
	}
	is_ptr(stack[0], NULL, "a new stack needs memory");
	ok(stack[1], "and is there when there is some");
}

int main(void)
{
	alarm(120);
	gm_stack_init();
	test_places();
	test_frame();
	test_threads();
	test_no_memory();
	return done_testing();
}
#endif
