/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Option texts: counts, sizes, switches, names of slots and lists. Pure; the
 * core has checked single values already, but a number inside a list is seen
 * here first, and a default is read here when no core is there.
 */
#include "host_device.h"

#include <string.h>
#include <strings.h>

#define ITEM_BYTES 128

/* The digits at *text, which moves past them. False: none, or too many. */
static bool take_digits(const char **text, uint64_t *value_out)
{
	const char *at = *text;
	uint64_t value = 0;

	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'),
					   &value))
			return false;
	if (at == *text)
		return false;
	*text = at;
	*value_out = value;
	return true;
}

bool gm_host_parse_count(const char *text, uint64_t *count_out)
{
	uint64_t count;

	if (!take_digits(&text, &count) || *text)
		return false;
	*count_out = count;
	return true;
}

/* "" "B" "K" "KiB" "KB" and so on: how far to shift; -1: no unit. */
static int unit_shift(const char *text)
{
	static const char letters[] = "KMGTPE";
	const char *letter;

	if (!strcasecmp(text, "") || !strcasecmp(text, "B"))
		return 0;
	letter = strchr(letters, text[0] & ~0x20);
	if (!letter || !*letter)
		return -1;
	text++;
	if (strcasecmp(text, "") && strcasecmp(text, "B") &&
	    strcasecmp(text, "iB"))
		return -1;
	return 10 * (int)(letter - letters + 1);
}

bool gm_host_parse_bytes(const char *text, uint64_t *bytes_out)
{
	uint64_t whole, part = 0, scale = 1;
	int shift;

	if (!take_digits(&text, &whole))
		return false;
	if (*text == '.') {
		const char *start = ++text;

		/* Six digits are as fine as a page of a TiB. */
		if (!take_digits(&text, &part) || text - start > 6)
			return false;
		while (start++ < text)
			scale *= 10;
	}
	shift = unit_shift(text);
	if (shift < 0 || (shift && whole >> (64 - shift)))
		return false;
	/* part < 10^6 < 2^20, so this holds for shifts up to 40. */
	if (part && shift > 40)
		return false;
	*bytes_out = (whole << shift) + (part << shift) / scale;
	return true;
}

bool gm_host_parse_bool(const char *text, bool *value_out)
{
	static const char *const on[] = {"on", "yes", "true", "1"};
	static const char *const off[] = {"off", "no", "false", "0"};

	for (size_t i = 0; i < 4; i++) {
		if (!strcasecmp(text, on[i]) || !strcasecmp(text, off[i])) {
			*value_out = !strcasecmp(text, on[i]);
			return true;
		}
	}
	return false;
}

/* The others return no status. */
static bool can_fail(unsigned slot)
{
	return slot != GPUMEM_SLOT_driver_version &&
	       slot != GPUMEM_SLOT_device_close;
}

unsigned gm_host_parse_slot(const char *name)
{
	static const char *const names[] = {
#define SLOT_NAME(slot, group, caps, counted) #slot,
		GPUMEM_SLOT_LIST(SLOT_NAME)
#undef SLOT_NAME
	};

	if (!strcmp(name, "*"))
		return HOST_SLOT_ANY;
	for (unsigned i = 0; i < GPUMEM_SLOT_COUNT; i++)
		if (!strcmp(name, names[i]))
			return can_fail(i) ? i : HOST_SLOT_NONE;
	return HOST_SLOT_NONE;
}

bool gm_host_parse_list(const char *text, bool (*fn)(char *item, void *user),
			void *user)
{
	if (!*text)
		return true;
	for (;;) {
		size_t length = strcspn(text, ";");
		char item[ITEM_BYTES];

		if (!length || length >= sizeof(item))
			return false;
		memcpy(item, text, length);
		item[length] = '\0';
		if (!fn(item, user))
			return false;
		if (!text[length])
			return true;
		text += length + 1;
	}
}
