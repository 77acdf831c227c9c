# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The tag of a wheel: which systems its files can be loaded on.

By what objdump finds in them: the newest version of a symbol of glibc, and of
libstdc++'s, say which manylinux it is, as auditwheel counts; with any other
library of the system it is none, but linux of this machine's kind.
"""

import os
import re
import subprocess
import sysconfig

PYTHON = "cp39-abi3"
# All that manylinux may need. libgpumem.so.0 is in the wheel, and what needs
# PyTorch's libraries is loaded by who has them.
EVERYWHERE = re.compile(
    r"(libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux[\w-]*)\.so"
    r"\.\d+|libgpumem\.so\.0|lib(c10|c10_cuda|torch_cpu|torch_cuda)\.so"
)
# (N, M): GLIBCXX_3.4.N, or CXXABI_1.3.N, is in manylinux_2_M and later.
GLIBCXX = [(19, 17), (22, 24), (24, 27), (28, 31), (29, 34), (30, 35), (33, 39)]
CXXABI = [(7, 17), (10, 24), (11, 27), (12, 31), (13, 34), (15, 39)]
NEWER = 99  # than all that is known here
OLDEST = 17


def dynamic(path):
    """objdump's text of what the file needs; "" if it cannot be had."""
    command = [os.environ.get("OBJDUMP", "objdump"), "-p", str(path)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    except OSError:
        return ""
    return "" if done.returncode else done.stdout


def needed(path):
    return re.findall(r"NEEDED +(\S+)", dynamic(path))


def outside(files):
    """{name: libraries of the system that are not everywhere}."""
    found = {
        name: [x for x in needed(path) if not EVERYWHERE.fullmatch(x)]
        for name, path in files.items()
    }
    return {name: whole for name, whole in found.items() if whole}


def since(table, number):
    return next((minor for most, minor in table if number <= most), NEWER)


def glibc(path):
    """The oldest 2.x of manylinux that has all that the file needs; None: no
    glibc, or not known."""
    text = dynamic(path)

    def numbers(pattern):
        return [int(x) for x in re.findall(rf"\b{pattern}(\d+)", text)]

    minors = numbers(r"GLIBC_2\.")
    if not minors or not re.search(r"NEEDED", text):
        return None
    minors += [36] if "GLIBC_ABI_DT_RELR" in text else []
    minors += [since(GLIBCXX, x) for x in numbers(r"GLIBCXX_3\.4\.")]
    minors += [since(CXXABI, x) for x in numbers(r"CXXABI_1\.3\.")]
    return max(minors)


def tag(paths):
    machine = re.sub(r"[-.]", "_", sysconfig.get_platform())
    minors = [glibc(path) for path in paths]
    alone = any(outside({"": path}) for path in paths)
    if minors and not alone and None not in minors and max(minors) < NEWER:
        minor = max(OLDEST, *minors)
        machine = machine.replace("linux", f"manylinux_2_{minor}", 1)
    return f"{PYTHON}-{machine}"
