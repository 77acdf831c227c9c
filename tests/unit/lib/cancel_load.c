/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A thread that is cancelled while a backend is loaded for the sake of the
 * options: the call is finished first, and other threads' calls go on. A
 * process of its own, since a backend is loaded once.
 */
#include "../../tap.h"
#include <gpumem/gpumem.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic bool returned, went_on;

static void *cancelled(void *unused)
{
	pthread_cancel(pthread_self());
	(void)!gpumem_option_check();
	atomic_store(&returned, true);
	pthread_testcancel();
	atomic_store(&went_on, true);
	return unused;
}

static bool is_liar(const struct gpumem_backend_info *info, void *user)
{
	bool *found = user;

	*found = *found || !strcmp(info->name, "liar");
	return !*found;
}

int main(void)
{
	const char *top = getenv("top_builddir");
	bool found = false;
	char folder[4096], plugin[4160];
	pthread_t thread;
	void *result;

	snprintf(folder, sizeof(folder), "%s/tests/plugins/.libs",
		 top ? top : ".");
	snprintf(plugin, sizeof(plugin), "%s/liar.so", folder);
	if (access(plugin, R_OK))
		skip_all("there is no plugin that can be cancelled");
	alarm(60);
	setenv("GPUMEM_PLUGIN_PATH", folder, 1);
	setenv("GPUMEM_CONF", "liar.any:1", 1);
	setenv("LIE", "cancel", 1);
	if (pthread_create(&thread, NULL, cancelled, NULL) ||
	    pthread_join(thread, &result))
		bail("no thread");
	ok(atomic_load(&returned), "the options are looked at to the end");
	ok(result == PTHREAD_CANCELED && !atomic_load(&went_on),
	   "then the thread ends");
	/* The list of backends has a lock, which would hold this up. */
	is_status(gpumem_backend_visit(is_liar, &found), GPUMEM_OK,
		  "the backends can be listed");
	ok(found, "and the one that was loaded is there");
	return done_testing();
}
