/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU: cccl.hpp beside the libraries that it is for. Kernels
 * on blocks that follow streams, on the stream that each thread has to itself
 * too; Thrust's vectors and its temporary memory; CUB. Built by nvcc and run by
 * tests/device/run.sh.
 */
#include <gpumem/cccl.hpp>

#include <cub/device/device_reduce.cuh>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "must.h"

using gpumem::device_resource;

#if CCCL_VERSION >= 3001000
static_assert(
	cuda::mr::resource_with<device_resource, cuda::mr::device_accessible>);
#else
static_assert(cuda::mr::async_resource_with<device_resource,
					    cuda::mr::device_accessible>);
#endif

static void cuda_must(cudaError_t error, const char *what)
{
	if (error != cudaSuccess)
		bail("%s: %s", what, cudaGetErrorString(error));
}

#define CUDA(call) cuda_must((call), #call)

__global__ void set(unsigned *block, size_t count, unsigned value,
		    long long wait_cycles)
{
	long long end = clock64() + wait_cycles;

	while (clock64() < end)
		;
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
	     i += gridDim.x * blockDim.x)
		block[i] = value;
}

__global__ void compare(const unsigned *block, size_t count, unsigned value,
			unsigned *wrong)
{
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
	     i += gridDim.x * blockDim.x)
		if (block[i] != value)
			atomicAdd(wrong, 1);
}

/* Some 50 ms: long enough for the host to be far ahead. */
static const long long LONG = 100000000;

static cudaStream_t new_stream()
{
	cudaStream_t stream;

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	return stream;
}

/* What is not for a stream may be used at once by all: also right after a slow
 * kernel's memory was given back. */
static void test_sync(device_resource &resource)
{
	cudaStream_t a = new_stream(), b = new_stream();
	std::vector<unsigned> back(MIB);
	size_t bytes = MIB * sizeof(unsigned);
	void *first = resource.allocate(a, bytes, 256);

	set<<<64, 256, 0, a>>>((unsigned *)first, MIB, 1, LONG);
	resource.deallocate(a, first, bytes, 256);
	void *next = resource.allocate_sync(bytes, 256);
	set<<<64, 256, 0, b>>>((unsigned *)next, MIB, 2, 0);
	CUDA(cudaStreamSynchronize(a));
	CUDA(cudaMemcpyAsync(back.data(), next, bytes, cudaMemcpyDeviceToHost,
			     b));
	CUDA(cudaStreamSynchronize(b));
	ok(std::count(back.begin(), back.end(), 2u) == (long)MIB,
	   "a block for no stream is nobody else's");

	/* Freed on a stream behind a slow kernel, wanted on another one. */
	set<<<64, 256, 0, b>>>((unsigned *)next, MIB, 3, LONG);
	resource.deallocate(b, next, bytes, 256);
	void *third = resource.allocate(a, bytes, 256);
	set<<<64, 256, 0, a>>>((unsigned *)third, MIB, 4, 0);
	CUDA(cudaMemcpyAsync(back.data(), third, bytes, cudaMemcpyDeviceToHost,
			     a));
	CUDA(cudaStreamSynchronize(a));
	CUDA(cudaStreamSynchronize(b));
	CUDA(cudaMemcpy(back.data(), third, bytes, cudaMemcpyDeviceToHost));
	ok(std::count(back.begin(), back.end(), 4u) == (long)MIB,
	   "what one stream has freed waits for it on another");
	resource.deallocate(a, third, bytes, 256);
	CUDA(cudaDeviceSynchronize());
	must(gpumem_pool_drop_stream(resource.pool().get(), a));
	must(gpumem_pool_drop_stream(resource.pool().get(), b));
	CUDA(cudaStreamDestroy(a));
	CUDA(cudaStreamDestroy(b));
}

/* Threads that give each other blocks through one name of their streams. */
static void test_per_thread(device_resource &resource)
{
	enum { THREADS = 8, ROUNDS = 300, COUNT = 64 * 1024 };
	std::vector<std::thread> threads;
	unsigned *wrong, total;

	CUDA(cudaMalloc(&wrong, sizeof(*wrong)));
	CUDA(cudaMemset(wrong, 0, sizeof(*wrong)));
	CUDA(cudaDeviceSynchronize());
	for (unsigned t = 1; t <= THREADS; t++)
		threads.emplace_back([=, &resource] {
			cudaStream_t mine = cudaStreamPerThread;

			for (int i = 0; i < ROUNDS; i++) {
				size_t bytes = COUNT * sizeof(unsigned);
				auto block = (unsigned *)resource.allocate(
					mine, bytes, 256);

				set<<<16, 256, 0, mine>>>(block, COUNT, t,
							  20000);
				compare<<<16, 256, 0, mine>>>(block, COUNT, t,
							      wrong);
				resource.deallocate(mine, block, bytes, 256);
			}
			CUDA(cudaStreamSynchronize(mine));
		});
	for (auto &thread : threads)
		thread.join();
	CUDA(cudaMemcpy(&total, wrong, sizeof(total), cudaMemcpyDeviceToHost));
	is_uint(total, 0, "threads with streams of their own share no block");
	CUDA(cudaFree(wrong));
}

/* What Thrust wants of an allocator, and no more. */
template <typename T> struct thrust_allocator {
	using value_type = T;
	using pointer = thrust::device_ptr<T>;
	using const_pointer = thrust::device_ptr<const T>;
	using reference = thrust::device_reference<T>;
	using const_reference = thrust::device_reference<const T>;
	using size_type = std::size_t;
	using difference_type = std::ptrdiff_t;
	template <typename U> struct rebind {
		using other = thrust_allocator<U>;
	};

	device_resource resource;
	cudaStream_t stream;

	thrust_allocator(device_resource from, cudaStream_t on)
	    : resource(from), stream(on)
	{
	}

	template <typename U>
	thrust_allocator(const thrust_allocator<U> &other)
	    : resource(other.resource), stream(other.stream)
	{
	}

	pointer allocate(size_type count)
	{
		return pointer(static_cast<T *>(
			resource.allocate(stream, count * sizeof(T), 256)));
	}

	void deallocate(pointer ptr, size_type count)
	{
		resource.deallocate(stream, thrust::raw_pointer_cast(ptr),
				    count * sizeof(T), 256);
	}

	friend bool operator==(const thrust_allocator &a,
			       const thrust_allocator &b)
	{
		return a.resource == b.resource && a.stream == b.stream;
	}

	friend bool operator!=(const thrust_allocator &a,
			       const thrust_allocator &b)
	{
		return !(a == b);
	}
};

static void test_thrust(device_resource &resource)
{
	cudaStream_t stream = new_stream();
	std::vector<int> numbers(4 * MIB), back(numbers.size());
	std::mt19937 random(7);
	thrust_allocator<int> allocator(resource, stream);
	thrust_allocator<char> temporary(allocator);
	gpumem::pool_ref pool = resource.pool();
	uint64_t before = pool.stats().blocks.total;

	for (auto &number : numbers)
		number = (int)random();
	{
		thrust::device_vector<int, thrust_allocator<int>> data(
			allocator);

		data.resize(numbers.size());
		ok(pool.stats().requested.current >=
			   numbers.size() * sizeof(int),
		   "a vector of Thrust is in the pool");
		CUDA(cudaMemcpyAsync(thrust::raw_pointer_cast(data.data()),
				     numbers.data(),
				     numbers.size() * sizeof(int),
				     cudaMemcpyHostToDevice, stream));
		thrust::sort(thrust::cuda::par(temporary).on(stream),
			     data.begin(), data.end());
		CUDA(cudaMemcpyAsync(back.data(),
				     thrust::raw_pointer_cast(data.data()),
				     numbers.size() * sizeof(int),
				     cudaMemcpyDeviceToHost, stream));
		CUDA(cudaStreamSynchronize(stream));
		ok(pool.stats().blocks.total >= before + 2,
		   "and so is what a sort needs");
	}
	std::sort(numbers.begin(), numbers.end());
	ok(back == numbers, "a sort on it sorts");
	must(gpumem_pool_drop_stream(pool.get(), stream));
	CUDA(cudaStreamDestroy(stream));
}

static void test_cub(device_resource &resource)
{
	cudaStream_t stream = new_stream();
	size_t count = 8 * MIB, bytes = 0;
	auto numbers = (unsigned *)resource.allocate(
		stream, count * sizeof(unsigned), 256);
	auto sum = (unsigned *)resource.allocate(stream, sizeof(unsigned), 256);
	unsigned got = 0;

	set<<<64, 256, 0, stream>>>(numbers, count, 3, 0);
	CUDA(cub::DeviceReduce::Sum(nullptr, bytes, numbers, sum, (int)count,
				    stream));
	void *work = resource.allocate(stream, bytes, 256);
	CUDA(cub::DeviceReduce::Sum(work, bytes, numbers, sum, (int)count,
				    stream));
	CUDA(cudaMemcpyAsync(&got, sum, sizeof(got), cudaMemcpyDeviceToHost,
			     stream));
	resource.deallocate(stream, work, bytes, 256);
	resource.deallocate(stream, numbers, count * sizeof(unsigned), 256);
	resource.deallocate(stream, sum, sizeof(unsigned), 256);
	CUDA(cudaStreamSynchronize(stream));
	is_uint(got, 3 * count, "CUB's sum with memory of the pool");
	must(gpumem_pool_drop_stream(resource.pool().get(), stream));
	CUDA(cudaStreamDestroy(stream));
}

/* Through the type-erased reference that RMM and cuDF pass around. */
static void test_erased(device_resource &resource)
{
	cudaStream_t stream = new_stream();
#if CCCL_VERSION >= 3001000
	cuda::mr::resource_ref<cuda::mr::device_accessible> ref = resource;
	void *block = ref.allocate(cuda::stream_ref(stream), MIB, 256);
#else
	cuda::mr::async_resource_ref<cuda::mr::device_accessible> ref =
		resource;
	void *block = ref.allocate_async(MIB, 256, cuda::stream_ref(stream));
#endif
	auto where = GPUMEM_INIT(gpumem_block);

	must(gpumem_query(block, &where));
	ok(where.pool == resource.pool().get() && where.stream == stream,
	   "a resource_ref allocates from the pool, on its stream");
#if CCCL_VERSION >= 3001000
	ref.deallocate(cuda::stream_ref(stream), block, MIB, 256);
#else
	ref.deallocate_async(block, MIB, 256, cuda::stream_ref(stream));
#endif
	must(gpumem_pool_drop_stream(resource.pool().get(), stream));
	CUDA(cudaStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	gpumem::device gpu(argc > 1 ? argv[1] : "cuda:0");

	CUDA(cudaSetDevice(0));
	{
		device_resource resource(gpumem::pool(gpu, "resources"));

		test_sync(resource);
		test_per_thread(resource);
		test_thrust(resource);
		test_cub(resource);
		test_erased(resource);
		CUDA(cudaDeviceSynchronize());
		is_uint(resource.pool().stats().blocks.current, 0,
			"all is freed");
		(void)resource.pool().trim();
		is_uint(resource.pool().stats().reserved.current, 0,
			"and all goes back");
	}
	is_uint(gpu.memory().reserved_bytes, 0, "the pool ends with it");
	return done_testing();
}
