#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The headers for C++: the programs of tests/cxx hold on the simulated GPU, with
# virtual memory and without, also under AddressSanitizer, which sees what is
# leaked or freed twice on the host. The same for
# docs/examples/tensorrt_allocator.hpp. What is only compiled, and run by nobody,
# is in cxx_headers.sh.

. "${top_srcdir:-.}/tests/tap.sh"

library=$top_builddir/.libs
[ "${CXX:-none}" != none ] || skip_all "no C++ compiler"
[ -f "$library/libgpumem.so" ] ||
	skip_all "there is no $library/libgpumem.so"
unset GPUMEM_CONF
strict="-Wall -Wextra -Wpedantic -Wshadow -Werror"
headers=$(cd "$top_srcdir/include" && ls gpumem/*.hpp gpumem/cxx/*.hpp |
	grep -vx gpumem/cccl.hpp) # of CUDA's headers
programs="own self order pmr sleep"

# A runtime of one compiler's sanitizer does not fit the other's library, it sees the
# same in either standard, and what it guards takes twice as long to optimise.
compilers=$CXX
standards=c++17
optimise=-O0
if [ "${SANITIZER:-none}" = none ]; then
	standards="c++20 c++17"
	optimise=-O1
	for other in g++ clang++; do
		case " $compilers " in
		*" $other "*) ;;
		*) ! $other --version >/dev/null 2>&1 ||
			compilers="$compilers $other" ;;
		esac
	done
fi

# build COMPILER NAME FLAG...: tests/cxx/NAME.cpp into $scratch/NAME
build()
{
	compiler=$1
	name=$2
	shift 2
	# Lists of words.
	# shellcheck disable=SC2086
	$compiler $SANITIZE_CFLAGS $strict "$@" -I"$top_srcdir/include" \
		-o "$scratch/$name" "$top_srcdir/tests/cxx/$name.cpp" \
		-L"$library" -lgpumem -Wl,-rpath,"$library" -pthread
}

# passes WHAT COMMAND...: a program of tests/cxx
passes()
{
	what=$1
	shift
	exits 0 "$what" "$@"
	[ "$tap_got" -eq 0 ] || diag "$(grep -A 4 '^not ok' "$scratch/out")"
	check "to its end" grep -q '^1\.\.[1-9]' "$scratch/out"
}

# ---- all headers -------------------------------------------------------------

# Two files of a program may include them.
for file in one two; do
	{
		for header in $headers; do
			echo "#include <$header>"
		done
		echo "int $file() { return GPUMEM_OK; }"
		[ $file = one ] || echo "int one(); int main() { return one(); }"
	} >"$scratch/$file.cpp"
done
check "in two files of a program" $CXX $SANITIZE_CFLAGS -std=c++17 \
	-I"$top_srcdir/include" -o "$scratch/two" "$scratch/one.cpp" \
	"$scratch/two.cpp" -L"$library" -lgpumem

# ---- docs/cxx.md -------------------------------------------------------------

# Its first piece of C++; the others are no programs.
awk '/^```cpp$/ { on = !done; next } /^```$/ { if (on) done = 1; on = 0 } on' \
	"$top_srcdir/docs/cxx.md" >"$scratch/first.cpp"
# shellcheck disable=SC2086
check "its program compiles" $CXX $SANITIZE_CFLAGS -std=c++17 $strict \
	-I"$top_srcdir/include" -o "$scratch/first" "$scratch/first.cpp" \
	-L"$library" -lgpumem -Wl,-rpath,"$library"
exits 0 "and runs" "$scratch/first"

# ---- the programs ------------------------------------------------------------

# both COMPILER STANDARD
both()
{
	for name in $programs; do
		check "$name.cpp compiles, $1 $2" build "$1" $name -std=$2 $optimise
		passes "$name passes" "$scratch/$name"
	done
}

for compiler in $compilers; do
	[ "$compiler" = "$CXX" ] || both "$compiler" c++20
done
for std in $standards; do
	both "$CXX" $std
done
for name in $programs; do
	passes "$name passes without virtual memory" \
		env GPUMEM_CONF=vm:off "$scratch/$name"
done

# ---- what the subclass of PyTorch's allocator counts --------------------------

check "torch_counts.cpp compiles" build "$CXX" torch_counts -std=c++20 $optimise \
	"$top_srcdir/bindings/python/src/subclass/counts.cpp"
passes "peaks of several threads are those of their sums" "$scratch/torch_counts"

# ---- with CCCL ---------------------------------------------------------------

# Where a toolkit has it, and where a distribution or a checkout may: CCCL in the
# environment. UndefinedBehaviorSanitizer breaks constant expressions of CCCL's.
for cccl in "$CCCL" "${CUDA_HOME:-/usr/local/cuda}/include/cccl" \
	/usr/include/cccl; do
	[ -n "$cccl" ] && [ -f "$cccl/cuda/memory_resource" ] && break
done
cccl="-DLIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE -isystem $cccl
	-isystem ${CUDA_HOME:-/usr/local/cuda}/include
	-fno-sanitize=undefined"

# can_use_cccl: it is there, with the runtime's headers, and not too old
can_use_cccl()
{
	printf '%s\n' '#include <cuda/memory_resource>' \
		'#include <cuda_runtime_api.h>' \
		'static_assert(CCCL_VERSION >= 3000000, "");' \
		>"$scratch/probe.cpp"
	# shellcheck disable=SC2086
	$CXX -std=c++17 -fsyntax-only $cccl "$scratch/probe.cpp" \
		>"$scratch/said" 2>&1
}

if can_use_cccl; then
	for std in $standards; do
		# shellcheck disable=SC2086
		check "cccl.cpp compiles, $std" build "$CXX" cccl -std=$std \
			$optimise $cccl
		passes "a pool is a resource of CCCL" "$scratch/cccl"
	done
	passes "also without virtual memory" env GPUMEM_CONF=vm:off \
		"$scratch/cccl"
	under_asan="$programs cccl"
else
	skip "no headers of CCCL 3.0 or later" "a pool is a resource of CCCL"
	cccl=
	under_asan=$programs
fi

# ---- with TensorRT -----------------------------------------------------------

# Its own header where it is: NvInferRuntime.h in /usr/include, or in TENSORRT in
# the environment.
tensorrt=${TENSORRT:-/usr/include/$(uname -m)-linux-gnu}
what="the allocator compiles against TensorRT's header"
if [ -f "$tensorrt/NvInferRuntime.h" ]; then
	# shellcheck disable=SC2086
	check "$what" build "$CXX" tensorrt -std=c++17 -isystem "$tensorrt" \
		-I"$top_srcdir/docs/examples" $cccl
	passes "and does what TensorRT demands" "$scratch/tensorrt"
else
	skip "TensorRT is not installed" "$what"
fi
check "it compiles against a stand-in" build "$CXX" tensorrt -std=c++17 $optimise \
	-I"$top_srcdir/docs/examples" -I"$top_srcdir/tests/cxx/stand-in"
passes "and does what TensorRT demands" "$scratch/tensorrt"
passes "also without virtual memory" env GPUMEM_CONF=vm:off "$scratch/tensorrt"

# ---- under AddressSanitizer --------------------------------------------------

if [ "${SANITIZER:-none}" != none ]; then
	skip "the library has a sanitizer already" "under AddressSanitizer"
elif ! echo 'int main() { return 0; }' | $CXX -fsanitize=address,undefined \
	-x c++ -o "$scratch/probe" - >/dev/null 2>&1 ||
	! "$scratch/probe" >/dev/null 2>&1; then
	skip "no program runs under it here" "under AddressSanitizer"
else
	for name in $under_asan tensorrt; do
		case $name in
		# shellcheck disable=SC2086
		cccl) set -- $cccl ;;
		*) set -- -fsanitize=undefined \
			-fno-sanitize-recover=undefined ;;
		esac
		check "$name.cpp compiles for AddressSanitizer" \
			build "$CXX" $name -std=c++17 -g -fsanitize=address \
			-I"$top_srcdir/docs/examples" \
			-I"$top_srcdir/tests/cxx/stand-in" "$@"
		passes "$name passes under it" "$scratch/$name"
		is "$(cat "$scratch/err")" "" "without complaint"
	done
fi

done_testing
