# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The virtual functions of PyTorch's base classes of allocators, as its headers say.

A pure one that is new is found by the compiler. Of any other it says nothing: then
PyTorch's default is used, which may be right, or may be less than gpumem could do.
KNOWN has those that somebody has looked at. Nothing of PyTorch is loaded.

    python _torch_headers.py INCLUDE...   # the unknown ones of these folders
    python _torch_headers.py --all INCLUDE...
"""

import re
import sys
from pathlib import Path
from typing import Iterator, List

KNOWN = "virtuals.txt"  # beside the sources of the subclass
CLASSES = {
    "ATen/core/CachingHostAllocator.h": "HostAllocator",
    "c10/core/Allocator.h": "Allocator",
    "c10/core/CachingDeviceAllocator.h": "DeviceAllocator",  # since 2.9
    "c10/cuda/CUDACachingAllocator.h": "CUDAAllocator",
}
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*", re.S | re.M)


def _end(text: str, start: int, pair: str) -> int:
    """Behind the bracket that matches the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == pair[0]) - (text[at] == pair[1])
        if depth == 0:
            return at + 1
    return len(text)


def _count(arguments: str) -> int:
    """Of "(T a, U<V, W> b = {0, 0})", 2."""
    inside, plain = arguments[1:-1].strip(), ""
    depth = 0
    for letter in inside:
        depth += (letter in "<({") - (letter in ">)}")
        plain += letter if depth == 0 else ""
    return plain.count(",") + 1 if inside else 0


def _of_class(text: str, name: str) -> Iterator[str]:
    text = COMMENT.sub("", text)
    found = re.search(
        rf"\b(?:class|struct)\s+(?:\w+\s+)?{name}\b[^;{{]*{{", text
    )
    if not found:
        return
    start = found.end() - 1
    body = text[start : _end(text, start, "{}")]
    for each in re.finditer(r"\bvirtual\s[^();]*?(~?\w+)\s*\(", body):
        start = each.end() - 1
        count = _count(body[start : _end(body, start, "()")])
        yield f"{name}::{each.group(1)} {count}"


def virtuals(include: Path) -> List[str]:
    """All of them, each as "class::name" and how many arguments it has."""
    found = []
    for file, name in CLASSES.items():
        path = include / file
        if path.is_file():
            found += _of_class(path.read_text(errors="replace"), name)
    return found


def unknown(include: Path, sources: Path) -> List[str]:
    """Those that are not in the list."""
    known = (sources / KNOWN).read_text().splitlines()
    return [x for x in virtuals(include) if x not in known]


def main(arguments: List[str]) -> None:
    sources = Path(__file__).resolve().parent.parent / "src/subclass"
    whole = arguments[:1] == ["--all"]
    found = set()
    for folder in arguments[whole:]:
        path = Path(folder)
        found.update(virtuals(path) if whole else unknown(path, sources))
    print("".join(f"{x}\n" for x in sorted(found)), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
