# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A program whose memory is read from outside, step by step; no program itself.

What is measured says where it is, in lines on its standard output that begin with
"measured:" and hold JSON, and waits there until it is told to go on: phase(), on its
side. Lines without that are its own text, which has to be the same with each
allocator. On the other side a Child is such a process, and a Watch reads the device
meanwhile. One thread of each process uses this.
"""

import ctypes
import json
import os
import queue
import subprocess
import sys
import threading
import time

from clearing import MIB, Meter

MARK = "measured:"
ASYNC = "TF_GPU_ALLOCATOR", "XLA_PYTHON_CLIENT_ALLOCATOR"
EVERY = 0.004  # seconds between two looks at the device


# ---- the program's side --------------------------------------------------------


def say(**what):
    print(MARK + json.dumps(what), flush=True)


def phase(name, **what):
    """Says where the program is, and waits until the device was read."""
    say(phase=name, **what)
    if not sys.stdin.readline():
        os._exit(1)  # nobody reads any more


def imported(*modules):
    """The first thing to say: what it runs, before it touches the device."""
    versions = {each.__name__: each.__version__ for each in modules}
    phase("imported", pid=os.getpid(), versions=versions)


def given_back():
    """The last phases: the reader lets time pass, then all that can be is trimmed."""
    phase("waited")
    trim = getattr(ctypes.CDLL(None), "gpumem_run_trim", None)
    if trim:  # what gpumem.run.trim() calls; it needs no package
        trim.restype = ctypes.c_uint64
        trim()
    elif "async" in (os.environ.get(ASYNC[0], "") + os.environ.get(ASYNC[1], "")):
        from driver_pool import DriverPool

        pool = DriverPool()
        pool.trim()
        phase("trimmed at once", pool=pool.bytes())
        pool.synchronize()
        pool.trim()
    phase("trimmed")


def leave():
    """Ends the process; what frameworks do at their end is not what is measured."""
    sys.stdout.flush()
    os._exit(0)


# ---- the reader's side ---------------------------------------------------------


class Blind:
    """For --tiny, where there is no device: all is 0."""

    def mib(self):
        return 0

    def settled(self):
        return 0


class Watch:
    """The most that was in use on the device since begin(), in MiB."""

    def __init__(self, blind):
        self.meter = Blind() if blind else Meter()
        self.most = 0
        self.on = threading.Event()
        if not blind:
            threading.Thread(target=self._look, daemon=True).start()

    def _look(self):
        self.meter.also_here()
        while self.on.wait():
            self.most = max(self.most, self.meter.mib())
            time.sleep(EVERY)

    def begin(self):
        self.most = self.meter.mib()
        self.on.set()

    def end(self):
        self.on.clear()
        return max(self.most, self.meter.mib())


class Child:
    """A process that is told to go on from phase to phase."""

    def __init__(self, command, environment, errors):
        self.text = []
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        self.said = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            if line.startswith(MARK):
                self.said.put(json.loads(line[len(MARK) :]))
            else:
                self.text.append(line.rstrip("\n"))
        self.said.put(None)

    def next(self, seconds):
        """What it says next; None: it has ended, or said nothing for so long."""
        try:
            return self.said.get(timeout=seconds)
        except queue.Empty:
            self.process.kill()
            return None

    def go(self):
        try:
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended, which next() says

    def end(self):
        """Its exit status, once all that it printed is known."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def of_process(pid):
    """MiB that NVML says the process has on the first device; None: it is not told."""
    try:
        import pynvml

        pynvml.nvmlInit()
        device = pynvml.nvmlDeviceGetHandleByIndex(0)
        for each in pynvml.nvmlDeviceGetComputeRunningProcesses(device):
            if each.pid == pid and each.usedGpuMemory is not None:
                return each.usedGpuMemory // MIB
    except Exception:  # no package, no library, or not allowed: it is not told
        pass
    return None
