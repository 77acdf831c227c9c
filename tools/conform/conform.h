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

struct conform {
	const struct gpumem_backend *ops;
	struct gpumem_device_info info;
	int index, devices;
	void *device;  /* open */
	bool failing;  /* the last check failed */
	bool hopeless; /* what follows would use memory that is none */
	long run, failed, skipped;
};

/* ---- reporting, in TAP ---- */

/* Each gives true when the check passed. */
bool conform_ok(struct conform *c, bool passed, const char *format, ...)
	GPUMEM_PRINTF(3, 4);
bool conform_is(struct conform *c, gpumem_status got, gpumem_status wanted,
		const char *format, ...) GPUMEM_PRINTF(4, 5);
void conform_skip(struct conform *c, const char *name, const char *why);
void conform_note(const char *format, ...) GPUMEM_PRINTF(1, 2);
/* The plan; gives an exit code. */
int conform_end(const struct conform *c);

/* ---- helpers ---- */

/* Up to a multiple of the granularity. */
uint64_t conform_round(const struct conform *c, uint64_t bytes);
bool conform_has(const struct conform *c, enum gpumem_cap cap);
/* Waits for the stream, where there are streams. If that fails the program
 * ends: what the stream uses could not be given back. */
gpumem_status conform_sync(const struct conform *c, gpumem_stream stream);
/* Sets memory to `value` on the default stream and waits. OK without COPY. */
gpumem_status conform_paint(const struct conform *c, uint64_t address,
			    uint8_t value, uint64_t bytes);
/* OK if all bytes have that value, CORRUPT if not. OK without COPY. */
gpumem_status conform_verify(const struct conform *c, uint64_t address,
			     uint8_t value, uint64_t bytes);
/* The device's free memory. A failure is reported. */
uint64_t conform_free_bytes(struct conform *c);
/* Not 0, within 48 bits, aligned. */
bool conform_address_good(const struct conform *c, uint64_t address,
			  uint64_t bytes, uint64_t alignment);

/* ---- groups ---- */

void conform_table(struct conform *c);
void conform_devices(struct conform *c);
void conform_memory(struct conform *c);
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
void conform_peers(struct conform *c);
void conform_processes(struct conform *c);
void conform_share(struct conform *c);
void conform_objects(struct conform *c);
void conform_threads(struct conform *c);

#endif
