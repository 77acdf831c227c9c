/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Writes Python's pickles, protocol 2, of a few opcodes: dictionaries, lists,
 * integers and texts, which any reader of data knows. What goes into what is
 * the caller's business, and so is where the bytes go. The tools compile it
 * too. No lock, no host memory.
 */
#ifndef GM_BASE_PICKLE_H
#define GM_BASE_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts that come often are written once: each has a number, below 256. Larger
 * numbers are of anything else. */
struct gm_pickle {
	void (*write)(const void *bytes, size_t count, void *user);
	void *user;
	bool known[256];
};

void gm_pickle_begin(struct gm_pickle *pickle,
		     void (*write)(const void *bytes, size_t count, void *user),
		     void *user);
void gm_pickle_end(struct gm_pickle *pickle);

void gm_pickle_u64(struct gm_pickle *pickle, uint64_t value);
void gm_pickle_bool(struct gm_pickle *pickle, bool value);
/* Any text in UTF-8. */
void gm_pickle_text(struct gm_pickle *pickle, const char *text);
/* A text that comes again, always with this number. */
void gm_pickle_word(struct gm_pickle *pickle, uint8_t number, const char *text);
void gm_pickle_two(struct gm_pickle *pickle, uint64_t first, uint64_t second);

/* A dictionary: pairs of a text and anything between the two. */
void gm_pickle_dict(struct gm_pickle *pickle);
void gm_pickle_dict_end(struct gm_pickle *pickle);

/* What was just written comes again: from now on under this number. */
void gm_pickle_name(struct gm_pickle *pickle, uint32_t number);
void gm_pickle_again(struct gm_pickle *pickle, uint32_t number);

/* A list: items, each after gm_gm_pickle_item(), between the two. Readers hold
 * what is not in the list yet, so it is handed over in parts. */
struct gm_pickle_list {
	uint32_t waiting;
};

void gm_pickle_list(struct gm_pickle *pickle, struct gm_pickle_list *list);
void gm_pickle_item(struct gm_pickle *pickle, struct gm_pickle_list *list);
void gm_pickle_list_end(struct gm_pickle *pickle, struct gm_pickle_list *list);

#endif
