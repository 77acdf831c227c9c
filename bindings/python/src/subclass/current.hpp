/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which device is current in this thread, as PyTorch sees it: the question of
 * each allocation.
 *
 * CUDA's runtime answers it for one thread at a time: 65 ns, and 2.3 us where
 * sixteen threads ask (cudaGetDevice() of 13.0, driver 580, H200, 2026-11-30).
 * The driver takes 15 to 24 ns, and says the same, with one exception: PyTorch
 * puts it off to make a device current that has no context
 * (c10::cuda::MaybeSetDevice()), and knows that alone. So a thread asks the
 * driver from when on both have said the same while every device had a context
 * for good: then none is put off any more. No lock.
 */
#ifndef GPUMEM_PYTHON_SUBCLASS_CURRENT_HPP
#define GPUMEM_PYTHON_SUBCLASS_CURRENT_HPP

#include "names.hpp"

namespace gpumem_torch
{

/* Set before the first thread asks it. */
extern int (*driver_device)(int *number);
extern thread_local bool asks_driver
	__attribute__((tls_model("initial-exec")));

/* False: this thread asks the runtime. */
inline bool ask_driver(DeviceIndex &number_out)
{
	int number;

	if (C10_UNLIKELY(!asks_driver || driver_device(&number)))
		return false;
	number_out = DeviceIndex(number);
	return true;
}

/* all_open: each of the `count` devices has a context as long as the process
 * lives. Throws what the runtime says. */
DeviceIndex ask_runtime(bool all_open, int count);

} /* namespace gpumem_torch */

#endif
