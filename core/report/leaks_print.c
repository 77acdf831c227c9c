/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A report of leaks as text, as JSON and in a sentence. See leaks.h; no lock is
 * held. */
#include "leaks.h"
#include "base/print.h"

#include <stdio.h>
#include <string.h>

static const char *tag_of(const struct gm_leak *group)
{
	return group->tag ? gm_tag_path(group->tag) : "";
}

/* ---- JSON ---- */

static void json_frame(struct gm_print *print, const void *address)
{
	struct gm_frame frame;
	char offset[24];

	gm_frame_find(address, &frame);
	snprintf(offset, sizeof(offset), "%#llx",
		 (unsigned long long)frame.offset);
	gm_print_open(print, NULL, true);
	gm_print_text(print, "module", frame.module);
	gm_print_text(print, "offset", offset);
	if (frame.symbol)
		gm_print_text(print, "symbol", frame.symbol);
	gm_print_close(print);
}

static void json_group(struct gm_print *print, const struct gm_leak *group)
{
	gm_print_open(print, NULL, true);
	gm_print_text(print, "tag", tag_of(group));
	gm_print_number(print, "blocks", group->blocks, GM_PRINT_COUNT);
	gm_print_number(print, "bytes", group->bytes, GM_PRINT_BYTES);
	gm_print_number(print, "oldest_ns", group->oldest_ns, GM_PRINT_NS);
	gm_print_list(print, "frames");
	for (uint32_t i = 0; i < group->frame_count; i++)
		json_frame(print, group->frames[i]);
	gm_print_list_end(print);
	gm_print_close(print);
}

static void print_json(const struct gm_leaks *leaks,
		       void (*write)(const char *text, void *user), void *user)
{
	struct gm_print print;

	gm_print_begin(&print, true, write, user);
	gm_print_text(&print, "pool", leaks->pool);
	gm_print_text(&print, "device", leaks->device);
	gm_print_text(&print, "track", leaks->tracked ? "on" : "off");
	gm_print_number(&print, "since", leaks->since, GM_PRINT_COUNT);
	gm_print_number(&print, "until", leaks->until, GM_PRINT_COUNT);
	gm_print_number(&print, "blocks", leaks->blocks, GM_PRINT_COUNT);
	gm_print_number(&print, "bytes", leaks->bytes, GM_PRINT_BYTES);
	gm_print_number(&print, "live_blocks", leaks->live_blocks,
			GM_PRINT_COUNT);
	gm_print_number(&print, "live_bytes", leaks->live_bytes,
			GM_PRINT_BYTES);
	gm_print_number(&print, "unknown_blocks", leaks->unknown_blocks,
			GM_PRINT_COUNT);
	gm_print_list(&print, "groups");
	for (size_t i = 0; i < leaks->count; i++)
		json_group(&print, &leaks->group[i]);
	gm_print_list_end(&print);
	gm_print_end(&print);
}

/* ---- text ---- */

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void text_frame(const struct gm_lines *lines, const void *address)
{
	struct gm_frame frame;

	gm_frame_find(address, &frame);
	gm_print_line(
		lines, "    %s+%#llx%s%s%s", *frame.module ? frame.module : "?",
		(unsigned long long)frame.offset, frame.symbol ? " (" : "",
		frame.symbol ? frame.symbol : "", frame.symbol ? ")" : "");
}

static void text_group(const struct gm_lines *lines,
		       const struct gm_leak *group)
{
	char size[GM_PRINT_BYTES_TEXT], age[48] = "";

	if (group->oldest_ns)
		snprintf(age, sizeof(age), ", oldest %llu.%03llu s",
			 (unsigned long long)(group->oldest_ns / 1000000000),
			 (unsigned long long)(group->oldest_ns / 1000000 %
					      1000));
	gm_print_line(lines, "  %s in %llu block%s%s%s%s%s",
		      gm_print_bytes(size, group->bytes),
		      (unsigned long long)group->blocks, plural(group->blocks),
		      group->tag ? ", tag \"" : ", no tag", tag_of(group),
		      group->tag ? "\"" : "", age);
	for (uint32_t i = 0; i < group->frame_count; i++)
		text_frame(lines, group->frames[i]);
}

static void text_marks(const struct gm_lines *lines,
		       const struct gm_leaks *leaks)
{
	char size[GM_PRINT_BYTES_TEXT], until[40] = "";

	if (!leaks->since && !leaks->until)
		return;
	if (leaks->until)
		snprintf(until, sizeof(until), " until mark %llu",
			 (unsigned long long)leaks->until);
	gm_print_line(lines, "since mark %llu%s: %s in %llu block%s",
		      (unsigned long long)leaks->since, until,
		      gm_print_bytes(size, leaks->bytes),
		      (unsigned long long)leaks->blocks, plural(leaks->blocks));
}

static void print_text(const struct gm_leaks *leaks,
		       void (*write)(const char *text, void *user), void *user)
{
	const struct gm_lines lines = {write, user};
	char size[GM_PRINT_BYTES_TEXT];

	gm_print_line(&lines, "pool \"%s\" on %s: %s in %llu live block%s",
		      leaks->pool, leaks->device,
		      gm_print_bytes(size, leaks->live_bytes),
		      (unsigned long long)leaks->live_blocks,
		      plural(leaks->live_blocks));
	if (!leaks->tracked)
		gm_print_line(&lines,
			      "not tracked: option \"track\" adds ages and "
			      "places");
	else if (leaks->unknown_blocks)
		gm_print_line(
			&lines,
			"without age and place: %llu block%s, allocated before "
			"tracking began",
			(unsigned long long)leaks->unknown_blocks,
			plural(leaks->unknown_blocks));
	text_marks(&lines, leaks);
	for (size_t i = 0; i < leaks->count; i++)
		text_group(&lines, &leaks->group[i]);
}

void gm_leaks_print(const struct gm_leaks *leaks, bool json,
		    void (*write)(const char *text, void *user), void *user)
{
	if (json)
		print_json(leaks, write, user);
	else
		print_text(leaks, write, user);
}

/* ---- a sentence ---- */

enum { TOLD_MAX = 3 };

/* "2097152 in 2 blocks of "model" from server+0x1234 (load)" */
static void describe(const struct gm_leak *group, char *text, size_t bytes)
{
	struct gm_frame frame = {.symbol = NULL};
	char place[512] = "";
	const char *name;

	if (group->frame_count) {
		gm_frame_find(group->frames[0], &frame);
		name = strrchr(frame.module, '/');
		snprintf(place, sizeof(place), " from %.127s+%#llx%s%.255s%s",
			 name ? name + 1 : "?",
			 (unsigned long long)frame.offset,
			 frame.symbol ? " (" : "",
			 frame.symbol ? frame.symbol : "",
			 frame.symbol ? ")" : "");
	}
	snprintf(text, bytes, "%llu in %llu block%s%s%s%s%s",
		 (unsigned long long)group->bytes,
		 (unsigned long long)group->blocks, plural(group->blocks),
		 group->tag ? " of \"" : "", tag_of(group),
		 group->tag ? "\"" : "", place);
}

void gm_leaks_tell(const struct gm_leaks *leaks, char *text, size_t bytes)
{
	char one[GM_TAG_PATH_BYTES + 600];
	size_t used = 0;

	for (size_t i = 0; i <= TOLD_MAX && i < leaks->count; i++) {
		int written;

		if (i < TOLD_MAX)
			describe(&leaks->group[i], one, sizeof(one));
		else
			snprintf(one, sizeof(one), "and others");
		written = snprintf(text + used, bytes - used, "%s%s",
				   i ? ", " : ": ", one);
		if (written < 0 || (size_t)written >= bytes - used) {
			text[used] = '\0';
			return;
		}
		used += (size_t)written;
	}
}
