# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Sleep and wake of several pools. Of one: Pool.sleep() and Pool.wake()."""

import os
import sys
from typing import Any, List, Optional, Tuple, Union

from ._core import Pool
from ._report import Slept

Folder = Union[str, bytes, "os.PathLike[str]", None]


def _used(pools: Tuple[Pool, ...]) -> Tuple[Pool, ...]:
    """Without any: those of PyTorch."""
    if pools:
        return pools
    plug: Any = sys.modules.get(__package__ + ".torch")
    if plug is None or not plug.enabled():
        raise ValueError(
            "there is no pool to put to sleep or to wake: name those that are "
            "meant, as in gpumem.sleep(pool), or call gpumem.torch.enable() before"
        )
    return tuple(device.pool for device in plug.used_devices())


def _sum(done: List[Slept]) -> Slept:
    return Slept(*map(sum, zip(Slept(0, 0, 0, 0, 0, 0, 0), *done)))


def sleep(
    *pools: Pool,
    tag: Optional[str] = None,
    content: str = "pinned",
    folder: Folder = None,
    timeout_ns: int = 0,
) -> Slept:
    """Gives the memory of live blocks to the driver, which stay at their addresses.

    Pool.sleep() of each pool, one after the other; without pools of those that
    PyTorch uses. If one fails, those before it sleep: call wake(), or sleep() again.
    """
    return _sum(
        [
            pool.sleep(
                tag, content=content, folder=folder, timeout_ns=timeout_ns
            )
            for pool in _used(pools)
        ]
    )


def wake(*pools: Pool, tag: Optional[str] = None) -> Slept:
    """Pool.wake() of each pool, one after the other; without pools of those that
    PyTorch uses. If one fails, those after it still sleep: call it again."""
    return _sum([pool.wake(tag) for pool in _used(pools)])
