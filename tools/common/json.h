/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tools need beyond jansson: numbers of 64 bits without sign, text
 * that may not be UTF-8, and one way to print. A NULL anywhere means that
 * memory ran out; json_object_set_new() takes it as a failure, which
 * json_put() collects.
 */
#ifndef GPUMEM_TOOLS_JSON_H
#define GPUMEM_TOOLS_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* An integer, also above 2^63 - 1, which jansson does not know: json_print()
 * writes it. */
json_t *json_u64(uint64_t value);

/* null unless finite. */
json_t *json_number(double value);

/* As it is; text that is no UTF-8 as it is shown to people (clean.h). */
json_t *json_text(const char *text);

/* Sets a key of an object, or appends to an array when key is NULL. Takes
 * `value`. Once something failed, *ok stays false. */
void json_put(json_t *container, const char *key, json_t *value, bool *ok);

/* Prints to standard output and drops `value`; false, and told, if it can't. */
bool json_print(json_t *value, bool ok);

#endif
