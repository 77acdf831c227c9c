# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""python -m gpumem: what gpumem-probe says, and how this package was built.

With arguments, it is gpumem-probe with these. Where the package was built
without the tools, it lists backends and devices itself.
"""

import subprocess
import sys
from pathlib import Path
from typing import List

from . import Error, _built, backends, devices, version
from ._words import short

PROBE = Path(__file__).resolve().parent / "bin/gpumem-probe"


def built() -> List[str]:
    """What is not in this package, and why; what it needs of the system."""
    lines = [
        f"{name} is not in this package: {why}"
        for name, why in _built.LEFT_OUT.items()
    ]
    for name, libraries in _built.NEEDS.items():
        lines.append(f"{name} needs {', '.join(libraries)} of the system")
    return lines


def listed() -> List[str]:
    """Without gpumem-probe."""
    lines = [f"gpumem {version()}"]
    for backend in backends():
        name = backend["name"]
        if backend["status"] == "GPUMEM_OK":
            lines.append(f"{name}: driver {backend['driver_version']}")
        else:
            why = _built.LEFT_OUT.get(name) or backend["reason"]
            words = backend["status"].removeprefix("GPUMEM_")
            lines.append(f"{name}: {words.lower().replace('_', ' ')}: {why}")
    try:
        for device in devices():
            whole = short(device["total_bytes"])
            lines.append(f"  {device['name']}: {device['product']}, {whole}")
    except Error as why:
        lines.append(str(why))
    return lines


def main(arguments: List[str]) -> int:
    if arguments and not PROBE.is_file():
        why = _built.LEFT_OUT.get("gpumem-probe", "it is not in the package")
        print(f"arguments are gpumem-probe's: {why}", file=sys.stderr)
        return 1
    code = 0
    if PROBE.is_file():
        code = subprocess.call([str(PROBE), *arguments])
    else:
        print("\n".join(listed()))
    if not arguments and built():
        print("", *built(), sep="\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
