# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""What gpumem-run --adopt keeps, given back.

A program under gpumem-run --adopt frees memory to a pool in its process, which has
at most what the program had at its peak, and gives back what was idle for ten
seconds. trim() gives it back to the driver at once:

    del params
    gpumem.run.trim()
"""

import ctypes


def active() -> bool:
    """Whether the program runs under gpumem-run."""
    return hasattr(ctypes.CDLL(None), "gpumem_run_trim")


def trim() -> int:
    """Gives all that gpumem-run --adopt keeps for this process back to the driver,
    of every device, and what pools of gpumem's have unused: so many bytes. 0 without
    gpumem-run.

    What the program has allocated stays. May be called from any thread; waits
    for the devices, as their own functions that free do.
    """
    try:
        function = ctypes.CDLL(None).gpumem_run_trim
    except AttributeError:
        return 0
    function.argtypes = []
    function.restype = ctypes.c_uint64
    return int(function())
