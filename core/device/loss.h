/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The end of a device. Often the query of a pending block's event detects it
 * first, and the program learns of it from a later call that does not reach the
 * driver: so the first error is kept with the device, and every later sentence
 * has it.
 *
 *     device->lost  =>  device->loss is written, and never again
 */
#ifndef GM_DEVICE_LOSS_H
#define GM_DEVICE_LOSS_H

#include "device.h"

/* The thread's last error says that the device is lost. True: it is the first
 * that does. */
bool gm_device_lose(struct gpumem_device *device);

/* Of a lost device: "NAME: SENTENCE: what said so first", with its native
 * error, is the thread's last error; returns LOST. */
gpumem_status gm_fail_lost(const struct gpumem_device *device,
			   const char *sentence);

#endif
