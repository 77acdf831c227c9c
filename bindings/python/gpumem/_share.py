# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A block of another process, which may have ended, in this one."""

import os
from types import TracebackType
from typing import Any, Dict, Iterable, List, Optional, Type, Union

from . import _core
from ._core import Device

_HOST = "HOST_ACCESS"


class Shared:
    """The memory that Buffer.share() of another process describes.

    device: the same device, opened here; None: the one that GPUMEM_BACKEND picks.
    The descriptors stay the caller's. It is no block of a pool, and ends here with
    close(), at the end of `with`, or when the object is gone; the memory itself ends
    with the last process that has it. Who writes and reads when is for the processes
    to agree on.
    """

    def __init__(
        self,
        description: bytes,
        fds: Iterable[int],
        device: Union[Device, str, None] = None,
    ) -> None:
        self.device = device if isinstance(device, Device) else Device(device)
        self._ptr = 0
        self._ptr, self.nbytes = _core.share_import(
            self.device, description, list(fds)
        )

    @property
    def ptr(self) -> int:
        """Its address; ValueError once it was closed."""
        if not self._ptr:
            raise ValueError("the memory was closed")
        return self._ptr

    def _within(self, nbytes: int, offset: int) -> int:
        if nbytes < 0 or offset < 0 or offset + nbytes > self.nbytes:
            raise ValueError(
                f"{nbytes} bytes at {offset} are not within {self.nbytes} bytes"
            )
        return self.ptr + offset

    def read(
        self, nbytes: int = -1, offset: int = 0, stream: Any = None
    ) -> bytes:
        """Copies bytes out of it; -1: all."""
        count = self.nbytes - offset if nbytes == -1 else nbytes
        address = self._within(count, offset)
        return _core.share_read(self.device, address, count, stream)

    def write(self, data: Any, offset: int = 0, stream: Any = None) -> None:
        """Copies bytes into it and waits until that is done."""
        given = bytes(data)
        address = self._within(len(given), offset)
        _core.share_write(self.device, address, given, stream)

    def close(self) -> None:
        """Ends it in this process. Work on it has to be over."""
        if self._ptr:
            address, self._ptr = self._ptr, 0
            _core.share_close(address)

    def _interface(self) -> Dict[str, Any]:
        data = (self.ptr, False)
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": data, "version": 3}

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        if self.device.backend not in ("cuda", "hip"):
            raise AttributeError("__cuda_array_interface__ is of cuda and hip devices")
        return self._interface()

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        if _HOST not in self.device.info["caps"]:
            raise AttributeError(
                "__array_interface__ is of memory that the host can use"
            )
        return self._interface()

    def __len__(self) -> int:
        return self.nbytes

    def __enter__(self) -> "Shared":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        value: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        try:
            self.close()
        except (AttributeError, _core.Error):  # at the end of the process
            pass


def close_all(fds: List[int]) -> None:
    while fds:
        os.close(fds.pop())
