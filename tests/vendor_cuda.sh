#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem's own declarations of CUDA, backends/vendor/cuda, say what NVIDIA's
# headers say: those with which this was configured, those where CUDA is
# installed, and those in the folders of GPUMEM_CUDA_HEADERS, separated by colons.

. "${top_srcdir:-.}/tests/tap.sh"

own="cuda.h cuda_constants.h cuda_functions.h cudaTypedefs.h"
folder=$(cd "$top_srcdir/backends/vendor/cuda" && pwd -P)
checks=$(cd "$top_srcdir/tests" && pwd)/vendor_checks.awk
configured=$(sed -n 's/^CUDA_CPPFLAGS = .*-isystem //p' "$top_builddir/Makefile")

is "$(cd "$folder" && ls | LC_ALL=C sort | tr '\n' ' ')" \
	"$(printf '%s\n' $own | LC_ALL=C sort | tr '\n' ' ')" \
	"all files are compared"

# checks FOLDER: writes what compiles if a header says what those in FOLDER do
checks()
{
	printf '#include <%s.h>\n' cuda cudaTypedefs
	(cd "$1" && awk -f "$checks" $own)
}

# version HEADERS
version()
{
	printf '#include <cuda.h>\nCUDA_VERSION\n' | $CC -isystem "$1" -E -P - |
		tail -n 1
}

# agree HEADERS: with $scratch/checks.c
agree()
{
	$CC -std=gnu11 -w -fsyntax-only -isystem "$1" "$scratch/checks.c"
}

checks "$folder" >"$scratch/checks.c"
all=$(grep -c '^SAME(' "$scratch/checks.c")
check "much is compared" [ "$all" -gt 450 ]

seen=
folders=$configured:/usr/local/cuda/include:/usr/include:${GPUMEM_CUDA_HEADERS-}
saved_IFS=$IFS
IFS=:
for headers in $folders; do
	IFS=$saved_IFS
	[ -f "$headers/cuda.h" ] && [ -f "$headers/cudaTypedefs.h" ] || continue
	headers=$(cd "$headers" && pwd -P)
	case :$folder$seen: in
	*:"$headers":*) continue ;;
	esac
	version=$(version "$headers")
	if [ "$version" -lt 11040 ]; then
		skip "it is CUDA before 11.4" "$headers"
		continue
	fi
	seen=$seen:$headers
	count=$($CC -isystem "$headers" -E -P "$scratch/checks.c" |
		grep -c '^_Static_assert')
	check "$headers ($version): $count of $all compared, the rest is newer" \
		agree "$headers"
	last=$headers
done
if [ -z "$seen" ]; then
	skip "there is no cuda.h of NVIDIA's; GPUMEM_CUDA_HEADERS can name one" \
		"NVIDIA's headers"
	done_testing
fi

# This test can fail.
# wrong FILE EDIT: our own with that mistake do not agree with NVIDIA's
mkdir "$scratch/own"
wrong()
{
	for name in $own; do
		cat "$folder/$name" >"$scratch/own/$name"
	done
	sed "$2" "$folder/$1" >"$scratch/own/$1"
	checks "$scratch/own" >"$scratch/checks.c"
	if cmp -s "$folder/$1" "$scratch/own/$1"; then
		fail "found: $2" "there is nothing like that"
	elif agree "$last" 2>/dev/null; then
		fail "found: $2" "all is as in $last"
	else
		pass "found: $2"
	fi
}

wrong cuda_constants.h 's/_OUT_OF_MEMORY = 2,/_OUT_OF_MEMORY = 3,/'
wrong cuda.h 's/_PORTABLE 0x01/_PORTABLE 0x04/'
wrong cuda.h 's/CUstream)0x2/CUstream)0x3/'
wrong cuda.h 's/unsigned char compressionType;/unsigned short compressionType;/'
wrong cuda.h 's/char bytes\[16\];/char bytes[24];/'
wrong cuda.h 's/ long CUdeviceptr;/ CUdeviceptr;/'
wrong cuda_functions.h 's/cuMemFree_v2(CUdeviceptr)/cuMemFree_v2(CUdevice)/'
wrong cuda_functions.h 's/ cuMemAlloc cuMemAlloc_v2/ cuMemAlloc cuMemAlloc_v3/'
wrong cudaTypedefs.h 's/(cuMemAlloc_v2)/(cuMemFree_v2)/'
done_testing
