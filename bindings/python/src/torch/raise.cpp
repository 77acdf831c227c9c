/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How a failure leaves an allocation: as a C++ exception, which PyTorch carries
 * to whoever called it. An out of memory has to be a c10::OutOfMemoryError to
 * become torch.OutOfMemoryError. That class has no interface but C++'s, so the
 * object is made by c10::Error's own constructor in memory that is large enough
 * for it in any version, gets the table of virtual functions of the derived
 * class, which adds nothing to it, and is thrown as one.
 */
#include "plug.hpp"

#include <cxxabi.h>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>

namespace plug
{

/* c10::SourceLocation */
struct place {
	const char *function, *file;
	uint32_t line;
};

/* c10::Error is some 200 bytes in 2.11. */
constexpr size_t ROOM = 1024;

using construct_fn = void (*)(void *self, place where, std::string text);
using destruct_fn = void (*)(void *self);

static struct {
	construct_fn construct;
	void **functions; /* the table's, behind its two words of head; the
			     first is the destructor */
	std::type_info *type;
} errors;

static void *find(const char *const *paths, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		void *library = dlopen(paths[i], RTLD_LAZY | RTLD_NOLOAD);
		void *found = library ? dlsym(library, name) : nullptr;

		if (library)
			dlclose(library);
		if (found)
			return found;
	}
	return nullptr;
}

bool find_errors(const char *const *paths, size_t count)
{
	auto construct = find(paths, count,
			      "_ZN3c105ErrorC1ENS_14SourceLocationE"
			      "NSt7__cxx1112basic_stringIcSt11char_traitsIcE"
			      "SaIcEEE");
	auto table = find(paths, count, "_ZTVN3c1016OutOfMemoryErrorE");
	auto type = find(paths, count, "_ZTIN3c1016OutOfMemoryErrorE");

	if (!construct || !table || !type)
		return false;
	errors.functions = static_cast<void **>(table) + 2;
	errors.type = static_cast<std::type_info *>(type);
	errors.construct = reinterpret_cast<construct_fn>(construct);
	return true;
}

/* As PyTorch's own begins, with what gpumem says, which has " out of memory" in
 * it but need not have it at the end of a sentence. */
static std::string text_of(gpumem_status status)
{
	gpumem_error error = GPUMEM_INIT(gpumem_error);

	gpumem_last_error(&error);
	if (status != GPUMEM_NO_MEMORY && status != GPUMEM_LIMIT)
		return error.text;
	return std::string("CUDA out of memory. ") + error.text;
}

[[noreturn]] static void throw_oom(const std::string &text)
{
	void *object = abi::__cxa_allocate_exception(ROOM);

	memset(object, 0, ROOM);
	errors.construct(object, place{"gpumem", "gpumem", 0}, text);
	memcpy(object, &errors.functions, sizeof(errors.functions));
	abi::__cxa_throw(object, errors.type,
			 reinterpret_cast<destruct_fn>(errors.functions[0]));
}

void raise(gpumem_status status)
{
	std::string text = text_of(status);

	if (errors.construct &&
	    (status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT))
		throw_oom(text);
	throw std::runtime_error(text);
}

} /* namespace plug */
