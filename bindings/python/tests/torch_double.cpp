/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What torch_double.py cannot be in Python: a libc10.so that has PyTorch's
 * classes of errors, and calls hooks as CUDAPluggableAllocator does, with
 * std::function and std::pair by value, so that the compiler decides how they
 * travel. It encodes what is believed of PyTorch 2.11; tests/device tries the
 * real one. One thread.
 */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#define EXPORT __attribute__((visibility("default")))

namespace c10
{

struct EXPORT SourceLocation {
	const char *function, *file;
	uint32_t line;
};

class EXPORT Error : public std::exception
{
	std::string msg_;
	std::vector<std::string> context_;
	std::string what_;

      public:
	Error(SourceLocation where, std::string msg);
	const char *what() const noexcept override
	{
		return what_.c_str();
	}
	virtual const char *what_without_backtrace() const noexcept
	{
		return msg_.c_str();
	}
};

Error::Error(SourceLocation where, std::string msg)
    : msg_(std::move(msg)), context_{where.function}
{
	what_ = msg_ + "\nException raised from " + where.function;
}

class EXPORT OutOfMemoryError : public Error
{
	using Error::Error;
};

} /* namespace c10 */

using pool_id = std::pair<unsigned long long, unsigned long long>;
using filter = std::function<bool(void *)>;

static std::map<void *, unsigned long long> captured; /* stream: capture */
static char text[4096];

/* 0: done; 1: out of memory; 2: another error. */
template <typename Call> static int caught(Call call)
{
	try {
		call();
		return 0;
	} catch (const c10::OutOfMemoryError &error) {
		snprintf(text, sizeof(text), "%s",
			 error.what_without_backtrace());
		return std::strstr(error.what(), text) ? 1 : 3;
	} catch (const std::exception &error) {
		snprintf(text, sizeof(text), "%s", error.what());
		return 2;
	}
}

template <typename Type> static Type *function(void *address)
{
	return reinterpret_cast<Type *>(address);
}

extern "C" {

/* Its table and type are in this library because of this. */
EXPORT void double_throw(void)
{
	throw c10::OutOfMemoryError({"here", "here", 0}, "none");
}

EXPORT const char *double_text(void)
{
	return text;
}

EXPORT void double_capture(void *stream, unsigned long long id)
{
	captured[stream] = id;
}

EXPORT int double_alloc(void *hook, size_t bytes, int device, void *stream,
			void **out)
{
	return caught([&] {
		*out = function<void *(size_t, int, void *)>(hook)(
			bytes, device, stream);
	});
}

EXPORT void double_free(void *hook, void *ptr, size_t bytes, int device,
			void *stream)
{
	function<void(void *, size_t, int, void *)>(hook)(ptr, bytes, device,
							  stream);
}

EXPORT int double_reset(void *hook)
{
	return caught(function<void()>(hook));
}

EXPORT int double_fraction(void *hook, double part, int device)
{
	return caught([&] { function<void(double, int)>(hook)(part, device); });
}

EXPORT void *double_base(void *hook, void *ptr, size_t *bytes)
{
	return function<void *(void *, size_t *)>(hook)(ptr, bytes);
}

EXPORT int double_record(void *hook, void *ptr, void *stream)
{
	return caught(
		[&] { function<void(void *, void *)>(hook)(ptr, stream); });
}

/* The filter holds more than fits into a std::function. */
EXPORT int double_begin(void *hook, int device, unsigned long long first,
			unsigned long long second)
{
	std::string much =
		"a capture whose number is " + std::to_string(second);
	filter of = [much, second](void *stream) {
		return much.back() && captured[stream] == second;
	};

	return caught([&] {
		function<void(int, pool_id, filter)>(hook)(
			device, pool_id(first, second), std::move(of));
	});
}

EXPORT int double_pool(void *hook, int device, unsigned long long first,
		       unsigned long long second)
{
	return caught([&] {
		function<void(int, pool_id)>(hook)(device,
						   pool_id(first, second));
	});
}
}
