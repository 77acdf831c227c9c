/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a child knows, and what a parent keeps. */
#include "base/fork.h"
#include "../../tap.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 100000

static unsigned char *memory;

/* Runs fn in a child; true when it gave true there. */
static bool in_child(bool (*fn)(void))
{
	int status = 0;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0)
		_exit(fn() ? 0 : 1);
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Of a parent that had not used the library: a process of its own. */
static bool uses_first(void)
{
	if (gm_forked())
		return false;
	gm_fork_init();
	return !gm_forked();
}

static bool knows_its_parent(void)
{
	return gm_forked();
}

static bool stays_a_child(void)
{
	gm_fork_init();
	return gm_forked();
}

static bool has_a_child(void)
{
	return gm_forked() && in_child(knows_its_parent);
}

static bool reads_zero(void)
{
	size_t i;

	for (i = 0; i < BYTES; i++)
		if (memory[i])
			return false;
	return true;
}

static void *forked_in_thread(void *user)
{
	*(bool *)user = gm_forked();
	return NULL;
}

/* Has the kernel wiped? Else gm_forked() asks for the process's number. */
static bool wipes(void)
{
	return *gm_fork_word == GM_FORK_PARENT;
}

static void test_private(void)
{
	size_t i;

	memory = gm_fork_private(BYTES);
	if (!ok(memory != NULL, "private memory"))
		return;
	ok(reads_zero(), "is zero");
	for (i = 0; i < BYTES; i++)
		memory[i] = (unsigned char)(i | 1);
	if (wipes())
		ok(in_child(reads_zero), "and zero again in a child");
	else
		skip("this kernel cannot wipe memory on fork", 1);
	for (i = 0; i < BYTES; i++)
		if (memory[i] != (unsigned char)(i | 1))
			break;
	is_uint(i, BYTES, "but not in the parent");
	gm_fork_private_free(memory, BYTES);
	gm_fork_private_free(NULL, BYTES);
	ok(gm_fork_private(SIZE_MAX / 2) == NULL, "too much gives NULL");
}

int main(void)
{
	bool in_thread = true;
	pthread_t id;

	alarm(60);
	ok(!gm_forked(), "not used yet, not forked");
	ok(in_child(uses_first), "a child of a parent without use may use it");
	gm_fork_init();
	gm_fork_init();
	diag("MADV_WIPEONFORK: %s", wipes() ? "yes" : "no");
	ok(!gm_forked(), "the parent is none");
	pthread_create(&id, NULL, forked_in_thread, &in_thread);
	pthread_join(id, NULL);
	ok(!in_thread, "nor is its thread");
	ok(in_child(knows_its_parent), "its child knows");
	ok(in_child(stays_a_child), "and cannot begin anew");
	ok(in_child(has_a_child), "nor can the child's child");
	ok(!gm_forked(), "the parent is untouched");
	test_private();
	return done_testing();
}
