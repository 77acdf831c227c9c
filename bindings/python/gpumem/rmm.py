# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""RMM's allocations, as those of cuDF, in the memory of gpumem's pools.

    import gpumem.rmm

    gpumem.rmm.enable()      # before RMM has allocated anything

Each allocation calls Python, which RMM does not recommend for speed; in C++,
gpumem/cccl.hpp is a resource without that. Calls come from any thread, in either
form that RMM has for them. A stream
has to live until pool.drop_stream(), or as long as the pool.
"""

import importlib
from typing import Any, Dict, Tuple

from . import Device, Pool, free

theirs: Any = importlib.import_module("rmm")

__all__ = ["enable", "resource"]

ALIGNMENT = 256  # of every block
_backend = "cuda"
_resources: Dict[int, Any] = {}  # what RMM's C++ refers to must not go


def _in_order(arguments: Tuple[Any, ...], count: int) -> Tuple[Any, ...]:
    """RMM's arguments with the stream as the last of `count`, and the alignment.

    RMM passes the stream last, and no alignment, or the stream first, and the
    alignment last.
    """
    if len(arguments) == count:
        return (*arguments, ALIGNMENT)
    if len(arguments) == count + 1:
        return (*arguments[1:count], arguments[0], arguments[count])
    raise TypeError(
        f"RMM {getattr(theirs, '__version__', '')} calls an allocator with "
        f"{len(arguments)} arguments; known are a size and a stream, or a "
        "stream, a size and an alignment"
    )


def resource(pool: Pool) -> Any:
    """An rmm.mr.CallbackMemoryResource over the pool, in stream order."""

    def allocate(*arguments: Any) -> int:
        nbytes, stream, alignment = _in_order(arguments, 2)
        if alignment <= ALIGNMENT:
            return pool.malloc(nbytes, stream)
        return pool.alloc(nbytes, stream, alignment=alignment).detach()

    def deallocate(*arguments: Any) -> None:
        address, _, stream, _ = _in_order(arguments, 3)
        free(address, stream)

    return theirs.mr.CallbackMemoryResource(allocate, deallocate)


def enable(number: int = 0) -> Pool:
    """Makes gpumem RMM's resource of the device of that number: its pool.

    Once more for a device does nothing but return the pool.
    """
    pool = Device(f"{_backend}:{number}").pool
    if number not in _resources:
        made = _resources.setdefault(number, resource(pool))
        theirs.mr.set_per_device_resource(number, made)
    return pool
