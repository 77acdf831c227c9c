# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""torch_stubs.py FOLDER SITE: what a PyTorch for CUDA needs to be imported where
NVIDIA's libraries are not.

SITE has the unpacked wheel, and what of NVIDIA's wheels is wanted in earnest. Each
library that PyTorch's need and that is not found gets an empty one of its name in
FOLDER, for LD_LIBRARY_PATH; all functions that are missing then are in one more,
and return 1, which is an error to all of them.
Needs readelf and a C compiler (CC).
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

SYSTEM = ["/lib", "/usr/lib", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu"]
SYSTEM += ["/lib64", "/usr/lib64"]
ALL = "libgpumem_torch_stubs.so"


def readelf(option, path):
    return subprocess.run(
        ["readelf", "-W", option, str(path)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))


def symbols(path):
    """Two sets: of what it defines, of what it cannot do without."""
    defined, wanted = set(), set()
    for line in readelf("--dyn-syms", path).splitlines():
        words = line.split()
        if len(words) < 8 or not words[0].rstrip(":").isdigit():
            continue
        name = words[7].partition("@")[0]
        if words[6] != "UND":
            defined.add(name)
        elif words[4] == "GLOBAL":
            wanted.add(name)
    return defined, wanted


def compile_library(output, source, *options):
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, "-shared", "-fPIC", "-w", "-fno-builtin"]
    command += ["-x", "c", "-", "-x", "none", "-o", str(output)]
    command += [f"-Wl,-soname,{output.name}", "-Wl,--no-as-needed", *options]
    subprocess.run(command, input=source, text=True, check=True)


def main(folder, site):
    places = [site / "torch/lib", *site.glob("nvidia/*/lib")]
    own = [x for y in places for x in sorted(y.glob("*.so*")) if x.is_file()]
    here = {x.name: x for x in own}
    queue, missing, defined, wanted = list(own), set(), set(), set()
    seen = set(here)
    while queue:
        path = queue.pop()
        made, asked = symbols(path)
        defined |= made
        if path in own:
            wanted |= asked
        for name in needed(path):
            if name in seen:
                continue
            seen.add(name)
            found = [Path(x, name) for x in SYSTEM if Path(x, name).exists()]
            queue += found[:1]
            if not found:
                missing.add(name)
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted(x for x in wanted - defined if re.fullmatch(r"\w+", x))
    source = "".join(f"int {x}(void) {{ return 1; }}\n" for x in names)
    compile_library(folder / ALL, source)
    for name in sorted(missing):
        compile_library(folder / name, "", str(folder / ALL))
    print(f"{len(missing)} libraries, {len(names)} functions")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.split(":")[0])
    main(Path(sys.argv[1]), Path(sys.argv[2]))
