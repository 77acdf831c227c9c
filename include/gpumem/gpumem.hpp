/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem in C++17: objects that own devices, streams, events, pools and blocks.
 * Header only: each call is one or two of gpumem.h, which says what it does,
 * from which threads it may be made and when it fails. A program links
 * libgpumem as one in C does. docs/cxx.md explains; not here: std::pmr and
 * other libraries' interfaces, which have headers of their own.
 *
 *	gpumem::device gpu;             // the one that GPUMEM_BACKEND picks
 *	gpumem::pool pool(gpu);
 *	gpumem::stream stream(gpu);
 *	gpumem::device_buffer data(pool, bytes, stream);
 *
 * Conventions, stated once:
 *
 * - What fails throws a gpumem::error (cxx/error.hpp). Destructors and moves
 *   are noexcept. A destructor that fails leaves its object to the library: it
 *   is not destroyed, and stays valid for what still uses it. Where that
 *   matters, call destroy() before, which throws.
 * - Objects that own are moved, not copied; one that was moved from may be
 *   destroyed or assigned to, and nothing else. One that is moved into itself,
 *   or swapped with itself, is as it was. device is copied: the last copy
 *closes it. Pools, streams and events hold a copy, so that they may end in any
 *   order.
 * - Blocks hold nothing but their address. They end before their pool: a pool
 *   that is destroyed while it has live blocks stays, with its device.
 * - Streams are passed as gpumem_stream, the vendor's own handle. A
 *   cudaStream_t or a gpumem::stream converts to it; nullptr is the default
 *   stream.
 * - Threads: of one object as of a standard container; of what it stands for as
 *   gpumem.h says. Two objects may be used by two threads.
 */
#ifndef GPUMEM_GPUMEM_HPP
#define GPUMEM_GPUMEM_HPP

#include <gpumem/cxx/error.hpp>
#include <gpumem/cxx/device.hpp>
#include <gpumem/cxx/pool.hpp>
#include <gpumem/cxx/stream.hpp>
#include <gpumem/cxx/buffer.hpp>
#include <gpumem/cxx/device_buffer.hpp>

#endif
