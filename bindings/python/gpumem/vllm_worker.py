# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The two classes that vLLM makes objects of, in its workers: see gpumem.vllm.

Importing this imports vLLM's GPU worker.
"""

import importlib
from typing import Any, List, Optional, Tuple

from . import Error, devices
from . import vllm as ours

_backends: Any = importlib.import_module(
    "vllm.device_allocator.sleep_mode_backend"
)
_worker: Any = importlib.import_module("vllm.v1.worker.gpu_worker")

# Pools whose content nobody asks for after a wake: the cache, and scratch memory.
PASSING = "kv_cache", "workspace"


class SleepBackend(_backends.SleepModeBackend):  # type: ignore[misc]
    """--sleep-mode-backend gpumem."""

    def __init__(self) -> None:
        super().__init__()
        self._allocator = ours.installed()

    def suspend(self, level: int = 1) -> None:
        """Level 1 keeps all but PASSING, level 2 drops the weights, too."""
        weights = ["weights"] if level == 2 else []
        self._allocator.fall_asleep([*PASSING, *weights])
        self._state = "SUSPENDED"

    def resume(self, tags: Optional[List[str]] = None) -> None:
        """If it raises, what is missing still sleeps, and it can be called again."""
        self._allocator.wake_up(tags)
        self._state = "RUNNING"

    def discard(self, tags: Tuple[str, ...]) -> None:
        self._allocator.discard(tags)
        self._state = "SUSPENDED"

    @classmethod
    def is_supported(cls) -> bool:
        try:
            return bool(devices("cuda"))
        except Error:
            return False

    @classmethod
    def preserves_communicators(cls) -> bool:
        """Their memory is in no pool."""
        return True

    @classmethod
    def preserves_compiled_artifacts(cls) -> bool:
        """The process and its context stay."""
        return True


class Worker(_worker.Worker):  # type: ignore[misc]
    """--worker-cls gpumem.vllm_worker.Worker."""

    def init_device(self) -> None:
        """Here a worker uses its GPU first."""
        ours.install()
        super().init_device()
