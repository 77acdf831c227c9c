# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The names of torch_memory_saver 0.0.10 over gpumem.torch.sleep() and wake().

For programs that pause memory by them, as SGLang does. They are told by a folder that
comes before the other package, and so in children, too:

    PYTHONPATH=$(python -m gpumem.torch_memory_saver) python -m sglang.launch_server ...

What is allocated in a region has a tag inside "torch_memory_saver"; all else stays
awake. Not here: what is inside the other package, its libraries, and the content of
memory that is paused (get_cpu_backup()).
"""

import importlib
import os
import threading
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, NoReturn, Optional
from urllib.parse import quote

from . import _core
from . import torch as plug

STAND_IN = str(Path(__file__).with_name("stand_in"))
VARIABLE = "GPUMEM_TORCH_MEMORY_SAVER"  # set: a child of configure_subprocess()
ROOT = "torch_memory_saver"
# Where the content goes while it is paused: what the tags inside say of a sleep. One
# sleep takes those of one kind.
WORDS = {"dropped": "drop", "pinned": "keep", "mmap": "keep", "disk": "keep"}
HOOK_MODES = "preload", "torch"


class _Outside(threading.local):
    """The tag that the thread had before its outermost region."""

    tag: Optional[int] = None


def _enable() -> None:
    if not plug.enabled():
        plug.enable()


def _tag(kind: str, name: Optional[str]) -> str:
    """The path of a region's tag; None: of all regions of the kind."""
    path = f"{ROOT}/{kind}"
    return path if name is None else f"{path}/{quote(name, safe='')}"


@contextmanager
def _tagged(number: int) -> Iterator[None]:
    before = _core.tag_get()
    _core.tag_set(number)
    try:
        yield
    finally:
        _core.tag_set(before)


class TorchMemorySaver:
    def __init__(self) -> None:
        self._outside = _Outside()
        self._used: Dict[str, None] = {}  # kinds, in their order
        self._hook_mode = HOOK_MODES[0]
        self._folder = os.environ.get("TMS_DISK_BACKUP_DIR")
        self.retain_cpu_backup = False  # the memory of "pinned" backups

    def _kind(self, cpu: bool, disk: bool, backend: Optional[str]) -> str:
        if backend is not None and not cpu:
            raise ValueError("cpu_backup_backend needs enable_cpu_backup=True")
        if backend not in (None, "pinned", "mmap"):
            raise ValueError(
                f'cpu_backup_backend is "pinned" or "mmap", not {backend!r}'
            )
        if cpu and disk:
            raise ValueError(
                "enable_cpu_backup and enable_disk_backup exclude each other"
            )
        if disk and self._folder is None:
            raise ValueError(
                "enable_disk_backup needs a folder: set_disk_backup_dir(), or "
                "TMS_DISK_BACKUP_DIR"
            )
        return (backend or "pinned") if cpu else "disk" if disk else "dropped"

    @contextmanager
    def region(
        self,
        tag: str = "default",
        enable_cpu_backup: bool = False,
        enable_disk_backup: bool = False,
        cpu_backup_backend: Optional[str] = None,
    ) -> Iterator[None]:
        """What this thread allocates inside can be paused; with a backup its content
        comes back. Of regions inside each other the innermost counts."""
        kind = self._kind(
            enable_cpu_backup, enable_disk_backup, cpu_backup_backend
        )
        _enable()
        number = _core.tag_intern(_tag(kind, tag))
        # Each region's own word, so that it has its own pages.
        _core.tag_set_sleep(number, WORDS[kind])
        self._used[kind] = None
        outermost = self._outside.tag is None
        if outermost:
            self._outside.tag = _core.tag_get()
        try:
            with _tagged(number):
                yield
        finally:
            if outermost:
                self._outside.tag = None

    @contextmanager
    def cuda_graph(
        self,
        cuda_graph: Any,
        pool: Any = None,
        stream: Any = None,
        capture_error_mode: str = "global",
        tag: str = "default",
        enable_cpu_backup: bool = False,
        cpu_backup_backend: Optional[str] = None,
    ) -> Iterator[None]:
        """torch.cuda.graph() in a region: the segments that its pool gets inside."""
        torch: Any = importlib.import_module("torch")
        _enable()
        with torch.cuda.graph(
            cuda_graph,
            pool=pool,
            stream=stream,
            capture_error_mode=capture_error_mode,
        ):
            with self.region(
                tag,
                enable_cpu_backup,
                cpu_backup_backend=cpu_backup_backend,
            ):
                yield

    @contextmanager
    def disable(self) -> Iterator[None]:
        """What this thread allocates inside is not paused, also in a region."""
        outside = self._outside.tag
        with _tagged(_core.tag_get() if outside is None else outside):
            yield

    def pause(self, tag: Optional[str] = None) -> None:
        """Gives the memory of a tag's regions to the driver, or of all regions; once
        more does nothing. gpumem.Error: it says why; what was paused before is, and
        pause() goes on."""
        where: Dict[str, Dict[str, Any]] = {
            "pinned": {
                "content": "retained" if self.retain_cpu_backup else "pinned"
            },
            "mmap": {"content": "pageable"},
            "disk": {"folder": self._folder},
        }
        for kind in list(self._used):
            plug.sleep(_tag(kind, tag or None), **where.get(kind, {}))

    def resume(self, tag: Optional[str] = None) -> None:
        """Brings it back, to the same addresses. gpumem.OutOfMemoryError: what is
        missing is still paused, nothing is lost, and resume() can be called again."""
        for kind in list(self._used):
            plug.wake(_tag(kind, tag or None))

    @property
    def enabled(self) -> bool:
        return True

    @property
    def hook_mode(self) -> str:
        """Means nothing here: whichever it is, the memory is gpumem's."""
        return self._hook_mode

    @hook_mode.setter
    def hook_mode(self, mode: str) -> None:
        if mode not in HOOK_MODES:
            raise ValueError(f'hook_mode is "preload" or "torch", not {mode!r}')
        self._hook_mode = mode

    @property
    def memory_margin_bytes(self) -> int:
        return 0

    @memory_margin_bytes.setter
    def memory_margin_bytes(self, nbytes: int) -> None:
        if nbytes:
            raise NotImplementedError(
                "gpumem keeps no margin of the device free: bound the pool by "
                "gpumem.torch.pool().limit_bytes, or GPUMEM_CONF=limit:90%"
            )

    def get_cpu_backup(self, x: Any, zero_copy: bool = False) -> NoReturn:
        raise NotImplementedError(
            "gpumem does not show the content of memory that is paused: "
            "resume() it, and copy the tensor"
        )

    def set_disk_backup_dir(self, path: str) -> None:
        """The folder of backups on disk; made if it is not there. Files in it have no
        name."""
        os.makedirs(path, exist_ok=True)
        self._folder = path


@contextmanager
def configure_subprocess() -> Iterator[None]:
    """Children that are started inside have gpumem as PyTorch's allocator from when
    they import torch_memory_saver, which is this module in them."""
    before = {x: os.environ.get(x) for x in (VARIABLE, "PYTHONPATH")}
    path = before["PYTHONPATH"]
    os.environ[VARIABLE] = "1"
    os.environ["PYTHONPATH"] = f"{STAND_IN}:{path}" if path else STAND_IN
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _enable_in_child() -> None:
    """Before the child has used its GPU, after which it would be too late. One that
    will never use it may have none."""
    try:
        _enable()
    except RuntimeError as why:
        warnings.warn(str(why), RuntimeWarning, stacklevel=3)


torch_memory_saver = TorchMemorySaver()
if os.environ.get(VARIABLE):
    _enable_in_child()
if __name__ == "__main__":
    print(STAND_IN)
