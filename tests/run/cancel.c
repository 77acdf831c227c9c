/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A thread that is to be cancelled calls the driver, in which gpumem-run then
 * makes calls that are cancellation points. It is cancelled behind the call, as
 * without gpumem-run, and other threads go on.
 *
 *	first       the first allocation of the process
 *	give_back   one that needs what is kept, under --limit=64MiB
 *
 * And, with no thread that is cancelled:
 *
 *	limited     the first call that is counted, while a file may have no
 *		    more than 512 bytes; it is refused, since the driver's
 *		    double needs a file for memory
 */
#include "pool.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void *context;
static bool returned;

static void *alloc_cancelled(void *bytes)
{
	address block;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	OK(cu.cuCtxSetCurrent(context));
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	OK(cu.cuMemAlloc_v2(&block, (size_t)(uintptr_t)bytes));
	returned = true;
	pthread_testcancel();
	return NULL;
}

static void cancelled(size_t bytes)
{
	pthread_t thread;
	void *end;

	TRUE(!pthread_create(&thread, NULL, alloc_cancelled,
			     (void *)(uintptr_t)bytes));
	TRUE(!pthread_join(thread, &end));
	TRUE(returned);
	TRUE(end == PTHREAD_CANCELED);
}

static void limited(void)
{
	struct rlimit before, small;
	address block;

	TRUE(!getrlimit(RLIMIT_FSIZE, &before));
	small = before;
	small.rlim_cur = 512;
	TRUE(!setrlimit(RLIMIT_FSIZE, &small));
	TRUE(cu.cuMemAlloc_v2(&block, (size_t)1 << 50) == 2);
	TRUE(!setrlimit(RLIMIT_FSIZE, &before));
	release(alloc(MIB));
}

int main(int argc, char **argv)
{
	bool gives_back = argc > 1 && !strcmp(argv[1], "give_back");
	address blocks[4];

	alarm(60);
	context = begin();
	for (int i = 0; gives_back && i < 4; i++)
		blocks[i] = alloc(8 * MIB);
	for (int i = 0; gives_back && i < 4; i++)
		release(blocks[i]);
	if (argc > 1 && !strcmp(argv[1], "limited"))
		limited();
	else
		cancelled(gives_back ? 40 * MIB : MIB);
	/* Of what the thread got nothing is left in flight. */
	release(alloc(24 * MIB));
	printf("done\n");
	return 0;
}
