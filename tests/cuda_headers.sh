#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Our own declarations of CUDA say what NVIDIA's headers say, from 11.4 on: those
# with which this was configured, those where CUDA is installed, and those in each
# folder of GPUMEM_CUDA_HEADERS, separated by colons, with which all that uses CUDA
# compiles, too; so it does with ours as older versions would have them. And ours
# have nothing that nobody uses. Each function of theirs is one that gpumem-run
# wraps, or one of tests/run/cuda_others.txt.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
. tests/vendor/compare.sh
own=backends/vendor/cuda
own_files="cuda_constants.h cuda.h cuda_functions.h cudaTypedefs.h"
own_flags=
own_least=200
plugin="backends/cuda backends/common/gpu"
preload=tools/preload
others="tests/fake/common tests/fake/cuda tests/fake/hip tests/unit/cuda
	tests/unit/fake tests/device/answers"

included()
{
	echo '#include <cuda.h>'
	echo '#include <cudaTypedefs.h>'
}

# version FOLDER
version()
{
	printf '#include <cuda.h>\nCUDA_VERSION\n' | $CC -isystem "$1" -E -P - |
		tail -n 1
}

as_in()
{
	echo "-DCUDA_VERSION=$(version "$1")"
}

# of FOLDER...: what of CUDA is compiled there
of()
{
	find "$@" -name '*.c' ! -name 'hip*' | xargs
}

# shellcheck disable=SC2086
sources()
{
	of $others
	echo "-Ibackends/cuda $(of $plugin)"
	echo "-DPRELOAD_CUDA $(of $preload)"
}

# words PATTERN FILE...: those of that form, without comments and strings
words()
{
	pattern=$1
	shift
	cat "$@" | sed -e 's/"[^"]*"//g' |
		$CC -fpreprocessed -dD -E -P -w - 2>/dev/null |
		grep -oE "\\b($pattern)\\b" | sort -u
}

# shellcheck disable=SC2046,SC2086
for what in 'CU(DA)?_[A-Z0-9_]+' 'cu[A-Z][A-Za-z0-9]+(_v[2-9])?(_ptsz)?'; do
	words "$what" $own/*.h | grep -vx 'CU.*_H' >"$scratch/declared"
	words "$what" $(find $plugin $preload $others -name '*.[ch]') \
		>"$scratch/used"
	check "declared: $what" [ "$(wc -l <"$scratch/declared")" -gt 100 ]
	is "$(comm -23 "$scratch/declared" "$scratch/used")" "" "each is used"
done
is "$(cd $own && ls | sort | xargs)" "$(printf '%s\n' $own_files | sort | xargs)" \
	"all files are compared"

# Since 11.4 its headers have all that the sources need.
recent()
{
	[ "$(version "$1")" -ge 11040 ]
}

# unjudged FILE...: the functions of these that gpumem-run has no wrapper for, and
# of which nobody has said why not
unjudged()
{
	cat "$@" | $CC -fpreprocessed -dD -E -P -w - 2>/dev/null |
		grep -oE 'CUDAAPI +cu[A-Za-z0-9_]+ *\(' | tr -d '(' |
		awk '{ print $2 }' | sort -u >"$scratch/theirs"
	[ "$(wc -l <"$scratch/theirs")" -gt 300 ] || echo "too few"
	comm -23 "$scratch/theirs" "$scratch/wrapped" | grep -vxf "$scratch/others"
}

also()
{
	is "$(unjudged "$1/cuda.h" | xargs)" "" \
		"gpumem-run wraps each function of $1, or need not"
}

# The names of the hooks, and the rows as regular expressions.
sed -n 's/^\tX(\(cu[A-Za-z0-9_]*\),.*/\1/p' tools/preload/cuda_hooks.h |
	sort -u >"$scratch/wrapped"
grep -v '^#' tests/run/cuda_others.txt | xargs -n 1 |
	sed 's/\*/.*/g' >"$scratch/others"
configured=$(sed -n 's/^CUDA_CPPFLAGS = .*-isystem \(\/[^ ]*\)$/\1/p' \
	"$top_builddir/Makefile")
compare_all "${GPUMEM_CUDA_HEADERS-}" cudaTypedefs.h ${configured:+"$configured"} \
	/usr/local/cuda/include /usr/include ||
	skip "there is no cuda.h of NVIDIA's from 11.4 on, and GPUMEM_CUDA_HEADERS names none" \
		"NVIDIA's headers"
for own_flags in -DCUDA_VERSION=11040 -DCUDA_VERSION=12000; do
	compiles $own
done
own_flags=

cat >"$scratch/later.h" <<'END'
CUresult CUDAAPI cuMemAllocLater(CUdeviceptr *dptr, size_t bytesize);
CUresult CUDAAPI cuGraphAddNode_v9(CUgraphNode *node_out);
CUresult CUDAAPI cuMemcpyLater(CUdeviceptr dptr);
END
is "$(unjudged "$scratch/later.h" | xargs)" \
	"too few cuGraphAddNode_v9 cuMemAllocLater" "later functions are found"

finds cuda_constants.h 's/_OUT_OF_MEMORY = 2,/_OUT_OF_MEMORY = 3,/' "a wrong number"
finds cuda.h 's/_PORTABLE 0x01/_PORTABLE 0x04/' "one of a macro"
finds cuda.h 's/CUstream)0x2/CUstream)0x3/' "a wrong handle"
finds cuda.h 's/unsigned char compressionType;/unsigned short compressionType;/' \
	"a wrong place"
finds cuda.h 's/unsigned short usage;/unsigned char usage, more;/' \
	"a member of another size in as much space"
finds cuda.h 's/char bytes\[16\];/char bytes[24];/' "a wrong size"
finds cuda.h 's/ long CUdeviceptr;/ CUdeviceptr;/' "a wrong type"
finds cuda_functions.h 's/cuMemFree_v2(CUdeviceptr)/cuMemFree_v2(CUdevice)/' \
	"a wrong prototype"
finds cuda_functions.h 's/cuMemFree_v2(CU/cuMemFee_v2(CU/; s/Free_v2$/Fee_v2/' \
	"a wrong function"
finds cuda_functions.h 's/ cuMemAlloc cuMemAlloc_v2/ cuMemAlloc cuMemAlloc_v3/' \
	"a wrong plain name"
finds cudaTypedefs.h 's/(cuMemAlloc_v2)/(cuMemFree_v2)/' "a wrong pointer"
finds cudaTypedefs.h 's/PFN_cuMemAlloc_v3020/PFN_cuMemAlloc_v3030/' \
	"a pointer of a version that has none"
done_testing
