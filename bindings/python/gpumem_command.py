# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A tool of gpumem's, as a command: runs the program in the package instead of
the script that pip has made of its name.

gpumem itself is not imported, whose library would read GPUMEM_CONF, too, so this
is a module beside it. pip makes scripts that work in a path of any length, with
blanks too, where a first line with the path of Python would not. The
program gets what this had: Python ignores two signals, and may have set LC_CTYPE.
"""

import importlib.util
import os
import runpy
import signal
import sys


def main():
    name = os.path.basename(sys.argv[0])
    package = importlib.util.find_spec("gpumem").submodule_search_locations[0]
    program = os.path.join(package, "bin", name)
    if not os.path.isfile(program):
        built = runpy.run_path(os.path.join(package, "_built.py"))
        why = built["LEFT_OUT"].get(name, "it is not in the package")
        sys.exit(f"{name}: left out when the package was built: {why}")
    with open("/proc/self/environ", "rb") as file:
        whole = file.read().split(b"\0")
    environment = dict(x.split(b"=", 1) for x in whole if b"=" in x)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    os.execve(program, [name, *sys.argv[1:]], environment)
