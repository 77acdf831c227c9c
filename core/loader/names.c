/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The names of backends: those that GPUMEM_BACKEND asks for (it is ignored in
 * set-user-id programs), the list of all, in the order in which they are shown
 * and "auto" tries them, and which of them a misspelt name, or that of a
 * vendor, may have meant.
 */
#include "loader_parts.h"
#include "base/option.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const known_names[] = {"cuda", "hip", "opencl"};

#define KNOWN_COUNT (sizeof(known_names) / sizeof(known_names[0]))

/* Who makes the devices, and what their software is called. */
static const struct {
	const char *said, *meant;
} other_names[] = {{"nvidia", "cuda"},	{"amd", "hip"},	   {"rocm", "hip"},
		   {"radeon", "hip"},	{"cl", "opencl"},  {"ocl", "opencl"},
		   {"intel", "opencl"}, {"pocl", "opencl"}};

const char *gm_wish(void)
{
	const char *text = gm_environment("GPUMEM_BACKEND");

	return text && *text ? text : "auto";
}

bool gm_wish_next(const char **at, char wish[GM_WISH_BYTES])
{
	size_t length;

	*at += strspn(*at, ", ");
	length = strcspn(*at, ", ");
	if (!length)
		return false;
	snprintf(wish, GM_WISH_BYTES, "%.*s", (int)length, *at);
	*at += length;
	return true;
}

const char *gm_wish_split(const char *wish, char name[GM_WISH_BYTES])
{
	size_t length = strcspn(wish, ":");

	snprintf(name, GM_WISH_BYTES, "%.*s", (int)length, wish);
	return wish[length] ? wish + length + 1 : NULL;
}

/* Names of the wish that are nowhere are listed too: to say so. */
static bool add_wishes(struct gm_names *names)
{
	char wish[GM_WISH_BYTES], name[GM_WISH_BYTES];
	const char *at = gm_wish();
	bool room = true;

	while (room && gm_wish_next(&at, wish)) {
		(void)gm_wish_split(wish, name);
		if (gm_name_is_sane(name))
			room = gm_names_add(names, name);
	}
	return room;
}

bool gm_names_list(struct gm_names *names, bool wishes)
{
	struct gm_names found = {0};
	bool room = true;
	size_t i;

	for (i = 0; room && i < KNOWN_COUNT; i++)
		room = gm_names_add(names, known_names[i]);
	room = room && gm_row_names(&found) &&
	       (!wishes || add_wishes(&found)) &&
	       gm_plugin_scan(&found) == GPUMEM_OK;
	for (i = 0; room && i < found.count; i++)
		if (strcmp(found.list[i], gm_host_backend.name) != 0)
			room = gm_names_add(names, found.list[i]);
	gm_names_free(&found);
	return room && gm_names_add(names, gm_host_backend.name);
}

static void other_name(const char *name, char meant_out[16])
{
	for (size_t i = 0; i < sizeof(other_names) / sizeof(*other_names); i++)
		if (strcasecmp(other_names[i].said, name) == 0)
			snprintf(meant_out, GM_NAME_BYTES, "%s",
				 other_names[i].meant);
}

/* See gm_name_known(). */
static bool look_up(const char *name, bool wishes, char meant_out[16])
{
	struct gm_names names = {0};
	unsigned nearest = 3;
	bool known =
		!gm_names_list(&names, wishes); /* for all that can be said */
	size_t i;

	for (i = 0; i < names.count; i++) {
		const char *other = names.list[i];
		unsigned distance = gm_option_distance(name, other);

		known = known || distance == 0;
		if (distance >= nearest || distance >= strlen(other))
			continue;
		nearest = distance;
		memcpy(meant_out, other, GM_NAME_BYTES);
	}
	other_name(name, meant_out);
	if (known)
		meant_out[0] = '\0';
	gm_names_free(&names);
	return known;
}

bool gm_name_known(const char *name, char meant_out[16])
{
	return look_up(name, true, meant_out);
}

static bool is_ours(const char *name)
{
	size_t i;

	for (i = 0; i < KNOWN_COUNT; i++)
		if (strcmp(known_names[i], name) == 0)
			return true;
	return false;
}

void gm_name_hint(const char *name, char hint_out[GM_HINT_BYTES])
{
	char meant[GM_NAME_BYTES] = "";

	hint_out[0] = '\0';
	if (is_ours(name))
		snprintf(hint_out, GM_HINT_BYTES,
			 ": on Debian apt install libgpumem-plugin%u-%s, else "
			 "build gpumem with it",
			 GPUMEM_BACKEND_ABI, name);
	else if (!look_up(name, false, meant) && *meant)
		snprintf(hint_out, GM_HINT_BYTES, ", did you mean \"%s\"?",
			 meant);
}
