/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the trials of virtual memory share (hip_trial.c): each takes a little
 * memory when a device is opened, before anything stands on it, uses it as a
 * pool would, and gives it back. Keeps nothing; no lock.
 */
#ifndef GM_HIP_TRIAL_H
#define GM_HIP_TRIAL_H

#include "plugin.h"

enum { HIP_TRIAL_PAGES = 2 };

/* Addresses of two places, each for a page. */
struct hip_trial {
	struct gpu_device *device;
	uint64_t bytes; /* of a page */
	bool sysfs;	/* knows the device */
	bool reserved;	/* the addresses, apart from memory */
	uint64_t address;
	gpumem_page pages[HIP_TRIAL_PAGES];
	size_t created;
	bool mapped[HIP_TRIAL_PAGES]; /* something is, at that place */
};

/* The parts of a trial; each gives NULL, or what did not work. The second is
 * left out when the first fails, the third never: it gives back as much as
 * there is. */
struct hip_trial_steps {
	const char *(*take)(struct hip_trial *trial);
	const char *(*use)(struct hip_trial *trial);
	const char *(*give)(struct hip_trial *trial);
};

/* Bytes that were read; of what each is, the work says. */
struct hip_trial_found {
	unsigned char byte[HIP_TRIAL_PAGES];
};

/* Queues what it does. */
typedef gpumem_status hip_trial_work(const struct hip_trial *trial,
				     gpumem_stream stream,
				     struct hip_trial_found *found);

extern const char gm_hip_addresses_stay[];

/* The parts, the addresses, and whether the memory came back. NULL, or what did
 * not work first. */
const char *gm_hip_try(struct gpu_device *device,
		       const struct hip_trial_steps *steps);

/* Addresses for both places, if there are none yet, and so many pages. */
const char *gm_hip_trial_create(struct hip_trial *trial, size_t pages);
/* All pages at all places, in this order. */
const char *gm_hip_trial_map(struct hip_trial *trial);
/* All that is mapped goes, but no page. */
const char *gm_hip_trial_unmap(struct hip_trial *trial);
/* All that is mapped and created goes, but no addresses. */
const char *gm_hip_trial_give(struct hip_trial *trial);

/* Does the work on a stream of its own, and waits for it: what was read has to
 * be `wanted`. NULL, or what did not work, `fault` if it was the work. */
const char *gm_hip_trial_do(const struct hip_trial *trial, hip_trial_work *work,
			    const struct hip_trial_found *wanted,
			    const char *fault);
static inline uint64_t gm_hip_trial_place(const struct hip_trial *trial,
					  size_t place)
{
	return trial->address + place * trial->bytes;
}

#endif
