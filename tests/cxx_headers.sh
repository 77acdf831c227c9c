#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The headers for C++, as a compiler reads them: each compiles alone and without
# a warning by every compiler that is there, C++14 is refused, and what
# docs/cxx.md shows compiles. Nothing runs; that is cxx.sh.

. "${top_srcdir:-.}/tests/tap.sh"

[ "${CXX:-none}" != none ] || skip_all "no C++ compiler"
strict="-Wall -Wextra -Wpedantic -Wshadow -Werror"
# What a program may have its own compiler say of headers.
stricter="$strict -Wconversion -Wsign-conversion -Wold-style-cast
	-Wzero-as-null-pointer-constant"
headers=$(cd "$top_srcdir/include" && ls gpumem/*.hpp gpumem/cxx/*.hpp |
	grep -vx gpumem/cccl.hpp) # of CUDA's headers
compilers=$CXX
for other in g++ clang++; do
	case " $compilers " in
	*" $other "*) ;;
	*) ! $other --version >/dev/null 2>&1 ||
		compilers="$compilers $other" ;;
	esac
done

# ---- each header alone -------------------------------------------------------

# alone HEADER STANDARD...: by every compiler
alone()
{
	header=$1
	shift
	echo "#include <$header>" >"$scratch/alone.cpp"
	for compiler in $compilers; do
		casts=-Wuseless-cast # of g++ only
		echo | $compiler $casts -Werror -x c++ -fsyntax-only - \
			>/dev/null 2>&1 || casts=
		for std; do
			# shellcheck disable=SC2086
			check "$header alone, $compiler $std" $compiler \
				-std=$std $stricter $casts -fsyntax-only \
				-I"$top_srcdir/include" "$scratch/alone.cpp"
		done
	done
}

for header in $headers; do
	alone "$header" c++17 c++2b
done
for header in gpumem backend record host; do
	alone "gpumem/$header.h" c++14 c++2b
done

# C++ before 17 is told so.
echo '#include <gpumem/gpumem.hpp>' >"$scratch/old.cpp"
$CXX -std=c++14 -fsyntax-only -I"$top_srcdir/include" "$scratch/old.cpp" \
	>"$scratch/said" 2>&1
check "C++14 is refused with a sentence" grep -q 'gpumem.hpp needs C++17' \
	"$scratch/said"

# So is a program that cannot catch.
for compiler in $compilers; do
	$compiler -std=c++17 -fno-exceptions -fsyntax-only \
		-I"$top_srcdir/include" "$scratch/old.cpp" >"$scratch/said" 2>&1
	check "so is -fno-exceptions, $compiler" grep -q \
		'gpumem.hpp throws: compile with exceptions' "$scratch/said"
done

# ---- docs/cxx.md -------------------------------------------------------------

# piece N: the N-th piece of C++
piece()
{
	awk -v n="$1" '/^```cpp$/ { on = ++at == n; next } /^```$/ { on = 0 }
		on' "$top_srcdir/docs/cxx.md"
}

{
	printf '#include <gpumem/gpumem.hpp>\n#include <iostream>\n'
	echo 'void f(gpumem::pool &pool, gpumem::device_buffer &data);'
	echo 'void f(gpumem::pool &pool, gpumem::device_buffer &data) {'
	piece 2
	echo '}'
} >"$scratch/second.cpp"
{
	printf '#include <gpumem/gpumem.hpp>\n#include <iostream>\n'
	echo 'void give_away(gpumem::pool_ref pool);'
	piece 3
} >"$scratch/third.cpp"
{
	echo '#include <gpumem/gpumem.hpp>'
	echo 'void upload(gpumem::device &gpu, gpumem::device_buffer &data);'
	piece 4
} >"$scratch/fourth.cpp"
for file in second third fourth; do
	# shellcheck disable=SC2086
	check "its $file piece compiles" $CXX -std=c++17 $strict \
		-fsyntax-only -I"$top_srcdir/include" "$scratch/$file.cpp"
done

done_testing
