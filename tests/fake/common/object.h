/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Objects and their handles. A handle is a number that is never used twice, so
 * one that was destroyed is found out, unless a test wants it again. The caller
 * locks.
 */
#ifndef GPUMEM_TESTS_FAKE_OBJECT_H
#define GPUMEM_TESTS_FAKE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins everything that a handle names. */
struct fake_object {
	uint64_t handle; /* 0: nobody has it */
	int kind;	 /* 1 to 15; a double says what they are */
};

/* NULL: no memory. */
void *fake_object_new(int kind, size_t bytes);
/* The handle is bad from now on; the object stays. */
void fake_object_retire(void *object);
/* Gives it a handle that was retired. False: something else is in its slot. */
bool fake_object_rename(void *object, uint64_t handle);
/* NULL: no handle of that kind. */
void *fake_object_find(int kind, const void *handle);
/* The first live object of that kind in a slot >= *slot, which moves on. */
void *fake_object_next(int kind, uint32_t *slot);
uint64_t fake_object_count(int kind);
#define fake_handle_of(thing) ((void *)(uintptr_t)(thing)->object.handle)

#endif
