#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# PyOpenCL's own tests of its arrays on PoCL: with its own buffers, and with every
# array's memory from a gpumem pool. What passes with the first has to pass with
# the second, each of these arrays is a block of a pool, and none is left.
#
# The tests are PyOpenCL's test_array.py, which is neither in this tree nor in a
# package of Debian: `quickstart check` fetches it into build/pyopencl/ by pip and
# exports its path as GPUMEM_PYOPENCL_TESTS, of the version and with the checksum in
# tests/pyopencl_own.txt. This test itself needs no network.

. "${top_srcdir:-.}/tests/tap.sh"

[ "${SANITIZER:-none}" = none ] ||
	skip_all "a sanitizer has to be the first library"
[ -f "$top_builddir/.libs/libgpumem.so.0" ] || skip_all "no shared library here"
[ -f "$top_builddir/backends/.libs/opencl.so" ] ||
	skip_all "configured without opencl"
icd=${OPENCL_TEST_VENDORS:-/etc/OpenCL/vendors}/pocl.icd
[ -f "$icd" ] || skip_all "pocl is not installed"
python=/usr/bin/python3
"$python" -c 'import ensurepip, mako, numpy, pyopencl, pytest, venv' \
	>/dev/null 2>&1 </dev/null ||
	skip_all "$python has not all of pyopencl, pytest, mako and venv"
version=$(sed -n 's/^pyopencl==\([^ ]*\).*/\1/p' \
	"$top_srcdir/tests/pyopencl_own.txt")
[ "$("$python" -c 'import pyopencl; print(pyopencl.VERSION_TEXT)')" = \
	"$version" ] || skip_all "$python has another PyOpenCL than $version"
theirs=${GPUMEM_PYOPENCL_TESTS:-$top_builddir/pyopencl/test_array.py}
[ -f "$theirs" ] ||
	skip_all "no test_array.py of PyOpenCL; ./quickstart check fetches it"

export PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_NO_INDEX=1 \
	PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP VIRTUAL_ENV PYTEST_ADDOPTS

# Half of the time is theirs: PoCL compiles some dozens of kernels in each.
long="absrealimag bitwise divide_scalar dtype_conversions mix_complex"
# What a short check runs: where arrays are parts of others, or ends meet.
few="concat copy get outoforder reductions slice stack subset take view"
# They name an allocator of PyOpenCL's own, so they say nothing of another one.
others="arrays_with_svm_allocators mem_pool_with_arrays"

GPUMEM_BUILD="$top_builddir"
export GPUMEM_BUILD
check "a virtual environment" "$python" -m venv "$scratch/own"
check "pip installs the tree" "$scratch/own/bin/python" -m pip install \
	"$top_srcdir/bindings/python"
cp "$theirs" "$top_srcdir/tests/pyopencl_own.py" "$scratch/"

small=
tests=120
arrays=1000
if [ "${GPUMEM_TEST_SCALE-}" = small ]; then
	small=yes
	tests=20
	arrays=100
fi

# own ALLOCATOR: their results in $scratch/ALLOCATOR. pytest ends with 1 if any
# failed, which is to be compared
own()
(
	cd "$scratch" || exit 2
	which="not ($(echo "$long $others" | sed 's/[^ ]*/test_&/g; s/ / or /g'))"
	[ -z "$small" ] || which="$which and ($(echo "$few" | sed 's/ / or /g'))"
	env -u GPUMEM_PLUGIN_PATH OCL_ICD_VENDORS="$icd" POCL_DEVICES=pthread \
		POCL_MEMORY_LIMIT=1 OWN_ALLOCATOR="$1" \
		OWN_RESULTS="$scratch/$1" PYTHONPATH="$scratch:$(
			echo "$scratch"/own/lib/python*/site-packages)" \
		"$python" -m pytest -q --tb=short -p no:cacheprovider \
		-p pyopencl_own -k "$which" test_array.py \
		>"$scratch/$1.log" 2>&1
	status=$?
	tail -n 30 "$scratch/$1.log"
	[ $status -le 1 ]
)

# passed ALLOCATOR: the names
passed()
{
	sed -n 's/^passed //p' "$scratch/$1" | sort
}

# counted WHAT: of the pools
counted()
{
	sed -n "s/^# $1 //p" "$scratch/gpumem"
}

check "PyOpenCL's tests of arrays with its own buffers" own native
check "most of them pass" test "$(passed native | grep -c .)" -gt $tests
check "PyOpenCL's tests of arrays on gpumem" own gpumem
passed gpumem >"$scratch/ours"
is "$(passed native | comm -23 - "$scratch/ours")" "" \
	"$(passed native | grep -c .) that pass natively pass on gpumem"
[ "$tap_failed" -eq 0 ] || diag "$(tail -n 60 "$scratch/gpumem.log")"
check "$(counted arrays) arrays were made" test "$(counted arrays)" -gt $arrays
is "$(counted blocks)" "$(counted arrays)" "each is a block of a pool"
is "$(counted left)" 0 "no block outlives its test"
is "$(counted wrong)" 0 "the pools are as they should be"
is "$(grep -A 9 'Exception ignored' "$scratch/gpumem.log" | grep gpumem)" "" \
	"and nothing is raised when arrays end"
[ -z "$small" ] || skip "this is a short check" "all but test_ of: $few"
skip "they take too long" "test_ of: $long"
skip "they are of PyOpenCL's own allocators" "test_ of: $others"

done_testing
