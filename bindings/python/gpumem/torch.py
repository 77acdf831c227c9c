# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""gpumem as PyTorch's allocator of device memory, on CUDA and ROCm.

    import gpumem.torch

    gpumem.torch.enable()   # before anything is on the GPU

Everything of torch.cuda that speaks of memory goes on working. PyTorch's
allocator cannot be changed once it was used, so this is for a whole process. A
pool of each device is gpumem.Device("cuda:0").pool; its options are GPUMEM_CONF.
"""

import importlib
import os
import warnings
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from . import Device, Error, Pool, Slept, _built, _sleep, devices, option_set
from . import _torch_conf as conf
from . import _torch_stats as shapes
from . import _torch_subclass as subclass

__all__ = [
    "device",
    "enable",
    "enabled",
    "how",
    "pinned_pool",
    "pool",
    "sleep",
    "used_devices",
    "wake",
]

# PyTorch's setter: the plug's function.
HOOKS = {
    "set_init_fn": "init",
    "set_reset_fn": "reset",
    "set_memory_fraction_fn": "fraction",
    "set_base_alloc_fn": "base",
    "set_record_stream_fn": "record",
    "set_begin_allocate_to_pool": "begin",
    "set_end_allocate_to_pool_fn": "end",
    "set_release_pool": "release",
}
SHARES = "any", "fd", "ipc"
MOST_DEVICES = 64  # of the plug

_allocator: Any = None  # what PyTorch was given; it must not go
_how: Optional[str] = None
_backend = "cuda"
_pinned = False
_fractions: Dict[int, float] = {}
_at_reset: Dict[int, Dict[str, int]] = {}


def enabled() -> bool:
    """Whether enable() has been called."""
    return _allocator is not None


def how() -> Optional[str]:
    """"subclass" or "plug", as enable() made it; None before."""
    return _how


def device(number: int = 0) -> Device:
    """gpumem's device of torch's device of that number."""
    return Device(f"{_backend}:{number}")


def pool(number: int = 0) -> Pool:
    """The pool that torch's device of that number allocates from."""
    return device(number).pool


def pinned_pool() -> Optional[Pool]:
    """The pool of PyTorch's pinned memory; None before any of it was pinned, or
    without enable(pinned=True)."""
    found = subclass.pinned(_allocator) if _pinned else None
    return device(found[0])._pinned_pool(found[1]) if found else None


def used_devices() -> List[Device]:
    """Those on which PyTorch has allocated anything."""
    return [device(i) for i in _used()]


def _used() -> List[int]:
    plug = _allocator if _how == "subclass" else _plug()
    return [i for i in range(MOST_DEVICES) if plug.opened(i)]


def _settled_pools() -> Tuple[Pool, ...]:
    """The pools of all tensors. Which streams use a tensor PyTorch need not have
    said, and no launch of a graph is known: so the devices are waited for. Not in a
    capture, which that would spoil: the pool refuses it."""
    torch: Any = importlib.import_module("torch")
    used = _used()
    for number in used if not torch.cuda.is_current_stream_capturing() else ():
        torch.cuda.synchronize(number)
    return tuple(pool(number) for number in used)


def sleep(
    tag: Optional[str] = None,
    *,
    content: str = "pinned",
    folder: _sleep.Folder = None,
    timeout_ns: int = 0,
    host_limit_bytes: int = 0,
) -> Slept:
    """Gives the memory of tensors to the driver: of those of a tag, or all.

    They keep their addresses, and nothing may use them until wake() has returned:
    no kernel, no graph, no copy. It waits for all work of the devices first; the
    rest is as Pool.sleep() says. Pinned memory is not concerned.

        with gpumem.tag("weights", sleep="keep"):
            model = Model().cuda()
        gpumem.torch.sleep()
    """
    return _sleep.sleep(
        tag=tag,
        content=content,
        folder=folder,
        timeout_ns=timeout_ns,
        host_limit_bytes=host_limit_bytes,
    )


def wake(tag: Optional[str] = None) -> Slept:
    """Brings them back, to the same addresses."""
    return _sleep.wake(tag=tag)


def enable(
    backend: Optional[str] = None,
    subclass: Optional[bool] = None,
    share: Optional[str] = None,
    pinned: bool = False,
    pinned_limit_bytes: int = 0,
) -> None:
    """Makes gpumem the allocator of torch.cuda; once more does nothing.

    backend: gpumem's name of where torch's devices are; None: "cuda" or "hip",
    as PyTorch was built. subclass: True is by a subclass of PyTorch's allocator,
    which is compiled by the first process, in half a minute; False by its plug for
    allocators, which lacks some functions; None by the subclass, or with a warning
    by the plug. share: how tensors reach other processes by torch.multiprocessing,
    which needs the subclass: "fd", by descriptors of pages, "ipc", without virtual
    memory, "any", the first of them that the device can do, or None: not at all,
    unless GPUMEM_CONF's option share says more. pinned: whether pinned memory of
    the host comes from a pool, too, which needs the subclass; pinned_limit_bytes is
    that pool's limit, 0: the option's. Starts the backend, so that a child
    which is forked later cannot use it. RuntimeError if PyTorch has no GPU support,
    gpumem's backend cannot be used, with what to install, PyTorch has used its own
    allocator already, PYTORCH_ALLOC_CONF asks for another one or for a fraction that
    is none, or subclass is True, or share is given, and there can be none. Keys that
    it does not know are named in a warning. ValueError: a limit that is none.
    """
    global _allocator, _backend, _how

    if pinned_limit_bytes < 0 or (pinned_limit_bytes and not pinned):
        raise ValueError(
            "pinned_limit_bytes is a number of bytes, for pinned=True"
        )
    if pinned and subclass is False:
        raise RuntimeError("pinned=True needs the subclass")
    if share not in (None, *SHARES) or (share and subclass is False):
        raise RuntimeError(
            f"share can be one of {', '.join(SHARES)}, and needs the subclass"
        )
    if _allocator is not None:
        return
    torch: Any = importlib.import_module("torch")
    if not hasattr(torch._C, "_cuda_customAllocator"):
        raise RuntimeError(
            f"PyTorch {torch.__version__} was built without CUDA and ROCm: "
            "there is no memory of a GPU to allocate"
        )
    variable = conf.variable(os.environ)
    fraction = conf.take(variable, os.environ)
    unknown = conf.unknown(os.environ.get(variable, ""), pinned)
    if unknown:
        warnings.warn(
            f"{variable} has keys that mean nothing to gpumem, or that it does "
            f"not know: {', '.join(unknown)}",
            RuntimeWarning,
            stacklevel=2,
        )
    if "torch_memory_saver" in os.environ.get("LD_PRELOAD", ""):
        warnings.warn(
            "torch_memory_saver is preloaded, and pauses what cudaMalloc() gave: "
            "gpumem's memory comes by other calls, so a pause frees nothing; set "
            'torch_memory_saver.hook_mode = "torch"',
            RuntimeWarning,
            stacklevel=2,
        )
    built = "hip" if getattr(torch.version, "hip", None) else "cuda"
    _start(backend or built)
    _backend = backend or built
    if share is not None:
        option_set("share", share)
    wanted = subclass is True or share is not None or pinned
    made = None if subclass is False else _subclass(torch, wanted)
    _allocator = made if made else _plugged(torch)
    _how = "subclass" if made else "plug"
    if pinned:
        _pin(pinned_limit_bytes)
    if fraction is not None:
        torch.cuda.set_per_process_memory_fraction(fraction)


def _pin(limit_bytes: int) -> None:
    global _pinned

    subclass.pin(_allocator, _backend, limit_bytes)
    _pinned = True


def _start(backend: str) -> None:
    """Else the program would end at its first tensor on a device."""
    why: Optional[Error] = None
    try:
        if devices(backend):
            return
    except Error as error:
        why = error
    text = f"gpumem cannot use its backend {backend}"
    text += f": {why}" if why else ": it has no device"
    if backend in _built.LEFT_OUT:
        text += (
            f"; this package was built without it ({_built.LEFT_OUT[backend]}): "
            "install what is missing, and then gpumem again"
        )
    raise RuntimeError(text) from why


def _subclass(torch: Any, wanted: bool) -> Any:
    """None: there can be none, and it was not asked for in particular."""
    try:
        return subclass.install(torch, _backend)
    except subclass.Unavailable as why:
        text = (
            "gpumem's subclass of the allocator of PyTorch "
            f"{torch.__version__} cannot be used: {why}"
        )
    if wanted:
        raise RuntimeError(text)
    warnings.warn(
        f"{text}. Its plug for allocators is used instead, without "
        "cudnn.benchmark, MemPool, recorded history and cudagraph trees; "
        "enable(subclass=False) uses it at once",
        RuntimeWarning,
        stacklevel=3,
    )
    return None


def _plugged(torch: Any) -> Any:
    """What PyTorch was given."""
    plug = _plug()
    plug.configure(
        _backend,
        torch.cuda.synchronize,
        lambda number: torch.cuda.current_stream(number).cuda_stream,
    )
    if not plug.find_errors(*_libraries(torch)):
        warnings.warn(
            f"PyTorch {torch.__version__} has no c10::OutOfMemoryError that "
            "can be used: an out of memory will be a plain RuntimeError",
            RuntimeWarning,
            stacklevel=3,
        )
    allocator = _made(torch, plug.addresses())
    torch.cuda.memory.change_current_allocator(allocator)
    _replace(torch, plug)
    return allocator


def _plug() -> Any:
    try:
        from . import _torch
    except ImportError as why:
        raise RuntimeError(
            "this gpumem was built without a C++ compiler, which the plug for "
            f"PyTorch needs ({why}): install one, and gpumem again"
        ) from None
    return _torch


def _libraries(torch: Any) -> List[bytes]:
    """Of PyTorch, in which its errors may be."""
    folder = Path(torch.__file__).parent / "lib"
    return [os.fsencode(x) for x in sorted(folder.glob("libc10*.so"))] + [
        os.fsencode(x) for x in sorted(folder.glob("libtorch_*.so"))
    ]


def _made(torch: Any, addresses: Dict[str, int]) -> Any:
    made = torch._C._cuda_customAllocator(
        addresses["alloc"], addresses["free"]
    )
    for setter, name in HOOKS.items():
        getattr(made, setter)(addresses[name])
    return torch.cuda.memory._CUDAAllocator(made)


# ---- the functions of torch._C that a pluggable allocator refuses -------------
# torch.cuda.memory looks each of them up when it is called, so that whatever
# was imported from it before works too.


def _replace(torch: Any, plug: Any) -> None:
    def used(number: int) -> Optional[Pool]:
        return pool(number) if plug.opened(number) else None

    def stats(number: int) -> Dict[str, Any]:
        return shapes.nested(used(number), _at_reset.get(number, {}))

    def reset_peaks(number: int) -> None:
        own = used(number)
        if own:
            own.reset_stats()

    def reset_totals(number: int) -> None:
        own = used(number)
        if own:
            own.reset_stats(True)
            _at_reset[number] = shapes.current(own.stats())

    def snapshot(*ignored: Any) -> Dict[str, Any]:
        count = torch.cuda.device_count()
        pools = [(i, used(i)) for i in range(count)]
        found = [shapes.segments(i, own) for i, own in pools if own]
        return {
            "segments": [x for part in found for x in part],
            "device_traces": [[] for _ in range(count)],
            "allocator_settings": {"backend": "gpumem"},
            "external_annotations": [],
            "host_segments": [],
            "host_traces": [],
        }

    def history(enabled: Any = None, *ignored: Any, **more: Any) -> None:
        if enabled:
            raise NotImplementedError(
                "gpumem records by gpumem.record_begin(path), for gpumem-trace"
            )

    set_fraction = torch._C._cuda_setMemoryFraction

    def fraction_set(fraction: float, number: int) -> None:
        set_fraction(fraction, number)
        _fractions[number] = fraction

    def fraction_get(number: int) -> float:
        return _fractions.get(number, 1.0)

    # torch.accelerator asks PyTorch's own allocator, which is never used.
    for name, function in {
        "isAllocatorInitialized": torch.cuda.is_initialized,
        "emptyCache": lambda *ignored: torch._C._cuda_emptyCache(),
        "getDeviceStats": stats,
        "resetPeakStats": reset_peaks,
        "resetAccumulatedStats": reset_totals,
    }.items():
        if hasattr(torch._C, f"_accelerator_{name}"):
            setattr(torch._C, f"_accelerator_{name}", function)
    torch._C._cuda_memoryStats = stats
    torch._C._cuda_resetPeakMemoryStats = reset_peaks
    torch._C._cuda_resetAccumulatedMemoryStats = reset_totals
    torch._C._cuda_memorySnapshot = snapshot
    torch._C._cuda_record_memory_history = history
    torch._C._cuda_record_memory_history_legacy = history
    torch._C._cuda_setMemoryFraction = fraction_set
    torch._C._cuda_getMemoryFraction = fraction_get
