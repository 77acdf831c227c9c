# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""RMM's allocations, as those of cuDF, in the memory of gpumem's pools.

    import gpumem.rmm

    gpumem.rmm.enable()      # before RMM has allocated anything

Each allocation calls Python, which RMM does not recommend for speed; in C++,
gpumem/cccl.hpp is a resource without that. Calls come from any thread. A stream
has to live until pool.drop_stream(), or as long as the pool.
"""

import importlib
from typing import Any, Dict

from . import Device, Pool, free

theirs: Any = importlib.import_module("rmm")

__all__ = ["enable", "resource"]

_backend = "cuda"
_resources: Dict[int, Any] = {}  # what RMM's C++ refers to must not go


def resource(pool: Pool) -> Any:
    """An rmm.mr.CallbackMemoryResource over the pool, in stream order."""

    def allocate(nbytes: int, stream: Any) -> int:
        return pool.malloc(nbytes, stream)

    def deallocate(address: int, nbytes: int, stream: Any) -> None:
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
