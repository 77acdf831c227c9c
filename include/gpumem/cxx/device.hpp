/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A device that is open. Part of gpumem.hpp. Not here: what allocates on it.
 * The count of copies is std::shared_ptr's: copies may be made and end in any
 * thread.
 */
#ifndef GPUMEM_CXX_DEVICE_HPP
#define GPUMEM_CXX_DEVICE_HPP

#include <gpumem/cxx/error.hpp>

#include <memory>
#include <string>

namespace gpumem
{

class pool_ref;

/*
 * One gpumem_device_open(), which the last copy undoes. If something of the
 * device is left then (a block that is live, a pool that C made), it stays
 * open.
 */
class device
{
      public:
	/* "cuda:0", "cuda", or nullptr: the one that GPUMEM_BACKEND picks. */
	explicit device(const char *name = nullptr)
	{
		gpumem_device *opened;

		check(gpumem_device_open(name, &opened));
		own(opened);
	}

	explicit device(const std::string &name) : device(name.c_str())
	{
	}

	/* gpumem_device_adopt(): in the program's own context. */
	static device adopt(const char *backend, void *context,
			    void *native_device)
	{
		device adopted{nothing()};
		gpumem_device *opened;

		check(gpumem_device_adopt(backend, context, native_device,
					  &opened));
		adopted.own(opened);
		return adopted;
	}

	/* For calls of gpumem.h; nullptr after a move. */
	gpumem_device *get() const noexcept
	{
		return handle_.get();
	}

	gpumem_device_info info() const
	{
		auto out = GPUMEM_INIT(gpumem_device_info);

		check(gpumem_device_get_info(get(), &out));
		return out;
	}

	/* Are these capabilities there? GPUMEM_CAP_ bits. */
	bool has(uint32_t caps) const
	{
		return (info().caps & caps) == caps;
	}

	gpumem_memory memory() const
	{
		auto out = GPUMEM_INIT(gpumem_memory);

		check(gpumem_device_memory(get(), &out));
		return out;
	}

	/* Whether pools of this device can be opened to `other`. */
	bool can_peer(const device &other) const
	{
		bool can;

		check(gpumem_device_peer(get(), other.get(), &can));
		return can;
	}

	/* Valid as long as a copy of this device. Defined in pool.hpp. */
	pool_ref default_pool() const;

	/* Gives what all pools do not use back to the driver, down to
	 * keep_bytes. Returns how many bytes went back. */
	uint64_t trim(uint64_t keep_bytes = 0) const
	{
		uint64_t released;

		check(gpumem_device_trim(get(), keep_bytes, &released));
		return released;
	}

	/* Both are queued on `stream`. */
	void fill(void *ptr, uint8_t value, size_t bytes,
		  gpumem_stream stream = nullptr) const
	{
		check(gpumem_fill(get(), ptr, value, bytes, stream));
	}

	void copy(void *to, const void *from, size_t bytes,
		  gpumem_stream stream = nullptr) const
	{
		check(gpumem_copy(get(), to, from, bytes, stream));
	}

	/* Waits for the work on `stream`. */
	void sync(gpumem_stream stream = nullptr) const
	{
		check(gpumem_stream_sync(get(), stream));
	}

	friend bool operator==(const device &a, const device &b) noexcept
	{
		return a.get() == b.get();
	}

	friend bool operator!=(const device &a, const device &b) noexcept
	{
		return !(a == b);
	}

      private:
	struct nothing {
	};

	explicit device(nothing) noexcept
	{
	}

	/* An error of the default pool leaves the device open without that
	 * pool: the second close is then the one that counts. */
	static void close(gpumem_device *opened) noexcept
	{
		gpumem_status status = gpumem_device_close(opened);

		if (status != GPUMEM_OK && status != GPUMEM_BUSY)
			GPUMEM_IGNORE(gpumem_device_close(opened));
	}

	/* Closes it too if there is no memory for the count. */
	void own(gpumem_device *opened)
	{
		handle_ = std::shared_ptr<gpumem_device>(opened, close);
	}

	std::shared_ptr<gpumem_device> handle_;
};

/* gpumem_trim(): all pools of the process. Returns how many bytes went back. */
inline uint64_t trim()
{
	uint64_t released;

	check(gpumem_trim(&released));
	return released;
}

} // namespace gpumem

#endif
