/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of gpumem-conform: what backend.h promises, tried on one device.
 *
 * A group of checks leaves nothing behind, even when one of them fails, unless
 * it is the giving back that fails. Only the main thread reports.
 */
#ifndef GPUMEM_TOOLS_CONFORM_H
#define GPUMEM_TOOLS_CONFORM_H

#include <gpumem/backend.h>
#include <stdio.h>

struct conform {
	const struct gpumem_backend *ops;
	struct gpumem_device_info info;
	int index, devices;
	void *device;	       /* open */
	uint64_t budget_bytes; /* of raw memory or pages, for one check */
	bool one_thread;       /* nothing is done by several at once */
	bool failing;	       /* the last check failed */
	bool hopeless;	       /* what follows would use memory that is none */
	long run, failed, skipped;
};

/* ---- reporting, in TAP ---- */

/* Where to; standard output is the plugin's, and nothing may come there. Before
 * the first report. */
void conform_report_to(FILE *out);
/* Each gives true when the check passed. */
bool conform_ok(struct conform *c, bool passed, const char *format, ...)
	GPUMEM_PRINTF(3, 4);
bool conform_is(struct conform *c, gpumem_status got, gpumem_status wanted,
		const char *format, ...) GPUMEM_PRINTF(4, 5);
void conform_skip(struct conform *c, const char *name, const char *why);
void conform_note(const char *format, ...) GPUMEM_PRINTF(1, 2);
/* Nothing can be tried, and that is no failure. */
void conform_skip_all(const char *format, ...) GPUMEM_PRINTF(1, 2);
/* Nothing more can be tried: why, in a sentence. */
void conform_bail(const char *format, ...) GPUMEM_PRINTF(1, 2);
/* A rule that holds for every call was broken by one; any thread. */
void conform_broken(struct conform *c, const char *format, ...)
	GPUMEM_PRINTF(2, 3);
/* The plan; gives an exit code. */
int conform_end(const struct conform *c);

/* ---- the process under test: apart.c ---- */

/* Runs `run` in a process of its own and gives its exit code. One that does not
 * come to its end within `seconds` is ended; then, or when it is killed or ends
 * itself, the slots that were being called are named and the result is a
 * failure. What is written to its standard output and error is not shown: it is
 * what a plugin prints. */
int conform_apart(int (*run)(void *user), void *user, unsigned seconds);
/* In it: what this thread begins, to be named if it does not come back. NULL:
 * it came back. */
void conform_calls(const char *slot);
/* In it: it came to its end, whatever its exit code. */
void conform_ends(void);
/* In it: how many results there are. */
void conform_count(long run);
/* In it: bytes that were printed by others so far. */
uint64_t conform_printed_bytes(void);

/* ---- the rules of every call: watch.c, watch_slots.c, live.c ---- */

/* The table whose slots call those of `ops` and look whether rules are kept
 * that hold for all of them; a call that breaks one so that its output cannot
 * be used returns DRIVER. */
const struct gpumem_backend *conform_watch(struct conform *c,
					   const struct gpumem_backend *ops);
/* A line for each rule that nobody has broken. */
void conform_watched(struct conform *c);

/* ---- the slots: slots.c ---- */

struct conform_slot {
	const char *name, *group;
	uint32_t caps; /* that go with it; 0: none is needed */
};

extern const struct conform_slot conform_slots[GPUMEM_SLOT_COUNT];

bool conform_slot_is_there(const struct gpumem_backend *ops,
			   enum gpumem_slot slot);
/* The capabilities whose slots the table has. */
uint32_t conform_usable_caps(const struct gpumem_backend *ops);
/* A check calls it; any thread. */
void conform_slot_called(enum gpumem_slot slot);
/* A line that names the slots that the device has and no check has called. */
void conform_covered(struct conform *c);

/* ---- helpers ---- */

/* Up to a multiple of the granularity. */
uint64_t conform_round(const struct conform *c, uint64_t bytes);
bool conform_has(const struct conform *c, enum gpumem_cap cap);
/* Waits for the stream, where there are streams. If that fails the program
 * ends: what the stream uses could not be given back. */
gpumem_status conform_sync(const struct conform *c, gpumem_stream stream);
/* Sets memory to `value` on the default stream and waits: all of it, or both
 * ends of what is large. OK without COPY. */
gpumem_status conform_paint(const struct conform *c, uint64_t address,
			    uint8_t value, uint64_t bytes);
/* OK if all those bytes have that value, CORRUPT if not. OK without COPY. */
gpumem_status conform_verify(const struct conform *c, uint64_t address,
			     uint8_t value, uint64_t bytes);
/* The device's free memory. A failure is reported. */
uint64_t conform_free_bytes(struct conform *c);
/* At most `bytes`, rounded up to the granularity, as one raw allocation. */
uint64_t conform_raw(const struct conform *c, uint64_t bytes);
/* Whether the host can read the byte there, and which it is; no access that
 * could end the process. */
bool conform_host_reads(uint64_t address, uint8_t *value_out);

/* ---- groups ---- */

void conform_table(struct conform *c);
void conform_devices(struct conform *c);
void conform_memory(struct conform *c);
void conform_given_back(struct conform *c);
void conform_capacity(struct conform *c);
void conform_streams(struct conform *c);
void conform_order(struct conform *c);
void conform_virtual(struct conform *c);
void conform_mapping(struct conform *c);
void conform_copy(struct conform *c);
void conform_capture(struct conform *c);
void conform_kinds(struct conform *c);
/* Uses each kind once: what a driver then sets up for itself, it keeps. Says
 * nothing; conform_kinds() does. */
void conform_kinds_warm(const struct conform *c);
void conform_pin(struct conform *c);
void conform_peers(struct conform *c);
void conform_processes(struct conform *c);
void conform_share(struct conform *c);
void conform_objects(struct conform *c);
void conform_threads(struct conform *c);

#endif
