# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
from os import PathLike
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, Union
from typing import TypedDict

from ._report import Slept

Stream = Union[int, None, Any]
"""A vendor's handle, None for the default stream, or what knows its handle."""

class Gauge(TypedDict):
    current: int
    peak: int
    total: int

class Call(TypedDict):
    count: int
    failed: int
    ns: int

class Stats(TypedDict):
    requested: Gauge
    allocated: Gauge
    active: Gauge
    reserved: Gauge
    blocks: Gauge
    segments: Gauge
    hits: int
    misses: int
    retries: int
    ooms: int
    trims: int
    moved_bytes: int
    decayed_bytes: int
    pending_bytes: int
    quarantined_bytes: int
    free_bytes: int
    largest_free_bytes: int
    cached_bytes: int
    unreleasable_bytes: int
    fragmentation: float
    cache_bound_bytes: int
    host_bytes: int
    soft_limit_bytes: int
    limit_bytes: int
    driver_calls: int
    driver_ns: int
    page_part_bytes: int
    handle_part_bytes: int
    slab_part_bytes: int
    graph_bytes: int
    stale_bytes: int
    served_cache: int
    served_own: int
    served_pending: int
    served_caches: int
    served_streams: int
    served_behind: int
    served_moved: int
    served_driver: int
    served_exchanged: int
    served_trimmed: int
    served_asked: int
    served_soft: int
    served_larger: int
    served_waited: int
    sleeping: Gauge
    sleep_host_bytes: int

class Block(TypedDict):
    address: int
    bytes: int
    requested_bytes: int
    stream: int
    state: str

class Tag(TypedDict):
    path: str
    bytes: Gauge
    blocks: Gauge
    limit_bytes: int
    held_bytes: int

class Frame(TypedDict, total=False):
    module: str
    offset: str
    symbol: str

class Leak(TypedDict):
    tag: str
    blocks: int
    bytes: int
    oldest_ns: int
    frames: List[Frame]

class Leaks(TypedDict):
    pool: str
    device: str
    track: str
    since: int
    until: int
    blocks: int
    bytes: int
    live_blocks: int
    live_bytes: int
    unknown_blocks: int
    groups: List[Leak]

class Memory(TypedDict):
    total_bytes: int
    free_bytes: int
    reserved_bytes: int
    outside_bytes: int

class Capacity(TypedDict):
    max_alloc_bytes: int
    now_bytes: int

class Pressure(TypedDict):
    needed_bytes: int
    limit: str
    limit_bytes: int
    reserved_bytes: int

class DeviceInfo(TypedDict):
    name: str
    product: str
    uuid: str
    pci: str
    total_bytes: int
    granularity_bytes: int
    alignment_bytes: int
    max_alloc_bytes: int
    caps: List[str]
    note: str

class BackendInfo(TypedDict):
    name: str
    status: str
    reason: str
    driver_version: str
    path: str
    device_count: int
    chosen: bool

class Error(RuntimeError):
    status: str
    backend: str
    native_name: str
    native_code: int

class OutOfMemoryError(Error, MemoryError): ...

class Device:
    def __new__(cls, name: Optional[str] = None) -> Device: ...
    @classmethod
    def adopt(
        cls, backend: str, context: int, device: int, owner: Any = None
    ) -> Device: ...
    @property
    def name(self) -> str: ...
    @property
    def backend(self) -> str: ...
    @property
    def info(self) -> DeviceInfo: ...
    @property
    def pool(self) -> Pool: ...
    def memory(self) -> Memory: ...
    def report(self) -> str: ...
    def trim(self, keep_bytes: int = 0) -> int: ...
    def _pinned_pool(self, address: int, /) -> Pool: ...
    def stream_create(self) -> int: ...
    def stream_destroy(self, stream: Stream) -> None: ...
    def stream_sync(self, stream: Stream) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class Pool:
    def __new__(
        cls,
        device: Union[Device, str, None] = None,
        *,
        name: Optional[str] = None,
        limit_bytes: int = 0,
        soft_limit_bytes: int = 0,
        page_bytes: int = 0,
        kind: str = "device",
        shareable: str = "none",
    ) -> Pool: ...
    @property
    def name(self) -> str: ...
    @property
    def device(self) -> Device: ...
    @property
    def limit_bytes(self) -> int: ...
    @limit_bytes.setter
    def limit_bytes(self, nbytes: int) -> None: ...
    @property
    def soft_limit_bytes(self) -> int: ...
    @soft_limit_bytes.setter
    def soft_limit_bytes(self, nbytes: int) -> None: ...
    def alloc(
        self,
        nbytes: int,
        stream: Stream = None,
        *,
        alignment: int = 0,
        zero: bool = False,
        wait: bool = True,
        grow: bool = True,
    ) -> Buffer: ...
    def malloc(self, nbytes: int, stream: Stream = None) -> int: ...
    def functions(self, stream: Stream = None) -> Dict[str, int]: ...
    def stats(self) -> Stats: ...
    def calls(self) -> Dict[str, Call]: ...
    def snapshot(self) -> List[Block]: ...
    def report(self, all: bool = False) -> str: ...
    def tags(self) -> List[Tag]: ...
    def set_tag_limit(self, path: str, limit_bytes: int) -> None: ...
    def track(self, frames: int = 0) -> None: ...
    def untrack(self) -> None: ...
    def leaks(self, since: int = 0, until: int = 0) -> Leaks: ...
    def reset_stats(self, totals: bool = False) -> None: ...
    def trim(self, keep_bytes: int = 0) -> int: ...
    def set_limit(
        self, limit_bytes: int = 0, soft_limit_bytes: int = 0
    ) -> None: ...
    def capacity(self, stream: Stream = None) -> Capacity: ...
    def pressure_add(self, callback: Callable[[Pressure], bool]) -> None: ...
    def pressure_remove(
        self, callback: Callable[[Pressure], bool]
    ) -> None: ...
    def add_peer(self, device: Device) -> None: ...
    def ranges(self) -> List[Tuple[int, int]]: ...
    def pin(self, address: int, nbytes: int, name: str = "python") -> None: ...
    def unpin(
        self, address: int, nbytes: int, name: str = "python"
    ) -> None: ...
    def sleep(
        self,
        tag: Optional[str] = None,
        *,
        content: str = "pinned",
        folder: Union[str, bytes, PathLike[str], None] = None,
        timeout_ns: int = 0,
        host_limit_bytes: int = 0,
    ) -> Slept: ...
    def wake(self, tag: Optional[str] = None) -> Slept: ...
    def drop_stream(self, stream: Stream) -> None: ...
    def check(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Pool: ...
    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
        /,
    ) -> None: ...
    def _repr_html_(self) -> str: ...

class Buffer:
    @property
    def ptr(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def stream(self) -> int: ...
    @property
    def freed(self) -> bool: ...
    @property
    def exports(self) -> int: ...
    @property
    def pool(self) -> Pool: ...
    @property
    def object(self) -> Tuple[int, int]: ...
    @property
    def view(self) -> int: ...
    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]: ...
    @property
    def __array_interface__(self) -> Dict[str, Any]: ...
    def __len__(self) -> int: ...
    def free(self, stream: Stream = None) -> None: ...
    def detach(self) -> int: ...
    def use_on(self, stream: Stream) -> None: ...
    def resize(self, nbytes: int, stream: Stream = None) -> None: ...
    def write(
        self, data: Any, offset: int = 0, stream: Stream = None
    ) -> None: ...
    def read(
        self, nbytes: int = -1, offset: int = 0, stream: Stream = None
    ) -> bytes: ...
    def fill(self, value: int = 0, stream: Stream = None) -> None: ...
    def share(self) -> Tuple[bytes, List[int]]: ...
    def __dlpack__(
        self,
        *,
        stream: Stream = None,
        max_version: Optional[Tuple[int, int]] = None,
        dl_device: Optional[Tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> Tuple[int, int]: ...
    def __enter__(self) -> Buffer: ...
    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
        /,
    ) -> None: ...

def version() -> str: ...
def option_set(key: str, value: Optional[str]) -> None: ...
def option_get(key: str) -> str: ...
def backends() -> List[BackendInfo]: ...
def devices(backend: Optional[str] = None) -> List[DeviceInfo]: ...
def free(address: int, stream: Stream = None) -> None: ...
def tag_intern(path: str) -> int: ...
def tag_push(name: str) -> None: ...
def tag_get() -> int: ...
def tag_set(tag: int) -> None: ...
def tag_set_sleep(tag: int, sleep: str) -> None: ...
def share_import(
    device: Device, description: bytes, fds: List[int]
) -> Tuple[int, int]: ...
def share_close(address: int) -> None: ...
def share_read(
    device: Device, address: int, nbytes: int, stream: Stream = None
) -> bytes: ...
def share_write(
    device: Device, address: int, data: bytes, stream: Stream = None
) -> None: ...
def leak_mark() -> int: ...
def oom_set(
    callback: Optional[Callable[[Dict[str, Any]], object]]
) -> None: ...
def record_begin(path: str, max_bytes: int = 0) -> None: ...
def record_end() -> None: ...
