# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What pools and devices report, for people and notebooks. Called by _core, which
knows no more of it than these names."""

import re
from html import escape
from typing import Any, Dict, NamedTuple

from ._words import count, short as size, table

HEAD = 3  # lines: pool, device, kind


class Report(str):
    """Lines of text, which a notebook shows as they are."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


class Leaks(Dict[str, Any]):
    """The JSON of gpumem_leak(3)."""

    def _repr_html_(self) -> str:
        blocks = count(self["blocks"], "block")
        caption = f"{size(self['bytes'])} in {blocks} of pool {self['pool']}"
        rows = []
        for group in self["groups"]:
            frames = [
                frame.get("symbol") or f"{frame['module']}+{frame['offset']}"
                for frame in group["frames"]
            ]
            whole = size(group["bytes"]), group["blocks"], group["tag"]
            rows.append((*whole, ", ".join(frames)))
        return table(caption, ("size", "blocks", "tag", "frames"), rows)


class Slept(NamedTuple):
    """What a sleep or a wake did, as gpumem_sleep(3) says. Bytes:"""

    kept_bytes: int  # copied to the host, or back
    dropped_bytes: int  # live, and not copied
    device_bytes: int  # given back to the driver, or taken from it
    host_bytes: int  # that the content of all sleeps takes from now on
    wait_ns: int  # for work on the device
    copy_ns: int
    map_ns: int  # in which memory was unmapped and given back, or taken

    def __str__(self) -> str:
        moved, kept = size(self.device_bytes), size(self.kept_bytes)
        held = size(self.host_bytes)
        return (
            f"{moved} of the device, {kept} copied, "
            f"{held} of the host from now on"
        )


def slept(fields: Dict[str, int]) -> Slept:
    return Slept(**fields)


def _says_something(line: str) -> bool:
    numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)?", line.partition(": ")[2])
    return not numbers or any(float(number) for number in numbers)


def short(text: str) -> Report:
    """Without what is 0."""
    lines = text.splitlines()
    kept = lines[:HEAD] + [x for x in lines[HEAD:] if _says_something(x)]
    if kept[-1] == "calls:":
        kept.pop()
    return Report("\n".join(kept) + "\n")


def _state(pool: Any) -> Dict[str, str]:
    stats = pool.stats()
    state = {
        "in use": size(stats["allocated"]["current"]),
        "reserved": size(stats["reserved"]["current"]),
    }
    for name in "limit", "soft_limit":
        if stats[f"{name}_bytes"]:
            what = name.replace("_", " ")
            state[what] = size(stats[f"{name}_bytes"])
    return state


def pool_text(pool: Any) -> str:
    state = ", ".join(f"{what} {size}" for what, size in _state(pool).items())
    return f"<gpumem.Pool {pool.name!r} on {pool.device.name}: {state}>"


def pool_html(pool: Any) -> str:
    caption = f"pool {pool.name} on {pool.device.name}"
    blocks = count(pool.stats()["blocks"]["current"], "block")
    rows = [*_state(pool).items(), ("live", blocks)]
    return table(caption, (), rows)
