# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
"""The questions of torch_answers.py: one for each public function of PyTorch's two
modules of memory, by its name; torch_questions_private.py has those of others.

Each is given the module and answers what JSON can say. They come in the order of
their names, after a reset of peaks and totals, with nothing cached.
"""

import gc
import re

MIB = 1 << 20
UNITS = {"KiB", "MiB", "GiB"}
ASKED = {}  # name in its module: the question


def question(function):
    ASKED[function.__name__] = function
    return function


def tensor(size):
    import torch

    return torch.empty(size, dtype=torch.uint8, device="cuda")


def flat(value, prefix=""):
    """A dictionary as pairs of a dotted key and a value. Pools have numbers that
    depend on how many there were."""
    if not isinstance(value, dict):
        return [(prefix, value)]
    found = []
    for key, each in value.items():
        word = "_".join(map(str, key)) if isinstance(key, tuple) else str(key)
        word = re.sub(r"^\d+_\d+$", "POOL", word)
        found += flat(each, f"{prefix}.{word}" if prefix else word)
    return found


def counted(stats):
    """How long something took is no answer."""
    pairs = [(re.sub(r"\b\d+_\d+\b", "POOL", k), v) for k, v in flat(stats)]
    return {k: v for k, v in pairs if "time" not in k}


def changed(ask, do):
    """What `do` makes of it; what `do` made lives as long."""
    before = ask()
    kept = do()
    after = ask()
    del kept
    return after - before


def raised(do):
    """The type, and the first words."""
    try:
        do()
    except Exception as error:
        return [type(error).__name__, str(error).split(". ")[0][:60]]
    return ["nothing"]


# ---- questions of both modules -----------------------------------------------------


@question
def memory_stats(module):
    kept = tensor(1000), tensor(3 * MIB)
    tensor(30 * MIB)
    answer = counted(module.memory_stats())
    del kept
    return answer


@question
def memory_allocated(module):
    return [
        changed(module.memory_allocated, lambda: tensor(size))
        for size in (1, 512, 513, MIB, MIB + 1, 30 * MIB)
    ]


@question
def max_memory_allocated(module):
    module.reset_peak_memory_stats()
    before = module.memory_allocated()
    tensor(20 * MIB)
    tensor(10 * MIB)
    return module.max_memory_allocated() - before


@question
def memory_reserved(module):
    module.empty_cache()
    return changed(module.memory_reserved, lambda: tensor(30 * MIB))


@question
def max_memory_reserved(module):
    module.empty_cache()
    module.reset_peak_memory_stats()
    before = module.memory_reserved()
    tensor(30 * MIB)
    return module.max_memory_reserved() - before


@question
def reset_peak_memory_stats(module):
    tensor(30 * MIB)
    module.reset_peak_memory_stats()
    stats = module.memory_stats()
    keys = "allocation", "allocated_bytes", "active_bytes", "requested_bytes"
    return {
        key: stats[f"{key}.all.peak"] - stats[f"{key}.all.current"]
        for key in (*keys, "reserved_bytes")
    }


@question
def reset_accumulated_memory_stats(module):
    tensor(30 * MIB)
    module.reset_accumulated_memory_stats()
    stats = counted(module.memory_stats())
    return {k: v for k, v in stats.items() if re.search(r"allocated$|freed$", k)}


@question
def empty_cache(module):
    """What was unused is nobody's then."""
    tensor(30 * MIB)
    module.empty_cache()
    return module.memory_reserved() - module.memory_allocated()


@question
def get_memory_info(module):
    free, total = module.get_memory_info()
    return [0 < free < total, total]


@question
def empty_host_cache(module):
    import torch

    torch.empty(MIB, dtype=torch.uint8, pin_memory=True)
    module.empty_host_cache()
    return torch.cuda.host_memory_stats()["allocated_bytes.current"]


# ---- torch.cuda's ------------------------------------------------------------------


@question
def caching_allocator_alloc(module):
    pointer = module.caching_allocator_alloc(3 * MIB)
    held = [pointer % 512, module.memory_allocated()]
    module.caching_allocator_delete(pointer)
    return [*held, module.memory_allocated()]


ASKED["caching_allocator_delete"] = caching_allocator_alloc


@question
def caching_allocator_enable(module):
    said = raised(lambda: module.caching_allocator_enable(False))
    return [said, raised(lambda: module.caching_allocator_enable(True))]


@question
def caching_allocator_disabled(module):
    def inside():
        with module.caching_allocator_disabled():
            pass

    return raised(inside)


@question
def set_per_process_memory_fraction(module):
    module.set_per_process_memory_fraction(0.001)
    try:
        said = raised(lambda: tensor(1 << 34))
        fraction = module.get_per_process_memory_fraction()
    finally:
        module.set_per_process_memory_fraction(1.0)
    return [said[0], said[-1].startswith("CUDA out of memory"), fraction]


@question
def get_per_process_memory_fraction(module):
    return module.get_per_process_memory_fraction()


@question
def memory_stats_as_nested_dict(module):
    return counted(module.memory_stats_as_nested_dict())


@question
def reset_max_memory_allocated(module):
    module.reset_max_memory_allocated()
    return module.max_memory_allocated() - module.memory_allocated()


@question
def reset_max_memory_cached(module):
    module.reset_max_memory_cached()
    return module.max_memory_reserved() - module.memory_reserved()


@question
def memory_cached(module):
    module.empty_cache()
    return changed(module.memory_cached, lambda: tensor(30 * MIB))


@question
def max_memory_cached(module):
    return module.max_memory_cached() == module.max_memory_reserved()


@question
def host_memory_stats(module):
    import torch

    kept = torch.empty(MIB, dtype=torch.uint8, pin_memory=True)
    answer = counted(module.host_memory_stats())
    del kept
    return answer


@question
def host_memory_stats_as_nested_dict(module):
    return counted(module.host_memory_stats_as_nested_dict())


@question
def reset_accumulated_host_memory_stats(module):
    module.reset_accumulated_host_memory_stats()
    return counted(module.host_memory_stats())


@question
def reset_peak_host_memory_stats(module):
    module.reset_peak_host_memory_stats()
    return counted(module.host_memory_stats())


def live(segments):
    """The sizes that were asked for, the keys, and whether there are addresses."""
    found = [
        block
        for segment in segments
        for block in segment["blocks"]
        if block["state"] == "active_allocated"
    ]
    return {
        "sizes": sorted(block["requested_size"] for block in found),
        "bytes": sum(block["size"] for block in found),
        "keys of a segment": sorted({k for each in segments for k in each}),
        "keys of a block": sorted({k for each in found for k in each}),
    }


@question
def memory_snapshot(module):
    kept = tensor(1000), tensor(3 * MIB), tensor(20 * MIB)
    answer = live(module.memory_snapshot())
    del kept
    return answer


@question
def memory_summary(module):
    texts = module.memory_summary(), module.memory_summary(abbreviated=True)
    return [sorted(set(re.findall(r"[A-Za-z]{3,}", x)) - UNITS) for x in texts]


@question
def list_gpu_processes(module):
    return re.sub(r"[\d.]+", "N", module.list_gpu_processes()).splitlines()[:1]


@question
def mem_get_info(module):
    free, total = module.mem_get_info()
    return [0 < free < total, total]


@question
def get_allocator_backend(module):
    return module.get_allocator_backend()


@question
def change_current_allocator(module):
    made = module.CUDAPluggableAllocator(libc(), "malloc", "free")
    return raised(lambda: module.change_current_allocator(made))[0]


def libc():
    """A library that has functions of the names."""
    with open("/proc/self/maps") as maps:
        (path, *_) = [x.split()[-1] for x in maps if "/libc.so" in x]
    return path


@question
def CUDAPluggableAllocator(module):
    made = module.CUDAPluggableAllocator(libc(), "malloc", "free")
    return type(made.allocator()).__name__


@question
def MemPool(module):
    """With two segments of its own."""
    pool = module.MemPool()
    with module.use_mem_pool(pool):
        kept = tensor(1000), tensor(3 * MIB), tensor(30 * MIB)
    segments = pool.snapshot()
    answer = live(segments)
    answer["segments"] = sorted(x["total_size"] for x in segments)
    answer["users"] = pool.use_count()
    answer["is in the id"] = {tuple(x["segment_pool_id"]) == pool.id for x in segments}
    answer["is in the id"] = list(answer["is in the id"])
    del kept, segments
    return answer


@question
def use_mem_pool(module):
    """What a pool has of its own goes with it."""
    module.empty_cache()
    before = module.memory_reserved()
    pool = module.MemPool()
    with module.use_mem_pool(pool):
        tensor(30 * MIB)
    during = module.memory_reserved()
    del pool
    gc.collect()
    module.empty_cache()
    return [during - before, module.memory_reserved() - before]
