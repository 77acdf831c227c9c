# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What PyTorch's headers say of its allocators: the virtual functions of the base
classes, and the settings, with the keys of PYTORCH_ALLOC_CONF that they name.

A pure virtual function that is new is found by the compiler. Of any other it says
nothing: then PyTorch's default is used, which may be right, or may be less than
gpumem could do. KNOWN has what somebody has looked at. Nothing of PyTorch is loaded.

    python _torch_headers.py INCLUDE...   # what is unknown in these folders
    python _torch_headers.py --all INCLUDE...
"""

import re
import sys
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Set

KNOWN = "virtuals.txt"  # beside the sources of the subclass
CLASSES = {
    "ATen/core/CachingHostAllocator.h": "HostAllocator",
    "c10/core/Allocator.h": "Allocator",
    "c10/core/CachingDeviceAllocator.h": "DeviceAllocator",  # since 2.9
    "c10/cuda/CUDACachingAllocator.h": "CUDAAllocator",
}
SETTINGS = {
    "c10/core/AllocatorConfig.h": "AcceleratorAllocatorConfig",  # since 2.9
    "c10/cuda/CUDAAllocatorConfig.h": "CUDAAllocatorConfig",
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


def _body(text: str, name: str) -> str:
    """Of the class, without comments; "" if it is not there."""
    text = COMMENT.sub("", text)
    found = re.search(
        rf"\b(?:class|struct)\s+(?:\w+\s+)?{name}\b[^;{{]*{{", text
    )
    if not found:
        return ""
    start = found.end() - 1
    return text[start : _end(text, start, "{}")]


def _functions(body: str, name: str) -> Iterator[str]:
    for each in re.finditer(r"\bvirtual\s[^();]*?(~?\w+)\s*\(", body):
        start = each.end() - 1
        count = _count(body[start : _end(body, start, "()")])
        yield f"{name}::{each.group(1)} {count}"


def _settings(body: str, name: str) -> Iterator[str]:
    """Getters, and keys of a list; of two literals without a comma, one."""
    for each in re.finditer(r"\bstatic\s[^();=]*?\b(?!void)(\w+)\s*\(", body):
        yield f"{name}::{each.group(1)}"
    for each in re.finditer(r"\bkeys\s*{([^}]*)}", body):
        for literals in each.group(1).split(","):
            key = "".join(re.findall(r'"([^"]*)"', literals))
            if key:
                yield f"key {key}"


def _read(
    include: Path,
    classes: Dict[str, str],
    said: Callable[[str, str], Iterator[str]],
) -> List[str]:
    found: List[str] = []
    for file, name in classes.items():
        path = include / file
        if path.is_file():
            found += said(_body(path.read_text(errors="replace"), name), name)
    return found


def virtuals(include: Path) -> List[str]:
    """All of them, each as "class::name" and how many arguments it has."""
    return _read(include, CLASSES, _functions)


def settings(include: Path) -> List[str]:
    """All of them, each as "class::name", and each key as "key name". The keys of
    all vendors are in no header since 2.13, but each has its getter."""
    return _read(include, SETTINGS, _settings)


def known(sources: Path) -> List[str]:
    """What somebody has looked at."""
    return (sources / KNOWN).read_text().splitlines()


def unknown(include: Path, sources: Path) -> List[str]:
    """The virtual functions that nobody has."""
    listed = known(sources)
    return [x for x in virtuals(include) if x not in listed]


def main(arguments: List[str]) -> None:
    sources = Path(__file__).resolve().parent.parent / "src/subclass"
    whole = arguments[:1] == ["--all"]
    found: Set[str] = set()
    for folder in arguments[whole:]:
        path = Path(folder)
        found.update(virtuals(path) + settings(path))
    if not whole:
        found.difference_update(known(sources))
    print("".join(f"{x}\n" for x in sorted(found)), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
