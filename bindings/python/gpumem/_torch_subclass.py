# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Compiles gpumem's subclass of PyTorch's allocator for the PyTorch that is here.

Its base class differs between PyTorch's versions, so a wheel carries it for a few at
most (_torch_prebuilt.py). For another it is compiled once, as for each version of
gpumem, in half a minute, and kept in the user's cache folder (XDG_CACHE_HOME,
~/.cache). So is what the compiler said if it cannot be, until there is another
PyTorch, compiler or gpumem. Processes that come at the same time wait for the first.
What takes time is told to the logger gpumem.torch: that it begins, and as a warning
if it takes long; and so is what the base class has that gpumem does not know.
GPUMEM_TORCH_CACHE names another folder; CXX and CXXFLAGS are respected.
"""

import ctypes
import fcntl
import hashlib
import logging
import os
import re
import shlex
import shutil
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path
from typing import IO, Any, List, Optional, Tuple

from . import _torch_compile as compiling
from . import _torch_headers as headers
from . import _torch_prebuilt as prebuilt

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "subclass"
LONG = 10  # seconds
# What another try could not change. A file that is missing may be installed.
FINAL = re.compile(r":\d+:\d+: (fatal )?error: |undefined reference")
REASON = re.compile(r"error|undefined reference")
PASSING = re.compile(r"No such file|No space left|error writing to|emory exhausted")

logger = logging.getLogger("gpumem.torch")


class Unavailable(Exception):
    """With a sentence that says why."""


def cuda_headers(home: Path) -> List[Path]:
    """The folders that have CUDA's, of wheels beside PyTorch or of a toolkit."""
    # Wheels have them in one folder or, before CUDA 13, in one for each wheel.
    groups = [sorted(home.parent.glob("nvidia/*/include"))]
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            groups.append([Path(os.environ[name], "include")])
    groups.append([Path("/usr/local/cuda/include")])
    for group in groups:
        found = []
        for name in ("cuda_runtime_api.h", "crt/host_config.h"):
            found += [x for x in group if (x / name).is_file()][:1]
        if len(found) == 2:
            return sorted(set(found))
    raise Unavailable(
        "no folder has cuda_runtime_api.h and crt/host_config.h: install "
        "nvidia-cuda-runtime and nvidia-cuda-crt (for CUDA 12 "
        "nvidia-cuda-runtime-cu12 and nvidia-cuda-nvcc-cu12), or set CUDA_HOME"
    )


def _runtimes() -> List[str]:
    """The C++ libraries that PyTorch uses here, by path.

    Some compilers link their own statically. Strings of a locale, and what is
    thrown, would then come from one library and go to another.
    """
    found = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.split(maxsplit=5)[5:]
        name = os.path.basename(path[0]) if path else ""
        if name.startswith(("libstdc++.so.", "libgcc_s.so.")):
            found.append(path[0])
    return sorted(set(found), reverse=True)


def _include(torch: Any) -> Path:
    """The folder of PyTorch's own headers."""
    folder = Path(torch.__file__).parent / "include"
    if not (folder / "c10/cuda/CUDACachingAllocator.h").is_file():
        raise Unavailable("this PyTorch came without its headers")
    return folder


def command(torch: Any) -> List[str]:
    """The compiler, and how it compiles."""
    if not getattr(torch.version, "cuda", None):
        raise Unavailable("it is for CUDA builds of PyTorch so far")
    compiler = shlex.split(os.environ.get("CXX") or "c++")
    if not shutil.which(compiler[0]):
        raise Unavailable(f"there is no C++ compiler {compiler[0]}")
    include = _include(torch)
    folders = [include, include / "torch/csrc/api/include"]
    folders += cuda_headers(include.parent)
    folders.append(Path(sysconfig.get_path("include")))
    abi = int(torch.compiled_with_cxx11_abi())
    line = compiler + prebuilt.OPTIONS + [f"-D_GLIBCXX_USE_CXX11_ABI={abi}"]
    line += shlex.split(os.environ.get("CXXFLAGS", ""))
    for folder in folders:
        line += ["-isystem", str(folder)]
    return line


def libraries(torch: Any) -> List[str]:
    """What it links."""
    line = [f"-L{Path(torch.__file__).parent / 'lib'}"]
    line += ["-lc10", "-lc10_cuda", "-ltorch_cpu", "-ltorch_cuda"]
    line += [f"-L{HERE / 'lib'}", "-l:libgpumem.so.0"]
    return line + _runtimes()


def _folder() -> Path:
    named = os.environ.get("GPUMEM_TORCH_CACHE")
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "gpumem"


def _key(torch: Any) -> str:
    digest = hashlib.sha256()
    for path in sorted(x for x in SOURCES.rglob("*.*") if x.is_file()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    words = command(torch) + libraries(torch)
    words += [torch.__version__, sys.version, _state_of(words[0])]
    digest.update("\0".join(words).encode())
    return digest.hexdigest()[:24]


def _state_of(compiler: str) -> str:
    """Another one of the same name has another."""
    path = os.path.realpath(shutil.which(compiler) or compiler)
    try:
        about = os.stat(path)
    except OSError:
        return path
    return f"{path} {about.st_size} {about.st_mtime_ns}"


def _tell_long() -> None:
    logger.warning(
        "the compiler is still at the subclass of PyTorch's allocator after %d "
        "seconds; what it makes is kept in %s, for all programs",
        LONG,
        _folder(),
    )


def _tell_unknown(torch: Any) -> None:
    """What compiles all the same, as what PyTorch's base class does by itself."""
    found = headers.unknown(_include(torch), SOURCES)
    if found:
        logger.warning(
            "the allocator of PyTorch %s has functions that this gpumem does not "
            "know, and leaves to PyTorch's defaults: %s",
            torch.__version__,
            ", ".join(found),
        )


def _build(torch: Any, work: Path) -> Path:
    logger.info("compiling the subclass of PyTorch's allocator, once")
    timer = threading.Timer(LONG, _tell_long)
    timer.daemon = True
    timer.start()
    try:
        return compiling.build(
            command(torch), libraries(torch), SOURCES, work
        )
    finally:
        timer.cancel()


def _reason(said: str) -> str:
    """What matters of it."""
    lines = [x for x in said.splitlines() if REASON.search(x)]
    lines = lines or said.splitlines() or ["no message"]
    return f"the compiler says: {lines[0]}"


def _compile(torch: Any, made: Path) -> None:
    """Under the lock; elsewhere until it is whole."""
    work = Path(tempfile.mkdtemp(".part", dir=made.parent))
    try:
        built = _build(torch, work)
        built.chmod(0o755)
        _tell_unknown(torch)
        os.replace(built, made)
    except compiling.Failed as why:
        said = str(why)
        if FINAL.search(said) and not PASSING.search(said):
            (work / "said").write_text(_reason(said))
            os.replace(work / "said", _failure(made))
        raise Unavailable(_reason(said)) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _failure(made: Path) -> Path:
    """Why there cannot be this one."""
    return made.with_suffix(".failed")


def _make(torch: Any, made: Path) -> None:
    """Under the lock, if it is not there and can be."""
    for part in made.parent.glob("tmp*.part"):
        # Of a process that was killed: it had the lock.
        shutil.rmtree(part, ignore_errors=True)
    if made.is_file():
        return
    failure = _failure(made)
    if failure.is_file():
        why = failure.read_text(errors="replace")
        raise Unavailable(f"{why} (as before; to try again, remove {failure})")
    _compile(torch, made)


def _private(folder: Path) -> Path:
    """Made, if it is not there: what is in it runs in this process, so nobody
    else may put anything there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = folder.stat()
    if about.st_uid not in (os.geteuid(), 0):
        raise Unavailable(f"{folder}: it belongs to another user")
    if about.st_mode & 0o022:
        raise Unavailable(f"{folder}: others may write there: chmod go-w")
    return folder


def _open_lock(folder: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    return os.open(folder / "lock", flags, 0o600)


def _take(lock: IO[bytes]) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        logger.info("another process is compiling: waiting for it")
        fcntl.flock(lock, fcntl.LOCK_EX)


def library(torch: Any) -> Path:
    """The compiled library; Unavailable if there can be none."""
    try:
        folder = _private(_folder())
        made = folder / f"torch-{_key(torch)}.so"
        with open(_open_lock(folder), "rb") as lock:
            _take(lock)
            _make(torch, made)
    except (OSError, RuntimeError) as why:
        raise Unavailable(str(why)) from None
    return made


def _load(torch: Any) -> Any:
    """The wheel's, if it has one for this very PyTorch, or else the one that is
    compiled."""
    carried = prebuilt.find(HERE / "prebuilt", torch)
    if carried:
        try:
            return ctypes.PyDLL(str(carried))
        except OSError as why:
            logger.warning("%s cannot be loaded: %s", carried, why)
    try:
        return ctypes.PyDLL(str(library(torch)))
    except OSError as why:
        raise Unavailable(f"it cannot be loaded: {why}") from None


def install(torch: Any, backend: str) -> Any:
    """Makes it PyTorch's allocator; what was loaded, with opened(number).

    RuntimeError if PyTorch refuses, Unavailable if there is none.
    """
    loaded = _load(torch)
    loaded.gpumem_torch_install.restype = ctypes.c_char_p
    loaded.gpumem_torch_pin.restype = None
    loaded.gpumem_torch_pinned.restype = ctypes.c_void_p
    loaded.opened = loaded.gpumem_torch_opened
    refusal = loaded.gpumem_torch_install(backend.encode())
    if refusal is not None:
        raise RuntimeError(refusal.decode(errors="replace"))
    return loaded


def pin(loaded: Any, backend: str, limit_bytes: int) -> None:
    """Makes it the allocator of pinned memory, too."""
    loaded.gpumem_torch_pin(
        backend.encode(), ctypes.c_ulonglong(limit_bytes)
    )


def pinned(loaded: Any) -> Optional[Tuple[int, int]]:
    """The number of the device and the address of the pool of pinned memory;
    None: there is none yet."""
    number = ctypes.c_int()
    address = loaded.gpumem_torch_pinned(ctypes.byref(number))
    return (number.value, address) if address else None
