/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Streams and events of a program that takes them from gpumem. Part of
 * gpumem.hpp. A vendor's own streams are passed as they are and need neither.
 */
#ifndef GPUMEM_CXX_STREAM_HPP
#define GPUMEM_CXX_STREAM_HPP

#include <gpumem/cxx/device.hpp>

#include <utility>

namespace gpumem
{

/* gpumem_event_create(), which the destructor undoes. */
class event
{
      public:
	explicit event(device on) : device_(std::move(on))
	{
		check(gpumem_event_create(device_.get(), &handle_));
	}

	/* gpumem_event_import(): the work that the vendor's event stands for.
	 */
	event(device on, void *native_event) : device_(std::move(on))
	{
		check(gpumem_event_import(device_.get(), native_event,
					  &handle_));
	}

	event(event &&other) noexcept
	    : device_(std::move(other.device_)),
	      handle_(std::exchange(other.handle_, nullptr))
	{
	}

	event &operator=(event &&other) noexcept
	{
		event moved(std::move(other));

		std::swap(device_, moved.device_);
		std::swap(handle_, moved.handle_);
		return *this;
	}

	~event()
	{
		if (handle_ != nullptr)
			GPUMEM_IGNORE(gpumem_event_destroy(handle_));
	}

	/* For calls of gpumem.h; nullptr after a move. */
	gpumem_event *get() const noexcept
	{
		return handle_;
	}

	/* Stands for the work that is queued on `stream` now. */
	void record(gpumem_stream stream)
	{
		check(gpumem_event_record(handle_, stream));
	}

	/* Is the work over? Does not wait. */
	bool query() const
	{
		gpumem_status status = gpumem_event_query(handle_);

		if (status == GPUMEM_NOT_READY)
			return false;
		check(status);
		return true;
	}

	void sync() const
	{
		check(gpumem_event_sync(handle_));
	}

	/* The vendor's event, valid until the next record() or the end. */
	void *native() const
	{
		void *out;

		check(gpumem_event_native(handle_, &out));
		return out;
	}

      private:
	device device_; /* ends after what ~event() does */
	gpumem_event *handle_ = nullptr;
};

/*
 * gpumem_stream_create(), which the destructor undoes; the device stays open as
 * long. Blocks whose stream has ended are still freed by their destructors, but
 * not by a gpumem_free() on it.
 */
class stream
{
      public:
	explicit stream(device on) : device_(std::move(on))
	{
		check(gpumem_stream_create(device_.get(), &handle_));
	}

	stream(stream &&other) noexcept
	    : device_(std::move(other.device_)),
	      handle_(std::exchange(other.handle_, nullptr))
	{
	}

	stream &operator=(stream &&other) noexcept
	{
		stream moved(std::move(other));

		std::swap(device_, moved.device_);
		std::swap(handle_, moved.handle_);
		return *this;
	}

	~stream()
	{
		if (handle_ != nullptr)
			GPUMEM_IGNORE(
				gpumem_stream_destroy(device_.get(), handle_));
	}

	/* Throws, and the stream is as it was, while it is being captured. */
	void destroy()
	{
		check(gpumem_stream_destroy(device_.get(), handle_));
		handle_ = nullptr;
	}

	gpumem_stream get() const noexcept
	{
		return handle_;
	}

	operator gpumem_stream() const noexcept
	{
		return handle_;
	}

	const device &on() const noexcept
	{
		return device_;
	}

	/* The host waits for the work on the stream. */
	void sync() const
	{
		device_.sync(handle_);
	}

	/* What is queued from now on begins after the event's work. */
	void wait(const event &after) const
	{
		check(gpumem_stream_wait(device_.get(), handle_, after.get()));
	}

      private:
	device device_; /* ends after what ~stream() does */
	gpumem_stream handle_ = nullptr;
};

} // namespace gpumem

#endif
