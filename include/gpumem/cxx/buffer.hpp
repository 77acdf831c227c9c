/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A block that frees itself on the stream that it was allocated on. Part of
 * gpumem.hpp. Not here: a content that grows or moves to another stream
 * (device_buffer.hpp).
 */
#ifndef GPUMEM_CXX_BUFFER_HPP
#define GPUMEM_CXX_BUFFER_HPP

#include <gpumem/cxx/pool.hpp>
#include <gpumem/cxx/stream.hpp>

#include <utility>

namespace gpumem
{

/*
 * To gpumem_alloc() and gpumem_free_own() what std::unique_ptr is to new and
 * delete. The stream may end before the buffer, the pool not.
 *
 *	data() == nullptr  <=>  size() == 0
 */
class buffer
{
      public:
	buffer() noexcept = default;

	/* A block for work that is queued on `stream` from now on. */
	buffer(pool_ref pool, size_t bytes, gpumem_stream stream = nullptr)
	    : data_(pool.allocate(bytes, stream)), size_(bytes)
	{
	}

	/* With flags, GPUMEM_ALLOC_ bits, and an alignment; 0: the device's. */
	buffer(pool_ref pool, size_t bytes, gpumem_stream stream,
	       uint32_t flags, size_t alignment = 0)
	{
		auto options = GPUMEM_INIT(gpumem_alloc_options);
		uint64_t held;

		options.flags = flags;
		options.alignment = alignment;
		check(gpumem_alloc_with(pool.get(), bytes, stream, &options,
					&data_, &held));
		size_ = flags & GPUMEM_ALLOC_WHOLE ? held : bytes;
	}

	/* Owns a live block that another call gave, of `bytes` bytes; nullptr
	 * has 0. */
	static buffer own(void *block, size_t bytes) noexcept
	{
		buffer owner;

		owner.data_ = block;
		owner.size_ = bytes;
		return owner;
	}

	buffer(buffer &&other) noexcept
	    : data_(std::exchange(other.data_, nullptr)),
	      size_(std::exchange(other.size_, 0))
	{
	}

	buffer &operator=(buffer &&other) noexcept
	{
		buffer moved(std::move(other));

		std::swap(data_, moved.data_);
		std::swap(size_, moved.size_);
		return *this;
	}

	~buffer()
	{
		if (data_ != nullptr)
			GPUMEM_IGNORE(gpumem_free_own(data_));
	}

	void *data() const noexcept
	{
		return data_;
	}

	/* In bytes: as requested, with WHOLE all that the block holds. */
	size_t size() const noexcept
	{
		return size_;
	}

	explicit operator bool() const noexcept
	{
		return data_ != nullptr;
	}

	/* Work on `stream` uses the block too: a later free waits for it. */
	void use_on(gpumem_stream stream) const
	{
		check(gpumem_use_on(data_, stream));
	}

	/* The buffer is empty; the block is the caller's to free. */
	void *release() noexcept
	{
		size_ = 0;
		return std::exchange(data_, nullptr);
	}

	/* Frees the block now, which the destructor would do without telling
	 * what fails. The buffer is empty, also after an error. */
	void reset()
	{
		check(gpumem_free_own(release()));
	}

	/* Frees it when the event's work is over: gpumem_free_after(). After
	 * an error the buffer is as it was. */
	void reset_after(const event &last_use)
	{
		check(gpumem_free_after(data_, last_use.get()));
		(void)release();
	}

      private:
	void *data_ = nullptr;
	size_t size_ = 0;
};

} // namespace gpumem

#endif
