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
import threading
import warnings
from typing import Any, Dict, Optional, Tuple

from . import Buffer, Device, Error, OutOfMemoryError, Pool

cp: Any = importlib.import_module("cupy")

__all__ = ["MemoryPool", "alloc", "enable", "enabled", "pool"]

_backend = "hip" if cp.cuda.runtime.is_hip else "cuda"
# By device and kind. Never closed: an array may outlive all else.
_pools: Dict[Tuple[int, str], Pool] = {}
_theirs: Any = None  # CuPy's default pool, once it is not that any more
# Limits below what is in use, or than any block takes: CuPy takes them, a pool
# does not yet. By pool, under the lock.
_wanted: Dict[Pool, int] = {}
_limiting = threading.Lock()


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


def pool(number: Optional[int] = None, kind: str = "device") -> Pool:
    """The pool of CuPy's device of that number, None: of the current one.

    Of kind "managed" is what MemoryPool(cupy.cuda.malloc_managed) gives.
    """
    if number is None:
        number = _where()[0]
    own = _pools.get((number, kind))
    return own if own is not None else _open(number, kind)


def alloc(nbytes: int, kind: str = "device") -> Any:
    """A cupy.cuda.MemoryPointer, for the current device and stream.

    cupy.cuda.memory.OutOfMemoryError if there is not so much, also after
    garbage was collected; its cause is gpumem's, which says where it all is.
    """
    number, stream = _where()
    own = pool(number, kind)
    try:
        block = _take(own, nbytes, stream)
    except OutOfMemoryError:
        gc.collect()
        try:
            block = _take(own, nbytes, stream)
        except OutOfMemoryError as error:
            raise cp.cuda.memory.OutOfMemoryError(
                nbytes, own.stats()["allocated"]["current"], _limit_of(own)
            ) from error
    # The block ends with the last array that uses it.
    memory = cp.cuda.UnownedMemory(block.ptr, nbytes, block, number)
    return cp.cuda.MemoryPointer(memory, 0)


def _take(own: Pool, nbytes: int, stream: int) -> Buffer:
    """Nothing is given before the limit holds, for which frees may have made
    room."""
    if own in _wanted:
        with _limiting:
            try:
                own.set_limit(_wanted.get(own, own.stats()["limit_bytes"]))
            except Error as error:
                raise OutOfMemoryError(f"out of memory: {error}") from error
            _wanted.pop(own, None)
    return own.alloc(nbytes, stream)


def _limit(own: Pool, limit: int) -> None:
    with _limiting:
        try:
            own.set_limit(limit)
            _wanted.pop(own, None)
        except Error as error:
            if error.status not in ("GPUMEM_BUSY", "GPUMEM_INVALID"):
                raise
            _wanted[own] = limit


def _limit_of(own: Pool) -> int:
    return _wanted.get(own) or own.stats()["limit_bytes"]


class MemoryPool:
    """What cupy.get_default_memory_pool() has, of the current device's pool.

    The allocator is None, cupy.cuda.malloc_managed for managed memory, or the
    one that CuPy has for None; another one is a ValueError. A device has one
    pool of each kind: all instances of a kind share it, its limit included.
    """

    def __init__(self, allocator: Any = None) -> None:
        if allocator is None or allocator is cp.cuda.memory._malloc:
            self._kind = "device"
        elif allocator is cp.cuda.memory.malloc_managed:
            self._kind = "managed"
        else:
            raise ValueError(
                "gpumem.cupy.MemoryPool takes its memory from the driver "
                "itself: the allocator is None or cupy.cuda.malloc_managed"
            )

    def _pool(self) -> Pool:
        return pool(None, self._kind)

    def malloc(self, size: int) -> Any:
        """As alloc()."""
        return alloc(size, self._kind)

    def free_all_blocks(self, stream: Any = None) -> None:
        """Gives what is unused back to the driver, of every stream."""
        self._pool().trim()

    def free_all_free(self) -> None:
        """As free_all_blocks(), by its old name: a DeprecationWarning."""
        warnings.warn(
            "free_all_free() is the old name of free_all_blocks()",
            DeprecationWarning,
            stacklevel=2,
        )
        self.free_all_blocks()

    def n_free_blocks(self) -> int:
        """How many pieces the unused memory is in."""
        return sum(x["state"] in ("free", "pending") for x in self._pool().snapshot())

    def used_bytes(self) -> int:
        """In arrays."""
        return self._pool().stats()["allocated"]["current"]

    def free_bytes(self) -> int:
        """Taken from the driver, in no array."""
        return self.total_bytes() - self.used_bytes()

    def total_bytes(self) -> int:
        """Taken from the driver."""
        return self._pool().stats()["reserved"]["current"]

    def set_limit(
        self, size: Optional[int] = None, fraction: Optional[float] = None
    ) -> None:
        """Of total_bytes(), as bytes or as a part of the device; 0: none. Below
        what is in use: nothing more is given until it fits."""
        if fraction is not None:
            if size is not None:
                raise ValueError("size and fraction cannot both be given")
            if not 0 <= fraction <= 1:
                raise ValueError("fraction is from 0 to 1")
            total = self._pool().device.info["total_bytes"]
            size = int(fraction * total)
        _limit(self._pool(), size or 0)

    def get_limit(self) -> int:
        """In bytes; 0: none."""
        return _limit_of(self._pool())


def _where() -> Tuple[int, int]:
    """The current device, and the handle of its current stream."""
    return cp.cuda.device.get_device_id(), cp.cuda.get_current_stream().ptr


def _open(number: int, kind: str) -> Pool:
    device, limit = Device(f"{_backend}:{number}"), 0
    if kind != "device":
        own = Pool(device, name=f"cupy {kind}", kind=kind)
    else:
        own = device.pool
        # What CUPY_GPU_MEMORY_LIMIT or a call has set of CuPy's own pool.
        limit = _theirs.get_limit() if _theirs is not None else 0
    first = _pools.setdefault((number, kind), own)
    if limit and first is own:
        _limit(own, limit)
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
