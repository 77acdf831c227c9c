# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Memory that outlives its process: what gpumem-keep holds, by name.

    from gpumem import keep

    try:
        weights = keep.get("weights", "cuda:0")     # a process before has left them
    except LookupError:
        block = gpumem.Pool("cuda:0", shareable="fd", page_bytes=256 << 20).alloc(n)
        load_into(block)
        keep.put("weights", block, lease=3600, note=b"llama 8b")

`gpumem-keep serve` has to run. An entry ends with its lease, which renew() begins
anew, or by drop(). `socket` is the path of the daemon's socket; None: the usual one.
Where no daemon is there, an OSError is raised.
"""

import os
import socket as _socket
import struct
from typing import Any, Dict, List, Optional, Tuple, Union

from . import _share
from ._core import Buffer, Device
from ._share import Shared

__all__ = ["Error", "Kept", "NotKept", "drop", "entries", "get", "put", "renew"]

# As tools/keep/wire.h has it: magic, what, why, fd_count, word_bytes,
# lease_seconds, replace, alive, uid, pid, age_seconds, name.
_HEAD = struct.Struct("=10IQ64s")
_MAGIC = 0x6B656501
_PUT, _MORE, _GET, _DROP, _RENEW, _LIST, _ENTRY, _END, _FAILED = range(1, 10)
_ABSENT = 2
_WORDS = 4096
_FDS = 253
_SECONDS = 30
_SIZE = struct.Struct("@N")  # how a description begins
_NBYTES = struct.Struct("=Q")


class Error(RuntimeError):
    """gpumem-keep refused, and says why."""


class NotKept(Error, LookupError):
    """There is no entry of that name."""


class Kept(Shared):
    """The memory of an entry, as get() finds it.

    name: the entry's. note: what put() was given beside the block.
    """

    def __init__(
        self,
        name: str,
        words: bytes,
        fds: List[int],
        device: Union[Device, str, None],
    ) -> None:
        long = len(words) > _SIZE.size + _NBYTES.size
        (size,) = _SIZE.unpack_from(words) if long else (0,)
        if not 0 < size <= len(words) - _NBYTES.size:
            raise Error(f"{name}: the entry is no block that gpumem.keep.put() put")
        super().__init__(words[:size], fds, device)
        (self.nbytes,) = _NBYTES.unpack_from(words, size)
        self.name = name
        self.note = words[size + _NBYTES.size :]


def _place() -> str:
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    if not folder.startswith("/"):
        folder = f"/run/user/{os.geteuid()}"
    return os.path.join(folder, "gpumem-keep.socket")


def _name(name: str) -> bytes:
    data = name.encode()
    if not 0 < len(data) < 64 or b"\0" in data:
        raise ValueError(f"{name!r}: a name has 1 to 63 printable characters")
    return data


class _Talk:
    """One request and its answer."""

    def __init__(self, path: Optional[str]) -> None:
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        try:
            self._socket.settimeout(_SECONDS)
            self._socket.connect(path or _place())
            who = self._socket.getsockopt(
                _socket.SOL_SOCKET, _socket.SO_PEERCRED, struct.calcsize("3i")
            )
            if struct.unpack("3i", who)[1] not in (0, os.geteuid()):
                raise PermissionError("the daemon is another user's")
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> "_Talk":
        return self

    def __exit__(self, *ignored: object) -> None:
        self._socket.close()

    def ask(
        self,
        what: int,
        name: bytes = b"",
        words: bytes = b"",
        fds: Tuple[int, ...] = (),
        lease: int = 0,
        replace: bool = False,
    ) -> None:
        """Sends it. What is refused meanwhile is heard afterwards."""
        size = len(words)
        for begin in range(0, max(1, len(fds)), _FDS):
            head = _HEAD.pack(
                _MAGIC, what, 0, len(fds), size, lease, replace, 0, 0, 0, 0, name
            )
            part = list(fds[begin : begin + _FDS])
            try:
                _socket.send_fds(self._socket, [head + words], part)
            except (BrokenPipeError, ConnectionResetError):
                return
            what, words, size = _MORE, b"", 0

    def _receive(self) -> Tuple[bytes, List[int], int]:
        room = _HEAD.size + _WORDS
        flags = getattr(_socket, "MSG_CMSG_CLOEXEC", 0)
        try:
            got = _socket.recv_fds(self._socket, room, _FDS, flags)
        except ConnectionResetError:  # what was said before is there still
            got = _socket.recv_fds(self._socket, room, _FDS, flags)
        return got[0], list(got[1]), got[2]

    def hear(self, name: str, fds: List[int]) -> Tuple[Tuple[Any, ...], bytes]:
        """The header and the words; descriptors go to the list."""
        data, more, flags = self._receive()
        fds += more
        if not data:
            raise ConnectionError("the daemon has gone")
        head = _HEAD.unpack_from(data) if len(data) >= _HEAD.size else (0,)
        if head[0] != _MAGIC:
            raise Error("the daemon is of another version")
        words = data[_HEAD.size :]
        if head[1] == _FAILED:
            kind = NotKept if head[2] == _ABSENT else Error
            raise kind(f"{name}: {words.decode(errors='replace')}")
        if flags & _socket.MSG_CTRUNC:
            raise Error("too many descriptors for this process (ulimit -n)")
        return head, words


def _about(
    what: int, name: str, lease: int = 0, path: Optional[str] = None
) -> None:
    with _Talk(path) as talk:
        talk.ask(what, _name(name), lease=lease)
        talk.hear(name, [])


def put(
    name: str,
    block: Buffer,
    *,
    lease: int = 600,
    note: bytes = b"",
    replace: bool = False,
    socket: Optional[str] = None,
) -> None:
    """Has the memory of a Buffer kept under this name, for so many seconds.

    The pool has to be made with shareable="fd", and large blocks want a large
    page_bytes: each page is a descriptor. The memory is shared from here on: wait
    for the work that writes it first. The Buffer goes on as it is; once it is freed,
    or its process has ended, the entry has the memory, as it was left if the pool
    has not given it to another block. note: what is to be known of it, at most 3800
    bytes. replace: in place of an entry of that name.
    """
    description, fds = block.share()
    words = description + _NBYTES.pack(block.nbytes) + note
    try:
        if len(words) > _WORDS:
            most = len(note) - len(words) + _WORDS
            raise ValueError(f"a note has at most {most} bytes, not {len(note)}")
        with _Talk(socket) as talk:
            talk.ask(_PUT, _name(name), words, tuple(fds), lease, replace)
            talk.hear(name, [])
    finally:
        _share.close_all(fds)


def get(
    name: str,
    device: Union[Device, str, None] = None,
    *,
    socket: Optional[str] = None,
) -> Kept:
    """The memory of that name, in this process; NotKept, a LookupError, if there
    is none. The entry stays."""
    fds: List[int] = []
    try:
        with _Talk(socket) as talk:
            talk.ask(_GET, _name(name))
            head, words = talk.hear(name, fds)
            while len(fds) < head[3]:
                before = len(fds)
                talk.hear(name, fds)
                if len(fds) == before:
                    raise Error(f"{name}: descriptors are missing")
        return Kept(name, words, fds, device)
    finally:
        _share.close_all(fds)


def renew(name: str, lease: int = 600, *, socket: Optional[str] = None) -> None:
    """Begins its lease anew, of so many seconds."""
    _about(_RENEW, name, lease, socket)


def drop(name: str, *, socket: Optional[str] = None) -> None:
    """Forgets it: the memory ends with the last process that uses it."""
    _about(_DROP, name, 0, socket)


def entries(*, socket: Optional[str] = None) -> List[Dict[str, Any]]:
    """What is kept, the oldest first: name, fds, lease_seconds, which are left,
    age_seconds, and pid of who put it, with whether that is alive."""
    found = []
    with _Talk(socket) as talk:
        talk.ask(_LIST)
        while True:
            head, _ = talk.hear("list", [])
            if head[1] == _END:
                return found
            found.append(
                {
                    "name": head[11].rstrip(b"\0").decode(),
                    "fds": head[3],
                    "lease_seconds": head[5],
                    "age_seconds": head[10],
                    "pid": head[9],
                    "alive": bool(head[7]),
                }
            )
