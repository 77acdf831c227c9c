/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a snapshot has that is new: a later PyTorch's keys, actions and states.
 * They are named, and change no sum.
 */
#include "torch_device.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 60 };

struct known {
	const char *text;
	size_t bytes;
};

#define KNOWN(name) {#name, sizeof(#name) - 1},

#define ROOT_KEYS(X)                                                           \
	X(segments)                                                            \
	X(device_traces)                                                       \
	X(allocator_settings)                                                  \
	X(external_annotations)                                                \
	X(host_segments)                                                       \
	X(host_traces)

#define SEGMENT_KEYS(X)                                                        \
	X(device)                                                              \
	X(address)                                                             \
	X(total_size)                                                          \
	X(allocated_size)                                                      \
	X(active_size)                                                         \
	X(requested_size)                                                      \
	X(stream)                                                              \
	X(segment_type)                                                        \
	X(segment_pool_id)                                                     \
	X(is_expandable)                                                       \
	X(frames)                                                              \
	X(blocks)                                                              \
	X(registration_counter)                                                \
	X(version)

#define BLOCK_KEYS(X)                                                          \
	X(address)                                                             \
	X(size)                                                                \
	X(requested_size)                                                      \
	X(state)                                                               \
	X(frames)                                                              \
	X(history)                                                             \
	X(user_metadata)                                                       \
	X(version)

static const struct known root_keys[] = {ROOT_KEYS(KNOWN){NULL, 0}};
static const struct known entry_keys[] = {TORCH_ENTRY_KEYS(KNOWN){NULL, 0}};
static const struct known segment_keys[] = {SEGMENT_KEYS(KNOWN){NULL, 0}};
static const struct known block_keys[] = {BLOCK_KEYS(KNOWN){NULL, 0}};

static const struct known *const keys[] = {
	[TORCH_ROOT] = root_keys,
	[TORCH_SEGMENT] = segment_keys,
	[TORCH_BLOCK] = block_keys,
};

static bool is_same(const struct known *known, const struct unpickled *text)
{
	return known->bytes == text->bytes &&
	       !memcmp(known->text, text->text, text->bytes);
}

/* Which of them it is; how many there are: none. */
static size_t find(const struct known *known, const struct unpickled *text)
{
	size_t at = 0;

	while (known[at].text && !is_same(&known[at], text))
		at++;
	return at;
}

/* Names beyond 65535 are not told. */
bool torch_unknown(struct torch_history *history, const char *what,
		   const char *text, size_t bytes)
{
	int most = bytes < NAME_BYTES ? (int)bytes : NAME_BYTES;
	char name[NAME_BYTES + 32];
	uint16_t number;

	snprintf(name, sizeof(name), "%s \"%.*s\"", what, most, text);
	return tag_names_number(&history->unknown, name, &number) !=
		       TAG_NAMES_NO_MEMORY ||
	       torch_no_memory(history);
}

/* Dictionaries of a file have their keys in the same order, mostly. */
bool torch_entry_values(struct torch_device *device,
			const struct unpickled *entry,
			const struct unpickled *values[TORCH_ENTRY_COUNT])
{
	uint8_t *guess = device->history->guess;
	const struct unpickled *key;

	memset(values, 0, TORCH_ENTRY_COUNT * sizeof(*values));
	for (size_t i = 0; (key = unpickle_key(device->unpickle, entry, i));
	     i++) {
		size_t at = i < TORCH_ENTRY_COUNT ? guess[i] : 0;

		if (key->kind != UNPICKLED_TEXT)
			continue;
		if (!is_same(&entry_keys[at], key))
			at = find(entry_keys, key);
		if (at == TORCH_ENTRY_COUNT) {
			if (!torch_unknown(device->history, "key", key->text,
					   key->bytes))
				return false;
			continue;
		}
		if (i < TORCH_ENTRY_COUNT)
			guess[i] = (uint8_t)at;
		values[at] = key + 1;
	}
	return true;
}

bool torch_unknown_keys(struct torch_history *history,
			const struct unpickle *unpickle,
			const struct unpickled *dict, enum torch_dict which)
{
	const struct unpickled *key;

	for (size_t i = 0; (key = unpickle_key(unpickle, dict, i)); i++)
		if (key->kind == UNPICKLED_TEXT &&
		    !keys[which][find(keys[which], key)].text &&
		    !torch_unknown(history, "key", key->text, key->bytes))
			return false;
	return true;
}
