// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The gpumem developers

// What a pair of allocation and free costs on a real NVIDIA GPU, warm: the
// pool, cuMemAlloc, cuMemAllocAsync and, with WITH_TORCH, PyTorch's native
// allocator called from C++. All in one process, by turns; medians of rounds.
// Built and run by tests/device/run.sh.
#include <cuda.h>
#include <gpumem/gpumem.h>
#ifdef WITH_TORCH
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{

constexpr size_t KIB = 1024, MIB = 1024 * KIB;
constexpr int ROUNDS = 7;

[[noreturn]] void die(const char *what)
{
	std::fprintf(stderr, "peers: %s\n", what);
	std::exit(1);
}

double median(std::vector<double> values)
{
	std::sort(values.begin(), values.end());
	return values[values.size() / 2];
}

double now_ns()
{
	return std::chrono::duration<double, std::nano>(
		       std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

template <typename Peer> double hot(size_t bytes)
{
	const long pairs = 1000000 / Peer::slow;
	double start = now_ns();

	for (long i = 0; i < pairs; i++)
		Peer::put(Peer::get(bytes));
	return (now_ns() - start) / static_cast<double>(pairs);
}

// The same sizes for every peer: uniform in their logarithm.
template <typename Peer> class Mix
{
      public:
	Mix(size_t live, size_t most) : block(live), most(most)
	{
		for (void *&ptr : block)
			ptr = Peer::get(size());
	}
	~Mix()
	{
		for (void *ptr : block)
			Peer::put(ptr);
	}
	double run(long pairs)
	{
		double start = now_ns();

		for (long i = 0; i < pairs; i++) {
			void *&ptr = block[next() % block.size()];

			Peer::put(ptr);
			ptr = Peer::get(size());
		}
		return (now_ns() - start) / static_cast<double>(pairs);
	}

      private:
	uint64_t next()
	{
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		return state;
	}
	size_t size()
	{
		double u = static_cast<double>(next() >> 11) * 0x1p-53;

		return static_cast<size_t>(
			512.0 * std::pow(static_cast<double>(most) / 512.0, u));
	}
	std::vector<void *> block;
	size_t most;
	uint64_t state = 88172645463325252u;
};

gpumem_pool *pool;

struct Gpumem {
	static constexpr const char *name = "gpumem";
	static constexpr long slow = 1; // divides the number of iterations
	static void *get(size_t bytes)
	{
		void *ptr = nullptr;

		if (gpumem_alloc(pool, bytes, nullptr, &ptr) != GPUMEM_OK)
			die("gpumem_alloc failed");
		return ptr;
	}
	static void put(void *ptr)
	{
		if (gpumem_free(ptr, nullptr) != GPUMEM_OK)
			die("gpumem_free failed");
	}
};

struct Driver {
	static constexpr const char *name = "cuMemAlloc";
	static constexpr long slow = 2000;
	static void *get(size_t bytes)
	{
		CUdeviceptr ptr = 0;

		if (cuMemAlloc(&ptr, bytes))
			die("cuMemAlloc failed");
		return reinterpret_cast<void *>(ptr);
	}
	static void put(void *ptr)
	{
		if (cuMemFree(reinterpret_cast<CUdeviceptr>(ptr)))
			die("cuMemFree failed");
	}
};

struct Async {
	static constexpr const char *name = "cuMemAllocAsync";
	static constexpr long slow = 40;
	static void *get(size_t bytes)
	{
		CUdeviceptr ptr = 0;

		if (cuMemAllocAsync(&ptr, bytes, nullptr))
			die("cuMemAllocAsync failed");
		return reinterpret_cast<void *>(ptr);
	}
	static void put(void *ptr)
	{
		if (cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(ptr), nullptr))
			die("cuMemFreeAsync failed");
	}
};

#ifdef WITH_TORCH
struct Torch {
	static constexpr const char *name = "PyTorch native";
	static constexpr long slow = 20;
	static void *get(size_t bytes)
	{
		return c10::cuda::CUDACachingAllocator::raw_alloc(bytes);
	}
	static void put(void *ptr)
	{
		c10::cuda::CUDACachingAllocator::raw_delete(ptr);
	}
};
#endif

// The peers' times for one case, the pool's first.
void row(const char *name, const std::vector<double> &ns)
{
	std::printf("%-28s", name);
	for (double value : ns)
		std::printf(" %15.1f", value);
	std::printf("  x");
	for (size_t i = 1; i < ns.size(); i++)
		std::printf(" %8.1f", ns[i] / ns[0]);
	std::printf("\n");
}

template <typename... Peer> void pairs(const char *name, size_t bytes)
{
	std::vector<std::vector<double>> times(sizeof...(Peer));
	std::vector<double> result;

	((void)hot<Peer>(bytes), ...);
	for (int round = 0; round < ROUNDS; round++) {
		size_t i = 0;

		(times[i++].push_back(hot<Peer>(bytes)), ...);
	}
	for (const auto &each : times)
		result.push_back(median(each));
	row(name, result);
}

template <typename Peer> double mixed(size_t live, size_t most)
{
	Mix<Peer> mix(live, most);
	std::vector<double> times;

	mix.run(600000 / Peer::slow);
	for (int round = 0; round < ROUNDS; round++)
		times.push_back(mix.run(100000 / Peer::slow));
	return median(times);
}

template <typename... Peer>
void random_mix(const char *name, size_t live, size_t most)
{
	row(name, {mixed<Peer>(live, most)...});
}

template <typename... Peer> void all()
{
	std::printf("%-28s", "ns a pair");
	(std::printf(" %15s", Peer::name), ...);
	std::printf("  times the pool's\n");
	pairs<Peer...>("512 B", 512);
	pairs<Peer...>("4 KiB", 4 * KIB);
	pairs<Peer...>("64 KiB", 64 * KIB);
	pairs<Peer...>("1 MiB", MIB);
	pairs<Peer...>("20 MiB", 20 * MIB);
	pairs<Peer...>("256 MiB", 256 * MIB);
	random_mix<Peer...>("512 B to 64 MiB, 1000 live", 1000, 64 * MIB);
	random_mix<Peer...>("512 B to 4 MiB, 10000 live", 10000, 4 * MIB);
}

} // namespace

int main()
{
	gpumem_device *opened;
	CUcontext context;
	CUdevice device;

	if (gpumem_device_open("cuda:0", &opened) != GPUMEM_OK ||
	    gpumem_pool_create(opened, nullptr, &pool) != GPUMEM_OK)
		die("no pool on cuda:0");
	if (cuInit(0) || cuDeviceGet(&device, 0) ||
	    cuDevicePrimaryCtxRetain(&context, device) ||
	    cuCtxSetCurrent(context))
		die("no context");
#ifdef WITH_TORCH
	c10::cuda::CUDACachingAllocator::init(c10::cuda::device_count());
	all<Gpumem, Torch, Async, Driver>();
#else
	all<Gpumem, Async, Driver>();
#endif
	return 0;
}
