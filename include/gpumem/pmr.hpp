/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Standard containers in memory that the host and the device can use: pinned,
 * managed, or a device's own where the host reads and writes it.
 *
 *	gpumem::memory_resource pinned(device);
 *	std::pmr::vector<float> batch(n, &pinned);
 *	device.copy(block, batch.data(), n * sizeof(float), stream);
 *
 * For blocks in the order of streams see device_buffer. No locks of its own:
 * any thread may call at any time.
 */
#ifndef GPUMEM_PMR_HPP
#define GPUMEM_PMR_HPP

#include <gpumem/gpumem.hpp>

#include <memory_resource>

namespace gpumem
{

/*
 * A pool that the resource owns, so that all of its blocks are the host's: none
 * is still in use by a stream when it is handed out. What a container has given
 * back must not be in use by the device any more either, as with malloc: before
 * a vector that is being copied ends, synchronise the stream.
 *
 * Throws gpumem::out_of_memory, which is a std::bad_alloc. The resource ends
 * after the containers; if it does not, its pool stays (see gpumem::pool).
 */
class memory_resource : public std::pmr::memory_resource
{
      public:
	/* UNSUPPORTED: the device has no memory of that kind (CAP_PINNED,
	 * CAP_MANAGED), or for DEVICE the host cannot read and write it
	 * (CAP_HOST_ACCESS). */
	explicit memory_resource(device on,
				 gpumem_kind kind = GPUMEM_KIND_PINNED)
	    : memory_resource(std::move(on), of_kind(kind))
	{
	}

	/* With limits, peers and a name; config.kind says what it is. */
	memory_resource(device on, const gpumem_pool_config &config)
	    : pool_(reachable(std::move(on), config.kind), config)
	{
	}

	/* For statistics, trim and limits. The program takes no blocks from it
	 * that the device uses. */
	pool_ref pool() const noexcept
	{
		return pool_;
	}

	const device &on() const noexcept
	{
		return pool_.on();
	}

      private:
	static gpumem_pool_config of_kind(gpumem_kind kind)
	{
		auto config = GPUMEM_INIT(gpumem_pool_config);

		config.name = "pmr";
		config.kind = kind;
		return config;
	}

	static device reachable(device on, gpumem_kind kind)
	{
		if (kind == GPUMEM_KIND_DEVICE &&
		    !on.has(GPUMEM_CAP_HOST_ACCESS))
			throw status_error(GPUMEM_UNSUPPORTED,
					   "the host cannot read and write the "
					   "memory of this device: take pinned "
					   "memory");
		return on;
	}

	/* Each block has an address, also one of 0 bytes. */
	void *do_allocate(size_t bytes, size_t alignment) override
	{
		return pool_.allocate_aligned(bytes != 0 ? bytes : 1,
					      alignment);
	}

	/* Containers call it where nothing may be thrown. */
	void do_deallocate(void *ptr, size_t, size_t) override
	{
		GPUMEM_IGNORE(gpumem_free(ptr, nullptr));
	}

	bool do_is_equal(
		const std::pmr::memory_resource &other) const noexcept override
	{
		return this == &other;
	}

	gpumem::pool pool_;
};

} // namespace gpumem

#endif
