# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Rows of framework_memory.py: their table, and what is wrong in them.

A row is a program that was trained in one way, in one process, with one allocator,
in one turn. Of the turns the table has the median of times and the most of memory.
What is live is the framework's own count in that process; where its allocator has
none, the least that another one told. It differs between processes that do the same,
by what runs beside what.

    python3 tests/device/framework_table.py FILE...

shows files of rows that were written before.
"""

import collections
import json
import statistics
import sys

MIB = 1 << 20
LEFT = 150  # MiB beside the context that may be left: code of libraries
WASTE = 1.05  # most of the peak by what was live
SAME = 64  # MiB by which two processes that do the same may differ
PHASES = "trained", "deleted", "cleared", "waited", "trimmed_at_once", "trimmed"
COLUMNS = (
    "program, way",
    "allocator",
    "context",
    "live",
    "most",
    "most/live",
    *(name.replace("_", " ") for name in PHASES),
    "epoch s",
    "by the first's",
    "text",
)


def grouped(rows):
    """{(program, way): {allocator: [its rows]}}, in their order."""
    found = {}
    for row in rows:
        if "way" in row:
            name = row["program"], row["way"]
            found.setdefault(name, {}).setdefault(row["allocator"], []).append(row)
    return found


def live(of):
    """MiB that were live at most, for allocators that count none."""
    told = [
        row["live_bytes"] for rows in of.values() for row in rows if row.get("live_bytes")
    ]
    return min(told) / MIB if told else None


def bare(of):
    """MiB of a context alone, which an allocator that takes all at once does not
    show."""
    return min(row["context_mib"] for rows in of.values() for row in rows)


def own_live(row, lived):
    """MiB that were live at most in its process."""
    return row["live_bytes"] / MIB if row.get("live_bytes") else lived


def waste(row, lived, context):
    """The peak by what was live, or by what the process had before if it was more."""
    lived = own_live(row, lived)
    if lived is None:
        return None
    return (row["peak_mib"] - context) / max(lived, row["before_mib"] - context, 1)


def ratio(rows, base):
    """Of times, the median over the turns that both have."""
    by_turn = {row["turn"]: row["epoch_s"] for row in base}
    both = [
        row["epoch_s"] / by_turn[row["turn"]] for row in rows if row["turn"] in by_turn
    ]
    return statistics.median(both) if both else None


def most(rows, name):
    """Of a phase; of the wait those count that waited."""
    if name == "waited":
        rows = [row for row in rows if row.get("long")]
    told = [row[name + "_mib"] for row in rows if name + "_mib" in row]
    return max(told) if told else None


def texts(rows):
    """What they printed. Losses and sums only, in the order they were printed."""
    return {tuple(row["text"]) for row in rows}


def shown(value, digits=3):
    if value is None:
        return "-"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def line(rows, of, lived):
    base = next(iter(of.values()))
    wastes = [waste(row, lived, bare(of)) for row in rows]
    own = max(own_live(row, lived) or 0 for row in rows)
    cells = [most(rows, "context"), round(own) or None, most(rows, "peak")]
    cells.append(max(wastes) if lived is not None else None)
    cells += [most(rows, name) for name in PHASES]
    cells.append(statistics.median(row["epoch_s"] for row in rows))
    cells.append(ratio(rows, base))
    cells.append("same" if len(texts(rows) | texts(base)) == 1 else "DIFFERS")
    return [shown(each) for each in cells]


def show(name, rows):
    """The table, in MiB of the device; the ratios of times are to the allocator that
    is named first."""
    table = [COLUMNS]
    for (program, way), of in grouped(rows).items():
        lived = live(of)
        for allocator, its in of.items():
            table.append([f"{program}, {way}", allocator, *line(its, of, lived)])
    widths = [max(len(row[i]) for row in table) for i in range(len(COLUMNS))]
    print(f"{name}: MiB of the device")
    for row in table:
        left = [f"{row[i]:<{widths[i]}}" for i in (0, 1)]
        right = [f"{row[i]:>{widths[i]}}" for i in range(2, len(row))]
        print("  ".join(left + right), flush=True)


def grown(rows):
    """Of models one after the other in a process: what it had after the second, and
    the most it had after a later one."""
    by_process = collections.defaultdict(list)
    for row in rows:
        key = row["program"], row.get("way"), row["allocator"], row["turn"]
        by_process[key].append(row["cleared_mib"])
    return {
        key[2:]: (cleared[1], max(cleared[2:]))
        for key, cleared in by_process.items()
        if len(cleared) > 2
    }


def adopted_wrong(about, row, lived, context):
    """Of one row under gpumem-run --adopt."""
    after = [("a trim", "trimmed_mib")]
    if row.get("long"):
        after.append(("a wait", "waited_mib"))
    for name, key in after:
        left = row.get(key, 0) - context
        if left > LEFT:
            yield f"{about}, adopt: {left} MiB are left after {name}"
    wasted = waste(row, lived, context)
    if wasted is not None and wasted > WASTE:
        yield f"{about}, adopt: {wasted:.3f} times what was live"


def differs(about, of):
    """Of gpumem-run without --adopt, which changes no memory that the same setting has
    without it."""
    runs = of.get("run", [])
    same = [
        row
        for name in ("default", "growth")
        for row in of.get(name, [])
        if runs and row.get("setting") == runs[0].get("setting")
    ]
    for row, other in zip(runs, same):
        for name in ("trained", "cleared"):
            here, there = row[name + "_mib"], other[name + "_mib"]
            if abs(here - there) > SAME:
                yield f"{about}, run: {name}, {here} MiB, without it {there}"


def wrong(rows):
    """Sentences. What frameworks do by themselves is not judged, only gpumem-run."""
    found = []
    for row in rows:
        if row["status"]:
            found.append(f"{row['allocator']} {row['program']}: {row['status']}")
    for (program, way), of in grouped(rows).items():
        about = f"{program}, {way}"
        if len(texts([row for its in of.values() for row in its])) > 1:
            found.append(f"{about}: the text differs")
        lived = live(of)
        for row in of.get("adopt", []):
            found += adopted_wrong(about, row, lived, bare(of))
        found += differs(about, of)
    adopted = [row for row in rows if row["allocator"] == "adopt" and "way" in row]
    for second, later in grown(adopted).values():
        if later > second + LEFT:
            found.append(f"ten models: {second} MiB grow to {later}")
    return found


def judged(name, rows):
    """Whether the rows of a set are as they should be; what is not is printed."""
    show(name, rows)
    found = wrong(rows)
    for each in found:
        print("wrong:", each)
    return not found


def main():
    rows = []
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            rows += [json.loads(each) for each in file]
    sets = dict.fromkeys(row["set"] for row in rows)
    good = [judged(name, [row for row in rows if row["set"] == name]) for name in sets]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
