/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Open addressing; what follows an entry that goes moves up. See track.h. */
#include "track.h"
#include "clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST_ROOM = 256 };

static _Atomic uint64_t next_serial = 1;

uint64_t gm_track_mark(void)
{
	return atomic_load(&next_serial);
}

uint64_t gm_track_now(void)
{
	return gm_clock_ns();
}

/* The library refuses every call in a forked child, which has other numbers. */
static uint32_t thread_number(void)
{
	static __attribute__((
		tls_model("initial-exec"))) _Thread_local uint32_t number;

	if (!number)
		number = (uint32_t)syscall(SYS_gettid);
	return number;
}

static size_t home(const struct gm_track *track, uintptr_t address)
{
	uint64_t product = (uint64_t)address * 0x9e3779b97f4a7c15u;

	return (product >> 32) & (track->room - 1);
}

/* Where the address is, or would be put. */
static size_t place_of(const struct gm_track *track, uintptr_t address)
{
	size_t at = home(track, address);

	while (track->entry[at].address && track->entry[at].address != address)
		at = (at + 1) & (track->room - 1);
	return at;
}

static bool make_room(struct gm_track *track)
{
	struct gm_track larger = {.room = track->room ? track->room * 2
						      : FIRST_ROOM,
				  .used = track->used,
				  .missed = track->missed};

	if (track->used < track->room / 4 * 3)
		return true;
	larger.entry = calloc(larger.room, sizeof(*larger.entry));
	if (!larger.entry)
		return false;
	for (size_t i = 0; i < track->room; i++) {
		const struct gm_track_entry *entry = &track->entry[i];

		if (entry->address)
			larger.entry[place_of(&larger, entry->address)] =
				*entry;
	}
	free(track->entry);
	*track = larger;
	return true;
}

void gm_track_add(struct gm_track *track, uintptr_t address,
		  const struct gm_stack *stack)
{
	/* Also of what is missed: a mark stands between two allocations. */
	uint64_t serial = atomic_fetch_add(&next_serial, 1);

	if (!make_room(track)) {
		track->missed++;
		return;
	}
	track->used++;
	track->entry[place_of(track, address)] =
		(struct gm_track_entry){.address = address,
					.serial = serial,
					.time_ns = gm_track_now(),
					.stack = stack,
					.thread = thread_number()};
}

void gm_track_remove(struct gm_track *track, uintptr_t address)
{
	size_t mask = track->room - 1, hole, at;

	if (!track->used)
		return;
	hole = place_of(track, address);
	if (!track->entry[hole].address)
		return;
	for (at = (hole + 1) & mask; track->entry[at].address;
	     at = (at + 1) & mask) {
		size_t from = home(track, track->entry[at].address);

		/* It can be found at the hole, too. */
		if (((at - from) & mask) >= ((at - hole) & mask)) {
			track->entry[hole] = track->entry[at];
			hole = at;
		}
	}
	track->entry[hole].address = 0;
	track->used--;
}

const struct gm_track_entry *gm_track_find(const struct gm_track *track,
					   uintptr_t address)
{
	const struct gm_track_entry *entry;

	if (!track->used)
		return NULL;
	entry = &track->entry[place_of(track, address)];
	return entry->address ? entry : NULL;
}

void gm_track_fini(struct gm_track *track)
{
	free(track->entry);
	*track = (struct gm_track){0};
}
