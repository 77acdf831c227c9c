# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Compiles and links for gpumem_build and gpumem_tools, and keeps what they left out.

Knows nothing of what is compiled. CC, CFLAGS, CXX, CXXFLAGS, LDFLAGS and AR are
respected.
"""

import concurrent.futures
import os
import shlex
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
CARRIED = HERE / "tree"  # in a source distribution
TREE = CARRIED if CARRIED.is_dir() else HERE.parent.parent

left_out = {}  # name of a plugin, module or tool: why, in one line


def words(variable, default=""):
    return shlex.split(os.environ.get(variable, default))


C = words("CC", "cc") + ["-std=gnu11"] + words("CFLAGS", "-O2")
CXX = words("CXX", "c++") + ["-std=c++17"] + words("CXXFLAGS", "-O2")


def built():
    """The folder GPUMEM_BUILD, in which `make` has been run, or None. pip calls
    from a folder of its own, so a relative one is in the tree."""
    named = os.environ.get("GPUMEM_BUILD")
    return TREE / named if named else None


def leave_out(name, why):
    """pip shows nothing of a build that works, so the package says it, too: the
    first line, and of a compiler's words the first that matters."""
    first, *others = str(why).splitlines()
    told = [x.strip() for x in others if "error" in x or "undefined" in x]
    left_out[name] = ": ".join([first, *told[:1]])
    print(f"gpumem: {name} is left out: {why}")


def run(command):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        line = " ".join(map(str, command))
        raise SystemExit(f"gpumem: this failed: {line}\n{done.stdout}")
    return done.stdout


def compile_all(sources, flags, folder, base=C):
    """The object files of the sources, made in the folder."""
    folder.mkdir(parents=True)
    base = base + ["-D_GNU_SOURCE", "-DNDEBUG", "-fPIC", "-fvisibility=hidden"]
    objects = [folder / f"{i}.o" for i in range(len(sources))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        commands = [
            base + flags + ["-c", str(source), "-o", str(made)]
            for source, made in zip(sources, objects)
        ]
        list(pool.map(run, commands))
    return objects


def compiles(text, flags, folder):
    """Whether this is C, with these headers."""
    source = folder / "tried.c"
    source.write_text(text)
    try:
        run([*C, *flags, "-c", str(source), "-o", str(folder / "tried.o")])
    except SystemExit:
        return False
    return True


def link(output, objects, *flags, base=C):
    """A shared library."""
    command = base + ["-shared", "-o", str(output)]
    command += map(str, objects)
    run(command + ["-Wl,-z,defs", *words("LDFLAGS"), *flags])


def link_program(output, objects, *flags):
    command = C + ["-o", str(output), *map(str, objects)]
    run([*command, *words("LDFLAGS"), *flags])


def archive(output, objects):
    run([*words("AR", "ar"), "rcs", str(output), *map(str, objects)])


def sources(*folders):
    return sorted(x for folder in folders for x in (TREE / folder).glob("*.c"))
