#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# PyTorch 2.15.0 reads one of three variables of allocator settings, the older
# ones first, although its header says that PYTORCH_ALLOC_CONF is the primary one
# and PYTORCH_CUDA_ALLOC_CONF has lower priority. A variable counts as soon as it
# is set: an empty PYTORCH_CUDA_ALLOC_CONF, or PYTORCH_HIP_ALLOC_CONF in a build for
# CUDA, hides PYTORCH_ALLOC_CONF whole, without a word. Nothing of gpumem is used
# here; no test and no build runs this.
#
# c10/core/AllocatorConfig.h of 2.15.0, at "Environment Variables"; what is read is
# the threshold of garbage collection, by c10's own class, out of libc10.so.
#
# Behaviour seen, torch 2.15.0 (PyPI, manylinux x86_64), 2026-11-29; the last column
# is what the header promises:
#
#     PYTORCH_ALLOC_CONF  _CUDA_  _HIP_   threshold   promised
#     0.5                 -       -       0.5         0.5
#     0.5                 0.7     -       0.7         0.5
#     0.5                 empty   -       0           0.5
#     0.5                 -       0.8     0.8         0.5
#     -                   0.7     0.8     0.7         0.7
#
# Exit 0: as written above; 1: it differs, and this file, gpumem/torch.py and
# docs/python.md should be looked at again; 2: it could not be had. Needs no GPU, but
# a C++20 compiler, pip and unzip, and downloads a wheel of 539 MB to a temporary
# folder that it removes; TORCH_WHEEL=FILE uses one that is here.
set -u

version=2.15.0
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM

wheel=${TORCH_WHEEL:-}
if [ -z "$wheel" ]; then
	python3 -m pip download -q --no-deps --only-binary=:all: \
		--python-version 3.11 --platform manylinux_2_28_x86_64 \
		-d "$scratch" "torch==$version" || exit 2
	wheel=$(echo "$scratch"/*.whl)
fi
unzip -q "$wheel" 'torch/include/c10/*' 'torch/include/torch/headeronly/*' \
	torch/lib/libc10.so -d "$scratch" || exit 2

cat >"$scratch/read.cpp" <<'END'
#include <c10/core/AllocatorConfig.h>
#include <cstdio>

int main()
{
	using c10::CachingAllocator::AcceleratorAllocatorConfig;

	std::printf("%g\n",
		    AcceleratorAllocatorConfig::garbage_collection_threshold());
}
END
${CXX:-c++} -std=c++20 -w -isystem "$scratch/torch/include" "$scratch/read.cpp" \
	"$scratch/torch/lib/libc10.so" -Wl,-rpath,"$scratch/torch/lib" \
	-o "$scratch/read" || exit 2

failed=0
# row EXPECTED NAME=THRESHOLD...: of the variables PYTORCH_NAME
row()
{
	expected=$1
	shift
	told=$*
	for setting in "$@"; do
		shift
		value=${setting#*=}
		set -- "$@" "PYTORCH_${setting%%=*}=${value:+garbage_collection_threshold:$value}"
	done
	got=$(env -u PYTORCH_ALLOC_CONF -u PYTORCH_CUDA_ALLOC_CONF \
		-u PYTORCH_HIP_ALLOC_CONF "$@" "$scratch/read")
	echo "$told: $got"
	[ "$got" = "$expected" ] || {
		echo "expected $expected"
		failed=1
	}
}

echo "torch $version"
row 0.5 ALLOC_CONF=0.5
row 0.7 ALLOC_CONF=0.5 CUDA_ALLOC_CONF=0.7
row 0 ALLOC_CONF=0.5 CUDA_ALLOC_CONF=
row 0.8 ALLOC_CONF=0.5 HIP_ALLOC_CONF=0.8
row 0.7 HIP_ALLOC_CONF=0.8 CUDA_ALLOC_CONF=0.7
exit $failed
