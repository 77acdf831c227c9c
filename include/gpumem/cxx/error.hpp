/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Statuses as exceptions. Part of gpumem.hpp; no locks.
 *
 *	catch (const std::bad_alloc &)      what did not fit
 *	catch (const gpumem::error &)       all that gpumem throws, with details
 *	catch (const std::exception &)      these and others
 */
#ifndef GPUMEM_CXX_ERROR_HPP
#define GPUMEM_CXX_ERROR_HPP

#include <gpumem/gpumem.h>

#include <cstring>
#include <exception>
#include <new>

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "gpumem.hpp needs C++17"
#elif !defined(__cpp_exceptions)
#error "gpumem.hpp throws: compile with exceptions, or call gpumem.h instead"
#endif

namespace gpumem
{

/*
 * What every exception of gpumem has: the status, and the last error of the
 * thread as it was when the call failed. Not derived from std::exception, since
 * a class that had two of them would be caught by neither's name.
 */
class GPUMEM_API error
{
      public:
	virtual ~error() = default;

	/* The sentence of gpumem_error_text(). */
	virtual const char *what() const noexcept = 0;

	gpumem_status status() const noexcept
	{
		return details_.status;
	}

	/* Also the driver's own number and name, and the backend. */
	const gpumem_error &details() const noexcept
	{
		return details_;
	}

      protected:
	/* status: what the call that failed has just returned. */
	explicit error(gpumem_status status) noexcept
	    : details_(GPUMEM_INIT(gpumem_error))
	{
		gpumem_last_error(&details_);
		/* Not every status is an error that is kept: NOT_READY. */
		if (details_.status != status)
			set(status, gpumem_status_text(status));
	}

	/* An error that no call of gpumem.h made. */
	error(gpumem_status status, const char *text) noexcept
	{
		set(status, text);
	}

	error(const error &) = default;
	error &operator=(const error &) = default;

      private:
	void set(gpumem_status status, const char *text) noexcept
	{
		details_ = GPUMEM_INIT(gpumem_error);
		details_.status = status;
		std::strncpy(details_.text, text, sizeof(details_.text) - 1);
	}

	gpumem_error details_;
};

/* NO_MEMORY, LIMIT and NO_HOST_MEMORY. */
class GPUMEM_API out_of_memory : public std::bad_alloc, public error
{
      public:
	explicit out_of_memory(gpumem_status status) noexcept : error(status)
	{
	}

	const char *what() const noexcept override
	{
		return details().text;
	}
};

/* Every other status. */
class GPUMEM_API status_error : public std::exception, public error
{
      public:
	explicit status_error(gpumem_status status) noexcept : error(status)
	{
	}

	status_error(gpumem_status status, const char *text) noexcept
	    : error(status, text)
	{
	}

	const char *what() const noexcept override
	{
		return details().text;
	}
};

/* Throws what `status` stands for; it must be the calling thread's last. */
[[noreturn]] inline void raise(gpumem_status status)
{
	switch (status) {
	case GPUMEM_NO_MEMORY:
	case GPUMEM_LIMIT:
	case GPUMEM_NO_HOST_MEMORY:
		throw out_of_memory(status);
	default:
		throw status_error(status);
	}
}

/* For calls of gpumem.h: check(gpumem_pool_check(pool.get())). */
inline void check(gpumem_status status)
{
	if (status != GPUMEM_OK)
		raise(status);
}

} // namespace gpumem

#endif
