# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What gpumem-run --adopt puts first into PYTHONPATH: programs of PyTorch's get
gpumem's pool, by gpumem.torch.enable(), just before PyTorch initializes the GPU, and
those of TensorFlow's free what they trained, by gpumem.tensorflow.enable().

Not before: a program may fork until then, and none of what it imports is imported
earlier. Where the pool cannot be had, PyTorch's cache is off, as the variable says
that gpumem-run set, and the report says why. The folder leaves sys.path again, and
the sitecustomize that it hides runs. Nothing is printed. A Python 2 runs that one and
nothing more, so there is no syntax here that it cannot parse.
"""

import importlib
import os
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))


def tell(text):
    """Has the report say it; "": that this module is there."""
    try:
        import ctypes

        say = ctypes.CDLL(None).gpumem_run_tell
        say.argtypes = [ctypes.c_char_p]
        say.restype = None
        say(text.encode(errors="replace"))
    except Exception:
        pass  # the program does not run under gpumem-run


def package(module):
    """Of gpumem: this Python's, or else the one that gpumem-run came with."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as why:
        if why.name != "gpumem":
            raise
    folder = HERE
    while folder != os.path.dirname(folder):
        parent, name = os.path.split(folder)
        if name == "gpumem" and os.path.isfile(folder + "/__init__.py"):
            break
        folder = parent
    else:
        raise ModuleNotFoundError(
            sys.executable + " has no package gpumem: see docs/python.md"
        )
    sys.path.append(parent)
    try:
        return importlib.import_module(module)
    finally:
        sys.path.remove(parent)


def adopt():
    """The pool becomes PyTorch's allocator, or the report says why not."""
    try:
        import warnings

        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            gpumem = package("gpumem.torch")
            gpumem.enable()
        told = ["PyTorch has gpumem's pool, by its " + gpumem.how()]
        told += [str(x.message) for x in heard]
        tell("; ".join(told))
    except Exception as why:
        reason = str(why) or type(why).__name__
        tell("PyTorch allocates from the driver, without a cache: " + reason)


def let_go(ops):
    """What TensorFlow traces from now on goes with the model, or the report says why
    not. Of gpumem nothing else is imported."""
    del ops
    try:
        package("gpumem.tensorflow").enable()
        tell("")
    except Exception as why:
        reason = str(why) or type(why).__name__
        tell("TensorFlow keeps what it trained until it ends: " + reason)


def watch(cuda):
    """Every way to the GPU begins with _lazy_init(), under each module's name."""
    tell("")
    init = getattr(cuda, "_lazy_init", None)
    if init is None:
        return
    lock = threading.RLock()  # adopt() may come here, too
    adopted = []

    def adopt_first():
        with lock:
            if not adopted:
                adopted.append(True)
                adopt()
                rename(adopt_first, init)
        init()

    rename(init, adopt_first)


def rename(function, other):
    """_lazy_init is the other one in each module of PyTorch's that has the first."""
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.") and (
            getattr(module, "__dict__", {}).get("_lazy_init") is function
        ):
            module._lazy_init = other


# What is done after the first import of each.
WATCHED = {"torch.cuda": watch, "tensorflow.python.framework.ops": let_go}


class Watching:
    """A loader that does what another does, and then something more."""

    def __init__(self, loader, name):
        self.loader = loader
        self.name = name

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        after = WATCHED.pop(self.name, None)
        if not WATCHED and Finder in sys.meta_path:
            sys.meta_path.remove(Finder)
        if after:
            after(module)


class Finder:
    """Of what is watched, until it is there; others find it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in WATCHED:
            return None
        for other in sys.meta_path:
            find = None if other is Finder else getattr(other, "find_spec", None)
            spec = find and find(name, path, target)
            if spec:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = Watching(spec.loader, name)
                return spec
        return None


def run_hidden():
    """The sitecustomize that would have run without this one."""
    own = sys.modules.pop("sitecustomize")
    try:
        importlib.import_module("sitecustomize")
    except ImportError as why:
        if getattr(why, "name", "sitecustomize") != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = own


sys.path[:] = [x for x in sys.path if os.path.abspath(x or ".") != HERE]
if sys.version_info >= (3, 6):
    sys.meta_path.insert(0, Finder)
run_hidden()
