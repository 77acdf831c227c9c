#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""gpumem-keep on a real GPU: memory that outlives its process.

A process fills GIB of a device's memory, has it kept, and is killed: the memory stays,
with no process on the device. Another one gets it and reads what the first one wrote.
It is dropped: the device has what it had before.

    python3 tests/device/keep.py FOLDER-OF-THE-TOOLS [GIB]

The exit status is 0 if that is so, and the figures are printed. The device has to be
otherwise idle. gpumem's package has to be there; nothing else is needed.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
PAGE = 256 * MIB
DEVICE = os.environ.get("KEEP_DEVICE", "cuda:0")


def used():
    """MiB of the first device, of all processes."""
    query = "--query-gpu=memory.used"
    out = subprocess.check_output(["nvidia-smi", query, "--format=csv,noheader,nounits"])
    return int(out.split()[0])


def settled(near, what):
    """Once it is near that; what a process had goes a little after it."""
    for _ in range(50):
        now = used()
        if abs(now - near) < 64:
            break
        time.sleep(0.1)
    else:
        sys.exit(f"{what}: {now} MiB are in use, and not about {near}")
    print(f"{what}: {now} MiB in use")
    return now


def places(nbytes):
    """Where words of their own are, and which."""
    for number, offset in enumerate(range(0, nbytes - MIB + 1, nbytes // 16)):
        yield offset, bytes([number]) + b"words of a place" * 1000


# ---- the processes -------------------------------------------------------------------


def put(socket, nbytes):
    import gpumem
    from gpumem import keep

    pool = gpumem.Pool(DEVICE, shareable="fd", page_bytes=min(PAGE, nbytes))
    block = pool.alloc(nbytes)
    block.fill(0x5A)
    for offset, words in places(nbytes):
        block.write(words, offset)
    begin = time.monotonic()
    keep.put("weights", block, socket=socket, note=b"a test")
    print(f"put after {(time.monotonic() - begin) * 1000:.1f} ms", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def get(socket, nbytes):
    import gpumem
    from gpumem import keep

    device = gpumem.Device(DEVICE)
    begin = time.monotonic()
    with keep.get("weights", device, socket=socket) as there:
        print(f"got after {(time.monotonic() - begin) * 1000:.1f} ms", flush=True)
        assert there.nbytes == nbytes and there.note == b"a test", there.nbytes
        for offset, words in places(nbytes):
            assert there.read(len(words), offset) == words, offset
            rest = there.read(MIB // 2, offset + MIB // 2)
            assert rest == b"\x5a" * (MIB // 2), offset
        there.write(b"seen", nbytes - 4)
        assert there.read(4, nbytes - 4) == b"seen"
    print("the words are right", flush=True)


# ---- all of it -----------------------------------------------------------------------


def step(what, socket, nbytes):
    run = subprocess.run([sys.executable, __file__, "--" + what, socket, str(nbytes)])
    expected = -signal.SIGKILL if what == "put" else 0
    if run.returncode != expected:
        sys.exit(f"{what}: ended with {run.returncode}")


def sees_nobody():
    query = "--query-compute-apps=pid"
    out = subprocess.check_output(["nvidia-smi", query, "--format=csv,noheader"])
    return not out.split()


def whole(tools, nbytes, folder):
    keep = os.path.join(tools, "gpumem-keep")
    socket = os.path.join(folder, "s")
    daemon = subprocess.Popen([keep, "--socket=" + socket, "serve"])
    try:
        while not os.path.exists(socket):
            time.sleep(0.05)
        before = used()
        print(f"before: {before} MiB in use")
        step("put", socket, nbytes)
        settled(before + nbytes // MIB, "the process was killed")
        print("no process is on the device:", sees_nobody())
        subprocess.run([keep, "--socket=" + socket, "list"], check=True)
        for _ in range(2):
            step("get", socket, nbytes)
        settled(before + nbytes // MIB, "two others have read it")
        subprocess.run([keep, "--socket=" + socket, "drop", "weights"], check=True)
        settled(before, "dropped")
    finally:
        daemon.terminate()
        daemon.wait()
    return daemon.returncode


def main():
    if len(sys.argv) == 4 and sys.argv[1] in ("--put", "--get"):
        {"--put": put, "--get": get}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
        return 0
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    gib = float(sys.argv[2]) if len(sys.argv) == 3 else 4
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        code = whole(sys.argv[1], int(gib * 1024) * MIB, folder)
    print(f"{time.monotonic() - begin:.1f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
