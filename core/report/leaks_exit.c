/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Option `leaks`: the pools that are left when the process ends are reported in
 * a file. The dynamic linker calls the library's destructor, after what the
 * program does in its own: no handler is registered. Other threads may still be
 * running, and a pool's lock is waited for as in any call. The groups of all
 * pools are collected with the registry locked, and printed without (see
 * base/stack.h).
 */
#include "leaks.h"
#include "base/fork.h"
#include "base/option.h"
#include "base/path.h"
#include "base/scope.h"

#include <stdlib.h>
#include <string.h>

/* What the option said when a pool was created last; under the mutex. */
static char path[512];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

bool gm_leaks_wanted(void)
{
	bool wanted;

	pthread_mutex_lock(&mutex);
	if (!gm_option_given(GM_TEXT_leaks, path, sizeof(path)))
		path[0] = '\0';
	wanted = path[0];
	pthread_mutex_unlock(&mutex);
	return wanted;
}

/* ---- one pool after the other ---- */

struct left {
	struct gm_leaks leaks;
	struct left *next;
};

static bool collect(struct gpumem_pool *pool, void *user)
{
	struct left **end = user, *left = calloc(1, sizeof(*left));

	while (*end)
		end = &(*end)->next;
	if (left && gm_leaks_collect(pool, &left->leaks) == GPUMEM_OK) {
		*end = left;
		return true;
	}
	if (left)
		gm_leaks_end(&left->leaks);
	free(left);
	return false;
}

/* ---- the text, whole ---- */

struct report {
	char *text; /* without a NUL */
	size_t used, room;
	bool cut; /* there was no memory */
};

static void append(const char *text, void *user)
{
	struct report *report = user;
	size_t length = strlen(text), room = report->room;
	char *larger;

	while (report->used + length > room)
		room = room ? room * 2 : 4096;
	if (room != report->room && !report->cut) {
		larger = realloc(report->text, room);
		report->cut = !larger;
		if (larger) {
			report->text = larger;
			report->room = room;
		}
	}
	if (report->cut)
		return;
	memcpy(report->text + report->used, text, length);
	report->used += length;
}

static bool is_json(const char *name)
{
	size_t length = strlen(name);

	return length >= 5 && !strcmp(name + length - 5, ".json");
}

static void print(struct left *left, struct report *report, bool json)
{
	struct left *next;

	for (; left; left = next) {
		next = left->next;
		gm_leaks_print(&left->leaks, json, append, report);
		gm_leaks_end(&left->leaks);
		free(left);
	}
}

/* Nobody is told if it cannot be written: the program is over. */
static void report_left(void)
{
	struct report report = {.used = 0};
	struct left *left = NULL;
	struct gm_own own;

	gm_pools_visit(collect, &left);
	print(left, &report, is_json(path));
	if (report.used && !report.cut)
		(void)gm_path_add(&own, path, report.text, report.used);
	free(report.text);
}

/* A forked child owns none of the pools. In the middle of a call of this
 * thread, out of which a function of the program's has ended the process, locks
 * are held that nobody will release. */
__attribute__((destructor)) static void at_exit(void)
{
	if (path[0] && !gm_forked() && !gm_scope_inside())
		report_left();
}
