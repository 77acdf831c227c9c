# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""CuPy's arrays in the memory of gpumem's pools.

    import gpumem.cupy

    gpumem.cupy.enable()

or, for a part of a program, `with cupy.cuda.using_allocator(gpumem.cupy.alloc)`.
The memory of an array belongs to the stream that was current when it was made,
as with CuPy's own pool. Calls come from any thread.
"""

import gc
import importlib
from typing import Any, Dict, Optional, Tuple

from . import Device, Error, OutOfMemoryError, Pool

cp: Any = importlib.import_module("cupy")

__all__ = ["MemoryPool", "alloc", "enable", "enabled", "pool"]

_backend = "hip" if cp.cuda.runtime.is_hip else "cuda"
_pools: Dict[int, Pool] = {}  # never closed: an array may outlive all else
_theirs: Any = None  # CuPy's default pool, once it is not that any more


def enabled() -> bool:
    """Whether enable() has been called."""
    return _theirs is not None


def enable() -> None:
    """Makes gpumem CuPy's allocator, in every thread; once more does nothing.

    cupy.get_default_memory_pool() is a MemoryPool of this module from then on.
    Arrays that exist keep the memory that they have.
    """
    global _theirs

    if _theirs is not None:
        return
    before = cp.get_default_memory_pool()
    cp.cuda.set_allocator(alloc)
    cp._default_memory_pool = MemoryPool()
    _theirs = before
    _watch_streams()
    before.free_all_blocks()


def pool(number: Optional[int] = None) -> Pool:
    """The pool of CuPy's device of that number, None: of the current one."""
    if number is None:
        number = _where()[0]
    own = _pools.get(number)
    return own if own is not None else _open(number)


def alloc(nbytes: int) -> Any:
    """A cupy.cuda.MemoryPointer, for the current device and stream.

    cupy.cuda.memory.OutOfMemoryError if there is not so much, also after
    garbage was collected; its cause is gpumem's, which says where it all is.
    """
    number, stream = _where()
    own = pool(number)
    try:
        block = own.alloc(nbytes, stream)
    except OutOfMemoryError:
        gc.collect()
        try:
            block = own.alloc(nbytes, stream)
        except OutOfMemoryError as error:
            stats = own.stats()
            raise cp.cuda.memory.OutOfMemoryError(
                nbytes, stats["allocated"]["current"], stats["limit_bytes"]
            ) from error
    # The block ends with the last array that uses it.
    memory = cp.cuda.UnownedMemory(block.ptr, nbytes, block, number)
    return cp.cuda.MemoryPointer(memory, 0)


class MemoryPool:
    """What cupy.get_default_memory_pool() has, of the current device's pool."""

    def malloc(self, size: int) -> Any:
        """As alloc()."""
        return alloc(size)

    def free_all_blocks(self, stream: Any = None) -> None:
        """Gives what is unused back to the driver, of every stream."""
        pool().trim()

    def free_all_free(self) -> None:
        """As free_all_blocks(), by its old name."""
        self.free_all_blocks()

    def n_free_blocks(self) -> int:
        """How many pieces the unused memory is in."""
        return sum(x["state"] in ("free", "pending") for x in pool().snapshot())

    def used_bytes(self) -> int:
        """In arrays."""
        return pool().stats()["allocated"]["current"]

    def free_bytes(self) -> int:
        """Taken from the driver, in no array."""
        return self.total_bytes() - self.used_bytes()

    def total_bytes(self) -> int:
        """Taken from the driver."""
        return pool().stats()["reserved"]["current"]

    def set_limit(
        self, size: Optional[int] = None, fraction: Optional[float] = None
    ) -> None:
        """Of total_bytes(), as bytes or as a part of the device; 0: none."""
        if fraction is not None:
            if size is not None:
                raise ValueError("size and fraction cannot both be given")
            if not 0 <= fraction <= 1:
                raise ValueError("fraction is from 0 to 1")
            total = pool().device.info["total_bytes"]
            size = int(fraction * total)
        pool().set_limit(size or 0)

    def get_limit(self) -> int:
        """In bytes; 0: none."""
        return pool().stats()["limit_bytes"]


def _where() -> Tuple[int, int]:
    """The current device, and the handle of its current stream."""
    return cp.cuda.device.get_device_id(), cp.cuda.get_current_stream().ptr


def _open(number: int) -> Pool:
    own = Device(f"{_backend}:{number}").pool
    # What CUPY_GPU_MEMORY_LIMIT or a call has set of CuPy's own pool.
    limit = _theirs.get_limit() if _theirs is not None else 0
    first = _pools.setdefault(number, own)
    if limit and first is own:
        own.set_limit(limit)
    return first


def _watch_streams() -> None:
    """A stream that ends leaves the pools before its handle means nothing."""
    theirs = cp.cuda.Stream.__del__

    def ended(stream: Any) -> None:
        handle = stream.ptr
        # What Stream.from_external() made ends no stream. The one that it names
        # may have ended before, and then the driver crashes.
        if getattr(stream, "_foreign_stream_ref", None) is not None:
            handle = 0
        if handle > 2:  # the default streams have no end
            for own in list(_pools.values()):
                try:
                    own.drop_stream(handle)
                except Error:
                    pass  # of another device, or the driver is gone
        theirs(stream)

    cp.cuda.Stream.__del__ = ended
