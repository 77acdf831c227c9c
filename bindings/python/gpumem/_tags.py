# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What blocks are for: tags of the calling thread, and what they say of a sleep."""

from contextlib import contextmanager
from typing import Iterator, Optional

from . import _core


@contextmanager
def tag(path: str, sleep: Optional[str] = None) -> Iterator[None]:
    """What this thread allocates inside is for `path`, such as "model/layer3".

    A tag lies inside the one around it. It is the thread's: other threads have
    their own, and a coroutine must not await inside. May decorate a function.
    sleep: what becomes of its blocks in a sleep from now on, in every pool, also
    of those that it has: "keep", "drop", "zero", "stay", or "inherit", what the tag
    around it says; None: as was said before.
    """
    if not isinstance(path, str):
        kind = type(path).__name__
        raise TypeError(f"path must be str, not {kind}")
    before = _core.tag_get()
    try:
        for name in path.split("/"):
            _core.tag_push(name)
        if sleep is not None:
            _core.tag_set_sleep(_core.tag_get(), sleep)
        yield
    finally:
        _core.tag_set(before)
