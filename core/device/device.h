/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * An open device: a backend's table, the backend's handle, what the device can
 * do, and which pools stand on it. Opening the same device twice gives the same
 * object. One mutex guards the list of open devices and their counts; each
 * device has one for its list of pools.
 */
#ifndef GM_DEVICE_DEVICE_H
#define GM_DEVICE_DEVICE_H

#include "gate.h"
#include <gpumem/backend.h>
#include <pthread.h>
#include <stdatomic.h>

/* What needs a device beside who opened it. */
enum gm_hold {
	GM_HOLD_POOL, /* one of its own but the default one, or with it as a
			 peer */
	GM_HOLD_IMPORT,
	GM_HOLD_EVENT, /* of the program */
	GM_HOLD_VISIT, /* by gm_device_next() */
	GM_HOLD_COUNT
};

/* The link by which a pool hangs on its device; a pool embeds it. */
struct gm_device_link {
	struct gm_device_link *next, *prev;
};

struct gpumem_device {
	const struct gpumem_backend *ops; /* all slots; NULL: unsupported */
	void *handle;			  /* the backend's */
	struct gm_gate *gate;		  /* constant: before its driver */
	int index;
	/* Under the registry's mutex. It is closed when all are 0. */
	int opens; /* the program's */
	int holds[GM_HOLD_COUNT];
	struct gpumem_device_info info;
	uint64_t raw_alignment;	  /* of what the backend allocates; blocks
				     have info.alignment_bytes */
	_Atomic bool lost;	  /* some call said LOST; never undone */
	struct gpumem_error loss; /* how that call said it: loss.h */
	_Atomic uint64_t reserved_bytes; /* by all pools of device memory */
	_Atomic uint64_t claimed_bytes;	 /* see claim.h */
	uint64_t limit_bytes;	     /* constant: of that; UINT64_MAX: none */
	pthread_mutex_t mutex;	     /* guards the following */
	struct gm_device_link pools; /* head of a ring */
	struct gpumem_pool *default_pool;
	pthread_cond_t unvisited;   /* a pool has no visitors any more */
	struct gpumem_device *next; /* in the registry */
};

static inline bool gm_device_has(const struct gpumem_device *device,
				 enum gpumem_cap cap)
{
	return (device->info.caps & (uint32_t)cap) != 0;
}

/* See gpumem_device_open(). The count of opens is raised. */
gpumem_status gm_device_open(const char *name,
			     struct gpumem_device **device_out);
/* The same of the backend's device that works in the program's own context,
 * which the backend is told of. UNSUPPORTED: it cannot. */
gpumem_status gm_device_adopt(const char *backend, void *context,
			      void *native_device,
			      struct gpumem_device **device_out);
/* Undoes one open; true when nothing is left, and then the device is closed and
 * freed. */
bool gm_device_release(struct gpumem_device *device);
/* The same, but not of the last open: then false, and nothing is done. */
bool gm_device_release_other(struct gpumem_device *device);

/* Keeps it open, beyond the program's last close; and no more, which may close
 * it. */
void gm_device_hold(struct gpumem_device *device, enum gm_hold hold);
void gm_device_drop(struct gpumem_device *device, enum gm_hold hold);
/* A device that is open; after one, the next, and that one's hold ends. It is
 * held meanwhile. NULL: there is none, or none any more. Those that are opened
 * during a visit of all may be left out. */
struct gpumem_device *gm_device_next(struct gpumem_device *after);
/* How many of the kind there are. */
int gm_device_holds(struct gpumem_device *device, enum gm_hold hold);

gpumem_status gm_device_visit(const char *backend,
			      bool (*fn)(const struct gpumem_device_info *info,
					 void *user),
			      void *user);

#endif
