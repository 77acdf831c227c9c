# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Sleep and wake of several pools. Of one: Pool.sleep() and Pool.wake()."""

import os
import sys
from typing import Any, List, Optional, Union

from ._core import Pool
from ._report import Slept

Folder = Union[str, bytes, "os.PathLike[str]", None]


def _plug() -> Any:
    plug = sys.modules.get(__package__ + ".torch")
    if plug is None or not plug.enabled():
        raise ValueError(
            "there is no pool to put to sleep or to wake: name those that are "
            "meant, as in gpumem.sleep(pool), or call gpumem.torch.enable() before"
        )
    return plug


def _sum(done: List[Slept]) -> Slept:
    return Slept(*map(sum, zip(Slept(0, 0, 0, 0, 0, 0, 0), *done)))


def sleep(
    *pools: Pool,
    tag: Optional[str] = None,
    content: str = "pinned",
    folder: Folder = None,
    timeout_ns: int = 0,
    host_limit_bytes: int = 0,
) -> Slept:
    """Gives the memory of live blocks to the driver, which stay at their addresses.

    Pool.sleep() of each pool, one after the other; without pools of those that
    PyTorch uses, once their devices were waited for. The limit is each pool's. If
    one fails, those before it sleep: call wake(), or sleep() again.
    """
    pools = pools or _plug()._settled_pools()
    return _sum(
        [
            pool.sleep(
                tag,
                content=content,
                folder=folder,
                timeout_ns=timeout_ns,
                host_limit_bytes=host_limit_bytes,
            )
            for pool in pools
        ]
    )


def wake(*pools: Pool, tag: Optional[str] = None) -> Slept:
    """Pool.wake() of each pool, one after the other; without pools of those that
    PyTorch uses. If one fails, those after it still sleep: call it again."""
    pools = pools or _plug()._settled_pools()
    return _sum([pool.wake(tag) for pool in pools])
