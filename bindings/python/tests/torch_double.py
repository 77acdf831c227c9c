# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A stand-in for PyTorch: as much of it as gpumem.torch knows.

install() makes it the module `torch`, with two devices. It calls the hooks of a
pluggable allocator as PyTorch does, through torch_double.cpp.
"""

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path


class Memory(Exception):
    """torch.OutOfMemoryError"""


def compiler():
    """None: there is no C++ compiler."""
    words = shlex.split(os.environ.get("CXX", "c++"))
    return words if words and shutil.which(words[0]) else None


def compiled(folder):
    source = Path(__file__).with_name("torch_double.cpp")
    output = Path(folder, "libc10.so")
    command = compiler() + ["-std=c++17", "-O1", "-fvisibility=hidden"]
    command += ["-shared", "-fPIC", "-Wl,-soname,libc10.so", str(source)]
    subprocess.run(command + ["-o", str(output)], check=True)
    return output


class Allocator:
    """torch._C._cuda_customAllocator()"""

    def __init__(self, alloc, free):
        self.hooks = {"alloc": alloc, "free": free}
        self.live = {}

    def __getattr__(self, name):
        if not name.startswith("set_"):
            raise AttributeError(name)
        return lambda address: self.hooks.__setitem__(name, address)


class Double:
    def __init__(self, library):
        self.lib = ctypes.CDLL(str(library), mode=ctypes.RTLD_LOCAL)
        self.lib.double_text.restype = ctypes.c_char_p
        self.lib.double_base.restype = ctypes.c_void_p
        self.current = None
        self.initialized = False
        self.waited = []
        self.stream = 0  # the current one

    def call(self, name, hook, *args):
        address = ctypes.c_void_p(self.current.hooks[hook])
        status = getattr(self.lib, "double_" + name)(address, *args)
        if status:
            text = self.lib.double_text().decode()
            raise (Memory if status == 1 else RuntimeError)(text)

    def alloc(self, size, stream=0, device=0):
        self.initialized = True
        out = ctypes.c_void_p()
        where = ctypes.c_int(device), ctypes.c_void_p(stream)
        self.call(
            "alloc", "alloc", ctypes.c_size_t(size), *where, ctypes.byref(out)
        )
        self.current.live[out.value] = size, where
        return out.value

    def free(self, address):
        size, where = self.current.live.pop(address)
        self.lib.double_free(
            ctypes.c_void_p(self.current.hooks["free"]),
            ctypes.c_void_p(address),
            ctypes.c_size_t(size),
            *where,
        )

    def record_stream(self, address, stream):
        self.call(
            "record",
            "set_record_stream_fn",
            ctypes.c_void_p(address),
            ctypes.c_void_p(stream),
        )

    def base(self, address):
        size = ctypes.c_size_t()
        hook = ctypes.c_void_p(self.current.hooks["set_base_alloc_fn"])
        found = self.lib.double_base(
            hook, ctypes.c_void_p(address), ctypes.byref(size)
        )
        return found, size.value

    def pool(self, what, first, second, device=0):
        hook = {
            "begin": "set_begin_allocate_to_pool",
            "end": "set_end_allocate_to_pool_fn",
            "release": "set_release_pool",
        }[what]
        ids = ctypes.c_ulonglong(first), ctypes.c_ulonglong(second)
        call = "begin" if what == "begin" else "pool"
        self.call(call, hook, ctypes.c_int(device), *ids)

    def capture(self, stream, number):
        self.lib.double_capture(
            ctypes.c_void_p(stream), ctypes.c_ulonglong(number)
        )

    # ---- what torch._C has ----------------------------------------------

    def change(self, allocator):
        if self.initialized:
            raise RuntimeError("Can't swap an already initialized allocator")
        self.current = allocator

    def empty_cache(self):
        self.call("reset", "set_reset_fn")

    def set_fraction(self, fraction, device):
        self.call(
            "fraction",
            "set_memory_fraction_fn",
            ctypes.c_double(fraction),
            ctypes.c_int(device),
        )


def refused(*args):
    raise RuntimeError("CUDAPluggableAllocator does not yet support this")


class Wrapper:
    """torch.cuda.memory._CUDAAllocator"""

    def __init__(self, allocator):
        self._allocator = allocator

    def allocator(self):
        return self._allocator


def install():
    """The double, which is `torch` from now on, in torch._C.double."""
    folder = tempfile.mkdtemp()
    (Path(folder) / "lib").mkdir()
    double = Double(compiled(Path(folder) / "lib"))
    torch = types.ModuleType("torch")
    torch.__file__ = str(Path(folder, "__init__.py"))
    torch.__version__ = "2.11.0+double"
    torch.version = types.SimpleNamespace(hip=None, cuda="13.0")
    torch._C = types.SimpleNamespace(
        double=double,
        _cuda_customAllocator=Allocator,
        _cuda_memoryStats=refused,
        _cuda_resetPeakMemoryStats=refused,
        _cuda_resetAccumulatedMemoryStats=refused,
        _cuda_memorySnapshot=refused,
        _cuda_getMemoryFraction=refused,
        _cuda_setMemoryFraction=double.set_fraction,
        _cuda_emptyCache=double.empty_cache,
        # Of an allocator that is never used; some of those that are replaced.
        _accelerator_isAllocatorInitialized=lambda: False,
        _accelerator_emptyCache=lambda: None,
        _accelerator_getDeviceStats=lambda device: {},
        _accelerator_resetPeakStats=lambda device: None,
    )
    memory = types.SimpleNamespace(
        _CUDAAllocator=Wrapper,
        change_current_allocator=lambda x: double.change(x.allocator()),
    )
    torch.cuda = types.SimpleNamespace(
        memory=memory,
        device_count=lambda: 2,
        is_initialized=lambda: bool(double.initialized),
        synchronize=double.waited.append,
        is_current_stream_capturing=lambda: False,
        current_stream=lambda device: types.SimpleNamespace(
            cuda_stream=double.stream
        ),
        empty_cache=double.empty_cache,
        set_per_process_memory_fraction=lambda part, device=0: (
            torch._C._cuda_setMemoryFraction(part, device)
        ),
    )
    sys.modules["torch"] = torch
    return torch, folder
