/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The groups of gpumem_pool_print_leaks(), read from its JSON, and its text:
 * for the tests of what they say. Only the main thread calls it.
 */
#ifndef LIB_LEAKS_H
#define LIB_LEAKS_H

#include "json.h"

struct group {
	char tag[256], module[1024], offset[32]; /* of the innermost frame */
	ull blocks, bytes, oldest_ns;
	unsigned frames;
};

static struct {
	char text[1 << 20];
	size_t used;
	ull blocks, bytes, live_blocks, live_bytes, unknown_blocks;
	struct group group[512];
	unsigned count;
} leaks;

LIB_USE void leaks_write(const char *text, void *user)
{
	size_t length = strlen(text);

	if (user != &leaks || leaks.used + length >= sizeof(leaks.text))
		bail("a report of %zu bytes", leaks.used + length);
	memcpy(leaks.text + leaks.used, text, length + 1);
	leaks.used += length;
}

static void leaks_group(const char *at)
{
	const char *end = strstr(at, "]}");
	struct group *group = &leaks.group[leaks.count++];

	if (!end || leaks.count == sizeof(leaks.group) / sizeof(*group))
		bail("not a report: %s", at);
	*group = (struct group){.blocks = json_number(at, "blocks"),
				.bytes = json_number(at, "bytes"),
				.oldest_ns = json_number(at, "oldest_ns")};
	json_member(at, "tag", group->tag, sizeof(group->tag));
	for (at = strstr(at, "{\"module\": "); at && at < end;
	     at = strstr(at + 1, "{\"module\": ")) {
		if (group->frames++)
			continue;
		json_member(at, "module", group->module, sizeof(group->module));
		json_member(at, "offset", group->offset, sizeof(group->offset));
	}
}

LIB_USE void leaks_read(gpumem_pool *from, uint64_t since, uint64_t until)
{
	const char *at;

	leaks.used = leaks.count = 0;
	must(gpumem_pool_print_leaks(from, since, until, GPUMEM_PRINT_JSON,
				     leaks_write, &leaks));
	leaks.blocks = json_number(leaks.text, "blocks");
	leaks.bytes = json_number(leaks.text, "bytes");
	leaks.live_blocks = json_number(leaks.text, "live_blocks");
	leaks.live_bytes = json_number(leaks.text, "live_bytes");
	leaks.unknown_blocks = json_number(leaks.text, "unknown_blocks");
	for (at = leaks.text; (at = strstr(at, "{\"tag\": ")); at++)
		leaks_group(at);
}

LIB_USE void leaks_text(gpumem_pool *from, uint64_t since, uint64_t until)
{
	leaks.used = 0;
	must(gpumem_pool_print_leaks(from, since, until, 0, leaks_write,
				     &leaks));
}

#endif
