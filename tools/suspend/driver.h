/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * NVIDIA's driver, as far as it takes a process from its devices and puts it
 * back: the cuCheckpoint calls. They are about any process of the same user and
 * make no context in this one. Each call but the first fails with a sentence
 * for people in `why`. No locks: for one thread.
 */
#ifndef GPUMEM_TOOLS_SUSPEND_DRIVER_H
#define GPUMEM_TOOLS_SUSPEND_DRIVER_H

#include <stdbool.h>
#include <sys/types.h>

/* The driver's numbers. Those from CHECKPOINTING on came with CUDA 13.4. */
enum driver_state {
	DRIVER_RUNNING,
	DRIVER_LOCKED,	     /* its next call of the driver waits */
	DRIVER_CHECKPOINTED, /* what it had of the devices is in the host's
				memory */
	DRIVER_FAILED,	     /* and can only be ended */
	DRIVER_CHECKPOINTING,
	DRIVER_RESTORING
};

enum { DRIVER_WHY = 256 };

/* To be called first. False, and told: there is none, or it has no such calls.
 */
bool driver_load(void);

/* False where it does not use the driver, too. */
bool driver_state(pid_t pid, enum driver_state *state_out,
		  char why[DRIVER_WHY]);

/* RUNNING to LOCKED, once its work on the devices is over; false when it is not
 * after so many milliseconds (0: for ever), and then it goes on. */
bool driver_lock(pid_t pid, unsigned timeout_ms, char why[DRIVER_WHY]);
/* LOCKED to CHECKPOINTED. */
bool driver_checkpoint(pid_t pid, char why[DRIVER_WHY]);
/* CHECKPOINTED to LOCKED. */
bool driver_restore(pid_t pid, char why[DRIVER_WHY]);
/* LOCKED to RUNNING. */
bool driver_unlock(pid_t pid, char why[DRIVER_WHY]);

#endif
