# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""vLLM's sleep mode over gpumem.torch.sleep() and wake().

    vllm serve MODEL --enable-sleep-mode --sleep-mode-backend gpumem \\
        --worker-cls gpumem.vllm_worker.Worker

The backend puts memory to sleep, and vLLM asks no backend where memory comes from:
that is its CuMemAllocator, which the worker replaces by the Allocator here, and
PyTorch's allocator by gpumem's. vLLM finds register() by the entry point of this
package; it is called in each process of every vLLM, so it does no more than say the
backend's name. Nothing of vLLM is imported before that.
"""

import importlib
from contextlib import contextmanager, suppress
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from . import _core
from . import torch as plug

ROOT = "vllm"
# A wake may leave these asleep, whatever else it is asked for wakes: so each has a
# tag of its own, and all others lie in one.
DEFERRABLE = "weights", "kv_cache"
DEFAULT = "default"  # of a pool without a name


def _path(tag: str) -> str:
    return f"{ROOT}/{tag}" if tag in DEFERRABLE else f"{ROOT}/other/{tag}"


class Allocator:
    """What vLLM calls a MemAllocator: its pools are tags inside "vllm"."""

    def __init__(self) -> None:
        self._tags: Dict[str, None] = dict.fromkeys(DEFERRABLE)

    @contextmanager
    def use_memory_pool(self, tag: Optional[str] = None) -> Iterator[None]:
        """What the thread allocates inside is of this pool."""
        tag = DEFAULT if tag is None else tag
        number = _core.tag_intern(_path(tag))
        if tag not in self._tags:
            # A word of its own, so that it has its own pages.
            _core.tag_set_sleep(number, "keep")
        self._tags[tag] = None
        before = _core.tag_get()
        _core.tag_set(number)
        try:
            yield
        finally:
            _core.tag_set(before)

    def sleep(
        self, offload_tags: Union[Tuple[str, ...], str, None] = None
    ) -> None:
        """All pools; what is in these keeps its content, no other does."""
        kept = (DEFAULT,) if offload_tags is None else offload_tags
        kept = (kept,) if isinstance(kept, str) else kept
        self.fall_asleep([tag for tag in self._tags if tag not in kept])

    def fall_asleep(self, dropped: List[str]) -> None:
        """All pools; what is in these comes back with any content. Pinned memory
        for what keeps its own stays for the next sleep, as with vLLM's."""
        for tag in self._tags:
            word = "drop" if tag in dropped else "keep"
            _core.tag_set_sleep(_core.tag_intern(_path(tag)), word)
        plug.sleep(ROOT, content="retained")

    def discard(self, tags: Union[Tuple[str, ...], str]) -> None:
        """These pools, without their content; the others stay awake."""
        for tag in (tags,) if isinstance(tags, str) else tags:
            _core.tag_set_sleep(_core.tag_intern(_path(tag)), "drop")
            plug.sleep(_path(tag))

    def wake_up(self, tags: Optional[List[str]] = None) -> None:
        """All pools; or these, and what cannot be deferred."""
        if tags is None:
            plug.wake(ROOT)
            return
        for path in [f"{ROOT}/other", *(_path(tag) for tag in tags)]:
            plug.wake(path)

    def get_current_usage(self) -> int:
        """Live bytes of the pools."""
        return sum(
            row["bytes"]["current"]
            for device in plug.used_devices()
            for row in device.pool.tags()
            if row["path"].startswith(ROOT + "/")
        )

    def release_pools(self) -> None:
        """At the worker's end. A tag holds nothing."""


def install() -> Allocator:
    """Once for a worker, before it has used its GPU: gpumem is PyTorch's allocator,
    and what vLLM takes for its own CuMemAllocator is an Allocator."""
    cumem: Any = importlib.import_module("vllm.device_allocator.cumem")
    place: Any = cumem.CuMemAllocator
    if not isinstance(place.instance, Allocator):
        plug.enable()
        place.instance = Allocator()
    made: Allocator = place.instance
    return made


def installed() -> Allocator:
    """RuntimeError: the worker is not gpumem's."""
    cumem: Any = importlib.import_module("vllm.device_allocator.cumem")
    found: Any = cumem.CuMemAllocator.instance
    if not isinstance(found, Allocator):
        raise RuntimeError(
            "the sleep-mode backend gpumem has no memory to put to sleep: start "
            "vLLM with --worker-cls gpumem.vllm_worker.Worker, too"
        )
    return found


def register() -> None:
    """The backend's name, for vLLM; of one that has no backends nothing."""
    try:
        backends: Any = importlib.import_module(
            "vllm.device_allocator.sleep_mode_backend"
        )
    except ImportError:
        return
    with suppress(ValueError):  # it knows the name already
        backends.SleepModeBackendFactory.register_backend(
            "gpumem", "gpumem.vllm_worker", "SleepBackend"
        )
