/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a program meets under `gpumem-run --limit=64MiB`, over the double of
 * NVIDIA's driver, which says how much it has given: its first argument says
 * which case, and with a second one it is killed in the end. Here are a child,
 * and what all cases use; the others are in limit_calls.c and limit_threads.c.
 */
#include "cases.h"
#include "limit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

void *context;

uint64_t given(void)
{
	struct fakecuda_held held;

	cu.audit(&held);
	return held.used_bytes;
}

void see(size_t free_bytes)
{
	unsigned small_left, small_all;
	size_t left, all;

	OK(cu.cuMemGetInfo_v2(&left, &all));
	TRUE(left == free_bytes && all == LIMIT);
	left = all = 0;
	OK(cu.cuMemGetInfo_v2(&left, NULL));
	OK(cu.cuMemGetInfo_v2(NULL, &all));
	TRUE(left == free_bytes && all == LIMIT);
	OK(cu.cuMemGetInfo(&small_left, &small_all));
	TRUE(small_left == free_bytes && small_all == LIMIT);
}

static void child(void)
{
	pid_t pid = fork();
	int status;
	address a;

	if (!pid) {
		(void)begin();
		OK(cu.cuMemAlloc_v2(&a, LIMIT));
		TRUE(cu.cuMemAlloc_v2(&a, 1) == NO_MEMORY);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	context = begin();
	OK(cu.cuMemAlloc_v2(&a, LIMIT));
}

int main(int argc, char **argv)
{
	static const struct run_case cases[] = {
		{"kinds", kinds},	{"pools", pools},
		{"failures", failures}, {"kept", kept},
		{"devices", devices},	{"threads", threads},
		{"churning", churning}, {"child", child},
		{"retained", retained}};

	alarm(120);
	if (argc > 1 && strcmp(argv[1], "child"))
		context = begin();
	if (!RUN_CASE(cases, argv[1]))
		return 2;
	if (argc > 2)
		raise(9);
	return 0;
}
