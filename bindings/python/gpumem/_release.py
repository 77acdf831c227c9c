# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Giving memory back, and finding who keeps it.

release() ends the memory of what it is given, whoever else refers to it. scope()
tells what was allocated inside and is left. Both name what they cannot free, and
where it is referred to.
"""

import gc
import sys
from inspect import CO_OPTIMIZED
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set
from typing import Tuple, Type

from . import _memory, run
from ._core import Buffer, Device, Pool

# What leads out of the objects into the rest of the program.
OUTSIDE = (FrameType, FunctionType, ModuleType, TracebackType, type)
MOST_HOLDERS = 8  # that are named of each


class Kept(NamedTuple):
    """Memory that is still in use."""

    what: str  # "Tensor of (2, 3) float32", "Buffer", "block"
    nbytes: int
    address: int
    holders: Tuple[str, ...]  # who refers to it, as far as Python knows
    users: str = ""  # who uses it, where Python does not know: DLPack's arrays

    def __str__(self) -> str:
        known = [self.users] if self.users else []
        by = ", ".join(known + list(self.holders))
        by = f"held by {by}" if by else "by whom it is held is not known"
        return f"{self.nbytes} bytes, {self.what}, {by}"


class Released(NamedTuple):
    """What release() did."""

    freed_bytes: int  # of blocks
    trimmed_bytes: int  # given back to the driver
    kept: Tuple[Kept, ...]  # of the objects, and could not be freed

    def __str__(self) -> str:
        lines = [
            f"freed {self.freed_bytes} bytes, "
            f"gave {self.trimmed_bytes} back to the driver"
        ]
        return "\n".join(lines + [f"kept: {each}" for each in self.kept])


# ---- what is on a device ---------------------------------------------------------


def _within(objects: Tuple[Any, ...]) -> Iterator[Any]:
    """All memory of devices that the objects lead to, each once."""
    seen: Set[int] = set()
    waiting = list(objects)
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, OUTSIDE):
            continue
        seen.add(id(thing))
        if _memory.is_memory(thing):
            yield thing
        waiting.extend(gc.get_referents(thing))
        # Of a tensor, what autograd keeps for it is not Python's.
        if _memory.is_tensor(thing) and thing.grad is not None:
            waiting.append(thing.grad)


# ---- who refers to it ---------------------------------------------------------------


def _keys(names: Dict[Any, Any], thing: Any) -> List[str]:
    return [str(key) for key, value in names.items() if value is thing]


def _in_frame(frame: FrameType, thing: Any) -> List[str]:
    where = f"{frame.f_code.co_name}() in {frame.f_code.co_filename}"
    where += f":{frame.f_lineno}"
    names = frame.f_locals
    found = [f"{name} of {where}" for name in _keys(names, thing)]
    # Before 3.13 those of a function are a copy that the frame goes on keeping,
    # and with it all that is in it.
    if sys.version_info < (3, 13) and frame.f_code.co_flags & CO_OPTIMIZED:
        names.clear()
    return found


def _frames() -> List[FrameType]:
    """Of all threads, without those of this module."""
    found: List[FrameType] = []
    for top in sys._current_frames().values():
        frame: Optional[FrameType] = top
        while frame:
            if frame.f_globals.get("__name__") != __name__:
                found.append(frame)
            frame = frame.f_back
    return found


def _of_module(names: Any) -> str:
    """The module whose globals this dict is, or ""."""
    name = names.get("__name__") if isinstance(names, dict) else None
    module = sys.modules.get(name) if isinstance(name, str) else None
    return str(name) if getattr(module, "__dict__", None) is names else ""


def _attributes(thing: Any) -> Any:
    """Its dict, or None; asks nothing of its class."""
    try:
        return object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None


def _in_object(holder: Any, thing: Any) -> List[str]:
    kind = f"a {type(holder).__name__}"
    names = _attributes(holder)
    keys = _keys(names, thing) if isinstance(names, dict) else []
    return [f"{key!r} of {kind}" for key in keys] or [kind]


def _owner(names: Dict[Any, Any]) -> str:
    """Whose attributes these are."""
    for each in gc.get_referrers(names):
        if _attributes(each) is names:
            return f"a {type(each).__name__}"
    return "a dict"


def _holders(thing: Any, ours: Set[int]) -> Tuple[str, ...]:
    """Names of what refers to it: variables, globals, containers, objects. ours:
    ids of what does not count."""
    found: List[str] = []
    for frame in _frames():
        if frame.f_locals is not frame.f_globals:
            found += _in_frame(frame, thing)
    for holder in gc.get_referrers(thing):
        if isinstance(holder, FrameType) or id(holder) in ours:
            continue
        if not isinstance(holder, dict):
            found += _in_object(holder, thing)
            continue
        module = _of_module(holder)
        kind = f"module {module}" if module else _owner(holder)
        for key in _keys(holder, thing):
            found.append(f"{key!r} of {kind}")
    return tuple(found[:MOST_HOLDERS])


def _kept(things: List[Any], objects: Tuple[Any, ...]) -> Tuple[Kept, ...]:
    found: List[Kept] = []
    ours = {id(things), id(objects)}
    for each in things:
        what, nbytes = _memory.name(each), _memory.nbytes(each)
        holders = _holders(each, ours)
        address, users = _memory.address(each), _memory.users(each)
        found.append(Kept(what, nbytes, address, holders, users))
    return tuple(found)


# ---- release() -----------------------------------------------------------------------


def _devices() -> List[Device]:
    """Those whose default pools may have something."""
    plug = sys.modules.get(__package__ + ".torch")
    if plug is not None and plug.enabled():
        return list(plug.used_devices())
    return []


def _trim(devices: List[Device]) -> int:
    named: Dict[str, Device] = {device.name: device for device in devices}
    return sum(device.trim() for device in named.values())


def release(*objects: Any) -> Released:
    """Ends all memory of devices that the objects lead to, and gives it back.

    Models, optimizers, tensors of PyTorch, arrays of JAX, buffers, and containers
    of them: each gpumem.Buffer is freed, each tensor of PyTorch on a GPU loses its
    memory, and each array of JAX on a device is deleted, whoever else refers to it,
    and must not be used any more. Then garbage is collected, and unused memory given
    back to the driver, under gpumem-run what that keeps too. What could not be
    freed is in the result, with who refers to it.

        print(gpumem.release(model, optimizer))
    """
    devices = _devices()
    freed = 0
    kept: List[Any] = []
    gone: Set[int] = set()
    for thing in list(_within(objects)):
        address, nbytes = _memory.address(thing), _memory.nbytes(thing)
        if isinstance(thing, Buffer):
            devices.append(thing.pool.device)
        if not address or address in gone:
            continue
        if _memory.end(thing):
            gone.add(address)
            freed += nbytes
        else:
            kept.append(thing)
    thing = None
    gc.collect()
    report = _kept(kept, objects)
    return Released(freed, _trim(devices) + run.trim(), report)


# ---- scope() ---------------------------------------------------------------------------


class Scope:
    """with gpumem.scope() as inside: ...; then inside.left."""

    def __init__(self, pools: Tuple[Pool, ...]) -> None:
        self._pools = list(pools)
        self._chosen = bool(pools)
        self._before: Set[int] = set()
        self.left: Tuple[Kept, ...] = ()

    @property
    def left_bytes(self) -> int:
        """Of what was allocated inside and is left."""
        return sum(each.nbytes for each in self.left)

    def _live(self) -> Dict[int, int]:
        if not self._chosen:
            self._pools = [device.pool for device in _devices()]
        return {
            block["address"]: block["requested_bytes"]
            for pool in self._pools
            for block in pool.snapshot()
            if block["state"] == "live"
        }

    def __enter__(self) -> "Scope":
        self._before = set(self._live())
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        gc.collect()
        new = {
            address: nbytes
            for address, nbytes in self._live().items()
            if address not in self._before
        }
        self.left = tuple(
            sorted(_found(new), key=lambda each: -each.nbytes)
        )
        _trim([pool.device for pool in self._pools])
        run.trim()

    def __str__(self) -> str:
        many = f"{len(self.left)} blocks are"
        count = "1 block is" if len(self.left) == 1 else many
        lines = [f"{self.left_bytes} bytes in {count} left"]
        if not self._pools:
            lines = ["no pool was watched: name them, as in gpumem.scope(pool)"]
        return "\n".join(lines + [str(each) for each in self.left])


def _found(blocks: Dict[int, int]) -> List[Kept]:
    """Each block, by the tensor or buffer that is in it if there is one. No
    generator: that would be a holder too."""
    found: List[Kept] = []
    of: Dict[int, Any] = {}
    for thing in gc.get_objects() if blocks else ():
        if type(thing) is Buffer or _memory.is_tensor(thing):
            of.setdefault(_memory.address(thing), thing)
    thing = None
    for address, nbytes in blocks.items():
        if address in of:
            own = of[address]
            what, holders = _memory.name(own), _holders(own, {id(of)})
            users = _memory.users(own)
            found.append(Kept(what, nbytes, address, holders, users))
        else:
            found.append(Kept("block", nbytes, address, ()))
    return found


def scope(*pools: Pool) -> Scope:
    """What is allocated inside should be gone at its end.

    At exit garbage is collected, what was allocated inside and is left is listed
    in `left`, largest first, and unused memory is given back. Without pools:
    those that PyTorch uses, after gpumem.torch.enable().

        with gpumem.scope() as inside:
            train()
        print(inside)
    """
    return Scope(pools)
