# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Numbers as people read them, and tables of a notebook. Pure."""

from html import escape
from typing import Iterable, Sequence

UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def count(number: int, what: str) -> str:
    """ "1 block", "2 blocks"."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def short(nbytes: int) -> str:
    """ "100 bytes", "1.5 MiB"."""
    if abs(nbytes) < 1024:
        return count(nbytes, "byte")
    value, unit = nbytes / 1024, 0
    while abs(value) >= 1023.995 and unit < len(UNITS) - 1:
        value, unit = value / 1024, unit + 1
    number = f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{number} {UNITS[unit]}"


def size(nbytes: int) -> str:
    """ "100 bytes", "1.5 MiB (1572864 bytes)"."""
    whole = short(nbytes)
    return whole if abs(nbytes) < 1024 else f"{whole} ({nbytes} bytes)"


def table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[object]]
) -> str:
    """HTML; nothing of what it is given is read as that."""

    def line(kind: str, cells: Sequence[object]) -> str:
        inner = "".join(f"<{kind}>{escape(str(x))}</{kind}>" for x in cells)
        return f"<tr>{inner}</tr>"

    head = f"<caption>{escape(caption)}</caption>"
    head += f"<thead>{line('th', heads)}</thead>" if heads else ""
    body = "".join(line("td", row) for row in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"
