#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# vLLM's backends of sleep mode: one that others bring is asked to suspend and to
# resume memory, and gets no say in where that memory comes from.
# Nothing of gpumem is used here; no test and no build runs this.
#
# --sleep-mode-backend takes the name of a backend that an entry point has registered,
# "without changes to vLLM core". The worker takes the pools of weights and caches from
# get_mem_allocator_instance() all the same, which knows the platform alone and gives
# vLLM's own CuMemAllocator. Only the sharing of pools with CUDA graphs asks for the
# backend's name, which has to be "cumem". So a backend can put to sleep what it can
# take from the whole process (by a checkpoint), or what CuMemAllocator has by that
# one's functions; one with an allocator of its own needs a worker of its own, too.
#
# Behaviour seen, 2026-11-29, vllm 0.33.0 (manylinux_2_28_x86_64), CPython 3.11: the
# function of the worker, called with the name of a backend that is registered:
#
#     backend    made by the factory    pools of
#     cumem      CuMemBackend           CuMemAllocator
#     theirs     Theirs                 CuMemAllocator
#
# Exit 0: as written above; 1: it differs, and this file, decision 100 and
# gpumem/vllm_worker.py should be looked at again; 2: it could not be had. Needs no
# GPU, but pip and CPython 3.8 or later; it downloads 336 MB to a temporary folder that
# it removes. GPUMEM_PEER_WHEELS=DIR: a folder that has the wheel.
set -u

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
wheel=$(find "${GPUMEM_PEER_WHEELS:-$scratch}" -maxdepth 1 \
	-name 'vllm-0.33.0-*.whl' -type f 2>/dev/null | head -n 1)
if [ -z "$wheel" ]; then
	python3 -m pip download -q --no-deps --only-binary=:all: \
		--platform manylinux_2_28_x86_64 -d "$scratch" \
		vllm==0.33.0 || exit 2
	wheel=$(find "$scratch" -name '*.whl')
fi
wheel=$(realpath "$wheel")
cd "$scratch" || exit 2

# Of what the modules of sleep mode import only as much as they need to be loaded.
cat >ask.py <<'END'
import ast, contextlib, logging, sys, types, zipfile

wheel = sys.argv[1]


def module(name, **has):
    made = sys.modules[name] = types.ModuleType(name)
    made.__dict__.update(has)
    return made


class Platform:
    device_type = "cuda"
    is_cuda_alike = staticmethod(lambda: True)
    is_xpu = is_cpu = is_rocm = staticmethod(lambda: False)


class CuMemAllocator:
    """Its file needs vLLM's extension: what is asked is whether it is named."""

    @staticmethod
    def get_instance():
        return CuMemAllocator()

    def get_current_usage(self):
        return 0

    def use_memory_pool(self, tag):
        return contextlib.nullcontext(type(self).__name__)


module("torch", Tensor=object)
module("vllm", __path__=[wheel + "/vllm"])
module("vllm.envs")
module("vllm.logger", init_logger=logging.getLogger)
module("vllm.platforms", current_platform=Platform)
module("vllm.device_allocator.cumem", CuMemAllocator=CuMemAllocator)
from vllm.device_allocator import get_mem_allocator_instance
from vllm.device_allocator.sleep_mode_backend import (
    SleepModeBackend,
    SleepModeBackendFactory,
)


class Theirs(SleepModeBackend):
    def suspend(self, level=1):
        pass

    def resume(self, tags=None):
        pass


module("theirs", Theirs=Theirs)
SleepModeBackendFactory.register_backend("theirs", "theirs", "Theirs")

# The worker's file needs all of vLLM; this function of it does not.
with zipfile.ZipFile(wheel) as archive:
    tree = ast.parse(archive.read("vllm/v1/worker/gpu_worker.py"))
wanted = "_maybe_get_memory_pool_context"
(function,) = [
    x for x in ast.walk(tree)
    if isinstance(x, ast.FunctionDef) and x.name == wanted
]
scope = {
    "AbstractContextManager": contextlib.AbstractContextManager,
    "nullcontext": contextlib.nullcontext,
    "current_platform": Platform,
    "get_mem_allocator_instance": get_mem_allocator_instance,
}
exec(compile(ast.Module([function], []), "gpu_worker.py", "exec"), scope)

for name in "cumem", "theirs":
    config = types.SimpleNamespace(
        enable_cumem_allocator=True,
        enable_sleep_mode=True,
        sleep_mode_backend=name,
    )
    worker = types.SimpleNamespace(
        vllm_config=types.SimpleNamespace(model_config=config)
    )
    backend = SleepModeBackendFactory.create_backend(config)
    with scope[wanted](worker, "weights") as pools:
        print(name, type(backend).__name__, pools)
END

python3 ask.py "$wheel" >seen 2>said || { cat said >&2; exit 2; }
cat seen
printf '%s\n' "cumem CuMemBackend CuMemAllocator" "theirs Theirs CuMemAllocator" |
	cmp -s - seen
