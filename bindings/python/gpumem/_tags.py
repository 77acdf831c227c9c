# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What blocks are for: tags of the calling thread."""

from contextlib import contextmanager
from typing import Iterator

from . import _core


@contextmanager
def tag(path: str) -> Iterator[None]:
    """What this thread allocates inside is for `path`, such as "model/layer3".

    A tag lies inside the one around it. It is the thread's: other threads have
    their own, and a coroutine must not await inside. May decorate a function.
    """
    if not isinstance(path, str):
        kind = type(path).__name__
        raise TypeError(f"path must be str, not {kind}")
    before = _core.tag_get()
    try:
        for name in path.split("/"):
            _core.tag_push(name)
        yield
    finally:
        _core.tag_set(before)
