#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The wheels of the CUDA runtime on PyPI have cuda_runtime.h, and it does not
# compile with them alone: it includes crt/host_config.h, which lies in another wheel
# that none of them requires, and which one that is changed with CUDA 13. Nothing of
# gpumem is used here; no test and no build runs this.
#
# Who installs PyTorch by pip has the first wheel and not the second, so no extension
# that includes cuda_runtime.h (or PyTorch's c10/cuda headers) builds there without a
# toolkit. cuda.h of the same wheels compiles alone.
#
# Behaviour seen, 2026-11-29, x86_64, g++ -fsyntax-only:
#
#     wheel                                cuda.h   cuda_runtime.h   with, also
#     nvidia-cuda-runtime-cu12 12.4.127    ok       no crt/          not tried
#     nvidia-cuda-runtime-cu12 12.9.79     ok       no crt/          nvidia-cuda-nvcc-cu12 12.9.86
#     nvidia-cuda-runtime 13.0.96          ok       no crt/          nvidia-cuda-crt 13.0.88
#     nvidia-cuda-runtime 13.5.37          ok       no crt/          nvidia-cuda-crt 13.5.37
#
# (12.9's nvidia-cuda-nvcc-cu12, 40 MB, is not downloaded here.) None has a
# "Requires-Dist" at all.
#
# Exit 0: as written above; 1: it differs, and this file, docs/python.md and what
# looks for headers in _torch_compile.py should be looked at again; 2: it could not
# be had. Needs no GPU, but g++, pip and unzip; it downloads 9 MB to a temporary
# folder that it removes.
set -u

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM

# Where g++ looks, but for /usr/local/include, in which a toolkit may have left links.
system=$(echo | g++ -x c++ -E -v - 2>&1 |
	sed -n '/^#include <...>/,/^End of search/s/^ \(\/[^ ]*\)$/-isystem \1/p' |
	grep -v ' /usr/local/include$')
unset CPATH CPLUS_INCLUDE_PATH C_INCLUDE_PATH

# unpack WHEEL: into a folder of that name
unpack()
{
	python3 -m pip download -q --no-deps --only-binary=:all: \
		--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 \
		-d "$scratch/$1" "$1" || exit 2
	unzip -q "$scratch/$1"/*.whl -d "$scratch/$1" || exit 2
}

# folder WHEEL: where its headers are
folder()
{
	find "$scratch/$1" -type d -name include | head -n 1
}

# compiles HEADER FOLDER...: ok, or what is missing
compiles()
{
	header=$1
	shift
	for at in "$@"; do
		shift
		set -- "$@" -isystem "$at"
	done
	# One word for each folder.
	# shellcheck disable=SC2086
	said=$(echo "#include <$header>" | g++ -nostdinc -nostdinc++ "$@" \
		$system -fsyntax-only -x c++ - 2>&1) && echo ok && return
	echo "$said" | sed -n 's/.*fatal error: \([^:]*\):.*/no \1/p' | head -n 1
}

failed=0
expect()
{
	echo "$1: $2"
	[ "$2" = "$3" ] || {
		echo "expected $3"
		failed=1
	}
}

for wheel in nvidia-cuda-runtime-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.9.79 \
	nvidia-cuda-runtime==13.0.96 nvidia-cuda-runtime==13.5.37; do
	unpack $wheel
	at=$(folder $wheel)
	expect "$wheel: cuda.h" "$(compiles cuda.h "$at")" ok
	expect "$wheel: cuda_runtime.h" "$(compiles cuda_runtime.h "$at")" \
		"no crt/host_config.h"
	expect "$wheel: what it requires" \
		"$(grep -c '^Requires-Dist' "$scratch/$wheel"/*/METADATA)" 0
done
for pair in 13.0.96:13.0.88 13.5.37:13.5.37; do
	runtime=nvidia-cuda-runtime==${pair%:*}
	crt=nvidia-cuda-crt==${pair#*:}
	unpack "$crt"
	expect "$runtime and $crt: cuda_runtime.h" "$(compiles cuda_runtime.h \
		"$(folder "$runtime")" "$(folder "$crt")")" ok
done
exit $failed
