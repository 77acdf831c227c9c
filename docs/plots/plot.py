#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""Draws what `gpumem-bench --json pair threads growth` measured.

Writes size, threads and live as SVG, or as PNG where the SVG would be larger
than 100 KB. Grey text and no background, so that they can be read on light and
on dark pages. Needs matplotlib (Debian: python3-matplotlib); nothing that is
built or tested needs this script.
"""

import argparse
import json
import os
import sys
import textwrap

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot, ticker  # noqa: E402

SVG_MAX_BYTES = 100_000
GREY = "#6e7781"  # 4.5 : 1 on white, 4.2 : 1 on GitHub's dark
STYLE = {
    "gpumem": {
        "color": "#d1495b",
        "marker": "o",
        "linewidth": 2.4,
        "zorder": 3,
    },
    "glibc": {"color": "#3a86c8", "marker": "s"},
    "mimalloc": {"color": "#2a9d6f", "marker": "^"},
    "jemalloc": {"color": "#b8860b", "marker": "D"},
    "benchmark itself": {"color": GREY, "linestyle": ":", "linewidth": 1.2},
}


def ns_text(value, _position=None):
    for limit, unit in ((1e3, "ns"), (1e6, "us"), (1e9, "ms")):
        if value < limit:
            return f"{value / limit * 1e3:g} {unit}"
    return f"{value / 1e9:g} s"


def bytes_text(value, _position=None):
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:g} {unit}"
        value /= 1024
    return f"{value:g} GiB"


def count_text(value, _position=None):
    return f"{value:,.0f}".replace(",", "\u2009")


def lines_of(rows, axis):
    """{name: [(x, ns)]} of the pool and each peer; what was not measured is
    left out."""
    lines = {}
    for row in rows:
        figures = {
            "gpumem": row["ns"],
            "benchmark itself": row.get("harness_ns"),
        }
        figures.update(
            (name, peer["ns"]) for name, peer in row["peers"].items()
        )
        for name, ns in figures.items():
            if ns:
                lines.setdefault(name, []).append((row[axis], ns))
    return lines


def bare(panel):
    """Grey ticks and grid, no frame, no background."""
    panel.tick_params(colors=GREY, labelsize=8)
    panel.grid(True, color=GREY, alpha=0.25, linewidth=0.6)
    panel.patch.set_alpha(0)
    for spine in panel.spines.values():
        spine.set_visible(False)


def settle():
    """Text stays text, and the same figures make the same file."""
    matplotlib.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "gpumem",
            "font.family": "sans-serif",
        }
    )


def draw_panel(panel, rows, axis, base, axis_text):
    for name, points in lines_of(rows, axis).items():
        style = {"linewidth": 1.4, "markersize": 4, **STYLE.get(name, {})}
        panel.plot(*zip(*points), label=name, **style)
    panel.set_title(rows[0]["series"], fontsize=10, color=GREY)
    panel.set_xscale("log", base=base)
    panel.set_yscale("log")
    values = sorted({row[axis] for row in rows})
    panel.set_xticks(values if len(values) < 8 else values[::2])
    panel.xaxis.set_major_formatter(ticker.FuncFormatter(axis_text))
    panel.yaxis.set_major_formatter(ticker.FuncFormatter(ns_text))
    panel.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 3)))
    panel.minorticks_off()
    bare(panel)


def save(figure, folder, name):
    path = os.path.join(folder, name + ".svg")
    figure.savefig(path, transparent=True, metadata={"Date": None})
    if os.path.getsize(path) > SVG_MAX_BYTES:
        os.remove(path)
        path = os.path.join(folder, name + ".png")
        figure.savefig(path, transparent=True, dpi=150)
    pyplot.close(figure)
    print(path)


def draw(results, bench, axis, look, caption):
    """One figure: a panel for each series of the benchmark."""
    rows = [row for row in results if row["bench"] == bench]
    names = list(dict.fromkeys(row["series"] for row in rows))
    if not names:
        print(f"no results of {bench}: not drawn", file=sys.stderr)
        return None
    width = 4.6 if len(names) > 1 else 7.2
    figure, panels = pyplot.subplots(
        1,
        len(names),
        sharey=True,
        squeeze=False,
        figsize=(width * len(names), 4.4),
    )
    for panel, name in zip(panels[0], names):
        draw_panel(
            panel, [r for r in rows if r["series"] == name], axis, *look[:2]
        )
        panel.set_xlabel(look[2], fontsize=9, color=GREY)
    panels[0][0].set_ylabel(
        "time of a pair, in each thread", fontsize=9, color=GREY
    )
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="upper center",
        ncol=len(labels),
        frameon=False,
        fontsize=9,
        labelcolor=GREY,
    )
    text = "\n".join(textwrap.wrap(caption, int(figure.get_figwidth() * 15)))
    figure.text(0.01, 0.01, text, fontsize=7.5, color=GREY, va="bottom")
    figure.tight_layout(
        rect=(0, 0.03 + 0.035 * (text.count("\n") + 1), 1, 0.93)
    )
    return figure


FIGURES = (
    # file, benchmark, key in the JSON, (base, tick text, label)
    ("size", "pair", "bytes", (2, bytes_text, "size of the block")),
    ("threads", "threads", "threads", (2, count_text, "threads")),
    ("live", "growth", "live", (10, count_text, "live blocks")),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("json", help="what gpumem-bench --json printed")
    parser.add_argument("--out", default=".", help="folder for the figures")
    parser.add_argument("--command", required=True, help="for the caption")
    parser.add_argument("--machine", required=True, help="for the caption")
    parser.add_argument("--date", required=True, help="for the caption")
    args = parser.parse_args()
    with open(args.json, encoding="utf-8") as file:
        data = json.load(file)
    caption = (
        f"{args.command}; {args.machine}; {args.date}. "
        f"gpumem {data['version']} on {data['device']}, "
        f"medians of {data['rounds']} rounds."
    )
    if data["missing_peers"]:
        caption += f" Not measured: {data['missing_peers']}."
    settle()
    for name, bench, axis, look in FIGURES:
        figure = draw(data["results"], bench, axis, look, caption)
        if figure:
            save(figure, args.out, name)


if __name__ == "__main__":
    main()
