#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# docs/examples/umf_pool.c in UMF. UMF_WHEEL is the unpacked package of PyPI,
# which has the headers and the library:
#
#     pip download --no-deps umf==1.2.0 && python3 -m zipfile -e umf-*.whl wheel
#
# UMF_SOURCE is a checkout of oneapi-src/unified-memory-framework, which has UMF's
# own suite for pools as well, and UMF_BUILD the folder where its library was
# built (cmake --build build --target umf); that needs GoogleTest and hwloc.

. "${top_srcdir:-.}/tests/tap.sh"

library=$top_builddir/.libs
[ -n "${UMF_WHEEL-}${UMF_SOURCE-}" ] ||
	skip_all "UMF_WHEEL names no unpacked umf of PyPI, UMF_SOURCE no checkout"
[ -f "$library/libgpumem.so" ] || skip_all "there is no shared library"

if [ -n "${UMF_WHEEL-}" ]; then
	data=$(echo "$UMF_WHEEL"/umf-*.data/data)
	# A list of words.
	# shellcheck disable=SC2086
	check "a program with the adapter compiles" $CC $SANITIZE_CFLAGS \
		-std=gnu11 -Wall -Wextra -Werror -I"$top_srcdir/include" \
		-I"$top_srcdir/docs/examples" -I"$data/include" \
		"$top_srcdir/tests/umf/pool.c" \
		"$top_srcdir/docs/examples/umf_pool.c" -L"$library" -lgpumem \
		-L"$data/lib" -lumf -o "$scratch/pool"
	for vm in on off; do
		check "it works, virtual memory $vm" env \
			GPUMEM_CONF=host.capacity:256MiB,vm:$vm \
			LD_LIBRARY_PATH="$library:$data/lib" "$scratch/pool"
	done
fi

[ -n "${UMF_SOURCE-}" ] || done_testing
build=${UMF_BUILD:-$UMF_SOURCE/build}
[ -f "$build/lib/libumf.a" ] || {
	skip "there is no $build/lib/libumf.a" "UMF's own suite"
	done_testing
}

test=$UMF_SOURCE/test
includes="-I$top_srcdir/include -I$top_srcdir/docs/examples
	-I$UMF_SOURCE/include -I$UMF_SOURCE/src -I$UMF_SOURCE/src/utils
	-I$UMF_SOURCE/src/base_alloc -I$test -I$test/common"

# Lists of words.
# shellcheck disable=SC2086
check "the adapter compiles" $CC -std=gnu11 -Wall -Wextra -Werror -O2 \
	$includes -c "$top_srcdir/docs/examples/umf_pool.c" \
	-o "$scratch/umf_pool.o"
helpers="test_helpers test_helpers_linux pool_trace provider_null
	provider_trace"
objects=
for file in $helpers; do
	# shellcheck disable=SC2086
	check "UMF's $file.c compiles" $CC -D_GNU_SOURCE -O2 $includes \
		-c "$test/common/$file.c" -o "$scratch/$file.o"
	objects="$objects $scratch/$file.o"
done
# shellcheck disable=SC2086
check "the suite compiles" $CXX -std=c++17 -O2 $includes \
	"$top_srcdir/tests/umf/suite.cpp" "$test/malloc_compliance_tests.cpp" \
	"$scratch/umf_pool.o" $objects -L"$library" -lgpumem \
	"$build/lib/libumf.a" "$build/lib/libumf_coarse.a" \
	"$build/lib/libumf_utils.a" "$build/lib/libumf_ba.a" -lgtest -lgtest_main -lhwloc -ldl -lpthread \
	-o "$scratch/suite"

# A small device, so that the test of running out takes little; its blocks are
# the host's. memoryTracking wants UMF to know every block by its provider,
# which the pool does not use.
for vm in on off; do
	GPUMEM_CONF=host.capacity:256MiB,vm:$vm LD_LIBRARY_PATH="$library" \
		"$scratch/suite" --gtest_filter=-*memoryTracking* \
		>"$scratch/out" 2>&1
	is $? 0 "the suite passes, virtual memory $vm"
	diag "$(grep -E '^\[ *(PASSED|FAILED|SKIPPED) *\]|Failure' \
		"$scratch/out")"
done

done_testing
