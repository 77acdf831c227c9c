/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The same knowledge on a kernel that refuses to wipe memory on fork. */
#include "base/fork.h"
#include "../../tap.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int refused;

/* In place of the C library's: an old kernel. */
int madvise(void *memory, size_t bytes, int advice)
{
	(void)memory;
	(void)bytes;
	(void)advice;
	refused++;
	errno = EINVAL;
	return -1;
}

static bool forked_in_child(void)
{
	int status = 0;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0)
		_exit(gm_forked() ? 0 : 1);
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void)
{
	void *memory;

	alarm(60);
	ok(!gm_forked(), "not used yet, not forked");
	ok(!forked_in_child(), "nor is a child of a parent without use");
	gm_fork_init();
	is_int(refused, 1, "the kernel was asked, and refused");
	ok(!gm_forked(), "the parent is none");
	ok(forked_in_child(), "its child knows all the same");
	ok(!gm_forked(), "the parent is untouched");
	memory = gm_fork_private(4096);
	ok(memory != NULL, "private memory is there, only not wiped");
	gm_fork_private_free(memory, 4096);
	return done_testing();
}
