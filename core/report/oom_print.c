/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * An allocation that failed as one line of JSON. What stands first takes no
 * host memory: the request, the advice and the pool's figures. See oom.h.
 */
#include "oom.h"
#include "table.h"
#include "base/error.h"
#include "base/name.h"
#include "base/status.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { TAGS_MAX = 8, PINS_MAX = 8 };

static void print_address(struct gm_print *print, const char *key,
			  uintptr_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "%#llx", (unsigned long long)address);
	gm_print_text(print, key, text);
}

static void print_bytes(struct gm_print *print, const char *key, uint64_t bytes)
{
	gm_print_number(print, key, bytes, GM_PRINT_BYTES);
}

static void print_tag(struct gm_print *print, uint32_t tag)
{
	gm_print_text(print, "tag", tag ? gm_tag_path(tag) : "");
}

static void print_moment(struct gm_print *print, const struct gm_oom *oom)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	gm_print_number(print, "real_ns",
			(uint64_t)now.tv_sec * 1000000000u +
				(uint64_t)now.tv_nsec,
			GM_PRINT_COUNT);
	gm_print_number(print, "pid", (uint64_t)getpid(), GM_PRINT_COUNT);
	gm_print_text(print, "device", oom->pool->device->info.name);
	gm_print_text(print, "pool", oom->pool->name);
	gm_print_text(print, "kind", gm_kind_name(oom->pool->heap.driver.kind));
	gm_print_text(print, "status", gm_status_name(oom->status));
}

static void print_request(struct gm_print *print, const struct gm_oom *oom)
{
	static const struct {
		const char *key;
		uint32_t flag;
	} flags[] = {{"no_wait", GPUMEM_ALLOC_NO_WAIT},
		     {"no_grow", GPUMEM_ALLOC_NO_GROW}};
	const struct gm_request *request = oom->request;

	gm_print_open(print, "request", true);
	print_bytes(print, "bytes", request->bytes);
	print_bytes(print, "alignment", request->alignment);
	print_bytes(print, "need_bytes", oom->need_bytes);
	print_address(print, "stream", (uintptr_t)request->stream);
	print_tag(print, request->tag);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		gm_print_number(print, flags[i].key,
				(request->flags & flags[i].flag) != 0,
				GM_PRINT_COUNT);
	gm_print_close(print);
}

static void print_others(struct gm_print *print, const struct gm_oom *oom)
{
	gm_print_open(print, "others", true);
	print_bytes(print, "free_bytes", oom->others_bytes);
	gm_print_text(print, "pool", oom->others_most);
	gm_print_close(print);
}

static void print_tag_limit(struct gm_print *print,
			    const struct gm_tag_over *over)
{
	gm_print_open(print, "tag_limit", true);
	print_tag(print, over->tag);
	print_bytes(print, "held_bytes", over->held_bytes);
	print_bytes(print, "limit_bytes", over->limit_bytes);
	gm_print_close(print);
}

static void print_advice(struct gm_print *print, const struct gm_oom *oom,
			 uint64_t fits_bytes)
{
	char buffer[GM_PRINT_TEXT_BYTES];
	struct gm_text text = {buffer, sizeof(buffer)};

	gm_oom_say_advice(oom, &text);
	gm_print_text(print, "advice", gm_advice_name(oom->advice));
	gm_print_text(print, "advice_text", buffer);
	print_bytes(print, "fits_bytes", fits_bytes);
	if (oom->advice == GPUMEM_ADVICE_POOLS)
		print_others(print, oom);
	if (oom->advice == GPUMEM_ADVICE_TAG_LIMIT)
		print_tag_limit(print, oom->request->over);
}

static void print_memory(struct gm_print *print, const struct gm_oom *oom)
{
	const struct gpumem_memory *memory = &oom->memory;

	gm_print_open(print, "memory", true);
	print_bytes(print, "total_bytes", memory->total_bytes);
	if (oom->pool->device->limit_bytes != UINT64_MAX)
		print_bytes(print, "limit_bytes",
			    oom->pool->device->limit_bytes);
	if (oom->known) {
		print_bytes(print, "free_bytes", memory->free_bytes);
		print_bytes(print, "reserved_bytes", memory->reserved_bytes);
		print_bytes(print, "outside_bytes", memory->outside_bytes);
	}
	gm_print_close(print);
}

static void print_tags(struct gm_print *print, const struct gm_oom *oom)
{
	struct gm_top_tag top[TAGS_MAX];

	gm_pool_top_tags(oom->pool, top, TAGS_MAX);
	gm_print_list(print, "tags");
	for (unsigned i = 0; i < TAGS_MAX && top[i].bytes; i++) {
		gm_print_open(print, NULL, true);
		print_tag(print, top[i].tag);
		print_bytes(print, "bytes", top[i].bytes);
		gm_print_close(print);
	}
	gm_print_list_end(print);
}

static void print_pins(struct gm_print *print, const struct gm_oom *oom)
{
	struct gm_pin pin[PINS_MAX];
	unsigned count = gm_pins_find(oom->pool, pin, PINS_MAX);

	gm_print_list(print, "pins");
	for (unsigned i = 0; i < count; i++) {
		gm_print_open(print, NULL, true);
		print_address(print, "ptr", pin[i].ptr);
		print_bytes(print, "bytes", pin[i].bytes);
		print_tag(print, pin[i].tag);
		gm_print_number(print, "blocks", pin[i].blocks, GM_PRINT_COUNT);
		print_bytes(print, "free_bytes", pin[i].free_bytes);
		print_bytes(print, "unit_bytes", pin[i].unit_bytes);
		gm_print_close(print);
	}
	gm_print_list_end(print);
}

/* Left out where the driver does not answer. */
static gpumem_status print_table(struct gm_print *print,
				 const struct gm_oom *oom)
{
	struct gpumem_device *device = oom->pool->device;
	struct gm_processes processes = {0};
	struct gm_table table = {0};
	gpumem_status status = gm_table_make(&table, &processes, device);

	if (status == GPUMEM_OK) {
		gm_print_open(print, "table", false);
		gm_table_print_json(&table, &processes, device, print);
		gm_print_close(print);
	}
	gm_table_end(&table, &processes);
	return status == GPUMEM_NO_HOST_MEMORY ? status : GPUMEM_OK;
}

gpumem_status gm_oom_print(const struct gm_oom *oom, uint64_t fits_bytes,
			   const char *text, bool all,
			   void (*write)(const char *text, void *user),
			   void *user)
{
	gpumem_status status = GPUMEM_OK;
	struct gm_print print;

	gm_print_begin(&print, true, write, user);
	print_moment(&print, oom);
	print_request(&print, oom);
	print_advice(&print, oom, fits_bytes);
	print_memory(&print, oom);
	gm_print_open(&print, "stats", false);
	gm_stats_print(&print, &oom->stats);
	gm_print_close(&print);
	gm_print_text(&print, "text", text);
	if (all) {
		print_tags(&print, oom);
		print_pins(&print, oom);
		status = print_table(&print, oom);
	}
	gm_print_end(&print);
	return status;
}
