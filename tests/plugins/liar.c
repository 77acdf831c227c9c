/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A plugin that breaks one promise of backend.h: the one of lies.h that LIE
 * names in the environment. Without it, it is honest. It is the host backend,
 * compiled into it, with one slot exchanged, and those that the lie needs
 * beside it. What the lies remember is only used by one thread.
 */
#include "liar.h"
#include "liar_address.h"
#include "liar_memory.h"
#include "liar_more.h"
#include "liar_stream.h"
#include "liar_virtual.h"
#include "lies.h"

#include <pthread.h>

static struct gpumem_backend table;

/* What looks like a lie and is none. */
static void allow(const char *manner)
{
	if (!strcmp(manner, "maps-over"))
		table.map = maps_over;
	if (strcmp(manner, "claims") != 0)
		return;
	table.device_info = claims_all;
	table.capture_id = NULL;
	table.kind_alloc = NULL;
	table.kind_free = NULL;
	table.peer_query = NULL;
	table.peer_enable = NULL;
	table.map_peers = NULL;
	table.open_mapped = NULL;
	table.event_wait = NULL;
	table.host_pin = NULL;
	table.host_unpin = NULL;
	table.ipc_export = NULL;
	table.ipc_open = NULL;
	table.ipc_close = NULL;
	table.page_create_shared = NULL;
	table.page_export = NULL;
	table.page_import = NULL;
	table.object_of = NULL;
	table.view_create = NULL;
	table.view_destroy = NULL;
}

static void tell(const char *lie)
{
#define TELL(name, slot, function)                                             \
	if (!strcmp(lie, name))                                                \
		table.slot = function;
	LIES(TELL)
	/* What makes them good lies. */
	TELL("late", alloc, commits_at_once)
	TELL("address", free, strip_free)
	TELL("overlap", free, frees_some)
	TELL("overlap-half", free, frees_some)
	TELL("repeat", free, frees_some)
	TELL("zero", free, forgets_free)
	TELL("odd", free, forgets_free)
	TELL("unset", free, forgets_free)
	TELL("reserve-odd", va_release, any_release)
	TELL("reserve-unset", va_release, any_release)
	TELL("reserve-zero", va_release, any_release)
	TELL("reserve-above", va_release, any_release)
	TELL("reserve-again", va_release, any_release)
	TELL("excuse", event_record, records)
	TELL("event-again", event_destroy, event_stays)
	TELL("kind", fill, fills_device_only)
	TELL("kind", kind_free, kind_forgets)
	TELL("kind-absent", kind_free, kind_unfree)
	TELL("sync", stream_wait, late_wait)
	TELL("order", event_sync, late_event_sync)
#undef TELL
	if (!strcmp(lie, "sync") || !strcmp(lie, "order")) {
		table.fill = late_fill;
		table.copy = late_copy;
		table.event_record = late_record;
		table.stream_sync = late_sync;
	}
}

GPUMEM_API const struct gpumem_backend *gpumem_plugin(void);

const struct gpumem_backend *gpumem_plugin(void)
{
	const char *lie = getenv("LIE");

	table = *honest();
	table.name = "liar";
	table.options = NULL;
	table.init = init;
	if (lie && !strcmp(lie, "load"))
		abort();
	if (lie && !strcmp(lie, "cancel")) /* no lie: as a read() does */
		pthread_testcancel();
	tell(lie ? lie : "");
	allow(lie ? lie : "");
	return &table;
}
