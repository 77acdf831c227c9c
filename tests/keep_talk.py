# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""For tests/tool_keep.sh: clients of gpumem-keep that do what the tool does not.

    keep_talk.py SOCKET WHAT

Prints what the daemon answers: "end", "entry", "gone", or a sentence.
"""

import os
import socket
import struct
import sys

HEAD = struct.Struct("=10IQ64s")
MAGIC = 0x6B656501
PUT, MORE, GET, DROP, RENEW, LIST, ENTRY, END, FAILED = range(1, 10)


def message(what, name=b"x", fds=0, words=b"", lease=60, magic=MAGIC, size=None):
    size = len(words) if size is None else size
    head = HEAD.pack(magic, what, 0, fds, size, lease, 0, 0, 0, 0, 0, name)
    return head + words


class Client:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(sys.argv[1])

    def send(self, data, fds=()):
        socket.send_fds(self.socket, [data], list(fds))

    def hear(self):
        try:
            data, fds, _, _ = socket.recv_fds(self.socket, 1 << 16, 253)
        except ConnectionResetError:
            data, fds, _, _ = socket.recv_fds(self.socket, 1 << 16, 253)
        for fd in fds:
            os.close(fd)
        if not data:
            return "gone"
        what, size = HEAD.unpack_from(data)[1], HEAD.unpack_from(data)[4]
        if what == FAILED:
            return data[HEAD.size : HEAD.size + size].decode()
        return {ENTRY: "entry", END: "end", MORE: "more"}[what]

    def says(self, data, fds=()):
        self.send(data, fds)
        return self.hear()


FILE = os.open("/dev/null", os.O_RDONLY)
CASES = {
    "nothing": (b"", []),
    "a few bytes": (b"hello", []),
    "another version": (message(LIST, magic=MAGIC + 1), []),
    "a word too few": (message(PUT, fds=1, words=b"ab", size=3), [FILE]),
    "too many words": (message(PUT, fds=1, words=bytes(4097)), [FILE]),
    "a name without end": (message(GET, name=b"n" * 64), []),
    "no request": (message(77), []),
    "an answer": (message(END), []),
    "more of nothing": (message(MORE), [FILE]),
    "no descriptor": (message(PUT, fds=0), []),
    "none of two": (message(PUT, fds=2), []),
    "two of one": (message(PUT, fds=1), [FILE, FILE]),
    "a list with descriptors": (message(LIST), [FILE]),
    "no lease": (message(PUT, fds=1, lease=0), [FILE]),
    "a lease for ever": (message(PUT, fds=1, lease=1 << 31), [FILE]),
    "a name with a blank": (message(PUT, fds=1, name=b"a b"), [FILE]),
    "no name": (message(PUT, fds=1, name=b""), [FILE]),
    "all descriptors": (message(PUT, fds=0xFFFFFFFF), [FILE]),
}


def own():
    """What a process put that is alive, whatever it is called; by a name with bytes
    behind its end."""
    with open("/proc/self/comm", "w") as name:
        name.write("a) 1\n(b")
    client = Client()
    print(client.says(message(PUT, name=b"own\0er", fds=1), [FILE]))
    client.send(message(GET, name=b"own"))
    head = HEAD.unpack_from(client.socket.recv(1 << 16))
    print(head[7], head[9] == os.getpid(), head[11].rstrip(b"\0"))
    print(client.says(message(DROP, name=b"own")))


def half():
    """One that dies while it puts."""
    client = Client()
    client.send(message(PUT, name=b"half", fds=300), [FILE] * 253)


def slow():
    """Who reads nothing: the daemon serves others meanwhile. So many requests
    at once that not all answers find room."""
    deaf = Client()
    deaf.socket.setblocking(False)
    try:
        for _ in range(1000):
            deaf.send(message(LIST))
    except BlockingIOError:
        pass
    print(Client().says(message(GET, name=b"none")))
    deaf.socket.close()


def crowd():
    """More clients than it has places for: the last is served once one goes."""
    clients = [Client() for _ in range(64)]
    for client in clients:
        assert client.says(message(LIST)) in ("end", "entry")
    last = Client()
    last.send(message(GET, name=b"none"))
    clients[7].socket.close()
    print(last.hear())


def many():
    """As many entries as there may be."""
    client = Client()
    count = 0
    while client.says(message(PUT, name=b"n%d" % count, fds=1), [FILE]) == "end":
        count += 1
    print(count)
    client = Client()
    for each in range(count):
        assert client.says(message(DROP, name=b"n%d" % each)) == "end"


def dropped():
    """What is dropped while it is being sent arrives: to somebody who asks for it
    again and again, and takes no answer until no more have room."""
    client = Client()
    client.send(message(PUT, name=b"big", fds=300, words=bytes(4096)), [FILE] * 253)
    print(client.says(message(MORE), [FILE] * 47))
    deaf = Client()
    deaf.socket.setblocking(False)
    asked = 0
    try:
        while True:
            deaf.send(message(GET, name=b"big"))
            asked += 1
    except BlockingIOError:
        pass
    for _ in range(500):  # in each of which the other one gets further, if it can
        client.says(message(GET, name=b"none"))
    print(client.says(message(DROP, name=b"big")))
    deaf.socket.setblocking(True)
    heard = []
    while len(heard) - heard.count("more") < asked:
        heard.append(deaf.hear())
    whole = heard.count("entry")
    print(heard[: 2 * whole] == ["entry", "more"] * whole, whole > 10)
    print(set(heard[2 * whole :]))


def cases():
    """A line each: what was sent, and the answer."""
    for name, (data, fds) in CASES.items():
        print(f"{name}: {Client().says(data, fds)}", flush=True)


globals()[sys.argv[2]]()
