# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Which objects are memory of a device, and how each kind of them ends.

Buffers, tensors of PyTorch and arrays of JAX. Neither framework is imported:
where a program has not loaded it there are none of its objects.
"""

import gc
import sys
from typing import Any, Dict, List

from . import _holders
from ._core import Buffer


def is_tensor(thing: Any) -> bool:
    """Of PyTorch, on a GPU."""
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return (
        isinstance(tensor, type)
        and issubclass(type(thing), tensor)
        and bool(thing.is_cuda)
    )


def _is_array(thing: Any) -> bool:
    """Of JAX, on a device, and not one that stands for others while it traces."""
    jax: Any = sys.modules.get("jax")  # which may be half imported
    array: Any = getattr(jax, "Array", ())
    tracer: Any = getattr(getattr(jax, "core", None), "Tracer", ())
    if not isinstance(thing, array) or isinstance(thing, tracer):
        return False
    return not thing.is_deleted() and any(
        device.platform != "cpu" for device in thing.devices()
    )


def is_memory(thing: Any) -> bool:
    return isinstance(thing, Buffer) or is_tensor(thing) or _is_array(thing)


def address(thing: Any) -> int:
    """Of its memory; 0: it has none. Of an array on several devices: of the first
    part that this process has."""
    if isinstance(thing, Buffer):
        return 0 if thing.freed else thing.ptr
    if is_tensor(thing):
        return int(thing.untyped_storage().data_ptr())
    if thing.is_deleted():
        return 0
    return int(thing.addressable_data(0).unsafe_buffer_pointer())


def nbytes(thing: Any) -> int:
    if isinstance(thing, Buffer):
        return 0 if thing.freed else thing.nbytes
    if is_tensor(thing):
        return int(thing.untyped_storage().nbytes())
    return 0 if thing.is_deleted() else int(thing.nbytes)


def name(thing: Any) -> str:
    if isinstance(thing, Buffer):
        return "Buffer"
    kind = "Tensor" if is_tensor(thing) else "Array"
    dtype = str(thing.dtype).rpartition(".")[2]
    return f"{kind} of {tuple(thing.shape)} {dtype}"


def users(thing: Any) -> str:
    """Who uses its memory and refers to it where no collector sees; "": nobody that
    is known of."""
    count = thing.exports if isinstance(thing, Buffer) else 0
    if count == 0:
        return ""
    return "an array by DLPack" if count == 1 else f"{count} arrays by DLPack"


# ---- arrays that others made of a block ---------------------------------------

ARRAYS = (
    ("numpy", "ndarray"),
    ("cupy", "ndarray"),
    ("numba.cuda.cudadrv.devicearray", "DeviceNDArray"),
    ("torch", "Tensor"),
)


def _array_address(thing: Any) -> int:
    """Where an array of these types begins; 0: that cannot be asked."""
    try:
        if hasattr(thing, "data_ptr"):
            return int(thing.data_ptr())
        names = "__array_interface__", "__cuda_array_interface__"
        name = names[not hasattr(thing, names[0])]
        return int(getattr(thing, name)["data"][0])
    except Exception:  # of whatever library: a sparse or a fake one, say
        return 0


class Arrays:
    """The arrays of other libraries in blocks, of {address: bytes}, as far as a
    variable of Python or a container has them.

    on: {address: arrays}. hidden: containers that have nothing that could be part of
    a cycle, arrays for instance, so that the collector does not list them.
    """

    def __init__(self, blocks: Dict[int, int]) -> None:
        self.on: Dict[int, List[Any]] = {}
        self.hidden: List[Any] = []
        named = [getattr(sys.modules.get(x), y, None) for x, y in ARRAYS]
        self._kinds = tuple(x for x in named if isinstance(x, type))
        if not self._kinds or not blocks:
            return
        for thing in self._all():
            where = _array_address(thing)
            for address, nbytes in blocks.items():
                if address <= where < address + nbytes:
                    self.on.setdefault(address, []).append(thing)

    def _all(self) -> List[Any]:
        seen: Dict[int, Any] = {}
        values = gc.get_referents(*gc.get_objects())
        for frame in _holders.frames():
            values += [value for _, value in _holders.variables(frame)]
        containers: Dict[int, Any] = {}
        while values:
            for thing in values:
                if issubclass(type(thing), self._kinds):
                    seen[id(thing)] = thing
            inner = {
                id(x): x
                for x in values
                if type(x) in (dict, tuple)
                and id(x) not in containers
                and not gc.is_tracked(x)
            }
            containers.update(inner)
            values = gc.get_referents(*inner.values())
        self.hidden = list(containers.values())
        return list(seen.values())


def end(thing: Any) -> bool:
    """False: somebody uses its memory in a way that cannot be undone."""
    try:
        if isinstance(thing, Buffer):
            if not thing.freed:
                thing.free()
        elif is_tensor(thing):
            thing.untyped_storage().resize_(0)
        else:
            thing.delete()
    except (BufferError, RuntimeError):
        return False
    return True
