/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Bytes of a device that follow a stream: they can be filled, copied, resized
 * and handed to another stream. Part of gpumem.hpp. Not here: a pointer that
 * owns a block and does nothing with it (buffer.hpp).
 */
#ifndef GPUMEM_CXX_DEVICE_BUFFER_HPP
#define GPUMEM_CXX_DEVICE_BUFFER_HPP

#include <gpumem/cxx/buffer.hpp>

#include <utility>

namespace gpumem
{

/*
 * As rmm::device_buffer: each call that touches the content is queued on a
 * stream and returns at once, and the last stream that was named is the one on
 * which the block is freed. Calls on two streams must be ordered by the
 *program. What copies or fills needs GPUMEM_CAP_COPY. Neither the pool nor a
 *stream that set_stream() named may end before the buffer; that of the
 *constructor may.
 *
 *	size() <= capacity()
 *	data() == nullptr  <=>  capacity() == 0
 */
class device_buffer
{
      public:
	/* Empty, of a pool from which it can grow. */
	explicit device_buffer(pool_ref pool,
			       gpumem_stream stream = nullptr) noexcept
	    : pool_(pool), stream_(stream)
	{
	}

	/* The content is undefined. */
	device_buffer(pool_ref pool, size_t bytes, gpumem_stream stream)
	    : block_(pool, bytes, stream), pool_(pool), stream_(stream),
	      size_(bytes), capacity_(bytes)
	{
	}

	/* A copy of host or device memory, which has to stay as it is until
	 * the stream has done it. */
	device_buffer(pool_ref pool, const void *from, size_t bytes,
		      gpumem_stream stream)
	    : device_buffer(pool, bytes, stream)
	{
		write(from, bytes);
	}

	/* A copy on `stream`, in the same pool. */
	device_buffer(const device_buffer &other, gpumem_stream stream)
	    : device_buffer(other.pool_, other.size_, stream)
	{
		other.use_on(stream);
		write(other.data(), size_);
	}

	device_buffer(device_buffer &&other) noexcept
	    : device_buffer(other.pool_, other.stream_)
	{
		swap(other);
	}

	device_buffer &operator=(device_buffer &&other) noexcept
	{
		device_buffer moved(std::move(other));

		swap(moved);
		return *this;
	}

	/* On the stream of set_stream(), if there was one. */
	~device_buffer()
	{
		if (handed_over_)
			GPUMEM_IGNORE(gpumem_free(block_.release(), stream_));
	}

	void *data() const noexcept
	{
		return block_.data();
	}

	template <typename T> T *as() const noexcept
	{
		return static_cast<T *>(data());
	}

	size_t size() const noexcept
	{
		return size_;
	}

	bool empty() const noexcept
	{
		return size_ == 0;
	}

	/* Bytes that it can hold where it lies. */
	size_t capacity() const noexcept
	{
		return capacity_;
	}

	pool_ref pool() const noexcept
	{
		return pool_;
	}

	gpumem_stream stream() const noexcept
	{
		return stream_;
	}

	/* The next calls, and the free, are on this stream, whose work the
	 * program has ordered behind that of the one before. */
	void set_stream(gpumem_stream stream) noexcept
	{
		handed_over_ = handed_over_ || stream != stream_;
		stream_ = stream;
	}

	/* Work on `stream` uses it too: the free waits for that. */
	void use_on(gpumem_stream stream) const
	{
		if (data() != nullptr)
			block_.use_on(stream);
	}

	void fill(uint8_t value)
	{
		if (size_ != 0)
			check(gpumem_fill(pool_.device_handle(), data(), value,
					  size_, stream_));
	}

	/* Copies between it and host or device memory, of `bytes` bytes from
	 * `offset` on, which are in it: else INVALID. */
	void write(const void *from, size_t bytes, size_t offset = 0)
	{
		copy(at(bytes, offset), from, bytes);
	}

	void read(void *to, size_t bytes, size_t offset = 0) const
	{
		copy(to, at(bytes, offset), bytes);
	}

	/* Keeps the content up to the smaller size; on an error all is as it
	 * was. Grows where it lies if it can, else moves: data() changes. */
	void resize(size_t bytes)
	{
		reserve(bytes);
		size_ = bytes;
	}

	void reserve(size_t bytes)
	{
		uint64_t held;

		if (bytes <= capacity_)
			return;
		if (data() != nullptr &&
		    gpumem_resize(data(), bytes, stream_, &held) == GPUMEM_OK)
			capacity_ = held;
		else
			move_to(bytes);
	}

	/* Gives back what is beyond size(), as far as the pool can use it. */
	void shrink_to_fit()
	{
		device_buffer none(pool_, stream_);
		uint64_t held;

		if (size_ == capacity_)
			return;
		if (size_ == 0) {
			swap(none);
			return;
		}
		check(gpumem_resize(data(), size_, stream_, &held));
		capacity_ = held;
	}

	void swap(device_buffer &other) noexcept
	{
		std::swap(block_, other.block_);
		std::swap(pool_, other.pool_);
		std::swap(stream_, other.stream_);
		std::swap(size_, other.size_);
		std::swap(capacity_, other.capacity_);
		std::swap(handed_over_, other.handed_over_);
	}

      private:
	void copy(void *to, const void *from, size_t bytes) const
	{
		if (bytes != 0)
			check(gpumem_copy(pool_.device_handle(), to, from,
					  bytes, stream_));
	}

	char *at(size_t bytes, size_t offset) const
	{
		if (offset > size_ || bytes > size_ - offset)
			throw status_error(GPUMEM_INVALID,
					   "the bytes are not in the buffer");
		return as<char>() + offset;
	}

	/* The old block is freed behind the copy. */
	void move_to(size_t bytes)
	{
		device_buffer larger(pool_, bytes, stream_);

		larger.write(data(), size_);
		larger.size_ = size_;
		swap(larger);
	}

	buffer block_;
	pool_ref pool_;
	gpumem_stream stream_;
	size_t size_ = 0;
	size_t capacity_ = 0;
	bool handed_over_ = false; /* the block is freed on stream_ */
};

} // namespace gpumem

#endif
