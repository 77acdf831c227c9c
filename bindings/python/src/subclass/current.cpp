/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The current device of a thread; see current.hpp. */
#include "current.hpp"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <dlfcn.h>

#include <mutex>

namespace gpumem_torch
{

int (*driver_device)(int *number);
thread_local bool asks_driver;

template <typename function> static function driver(const char *name)
{
	/* Is in use, and stays. */
	static void *library = dlopen("libcuda.so.1", RTLD_NOW);

	return library ? reinterpret_cast<function>(dlsym(library, name))
		       : nullptr;
}

/* That of the driver, where its numbers are the runtime's. Before CUDA 12 a
 * device that was made current could be so for the runtime alone. */
static int (*find_driver(int count))(int *number)
{
	auto get = driver<int (*)(int *, int)>("cuDeviceGet");
	auto found = driver<int (*)(int *)>("cuCtxGetDevice");

	for (int i = 0; get && i < count; i++) {
		int device = -1;

		if (get(&device, i) || device != i)
			return nullptr;
	}
	return get && CUDART_VERSION >= 12000 ? found : nullptr;
}

DeviceIndex ask_runtime(bool all_open, int count)
{
	static std::once_flag found;
	DeviceIndex number = 0;
	int same = -1;

	/* Not current_device(), which also asks each time whether an assertion
	 * in a kernel has failed. */
	cudaError_t error = c10::cuda::GetDevice(&number);
	if (C10_UNLIKELY(error != cudaSuccess))
		C10_CUDA_CHECK(error);
	if (!all_open)
		return number;
	std::call_once(found, [&] { driver_device = find_driver(count); });
	asks_driver =
		driver_device && !driver_device(&same) && same == number;
	return number;
}

} /* namespace gpumem_torch */
