#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The subclass of PyTorch's allocator compiles with the headers of each PyTorch
# in GPUMEM_TORCH_HEADERS, folders separated by colons that have c10/ and torch/
# (torch_fetch.sh gets them); its base classes have no virtual function, and its
# settings no key, that nobody has looked at; and one that would not be overridden
# is refused. Nothing is linked and nothing runs: that is test_torch_subclass.py.

. "${top_srcdir:-.}/tests/tap.sh"

[ "${CXX:-none}" != none ] || skip_all "no C++ compiler"
[ -n "${GPUMEM_TORCH_HEADERS-}" ] ||
	skip_all "GPUMEM_TORCH_HEADERS names no folders with PyTorch's headers"
cuda=
for place in "${CUDA_HOME-}" "${CUDA_PATH-}" /usr/local/cuda; do
	[ -n "$cuda" ] || [ ! -f "$place/include/crt/host_config.h" ] ||
		cuda=$place/include
done
[ -n "$cuda" ] || skip_all "no crt/host_config.h of CUDA's runtime"
python=
for candidate in python3 /usr/bin/python3; do
	include=$("$candidate" -c 'import sysconfig
print(sysconfig.get_path("include"))' 2>/dev/null </dev/null) || continue
	[ -n "$python" ] || [ ! -f "$include/Python.h" ] || python=$candidate
done
[ -n "$python" ] || skip_all "no python3 with its headers"
include=$("$python" -c 'import sysconfig
print(sysconfig.get_path("include"))')

sources=$top_srcdir/bindings/python/src/subclass
# Wheels of systems without CUDA lack this one, which is generated.
generated=$scratch/generated/c10/cuda/impl
mkdir -p "$generated"
echo '#define C10_CUDA_BUILD_SHARED_LIBS' >"$generated/cuda_cmake_macros.h"

# work HEADERS: in $work, the sources
work()
{
	work=$scratch/work
	rm -rf "$work"
	mkdir "$work"
	cp "$sources"/*.?pp "$work"
	chmod u+w "$work"/*
	headers=$1
}

# compiler ARGUMENT...: as gpumem.torch calls it, or that of $cxx
compiler()
{
	$cxx -std=c++20 -fPIC -fvisibility=hidden -Wall -Wextra \
		-isystem "$headers" \
		-isystem "$headers/torch/csrc/api/include" \
		-isystem "$scratch/generated" -isystem "$cuda" \
		-isystem "$include" -I"$top_srcdir/include" -I"$work" "$@"
}

# compiles: all files
compiles()
{
	compiler -x c++-header -c "$work/allocator.hpp" \
		-o "$work/allocator.hpp.gch" || return 1
	for file in "$work"/*.cpp; do
		compiler -Werror -include "$work/allocator.hpp" -fsyntax-only \
			"$file" || return 1
	done
}

# overrides: whether what has no `override` does
overrides()
{
	compiler -fsyntax-only "$work/overrides.cpp"
}

cxx=$CXX
changed=
saved_IFS=$IFS
IFS=:
for folder in $GPUMEM_TORCH_HEADERS; do
	IFS=$saved_IFS
	version=$(cat "$folder/torch/headeronly/version.h" \
		"$folder/torch/csrc/api/include/torch/version.h" 2>/dev/null |
		awk '$2 ~ /^TORCH_VERSION_M(AJ|IN)OR$/ { print $3 }' |
		head -n 2 | paste -sd .)
	name="PyTorch ${version:-in $folder}"
	work "$folder"
	check "$name: the subclass compiles" compiles
	if [ "$CXX" != clang++ ] && clang++ --version >/dev/null 2>&1; then
		cxx=clang++
		check "$name: and with clang" compiles
		cxx=$CXX
	fi
	is "$("$python" "$top_srcdir/bindings/python/gpumem/_torch_headers.py" \
		"$folder")" "" "$name: its virtual functions and settings are known"
	grep -q 'virtual void setNoSplit' \
		"$folder/c10/cuda/CUDACachingAllocator.h" 2>/dev/null &&
		changed=$folder
done
IFS=$saved_IFS

if [ -n "$changed" ]; then
	work "$changed"
	sed 's/\(void setNoSplit(DeviceIndex number,\) MempoolId_t id/\1 const MempoolId_t \&id/' \
		"$sources/allocator.hpp" >"$work/allocator.hpp"
	check "one of its functions is another" \
		grep -q 'setNoSplit.*const' "$work/allocator.hpp"
	exits 1 "which is refused" overrides
	check "by its name" grep -q 'setNoSplit' "$scratch/err"
	folder=$scratch/later/c10/cuda
	mkdir -p "$folder"
	sed 's/virtual void setNoSplit/virtual void later(int) {}\n  &/' \
		"$changed/c10/cuda/CUDACachingAllocator.h" \
		>"$folder/CUDACachingAllocator.h"
	sed 's/static .*getKeys() {/static int later() { return 1; }\n&/
s/keys{/&"later_" \/* *\/\n"key", /' \
		"$changed/c10/cuda/CUDAAllocatorConfig.h" \
		>"$folder/CUDAAllocatorConfig.h"
	is "$("$python" "$top_srcdir/bindings/python/gpumem/_torch_headers.py" \
		"$scratch/later" | grep later)" "CUDAAllocator::later 1
CUDAAllocatorConfig::later
key later_key" "a later one's virtual function, setting and key are found"
else
	skip "none of these has setNoSplit()" "what is not overridden is refused"
fi
done_testing
