/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which device is picked: what GPUMEM_BACKEND says (the name of a backend, or
 * of a device, several in order of preference, or "auto"). "auto" is the order
 * of the list of names.c, so that what the list shows as chosen is what an open
 * gets. What has only the host's own processor is not for "auto": it is slower
 * than no backend at all, and has to be asked for by name. Nor does "auto" go
 * on to the simulated GPU where a real one can be seen: its owner wants to know
 * why that is not used.
 */
#include "loader_parts.h"
#include "describe.h"
#include "sight.h"
#include "which.h"
#include "base/error.h"
#include "base/line.h"
#include "base/log.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pick in the making: `why` says what was wrong with those before it. */
struct pick {
	struct gm_backend *row; /* NULL: none yet */
	int index;		/* of its device */
	gpumem_status status;	/* of the first that was refused */
	unsigned tried;
	char why[900];
	/* what kept "auto" from the simulated GPU; "": nothing */
	gpumem_status seen_status;
	char seen[900];
};

const char *gm_loader_root = "";

/* Its first device decides: those that are none come last. What cannot be
 * asked shows when it is opened. */
static gpumem_status refuse_processor(const struct gm_backend *row)
{
	struct gpumem_device_info info;

	if (gm_device_describe(row, 0, &info, NULL) != GPUMEM_OK ||
	    !(info.caps & GPUMEM_CAP_CPU))
		return GPUMEM_OK;
	return gm_fail(GPUMEM_NO_DEVICE,
		       "%s has only CPU devices, which must be selected by "
		       "name",
		       row->info.name);
}

static gpumem_status get_row(const char *name, bool any,
			     struct gm_backend **row_out)
{
	gpumem_status status = gm_row_get(name, true, row_out);

	return status == GPUMEM_OK && !any ? refuse_processor(*row_out)
					   : status;
}

/* "opencl", its first device, or "opencl:1". */
static gpumem_status get_device(const char *wish, bool any,
				struct gm_backend **row_out, int *index_out)
{
	char name[GM_WISH_BYTES];
	gpumem_status status;
	const char *which = gm_wish_split(wish, name);

	if (which && !gm_which_fits(which))
		return gm_which_refuse(wish);
	status = get_row(name, any, row_out);
	if (status == GPUMEM_OK && which)
		status = gm_which_find(*row_out, which, index_out);
	return status;
}

/* Tries one wish; true when it is the one. */
static bool try_wish(struct pick *pick, const char *wish, bool any)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	size_t used = strlen(pick->why);
	struct gm_backend *row;
	gpumem_status status;
	int index = 0;

	status = get_device(wish, any, &row, &index);
	if (status == GPUMEM_OK) {
		pick->row = row;
		pick->index = index;
		return true;
	}
	gm_error_get(&error);
	if (!pick->tried++)
		pick->status = status;
	snprintf(pick->why + used, sizeof(pick->why) - used, "%s%s",
		 used ? "; " : "", error.text);
	return false;
}

/* The reasons why the GPUs that can be seen are not used; true if there is one.
 */
static bool refuse_simulated(struct pick *pick)
{
	struct gm_sight sights[GM_SIGHTS];
	size_t count = gm_sight(gm_loader_root, sights), i;

	for (i = 0; i < count; i++) {
		struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
		size_t used = strlen(pick->seen);
		struct gm_backend *row;
		gpumem_status status;

		status = get_row(sights[i].backend, false, &row);
		gm_error_get(&error);
		if (!i)
			pick->seen_status = status;
		snprintf(pick->seen + used, sizeof(pick->seen) - used,
			 "%s%s: %.300s", i ? "; " : "", sights[i].node,
			 error.text);
	}
	return count > 0;
}

static bool try_auto(struct pick *pick)
{
	struct gm_names names = {0};
	size_t i;

	if (!gm_names_list(&names, true) && !pick->tried++)
		pick->status = GPUMEM_NO_HOST_MEMORY;
	for (i = 0; i < names.count; i++) {
		if (strcmp(names.list[i], gm_host_backend.name) == 0 &&
		    refuse_simulated(pick))
			break;
		if (try_wish(pick, names.list[i], false))
			break;
	}
	gm_names_free(&names);
	return pick->row != NULL;
}

/* Under the mutex. On failure the sentence is the thread's last error. */
static gpumem_status pick_now(struct pick *pick)
{
	const char *at = gm_wish();
	char wish[GM_WISH_BYTES];
	bool found = false;

	while (!found && gm_wish_next(&at, wish))
		found = strcmp(wish, "auto") == 0 ? try_auto(pick)
						  : try_wish(pick, wish, true);
	if (found)
		return GPUMEM_OK;
	if (*pick->seen)
		return gm_fail(pick->seen_status,
			       "there is a GPU that cannot be used; for the "
			       "simulated one set GPUMEM_BACKEND=host; %s",
			       pick->seen);
	if (!pick->tried)
		return gm_fail(GPUMEM_NOT_FOUND,
			       "GPUMEM_BACKEND=\"%.40s\" names no backend",
			       gm_wish());
	if (pick->tried == 1)
		return pick->status;
	return gm_fail(pick->status,
		       "no backend of GPUMEM_BACKEND=\"%.40s\" is usable: %s",
		       gm_wish(), pick->why);
}

/* Under the mutex; true when the pick is news. */
static bool is_news(const struct pick *pick)
{
	static const struct gm_backend *last;
	static int last_index;
	bool news = last != pick->row || last_index != pick->index;

	last = pick->row;
	last_index = pick->index;
	return news;
}

static void tell(const struct pick *pick)
{
	char device[16] = "";

	if (pick->index)
		snprintf(device, sizeof(device), ":%d", pick->index);
	gm_log(GPUMEM_LOG_INFO, "GPUMEM_BACKEND=%s picks %s%s%s%s", gm_wish(),
	       pick->row->info.name, device,
	       pick->tried ? ", since others are not usable: " : "", pick->why);
}

gpumem_status gm_backend_default(const struct gm_backend **backend_out,
				 int *index_out)
{
	struct gpumem_error before = GPUMEM_INIT(struct gpumem_error);
	struct pick pick = {0};
	gpumem_status status;
	bool news;

	gm_error_get(&before);
	gm_loader_lock();
	status = pick_now(&pick);
	news = status == GPUMEM_OK && is_news(&pick);
	gm_loader_unlock();
	if (status != GPUMEM_OK)
		return status;
	gm_error_set(&before);
	if (news)
		tell(&pick);
	*backend_out = pick.row;
	*index_out = pick.index;
	return GPUMEM_OK;
}

/* What the list shows of one name. A plugin that is not there has no row. */
static struct gpumem_backend_info describe(const char *name,
					   const struct pick *pick)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	struct gpumem_backend_info info =
		GPUMEM_INIT(struct gpumem_backend_info);
	struct gm_backend *row;
	gpumem_status status;

	status = gm_row_get(name, true, &row);
	if (row) {
		info = row->info;
		info.chosen = row == pick->row;
		info.chosen_index = info.chosen ? pick->index : 0;
		return info;
	}
	gm_error_get(&error);
	info.status = status;
	snprintf(info.name, sizeof(info.name), "%s", name);
	gm_line_copy(info.reason, sizeof(info.reason), error.text);
	return info;
}

/* Under the mutex. */
static struct gpumem_backend_info *describe_all(size_t *count_out)
{
	struct gpumem_backend_info *infos = NULL;
	struct gm_names names = {0};
	struct pick pick = {0};
	size_t i;

	(void)pick_now(&pick);
	if (gm_names_list(&names, true))
		infos = calloc(names.count, sizeof(*infos));
	for (i = 0; infos && i < names.count; i++)
		infos[i] = describe(names.list[i], &pick);
	*count_out = names.count;
	gm_names_free(&names);
	return infos;
}

gpumem_status
gm_backend_visit(bool (*fn)(const struct gpumem_backend_info *info, void *user),
		 void *user)
{
	struct gpumem_error before = GPUMEM_INIT(struct gpumem_error);
	struct gpumem_backend_info *infos;
	size_t count, i;

	gm_error_get(&before);
	gm_loader_lock();
	infos = describe_all(&count);
	gm_loader_unlock();
	if (!infos)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no memory for a list of backends");
	gm_error_set(&before);
	for (i = 0; i < count && fn(&infos[i], user); i++)
		continue;
	free(infos);
	return GPUMEM_OK;
}
