# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A pool of GPU memory for any vendor, which gives memory back.

    import gpumem

    pool = gpumem.Pool("cuda:0", limit_bytes=8 << 30)
    with pool.alloc(1 << 20, stream) as buffer:
        tensor = torch.from_dlpack(buffer)
    pool.trim()

A Device is opened by its name, or None for the one that GPUMEM_BACKEND picks;
"host" is a simulated one. A Pool allocates Buffers. A stream is the vendor's own
handle as an int, None for the default one, or an object that knows its handle.
Every call may be made from any thread. `python -m gpumem` lists the devices, and
says why one cannot be used; gpumem.torch makes gpumem the allocator of PyTorch.
"""

from ._core import (
    Buffer,
    Device,
    Error,
    OutOfMemoryError,
    Pool,
    backends,
    devices,
    free,
    leak_mark,
    oom_set,
    option_get,
    option_set,
    record_begin,
    record_end,
    version,
)
from ._release import Kept, Released, Scope, release, scope
from ._report import Slept
from ._share import Shared
from ._sleep import sleep, wake
from ._tags import tag

__version__ = version()
__all__ = [
    "Buffer",
    "Device",
    "Error",
    "Kept",
    "OutOfMemoryError",
    "Pool",
    "Released",
    "Scope",
    "Shared",
    "Slept",
    "backends",
    "devices",
    "free",
    "leak_mark",
    "oom_set",
    "option_get",
    "option_set",
    "record_begin",
    "record_end",
    "release",
    "scope",
    "sleep",
    "tag",
    "version",
    "wake",
]
