/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A pool as a resource of CCCL, NVIDIA's libraries for C++: cuda::mr::resource
 * and resource_with<device_accessible>, which RMM, cuDF and CUB take.
 *
 *	gpumem::device gpu("cuda:0");
 *	gpumem::device_resource resource(gpumem::pool(gpu, "frames"));
 *	cuda::mr::any_resource<cuda::mr::device_accessible> any(resource);
 *
 * Needs CCCL 3.0, of CUDA 13.0, or later. In 3.0 and 3.1 a program defines
 * LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE; in 3.0 the concepts have
 * other names (async_resource). Not here: memory that the host can use
 * (pmr.hpp). No locks: any thread may call at any time.
 */
#ifndef GPUMEM_CCCL_HPP
#define GPUMEM_CCCL_HPP

#include <gpumem/gpumem.hpp>

#include <cuda/memory_resource>
#include <cuda/stream_ref>

#if !defined(CCCL_VERSION) || CCCL_VERSION < 3000000
#error "gpumem/cccl.hpp needs CCCL 3.0, of CUDA 13.0"
#elif CCCL_VERSION < 3002000 &&                                                \
	!defined(LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE)
#error "CUDA 13.0, 13.1: compile with -DLIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE"
#endif

#include <memory>
#include <optional>
#include <utility>

namespace gpumem
{

/*
 * Copies are the same resource: they are equal, and the last one ends a pool
 * that was moved into the first.
 *
 * Blocks follow streams as gpumem_alloc() and gpumem_free() say. What
 * allocate_sync() returns can be used at once on every stream; the call waits,
 * if a stream still uses the memory. Before deallocate_sync() all work that
 * uses the block is over.
 *
 * cudaStreamPerThread is another stream in each thread under one name, which no
 * pool can tell apart. Blocks for it are allocated as by allocate_sync(), and
 * freed behind an event. The same where the default stream is that of the
 * thread (CUDA_API_PER_THREAD_DEFAULT_STREAM).
 */
class device_resource
{
      public:
#if CCCL_VERSION >= 3002000
	/* What cuda::buffer and others take it for. */
	using default_queries =
		::cuda::mr::properties_list<::cuda::mr::device_accessible>;
#endif

	/* Somebody else's pool, which outlives all copies. */
	explicit device_resource(pool_ref pool)
	    : state_(std::make_shared<const state>(pool))
	{
	}

	/* A pool of its own. */
	explicit device_resource(gpumem::pool &&pool)
	    : state_(std::make_shared<const state>(std::move(pool)))
	{
	}

	pool_ref pool() const noexcept
	{
		return state_->from;
	}

	/* Throws gpumem::out_of_memory, which is a std::bad_alloc. nullptr for
	 * 0 bytes. */
	void *allocate(::cuda::stream_ref stream, size_t bytes,
		       size_t alignment = MIN_ALIGNMENT) const
	{
		if (is_per_thread(stream.get()))
			return allocate_sync(bytes, alignment);
		return take(named(stream.get()), bytes, alignment);
	}

	void deallocate(::cuda::stream_ref stream, void *ptr, size_t,
			size_t = MIN_ALIGNMENT) const noexcept
	{
		if (is_per_thread(stream.get()))
			free_behind(ptr);
		else
			GPUMEM_IGNORE(gpumem_free(ptr, named(stream.get())));
	}

	/* The stream has no work but to wait for what used the block before. */
	void *allocate_sync(size_t bytes,
			    size_t alignment = MIN_ALIGNMENT) const
	{
		gpumem_stream own = state_->stream;
		auto block = buffer::own(take(own, bytes, alignment), bytes);

		check(gpumem_stream_sync(state_->from.device_handle(), own));
		return block.release();
	}

	void deallocate_sync(void *ptr, size_t,
			     size_t = MIN_ALIGNMENT) const noexcept
	{
		GPUMEM_IGNORE(gpumem_free(ptr, state_->stream));
	}

#if CCCL_VERSION < 3001000
	/* The names of CUDA 13.0. */
	void *allocate(size_t bytes, size_t alignment = MIN_ALIGNMENT) const
	{
		return allocate_sync(bytes, alignment);
	}

	void deallocate(void *ptr, size_t bytes,
			size_t alignment = MIN_ALIGNMENT) const noexcept
	{
		deallocate_sync(ptr, bytes, alignment);
	}

	void *allocate_async(size_t bytes, size_t alignment,
			     ::cuda::stream_ref stream) const
	{
		return allocate(stream, bytes, alignment);
	}

	void *allocate_async(size_t bytes, ::cuda::stream_ref stream) const
	{
		return allocate(stream, bytes);
	}

	void deallocate_async(void *ptr, size_t bytes, size_t alignment,
			      ::cuda::stream_ref stream) const noexcept
	{
		deallocate(stream, ptr, bytes, alignment);
	}

	void deallocate_async(void *ptr, size_t bytes,
			      ::cuda::stream_ref stream) const noexcept
	{
		deallocate(stream, ptr, bytes);
	}
#endif

	/* The same pool: one may free what the other allocated. */
	friend bool operator==(const device_resource &a,
			       const device_resource &b) noexcept
	{
		return a.pool() == b.pool();
	}

	friend bool operator!=(const device_resource &a,
			       const device_resource &b) noexcept
	{
		return !(a == b);
	}

	friend void get_property(const device_resource &,
				 ::cuda::mr::device_accessible) noexcept
	{
	}

      private:
	static constexpr size_t MIN_ALIGNMENT = 256; /* of every block */

	/* What the copies share. Its stream is for what belongs to none. */
	struct state {
		std::optional<gpumem::pool> owned;
		pool_ref from;
		gpumem_stream stream;

		explicit state(pool_ref pool) : from(pool)
		{
			check(gpumem_stream_create(pool.device_handle(),
						   &stream));
		}

		explicit state(gpumem::pool &&pool) : state(pool_ref(pool))
		{
			owned.emplace(std::move(pool));
		}

		state(const state &) = delete;

		~state()
		{
			GPUMEM_IGNORE(gpumem_stream_destroy(
				from.device_handle(), stream));
		}
	};

	static bool is_per_thread(cudaStream_t stream) noexcept
	{
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
		if (stream == nullptr)
			return true;
#endif
		return stream == cudaStreamPerThread;
	}

	static gpumem_stream named(cudaStream_t stream) noexcept
	{
		return stream == cudaStreamLegacy ? nullptr : stream;
	}

	void *take(gpumem_stream stream, size_t bytes, size_t alignment) const
	{
		if (alignment <= MIN_ALIGNMENT)
			return state_->from.allocate(bytes, stream);
		return state_->from.allocate_aligned(bytes, alignment, stream);
	}

	/* Behind the calling thread's own stream; without an event, after it.
	 */
	void free_behind(void *ptr) const noexcept
	{
		gpumem_device *device = state_->from.device_handle();
		gpumem_event *event = nullptr;
		bool freed;

		freed = gpumem_event_create(device, &event) == GPUMEM_OK &&
			gpumem_event_record(event, cudaStreamPerThread) ==
				GPUMEM_OK &&
			gpumem_free_after(ptr, event) == GPUMEM_OK;
		if (!freed) {
			GPUMEM_IGNORE(gpumem_stream_sync(device,
							 cudaStreamPerThread));
			deallocate_sync(ptr, 0);
		}
		if (event != nullptr)
			GPUMEM_IGNORE(gpumem_event_destroy(event));
	}

	std::shared_ptr<const state> state_;
};

} // namespace gpumem

#endif
