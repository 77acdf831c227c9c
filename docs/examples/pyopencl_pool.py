#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""PyOpenCL arrays in the memory of a gpumem pool.

    pool = Pool(queue)
    a = pyopencl.array.zeros(queue, 1000, numpy.float32, allocator=pool)

Run as a program, with a word of the platform's name if there are several, it
computes with such arrays, most of which are gone as soon as they were used,
compares the results with NumPy's, and shows what the pool took. Needs pyopencl,
numpy and libgpumem.so.0; GPUMEM_LIBRARY says where that is, if not installed.
"""

import ctypes
import os
import sys

import numpy
import pyopencl
import pyopencl.array
import pyopencl.tools


class Error(ctypes.Structure):
    """struct gpumem_error."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("status", ctypes.c_int),
        ("native_code", ctypes.c_int64),
        ("native_name", ctypes.c_char * 64),
        ("backend", ctypes.c_char * 16),
        ("text", ctypes.c_char * 1024),
    ]


class Gauge(ctypes.Structure):
    _fields_ = [("current", ctypes.c_uint64), ("peak", ctypes.c_uint64),
                ("total", ctypes.c_uint64)]


class Stats(ctypes.Structure):
    """struct gpumem_stats of version 0.1.0, and the beginning of later ones."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("requested", Gauge),
        ("allocated", Gauge),
        ("active", Gauge),
        ("reserved", Gauge),
        ("blocks", Gauge),
        ("rest", ctypes.c_ubyte * (696 - 8 - 5 * 24)),
    ]


class Found(ctypes.Structure):
    """struct gpumem_block."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("ptr", ctypes.c_void_p),
        ("requested_bytes", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("stream", ctypes.c_void_p),
        ("pool", ctypes.c_void_p),
        ("state", ctypes.c_int),
        ("kind", ctypes.c_int),
        ("tag", ctypes.c_uint32),
        ("serial", ctypes.c_uint64),
        ("age_ns", ctypes.c_uint64),
        ("frames", ctypes.c_void_p),
        ("frame_count", ctypes.c_uint32),
        ("thread", ctypes.c_uint32),
    ]


class Block(pyopencl.Buffer):
    """A buffer whose end is the end of its block."""

    __slots__ = ()

    def __del__(self):
        view = self.int_ptr
        self.release()
        self.pool.free(view)


class Pool:
    """An allocator for pyopencl.array, in the context of a queue.

    A block goes back when the last array that uses it is gone. Work that was
    put into the pool's queue before may still use it; for work in other queues
    call finish() of these first.
    """

    def __init__(self, queue):
        self._lib = ctypes.CDLL(
            os.environ.get("GPUMEM_LIBRARY", "libgpumem.so.0"))
        self._queue = queue  # lives as long as we do
        self._stream = ctypes.c_void_p(queue.int_ptr)
        self._device = ctypes.c_void_p()
        self._pool = ctypes.c_void_p()
        # An array of PyOpenCL lies in a memory object, not at an address.
        self._call("option_set", b"opencl.memory", b"buffer")
        self._call("device_adopt", b"opencl",
                   ctypes.c_void_p(queue.context.int_ptr),
                   ctypes.c_void_p(queue.device.int_ptr),
                   ctypes.byref(self._device))
        self._call("pool_create", self._device, None,
                   ctypes.byref(self._pool))

    def _call(self, name, *args):
        if getattr(self._lib, "gpumem_" + name)(*args) == 0:
            return
        error = Error(size=ctypes.sizeof(Error))
        self._lib.gpumem_last_error(ctypes.byref(error))
        text = error.text.decode(errors="replace")
        # PyOpenCL takes this one as a reason to collect garbage and try again.
        if " out of memory" in text:
            raise pyopencl.MemoryError(text)
        raise RuntimeError(text)

    def free(self, view):
        """Ends the block of a cl_mem, by nothing but that."""
        found = Found(size=ctypes.sizeof(Found))
        self._call("view_block", self._device, ctypes.c_void_p(view),
                   ctypes.byref(found))
        self._call("free_own", ctypes.c_void_p(found.ptr))

    def __call__(self, nbytes):
        """A buffer of so many bytes, which is a block as long as it lives."""
        block, view = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("alloc", self._pool, ctypes.c_size_t(nbytes), self._stream,
                   ctypes.byref(block))
        try:
            self._call("view", block, ctypes.byref(view))
            buffer = pyopencl.MemoryObject.from_int_ptr(view.value, True)
        except BaseException:
            self._call("free_own", block)
            raise
        # PyOpenCL makes buffers of its own class only.
        buffer.pool = self
        buffer.__class__ = Block
        return buffer

    def stats(self):
        stats = Stats(size=ctypes.sizeof(Stats))
        self._call("pool_stats", self._pool, ctypes.byref(stats))
        return stats

    def trim(self):
        """Gives what is not used back to the device."""
        self._call("pool_trim", self._pool, ctypes.c_uint64(0), None)

    def close(self):
        """When all arrays are gone."""
        # Some implementations let a kernel hold what it was given last, and
        # PyOpenCL keeps kernels.
        pyopencl.tools.clear_first_arg_caches()
        self._call("pool_destroy", self._pool, ctypes.c_uint(0))
        self._call("device_close", self._device)


def find_device(wanted):
    for platform in pyopencl.get_platforms():
        if wanted not in platform.name:
            continue
        try:
            return platform.get_devices()[0]
        except (pyopencl.Error, IndexError):
            continue
    sys.exit("no OpenCL device of a platform \"%s\"" % wanted)


def compute(queue, pool, rounds, count):
    """How many numbers are not those that NumPy computes."""
    theirs = numpy.arange(count, dtype=numpy.int32)
    ours = pyopencl.array.to_device(queue, theirs, allocator=pool)
    wrong = 0
    for _ in range(rounds):
        ours = (ours * ours + ours) ^ ours
        theirs = (theirs * theirs + theirs) ^ theirs
        wrong += int((ours.get() != theirs).sum())
    return wrong


def main():
    device = find_device(sys.argv[1] if len(sys.argv) > 1 else "")
    queue = pyopencl.CommandQueue(pyopencl.Context([device]))
    pool = Pool(queue)
    wrong = compute(queue, pool, 20, 100000)
    stats = pool.stats()
    print("%s: %d numbers are wrong, at most %d blocks and %d bytes at one "
          "time, reserved %d" % (device.platform.name, wrong,
                                 stats.blocks.peak, stats.requested.peak,
                                 stats.reserved.peak))
    pool.close()
    if wrong or stats.blocks.current:
        sys.exit("%d blocks are live" % stats.blocks.current)


if __name__ == "__main__":
    main()
