# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Numba's device arrays in the memory of gpumem's pools.

    import gpumem.numba

    gpumem.numba.enable()    # before Numba uses a GPU

or NUMBA_CUDA_MEMORY_MANAGER=gpumem.numba in the environment. This is a plugin of
Numba's external memory management; pinned and managed memory stay Numba's own.

Numba does not tell an allocator which streams use an array. As in Numba's own
manager, arrays that are gone are collected (NUMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT
and _RATIO), and their memory is used again after the device was waited for, here
once for all of them.
"""

import ctypes
import functools
import importlib
import itertools
import weakref
from typing import Any, Dict, Optional, Tuple

from . import Buffer, Device, OutOfMemoryError, Pool

cuda: Any = importlib.import_module("numba.cuda")
driver: Any = importlib.import_module("numba.cuda.cudadrv.driver")

__all__ = ["Manager", "enable", "pool"]

OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY

_backend = "cuda"
_pools: Dict[int, Pool] = {}
_extents: Any = driver.device_extents  # Numba's own


def pool(number: int = 0) -> Pool:
    """The pool of Numba's device of that number."""
    own = _pools.get(number)
    if own is None:
        own = Device(f"{_backend}:{number}").pool
        own = _pools.setdefault(number, own)
    return own


def enable() -> None:
    """Makes gpumem Numba's memory manager; once more does nothing.

    RuntimeError if Numba has a context already, whose manager is another one.
    """
    known = getattr(driver.driver, "devices", {})
    for device in list(known.values()):
        context = getattr(device, "primary_context", None)
        if context and not isinstance(context.memory_manager, Manager):
            raise RuntimeError(
                "Numba has used a GPU already: call gpumem.numba.enable() "
                "before, or set NUMBA_CUDA_MEMORY_MANAGER=gpumem.numba"
            )
    cuda.set_memory_manager(Manager)


def _block_extents(memory: Any) -> Any:
    """Instead of Numba's device_extents(), and so of device_memory_size().

    Numba asks the driver, which knows the reservation or the segment that a
    block is in: who clears an array by that size clears others, or fails.
    """
    address = driver.device_ctypes_pointer(memory).value
    for own in list(_pools.values()) if address else []:
        for block in own.snapshot():
            first = block["address"]
            end = first + block["requested_bytes"]  # none unless live
            if first <= address < end:
                return first, end
    return _extents(memory)


class Manager(cuda.HostOnlyCUDAMemoryManager):  # type: ignore[misc]
    """The memory of one context of Numba's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        driver.device_extents = _block_extents
        # Arrays' blocks by their number. A finalizer has the number only:
        # after reset() the address may be another array's.
        self._live: Dict[int, Buffer] = {}
        self._numbers = itertools.count(1)
        self._last = 0  # that ended
        self._waited = 0  # the last one whose end the device has reached

    @property
    def interface_version(self) -> int:
        """Of Numba's interface."""
        return 1

    @property
    def pool(self) -> Pool:
        """That the arrays of this context are in."""
        return pool(self._number())

    def initialize(self) -> None:
        """Numba calls it whenever a thread begins to use the context."""
        if not self.deallocations.memory_capacity:
            total = self.pool.device.info["total_bytes"]
            self.deallocations.memory_capacity = total

    def memalloc(self, size: int) -> Any:
        """A numba.cuda.MemoryPointer; CudaAPIError with the code of an out of
        memory if there is not so much."""
        try:
            block = self.pool.alloc(size or 1)
        except OutOfMemoryError:
            self.deallocations.clear()
            try:
                block = self.pool.alloc(size or 1)
            except OutOfMemoryError as error:
                raise driver.CudaAPIError(OUT_OF_MEMORY, str(error)) from error
        number = next(self._numbers)
        self._live[number] = block
        return cuda.MemoryPointer(
            weakref.proxy(self.context),
            ctypes.c_void_p(block.ptr),
            size,
            finalizer=functools.partial(self._unused, number, size),
        )

    def get_memory_info(self) -> Any:
        """Of the device: what is free, without what the pool keeps."""
        memory = self.pool.device.memory()
        return cuda.MemoryInfo(
            free=memory["free_bytes"], total=memory["total_bytes"]
        )

    def get_ipc_handle(self, memory: Any) -> Any:
        """NotImplementedError: CUDA has no such handle of virtual memory."""
        raise NotImplementedError(
            "arrays in gpumem's pools have no IPC handle; gpumem_share(3) is "
            "how blocks are shared"
        )

    def reset(self) -> None:
        """Ends the memory of all arrays, and gives it back to the driver.

        What follows may be the end of the driver's context, so the device is
        closed, unless somebody else uses it, and opened anew by the next array.
        """
        super().reset()
        if self._live:
            self._wait()
        self._live.clear()
        number = self._number()
        if number in _pools:
            _pools.pop(number).trim()

    def _number(self) -> int:
        """Of the context's device: the driver's CUdevice itself where the
        program made the context, or the `id` of Numba's object is one."""
        device = self.context.device
        return int(getattr(device, "id", device))

    def _unused(self, number: int, size: int) -> None:
        """The array is gone, but perhaps not the kernels that use it."""
        block = self._live.pop(number, None)
        if block is not None:
            self._last += 1
            ended = self._last, block
            self.deallocations.add_item(self._end, ended, size)

    def _end(self, ended: Tuple[int, Optional[Buffer]]) -> None:
        """One wait serves all that ended before it."""
        number = ended[0]
        if number > self._waited:
            last = self._last
            self._wait()
            self._waited = last

    def _wait(self) -> None:
        """For the device, also if this thread has not used it yet."""
        self.context.push()
        try:
            self.context.synchronize()
        finally:
            self.context.pop()


_numba_memory_manager = Manager
