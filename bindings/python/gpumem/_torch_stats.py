# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""A pool's statistics and blocks in the shape that PyTorch gives its own.

Not known here, and so 0 or empty: what PyTorch divides into small and large
pools (all is large), traces, and stacks.
"""

from typing import TYPE_CHECKING, Any, Dict, List, Optional

if TYPE_CHECKING:
    from ._core import Block, Gauge, Pool, Stats

Metric = Dict[str, int]

# PyTorch's family: our gauge.
GAUGES = {
    "allocation": "blocks",
    "allocated_bytes": "allocated",
    "active": "blocks",
    "active_bytes": "active",
    "requested_bytes": "requested",
    "reserved_bytes": "reserved",
    "segment": "segments",
}
NONE: Metric = {"current": 0, "peak": 0, "allocated": 0, "freed": 0}


def _metric(gauge: "Gauge", at_reset: int) -> Metric:
    """at_reset: what was current when totals were reset."""
    return {
        "current": gauge["current"],
        "peak": gauge["peak"],
        "allocated": gauge["total"],
        "freed": max(0, at_reset + gauge["total"] - gauge["current"]),
    }


def _family(metric: Metric) -> Dict[str, Metric]:
    return {
        "all": metric,
        "large_pool": dict(metric),
        "small_pool": dict(NONE),
    }


def current(stats: "Stats") -> Dict[str, int]:
    """To remember at a reset."""
    return {x: stats[x]["current"] for x in set(GAUGES.values())}  # type: ignore


def _calls(pool: "Optional[Pool]", *names: str) -> int:
    if pool is None:
        return 0
    calls = pool.calls()
    return sum(calls[name]["count"] for name in names)


def nested(pool: "Optional[Pool]", at_reset: Dict[str, int]) -> Dict[str, Any]:
    """What torch._C._cuda_memoryStats() returns; None: nothing was used."""
    stats: Dict[str, Any] = dict(pool.stats()) if pool else {}
    result: Dict[str, Any] = {}
    for family, name in GAUGES.items():
        metric = dict(NONE)
        if stats:
            metric = _metric(stats[name], at_reset.get(name, 0))
        result[family] = _family(metric)
    split = stats.get("unreleasable_bytes", 0)
    result["inactive_split"] = _family(dict(NONE))
    result["inactive_split_bytes"] = _family(
        dict(NONE, current=split, peak=split)
    )
    result["oversize_allocations"] = dict(NONE)
    result["oversize_segments"] = dict(NONE)
    result["num_alloc_retries"] = stats.get("retries", 0)
    result["num_ooms"] = stats.get("ooms", 0)
    result["num_oom_rejections"] = 0
    result["num_sync_all_streams"] = 0
    result["num_device_alloc"] = _calls(pool, "alloc", "page_create")
    result["num_device_free"] = _calls(pool, "free", "page_destroy")
    result["max_split_size"] = -1
    result["reserved_bytes_by_private_pools"] = {}
    return result


# ---- snapshots ---------------------------------------------------------------

STATES = {
    "live": "active_allocated",
    "pending": "active_awaiting_free",
    "free": "inactive",
}


def _block(block: "Block") -> Dict[str, Any]:
    return {
        "address": block["address"],
        "size": block["bytes"],
        "requested_size": block["requested_bytes"],
        "state": STATES[block["state"]],
        "frames": [],
    }


def _segment(device: int, run: "List[Block]") -> Dict[str, Any]:
    def size(*states: str) -> int:
        return sum(x["bytes"] for x in run if x["state"] in states)

    return {
        "device": device,
        "address": run[0]["address"],
        "total_size": size("live", "pending", "free"),
        "allocated_size": size("live"),
        "active_size": size("live", "pending"),
        "requested_size": sum(x["requested_bytes"] for x in run),
        "stream": run[0]["stream"],
        "segment_type": "large",
        "segment_pool_id": (0, 0),
        "is_expandable": True,
        "frames": [],
        "blocks": [_block(x) for x in run],
    }


def segments(device: int, pool: "Pool") -> List[Dict[str, Any]]:
    """Runs of memory without a hole, each as a segment."""
    result: List[Dict[str, Any]] = []
    run: "List[Block]" = []
    for block in pool.snapshot():
        end = run[-1]["address"] + run[-1]["bytes"] if run else None
        if run and (block["state"] == "hole" or block["address"] != end):
            result.append(_segment(device, run))
            run = []
        if block["state"] != "hole":
            run.append(block)
    if run:
        result.append(_segment(device, run))
    return result
