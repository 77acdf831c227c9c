#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# On a machine with an NVIDIA GPU: programs as they are, under gpumem-run, and under
# gpumem-run --no-pool, one after the other. Each has to print the same and exit
# alike.
#
#	sh tests/device/run_programs.sh BUILD OUT
#
# BUILD is a folder in which `make` has been run, OUT a folder for the results:
# OUT/summary.txt has a row for each run, with its time, the median of its steps if
# it has any, and what gpumem-run counted; the rest is what the programs printed.
# What is not installed is left out, and said to be. PROGRAMS="torch hip-6" in the
# environment takes these only. Begins no further program after three and a half
# minutes. The device should have no other work: a program of AMD's runtime prints
# what is free. The exit status is 0 if nothing differed.

build=$(cd "${1:?BUILD OUT}" && pwd) || exit 2
mkdir -p "${2:?BUILD OUT}" && out=$(cd "$2" && pwd) || exit 2
source=$(cd "$(dirname "$0")/../.." && pwd)
programs=$source/tests/device/run_programs.py
cuda=${CUDA_HOME:-/usr/local/cuda}
begin=$(date +%s)
failed=0
limit=60 # seconds of a run
export LC_ALL=C TF_CPP_MIN_LOG_LEVEL=3 PYTHONWARNINGS=ignore \
	XLA_FLAGS="${XLA_FLAGS:---xla_gpu_deterministic_ops=true}"
summary=$out/summary.txt
{
	date -u +%Y-%m-%d
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>&1
	printf '%-28s %6s %8s %12s %s\n' run status seconds 'step ms' counted
} | tee "$summary"

# counted FILE: peak of the device, what was kept, and calls, of a report
counted()
{
	python3 -c 'import json, sys
for p in json.load(open(sys.argv[1]))["processes"]:
    notes = {n: p[n] for n in ("unknown_frees", "unhooked", "untracked") if p[n]}
    if p["api"] != "cuda":
        print(p["api"], end=" ")
    for x in p["devices"]:
        kinds = {k: (v["peak_bytes"], v["allocations"], v["current_bytes"])
                 for k, v in x["kinds"].items() if v["allocations"]}
        print("peak", x["peak_bytes"], "end", x["current_bytes"], end=" ")
        if "pool" in x:  # the one of driver calls
            pool = x["pool"]
            print("reserved", x["reserved_peak_bytes"],
                  "kept", pool["current_bytes"], "hits", pool["hits"],
                  "misses", pool["misses"], "returned", pool["returned"],
                  end=" ")
        print(kinds, notes, p["told"] or "", end="; ")
' "$1" 2>/dev/null
}

# one RUN COMMAND...: its row. What it compiles, it compiles anew.
one()
{
	name=$1
	shift
	: >"$out/$name.times"
	start=$(date +%s.%N)
	TIMES=$out/$name.times TORCHINDUCTOR_CACHE_DIR=$out/cache/inductor \
		TRITON_CACHE_DIR=$out/cache/triton \
		timeout -k 5 $limit "$@" >"$out/$name.out" \
		2>"$out/$name.err" </dev/null
	status=$?
	seconds=$(echo "$start $(date +%s.%N)" | awk '{ printf "%.2f", $2 - $1 }')
	report=
	[ ! -f "$out/$name.json" ] || report=$(counted "$out/$name.json")
	kernels=$(find "$out/cache" -name '*.cubin' 2>/dev/null | grep -c .)
	[ "$kernels" = 0 ] || report="$report compiled $kernels kernels"
	rm -rf "$out/cache"
	printf '%-28s %6s %8s %12s %s\n' "$name" "$status" "$seconds" \
		"$(cat "$out/$name.times")" "$report" | tee -a "$summary"
	echo "status $status" >>"$out/$name.out"
}

# wanted NAME
wanted()
{
	case " ${PROGRAMS:-$1} " in
	*" $1 "*) ;;
	*) return 1 ;;
	esac
}

# same RUN OTHER: the output and exit status of both
same()
{
	cmp -s "$out/$1.out" "$out/$2.out" && return
	echo "$2: DIFFERS" | tee -a "$summary"
	failed=1
}

# both NAME COMMAND...: as it is, and under gpumem-run with and without its pool
both()
{
	what=$1
	shift
	wanted "$what" || return 0
	if [ $(($(date +%s) - begin)) -gt 210 ]; then
		echo "$what: left out: no time is left" | tee -a "$summary"
		return
	fi
	one "$what" "$@"
	[ $status -eq 0 ] || echo "$what: fails without gpumem-run" |
		tee -a "$summary"
	one "$what.run" "$build/tools/gpumem-run" --json \
		--report="$out/$what.run.json" "$@"
	one "$what.no-pool" "$build/tools/gpumem-run" --no-pool --json \
		--report="$out/$what.no-pool.json" "$@"
	same "$what" "$what.run"
	same "$what" "$what.no-pool"
}

# python NAME MODULE: `NAME` of run_programs.py, if the module is there
python()
{
	wanted "$1" || return 0
	if python3 -c "import importlib.util as u, sys
sys.exit(u.find_spec('$2') is None)" 2>/dev/null; then
		both "$1" python3 "$programs" "$1"
	else
		echo "$1: left out: there is no $2" | tee -a "$summary"
	fi
}

# ---- the driver itself, in each way, and the runtime that nvcc links ----------

if ${CC:-cc} -w -o "$out/driver" "$source/tests/run/driver.c" \
	"$source/tests/run/driver_memory.c" "$source/tests/run/driver_ways.c" -ldl
then
	for way in handle default get get1; do
		both "driver-$way" "$out/driver" $way all
	done
fi
if ! wanted nvcc-static; then
	:
elif [ -x "$cuda/bin/nvcc" ]; then
	"$cuda/bin/nvcc" -o "$out/static" "$source/tests/device/run_static.cu" &&
		both nvcc-static "$out/static"
else
	echo "nvcc-static: left out: there is no nvcc" | tee -a "$summary"
fi

# ---- AMD's runtime, which tests/fake/hip/ speaks over NVIDIA's driver --------------

# translated RELEASE: with a limit, it prints a device of that size.
translated()
{
	wanted "hip-$1" || return 0
	runtime=$build/tests/fake/hip/$1/.libs
	if [ ! -f "$runtime/libamdhip64.so.$1" ]; then
		echo "hip-$1: left out: \`make check TESTS=' builds its runtime" \
			"where there are headers of HIP" | tee -a "$summary"
		return
	fi
	runtime=$runtime${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	set -- "hip-$1" env "LD_LIBRARY_PATH=$runtime" "$out/hip" handle plain "$1"
	both "$@"
	[ -f "$out/$1.out" ] || return
	what=$1
	shift
	one "$what.limit" "$build/tools/gpumem-run" --limit=64MiB --json \
		--report="$out/$what.limit.json" "$@"
	printf '%s\n' "hipMalloc: 2, last 2" "59 of 64" "done" "status 0" |
		cmp -s - "$out/$what.limit.out" && return
	echo "$what.limit: is no device of 64 MiB" | tee -a "$summary"
	failed=1
}

if ${CC:-cc} -w -o "$out/hip" "$source/tests/run/hip.c" \
	"$source/tests/run/hip_memory.c" "$source/tests/run/hip_ways.c" -ldl
then
	for release in 5 6 7; do
		translated $release
	done
fi

# ---- frameworks -----------------------------------------------------------------

python jax jax
if wanted jax && [ -f "$out/jax.out" ]; then
	one jax.cuda_async env XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async \
		python3 "$programs" jax
	one jax.platform env XLA_PYTHON_CLIENT_ALLOCATOR=platform \
		python3 "$programs" jax
	one jax.adopt "$build/tools/gpumem-run" --adopt --json \
		--report="$out/jax.adopt.json" python3 "$programs" jax
	one jax.adopt.no-pool "$build/tools/gpumem-run" --adopt --no-pool --json \
		--report="$out/jax.adopt.no-pool.json" python3 "$programs" jax
fi
python torch torch
if wanted torch && [ -f "$out/torch.out" ]; then
	one torch.uncached env PYTORCH_NO_CUDA_MEMORY_CACHING=1 \
		python3 "$programs" torch
	one torch.adopt "$build/tools/gpumem-run" --adopt --json \
		--report="$out/torch.adopt.json" python3 "$programs" torch
fi
python cupy cupy
python numba numba
python onnxruntime onnxruntime
python transformers transformers
if wanted transformers && [ -f "$out/transformers.out" ]; then
	one transformers.adopt "$build/tools/gpumem-run" --adopt --json \
		--report="$out/transformers.adopt.json" \
		python3 "$programs" transformers
	same transformers transformers.adopt
fi

# ---- compilers, which are processes of their own, preloaded too ------------------

limit=120
python compile triton
if wanted compile && [ -f "$out/compile.out" ]; then
	one compile.adopt "$build/tools/gpumem-run" --adopt --json \
		--report="$out/compile.adopt.json" python3 "$programs" compile
	same compile compile.adopt
fi
python compile_graphs triton
if wanted compile_graphs && [ -f "$out/compile_graphs.out" ]; then
	one compile_graphs.adopt "$build/tools/gpumem-run" --adopt --json \
		--report="$out/compile_graphs.adopt.json" \
		python3 "$programs" compile_graphs
	same compile_graphs compile_graphs.adopt
fi
[ $failed -eq 0 ]
