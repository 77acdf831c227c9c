/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the lies of liar.c share: the honest backend that they stand before, and
 * its services. Included by liar.c and the lies only.
 */
#ifndef LIAR_H
#define LIAR_H

#include <gpumem/backend.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct gpumem_backend gm_host_backend;

static const struct gpumem_services *given;
static struct gpumem_services services;
static _Thread_local bool is_mute; /* error() goes nowhere */

static const struct gpumem_backend *honest(void)
{
	return &gm_host_backend;
}

/* The value of `key` in LIAR_CONF="key:value,key:value", or NULL. */
static const char *wanted(const char *key, size_t *length_out)
{
	const char *at = getenv("LIAR_CONF");
	size_t length = strlen(key);

	for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		if (strncmp(at, key, length) != 0 || at[length] != ':')
			continue;
		at += length + 1;
		*length_out = strcspn(at, ",");
		return at;
	}
	return NULL;
}

/* The host's options are not ours: they come from LIAR_CONF, else they have
 * their defaults. */
static bool option(const char *key, char *value_out, size_t bytes)
{
	const struct gpumem_option_row *row = honest()->options;
	size_t length = 0;
	const char *value = wanted(key, &length);

	for (; row->key && !value; row++)
		if (!strcmp(row->key, key)) {
			value = row->default_value;
			length = strlen(value);
		}
	if (!value || length >= bytes)
		return false;
	memcpy(value_out, value, length);
	value_out[length] = '\0';
	return true;
}

GPUMEM_PRINTF(3, 4)
static void say(int64_t code, const char *name, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!is_mute)
		given->error(code, name, "%s", text);
}

static gpumem_status init(const struct gpumem_services *core)
{
	given = core;
	services = *core;
	services.option = option;
	services.error = say;
	return honest()->init(&services);
}

#endif
