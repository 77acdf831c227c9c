# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""PyOpenCL's arrays in the memory of a gpumem pool.

    allocator = gpumem.pyopencl.Allocator(queue)
    a = pyopencl.array.zeros(queue, 1000, numpy.float32, allocator=allocator)

Beside PyOpenCL's own MemoryPool: blocks are split and merged, and go back to the
device by allocator.pool.trim(). Calls come from any thread.
"""

import importlib
from typing import Any, cast

from . import Device, Error, OutOfMemoryError, Pool
from . import backends, option_get, option_set

cl: Any = importlib.import_module("pyopencl")

__all__ = ["Allocator"]


class _Block(cl.Buffer):  # type: ignore[misc]
    """A buffer that keeps its block; the block ends with it."""

    __slots__ = ()  # as large as its base, to be made of one

    block: Any

    def release(self) -> None:
        """Of the object, and with it the end of the block."""
        super().release()  # before the block ends, which waits for it otherwise
        self.block = None

    def __del__(self) -> None:
        if self.block is not None:
            self.release()


class Allocator:
    """What pyopencl.array takes as `allocator`, in a queue's context.

    A block goes back when the last array that uses it is gone. Work that was put
    into this queue before may still use it; for work in other queues call
    finish() of these first, or block.use_on(). An out of memory is a
    pyopencl.MemoryError, which makes PyOpenCL collect garbage and try again.

    In a queue that is out of order each allocation puts a barrier: without it
    new work could begin while older work still uses the same memory.
    """

    def __init__(self, queue: Any, **config: Any) -> None:
        """config: of Pool, as limit_bytes."""
        self._queue = queue
        modes = cl.command_queue_properties
        self._loose = queue.properties & modes.OUT_OF_ORDER_EXEC_MODE_ENABLE
        self.device = _adopted(queue)
        self.pool = Pool(self.device, **config)

    def __call__(self, nbytes: int) -> Any:
        """A pyopencl.Buffer of so many bytes."""
        try:
            block = self.pool.alloc(nbytes, self._queue)
        except OutOfMemoryError as error:
            raise cl.MemoryError(str(error)) from error
        buffer = cl.MemoryObject.from_int_ptr(block.view, True)
        if self._loose:
            cl.enqueue_barrier(self._queue)
        # PyOpenCL makes buffers of its own class only.
        buffer.__class__ = _Block
        buffer.block = block
        return buffer


def _adopted(queue: Any) -> Device:
    """Its device, with memory by objects: an array has no place for an address.
    The queue has to live as long as a pool that knows it."""
    try:
        before = option_get("opencl.memory")
    except Error as error:
        if error.status != "GPUMEM_NOT_FOUND":  # the plugin brings the option
            raise
        (why,) = [x["reason"] for x in backends() if x["name"] == "opencl"]
        raise RuntimeError(
            f"gpumem's plugin for OpenCL cannot be used: {why}"
        ) from None
    option_set("opencl.memory", "buffer")
    try:
        return Device.adopt(
            "opencl",
            cast(int, queue.context.int_ptr),
            cast(int, queue.device.int_ptr),
            queue,
        )
    finally:
        option_set("opencl.memory", before)
