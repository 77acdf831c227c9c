/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Writes Python's pickles, protocol 2, of a few opcodes: dictionaries, lists,
 * integers and texts, which any reader of data knows. What goes into what is
 * the caller's business; that it was written is looked at later.
 */
#ifndef GPUMEM_TOOLS_TRACE_PICKLE_H
#define GPUMEM_TOOLS_TRACE_PICKLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Texts that come often are written once: each has a number, below 256. Larger
 * numbers are of anything else. */
struct pickle {
	FILE *out;
	bool known[256];
};

void pickle_begin(struct pickle *pickle, FILE *out);
void pickle_end(struct pickle *pickle);

void pickle_u64(struct pickle *pickle, uint64_t value);
void pickle_bool(struct pickle *pickle, bool value);
/* Any text in UTF-8. */
void pickle_text(struct pickle *pickle, const char *text);
/* A text that comes again, always with this number. */
void pickle_word(struct pickle *pickle, uint8_t number, const char *text);
void pickle_two(struct pickle *pickle, uint64_t first, uint64_t second);

/* A dictionary: pairs of a text and anything between the two. */
void pickle_dict(struct pickle *pickle);
void pickle_dict_end(struct pickle *pickle);

/* What was just written comes again: from now on under this number. */
void pickle_name(struct pickle *pickle, uint32_t number);
void pickle_again(struct pickle *pickle, uint32_t number);

/* A list: items, each after pickle_item(), between the two. Readers hold what
 * is not in the list yet, so it is handed over in parts. */
struct pickle_list {
	uint32_t waiting;
};

void pickle_list(struct pickle *pickle, struct pickle_list *list);
void pickle_item(struct pickle *pickle, struct pickle_list *list);
void pickle_list_end(struct pickle *pickle, struct pickle_list *list);

#endif
