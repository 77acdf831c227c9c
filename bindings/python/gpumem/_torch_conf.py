# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What PyTorch's variable for its allocator asks for, and what of it gpumem does.

PYTORCH_CUDA_ALLOC_CONF, PYTORCH_HIP_ALLOC_CONF or PYTORCH_ALLOC_CONF. Imports
nothing of PyTorch's or gpumem's.
"""

from typing import List, Mapping, MutableMapping, Optional, Tuple

# Of PYTORCH_ALLOC_CONF, all keys that begin so: of PyTorch's own pinned memory, what
# PyTorch goes on reading itself, and what has no meaning here, since there are no
# blocks of fixed segments to split or collect.
PINNED = ("pinned_",)
THEIRS = ("throw_on_cudamalloc_oom",)
MOOT = (
    "expandable_segments",
    "garbage_collection_threshold",
    "graph_capture_",
    "large_segment_size_mb",
    "max_non_split_rounding_mb",
    "max_split_size_mb",
    "release_lock_on_",
    "roundup_power2_divisions",
)


def variable(environment: Mapping[str, str]) -> str:
    """The one that PyTorch reads: the oldest that is set, even to nothing."""
    names = [f"PYTORCH_{x}ALLOC_CONF" for x in ("CUDA_", "HIP_", "")]
    return next((x for x in names if x in environment), names[-1])


def take(
    name: str, environment: MutableMapping[str, str]
) -> Optional[float]:
    """What the variable asks for: the fraction, if there is one.

    backend:native is taken out of it. PyTorch reads it only when it first pins
    memory, say, and fails then, because its allocator has another name.
    """
    fraction = None
    pairs = _pairs(environment.get(name, ""))
    for key, value in pairs:
        if key == "per_process_memory_fraction":
            try:
                fraction = float(value)
            except ValueError:
                fraction = -1.0
            if not 0 <= fraction <= 1:
                raise RuntimeError(
                    f"{name} has {key}:{value}, which is to limit memory "
                    "to a part from 0 to 1"
                )
        elif key == "backend" and value != "native":
            raise RuntimeError(
                f"{name} asks for backend:{value}; with "
                "gpumem.torch.enable() there is no other allocator"
            )
    if ("backend", "native") in pairs:
        rest = [f"{k}:{v}" if v else k for k, v in pairs if k != "backend"]
        environment[name] = ",".join(rest)
    return fraction


def unknown(text: str, pinned: bool = False) -> List[str]:
    """The keys that are neither PyTorch's, gpumem's nor without a meaning."""
    ours = ("backend", "per_process_memory_fraction")
    known = MOOT + THEIRS + ours + (() if pinned else PINNED)
    return [key for key, _ in _pairs(text) if not key.startswith(known)]


def _pairs(text: str) -> List[Tuple[str, str]]:
    """Of "a:1,b:[256:1,512:2]": a and 1, b and [256:1,512:2]. Brackets that do
    not match hide nothing that comes behind them."""
    pairs, depth, start = [], 0, 0
    whole = text.count("[") == text.count("]")
    for i, letter in enumerate(text + ","):
        depth += whole * ((letter == "[") - (letter == "]"))
        if letter == "," and depth <= 0:
            key, _, value = text[start:i].partition(":")
            if key.strip():
                pairs.append((key.strip(), value.strip()))
            start = i + 1
    return pairs
