/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pools: pool_ref names one, pool owns one. Part of gpumem.hpp. Not here:
 * blocks that free themselves (buffer.hpp).
 */
#ifndef GPUMEM_CXX_POOL_HPP
#define GPUMEM_CXX_POOL_HPP

#include <gpumem/cxx/device.hpp>

#include <utility>

namespace gpumem
{

/*
 * A pool that somebody else owns: a gpumem::pool, a device (its default pool)
 * or C. Passed by value, as a pointer is; all calls may be made from any
 * thread.
 */
class pool_ref
{
      public:
	/* No check: a pool of gpumem.h, which outlives what uses this. */
	pool_ref(gpumem_pool *pool) noexcept : pool_(pool)
	{
	}

	/* For calls of gpumem.h. */
	gpumem_pool *get() const noexcept
	{
		return pool_;
	}

	const char *name() const noexcept
	{
		return gpumem_pool_name(pool_);
	}

	/* For calls of gpumem.h; no open is counted for it. */
	gpumem_device *device_handle() const noexcept
	{
		return gpumem_pool_device(pool_);
	}

	/* gpumem_alloc(), gpumem_alloc_aligned(): a block for work that is
	 * queued on `stream` from now on. nullptr for 0 bytes. */
	void *allocate(size_t bytes, gpumem_stream stream = nullptr) const
	{
		void *block;

		check(gpumem_alloc(pool_, bytes, stream, &block));
		return block;
	}

	void *allocate_aligned(size_t bytes, size_t alignment,
			       gpumem_stream stream = nullptr) const
	{
		void *block;

		check(gpumem_alloc_aligned(pool_, bytes, alignment, stream,
					   &block));
		return block;
	}

	/* gpumem_free(): work that was queued on `stream` before may still use
	 * the block. */
	void deallocate(void *block, gpumem_stream stream = nullptr) const
	{
		check(gpumem_free(block, stream));
	}

	gpumem_stats stats() const
	{
		auto out = GPUMEM_INIT(gpumem_stats);

		check(gpumem_pool_stats(pool_, &out));
		return out;
	}

	/* Peaks become current; with GPUMEM_RESET_TOTALS totals become 0. */
	void reset_stats(unsigned flags = 0) const
	{
		check(gpumem_pool_reset_stats(pool_, flags));
	}

	/* How large a block on `stream` can be. */
	gpumem_capacity capacity(gpumem_stream stream = nullptr) const
	{
		auto out = GPUMEM_INIT(gpumem_capacity);

		check(gpumem_pool_capacity(pool_, stream, &out));
		return out;
	}

	/* Gives what is not used back to the driver, without waiting, down to
	 * keep_bytes. Returns how many bytes went back. */
	uint64_t trim(uint64_t keep_bytes = 0) const
	{
		uint64_t released;

		check(gpumem_pool_trim(pool_, keep_bytes, &released));
		return released;
	}

	/* gpumem_pool_sleep(): live blocks give their memory to the driver, and
	 * nothing may use them until wake() has returned. */
	gpumem_slept sleep(const gpumem_sleep_options &options) const
	{
		auto out = GPUMEM_INIT(gpumem_slept);

		check(gpumem_pool_sleep(pool_, &options, &out));
		return out;
	}

	/* The blocks of a tag and of those inside it; 0: all. */
	gpumem_slept sleep(uint32_t tag = 0) const
	{
		auto options = GPUMEM_INIT(gpumem_sleep_options);

		options.tag = tag;
		return sleep(options);
	}

	/* gpumem_pool_wake(): to the same addresses. If it throws, all of it
	 * still sleeps, and it can be called again. */
	gpumem_slept wake(uint32_t tag = 0) const
	{
		auto out = GPUMEM_INIT(gpumem_slept);

		check(gpumem_pool_wake(pool_, tag, &out));
		return out;
	}

	/* Bounds on reserved bytes, in bytes or in percent of the device's
	 * memory; 0: none. */
	void set_limit(uint64_t limit_bytes) const
	{
		check(gpumem_pool_set_limit(pool_, limit_bytes));
	}

	void set_soft_limit(uint64_t soft_limit_bytes) const
	{
		check(gpumem_pool_set_soft_limit(pool_, soft_limit_bytes));
	}

	void set_limit_percent(unsigned limit) const
	{
		check(gpumem_pool_set_limit_percent(pool_, limit));
	}

	void set_soft_limit_percent(unsigned soft_limit) const
	{
		check(gpumem_pool_set_soft_limit_percent(pool_, soft_limit));
	}

	/* One more device that reads and writes the blocks, live ones too. */
	void add_peer(const device &peer) const
	{
		check(gpumem_pool_add_peer(pool_, peer.get()));
	}

	/* Before the vendor's own end of a stream. */
	void drop_stream(gpumem_stream stream) const
	{
		check(gpumem_pool_drop_stream(pool_, stream));
	}

	friend bool operator==(pool_ref a, pool_ref b) noexcept
	{
		return a.pool_ == b.pool_;
	}

	friend bool operator!=(pool_ref a, pool_ref b) noexcept
	{
		return !(a == b);
	}

      protected:
	gpumem_pool *pool_;
};

inline pool_ref device::default_pool() const
{
	gpumem_pool *pool;

	check(gpumem_device_pool(get(), &pool));
	return pool;
}

/*
 * gpumem_pool_create(), which the destructor undoes; the device stays open as
 * long. While blocks are live the destructor does nothing: the pool stays, with
 * its device, and the blocks can be used and freed.
 */
class pool : public pool_ref
{
      public:
	/* In config 0 means the default. */
	pool(device on, const gpumem_pool_config &config)
	    : pool_ref(nullptr), device_(std::move(on))
	{
		check(gpumem_pool_create(device_.get(), &config, &pool_));
	}

	explicit pool(device on, const char *name = nullptr)
	    : pool(std::move(on), named(name))
	{
	}

	pool(pool &&other) noexcept
	    : pool_ref(std::exchange(other.pool_, nullptr)),
	      device_(std::move(other.device_))
	{
	}

	pool &operator=(pool &&other) noexcept
	{
		pool moved(std::move(other));

		std::swap(pool_, moved.pool_);
		std::swap(device_, moved.device_);
		return *this;
	}

	~pool()
	{
		if (pool_ != nullptr)
			GPUMEM_IGNORE(gpumem_pool_destroy(pool_, 0));
	}

	/* gpumem_pool_destroy(), which may wait: flags 0 or
	 * GPUMEM_DESTROY_FORCE. Throws BUSY while blocks are live: the pool is
	 * as it was. After any other status it no longer exists. */
	void destroy(unsigned flags = 0)
	{
		gpumem_status status = gpumem_pool_destroy(pool_, flags);

		if (status != GPUMEM_BUSY && status != GPUMEM_INVALID &&
		    status != GPUMEM_FORKED)
			pool_ = nullptr;
		check(status);
	}

	const device &on() const noexcept
	{
		return device_;
	}

      private:
	static gpumem_pool_config named(const char *name)
	{
		auto config = GPUMEM_INIT(gpumem_pool_config);

		config.name = name;
		return config;
	}

	device device_; /* ends after what ~pool() does */
};

} // namespace gpumem

#endif
