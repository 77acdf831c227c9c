# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Giving memory back, and finding who keeps it.

release() ends the memory of what it is given, whoever else refers to it. scope()
tells what was allocated inside and is left. Both name what they cannot free, and
where it is referred to.
"""

import gc
import sys
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional
from typing import Set, Tuple, Type

from . import _memory, run
from ._core import Buffer, Device, Pool
from ._holders import MOST as MOST_HOLDERS
from ._holders import Holders
from ._words import count, size, table

# What leads out of the objects into the rest of the program.
OUTSIDE = (FrameType, FunctionType, ModuleType, TracebackType, type)
HEADS = ("size", "what", "held by")


class Kept(NamedTuple):
    """Memory that is still in use."""

    what: str  # "Tensor of (2, 3) float32", "Buffer", "block"
    nbytes: int
    address: int
    holders: Tuple[str, ...]  # who refers to it, as far as Python knows
    users: str = ""  # who uses it, where Python does not know: DLPack's arrays

    def _by(self) -> str:
        if self.users and not self.holders:
            return f"{self.users}, which no variable is known of"
        known = [self.users] if self.users else []
        return ", ".join(known + list(self.holders))

    def __str__(self) -> str:
        by = self._by()
        by = f"held by {by}" if by else "by whom it is held is not known"
        return f"{size(self.nbytes)}, {self.what}, {by}"

    def _cells(self) -> Tuple[str, str, str]:
        return size(self.nbytes), self.what, self._by() or "not known"


class Released(NamedTuple):
    """What release() did."""

    freed_bytes: int  # of blocks
    trimmed_bytes: int  # given back to the driver
    kept: Tuple[Kept, ...]  # of the objects, and could not be freed

    def __str__(self) -> str:
        lines = [self._done()]
        return "\n".join(lines + [f"kept: {each}" for each in self.kept])

    def _done(self) -> str:
        freed, trimmed = size(self.freed_bytes), size(self.trimmed_bytes)
        return f"freed {freed}, gave {trimmed} back to the driver"

    def _repr_html_(self) -> str:
        """For notebooks."""
        heads = HEADS if self.kept else ()
        return table(self._done(), heads, [x._cells() for x in self.kept])


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


# ---- who keeps it ---------------------------------------------------------------------


def _kept(
    things: List[Any], ours: Iterable[Any], freed: bool = False
) -> List[Kept]:
    """freed: they were to end whoever refers to them, so of a buffer it is only
    arrays that keep it."""
    shared = [x for x in things if type(x) is Buffer and x.exports]
    uses = _memory.Arrays({x.ptr: x.nbytes for x in shared})
    arrays = [x for each in uses.on.values() for x in each]
    lists = [things, shared, arrays, *uses.on.values(), *ours]
    every = things + arrays
    known = Holders(every, lists, uses.hidden)
    found = []
    for each in things:
        holders: List[str] = []
        for array in uses.on.get(_memory.address(each), ()):
            kind = type(array).__name__
            holders += [f"{x}, {kind} on it" for x in known.of(array)]
        if not (freed and type(each) is Buffer):
            holders += known.of(each)
        found.append(
            Kept(
                _memory.name(each),
                _memory.nbytes(each),
                _memory.address(each),
                tuple(holders[:MOST_HOLDERS]),
                _memory.users(each),
            )
        )
    return found


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
    back to the driver, under gpumem-run --adopt what that keeps, too. What could not be
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
    report = tuple(_kept(kept, [objects], freed=True))
    return Released(freed, _trim(devices) + run.trim(), report)


# ---- scope() ---------------------------------------------------------------------------


class Scope:
    """with gpumem.scope() as inside: ...; then inside.left."""

    def __init__(self, pools: Tuple[Pool, ...]) -> None:
        self._pools = list(pools)
        self._chosen = bool(pools)
        self._before: Set[int] = set()
        self._over = False
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
        self._over = True
        _trim([pool.device for pool in self._pools])
        run.trim()

    def _summary(self) -> str:
        if not self._over:
            return "it has not ended"
        if not self._pools:
            return "nothing was watched: no pool of gpumem's was used"
        blocks = count(len(self.left), "block")
        verb = "is" if len(self.left) == 1 else "are"
        return f"{size(self.left_bytes)} in {blocks} {verb} left"

    def __str__(self) -> str:
        return "\n".join([self._summary(), *map(str, self.left)])

    def __repr__(self) -> str:
        return f"<gpumem.Scope, {self._summary()}>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        heads = HEADS if self.left else ()
        return table(self._summary(), heads, [x._cells() for x in self.left])


def _found(blocks: Dict[int, int]) -> List[Kept]:
    """Each block, by the tensor or buffer that is in it if there is one. No
    generator: that would be a holder too."""
    of: Dict[int, Any] = {}
    for thing in gc.get_objects() if blocks else ():
        if type(thing) is Buffer or _memory.is_tensor(thing):
            where = _memory.address(thing)
            if where in blocks:
                of.setdefault(where, thing)
    thing = None
    things = list(of.values())
    found = [x._replace(nbytes=blocks[x.address]) for x in _kept(things, [of])]
    return found + [
        Kept("block", nbytes, address, ())
        for address, nbytes in blocks.items()
        if address not in of
    ]


def scope(*pools: Pool) -> Scope:
    """What is allocated inside should be gone at its end.

    At exit garbage is collected, what was allocated inside and is left is listed
    in `left`, largest first, and unused memory is given back. Without pools:
    those that PyTorch uses, after gpumem.torch.enable(); under gpumem-run none, and
    what that keeps is given back; elsewhere a ValueError, since there would be
    nothing to watch.

        with gpumem.scope() as inside:
            train()
        print(inside)
    """
    plug = sys.modules.get(__package__ + ".torch")
    if not pools and not (plug and plug.enabled()) and not run.active():
        raise ValueError(
            "there is no pool to watch: name those that are meant, as in "
            "gpumem.scope(pool), or call gpumem.torch.enable() before"
        )
    return Scope(pools)
