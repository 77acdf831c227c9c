# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Subclasses of PyTorch's allocator that a wheel of gpumem's carries, compiled.

Each has a record beside it: of which PyTorch it is, and a digest of those of
PyTorch's headers that it was compiled from. Only one whose record is true of the
PyTorch that is here is taken, to the last byte of these headers. gpumem_prebuild.py
makes them, with what is here. Imports nothing of PyTorch's or gpumem's.
"""

import hashlib
import json
import platform
from pathlib import Path
from typing import Any, Dict, List, Optional

# Of the compiler. PyTorch's headers need C++20 from 2.14 on, and do with it before.
# Without assertions, as PyTorch itself.
OPTIONS = ["-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-fvisibility=hidden"]
# Generated, and not in the wheels for systems without CUDA.
GENERATED = "c10/cuda/impl/cuda_cmake_macros.h"


def facts(version: str, git: str, abi: int, cuda: str) -> Dict[str, Any]:
    """What has to be the same: the version without "+cu132", the commit that it
    was built from, the ABI of C++'s library, the major version of CUDA."""
    return {
        "torch": version.partition("+")[0],
        "git": git,
        "cxx11_abi": int(abi),
        "cuda": int(cuda.partition(".")[0]),
        "machine": platform.machine(),
    }


def digest(include: Path, names: List[str]) -> str:
    """Of the headers of these names; OSError if one is missing."""
    made = hashlib.sha256()
    for name in sorted(names):
        content = (include / name).read_bytes()
        made.update(f"{name}\0{len(content)}\0".encode() + content)
    return made.hexdigest()


def _is_of(record: Any, here: Dict[str, Any], include: Path) -> bool:
    names = record["headers"]
    return bool(
        names
        and all(record[key] == value for key, value in here.items())
        and record["digest"] == digest(include, names)
    )


def find(folder: Path, torch: Any) -> Optional[Path]:
    """The library for this PyTorch among those in the folder."""
    about = getattr(torch, "version", None)
    cuda, git = (getattr(about, x, None) for x in ("cuda", "git_version"))
    records = sorted(folder.glob("*.json"))
    if not records or not cuda or not git:
        return None
    abi = torch.compiled_with_cxx11_abi()
    here = facts(torch.__version__, git, abi, cuda)
    include = Path(torch.__file__).parent / "include"
    for path in records:
        try:
            if _is_of(json.loads(path.read_text()), here, include):
                return path.with_suffix(".so")
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None
