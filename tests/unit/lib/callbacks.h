/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Functions for calls that want one, in tests that are about the call: they do
 * nothing, and want more.
 */
#ifndef LIB_CALLBACKS_H
#define LIB_CALLBACKS_H

#include <gpumem/backend.h>

#define CALLBACK __attribute__((unused)) static

CALLBACK bool any_pool(gpumem_pool *one, const char *name, void *user)
{
	(void)one;
	(void)name;
	(void)user;
	return true;
}

CALLBACK bool any_tag(const struct gpumem_tag *one, void *user)
{
	(void)one;
	(void)user;
	return true;
}

CALLBACK void any_range(gpumem_pool *pool, const struct gpumem_range *one,
			void *user)
{
	(void)pool;
	(void)one;
	(void)user;
}

CALLBACK bool any_block(const struct gpumem_block *one, void *user)
{
	(void)one;
	(void)user;
	return true;
}

CALLBACK bool any_backend(const struct gpumem_backend_info *one, void *user)
{
	(void)one;
	(void)user;
	return true;
}

CALLBACK bool any_device(const struct gpumem_device_info *one, void *user)
{
	(void)one;
	(void)user;
	return true;
}

CALLBACK void any_text(const char *text, void *user)
{
	(void)text;
	(void)user;
}

CALLBACK bool press(gpumem_pool *one, const struct gpumem_pressure *pressure,
		    void *user)
{
	(void)one;
	(void)pressure;
	(void)user;
	return false;
}

#endif
