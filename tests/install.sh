#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What is installed is enough: a program is compiled against it with
# pkg-config and with CMake, and a plugin from the headers alone.

. "${top_srcdir:-.}/tests/tap.sh"

[ -f "$top_builddir/Makefile" ] || skip_all "nothing is configured here"
root=$scratch/root
example=$top_srcdir/tests/install
# The harness may be run by a parallel make, whose jobs are not for us.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR

check "make install" make -C "$top_builddir" install DESTDIR="$root"
pc=$(find "$root" -name gpumem.pc)
[ -n "$pc" ] || { fail "gpumem.pc is installed"; done_testing; }
libdir=$(dirname "$(dirname "$pc")")

check "no file names the build folder" sh -c \
	"! grep -rlF '$top_builddir' '$root' --include='*.pc' --include='*.cmake'"

# The system's own folders would be left out of the flags.
export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_LIBDIR="${pc%/*}" \
	PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
export LD_LIBRARY_PATH="$libdir"

compile()
{
	$CC $SANITIZE_CFLAGS -Wall -Werror "$@"
}

if pkg-config --version >/dev/null 2>&1; then
	check "a program compiles with pkg-config" compile \
		$(pkg-config --cflags gpumem) -o "$scratch/hello" \
		"$example/hello.c" $(pkg-config --libs gpumem)
	exits 0 "and runs" "$scratch/hello"
	is "$(cat "$scratch/out")" \
		"gpumem $(pkg-config --modversion gpumem) on host:0" \
		"and speaks to the host device"
else
	skip "pkg-config is not installed" "a program compiles with pkg-config"
fi

if cmake --version >/dev/null 2>&1; then
	# The tree is moved first: nothing may depend on where it was.
	cp -R "$root" "$scratch/moved"
	moved=$scratch/moved${libdir#"$root"}
	LD_LIBRARY_PATH=$moved
	check "CMake finds the package" cmake -S "$example" -B "$scratch/cmake" \
		-DCMAKE_C_COMPILER="${CC%% *}" -DCMAKE_C_FLAGS="$SANITIZE_CFLAGS" \
		-Dgpumem_DIR="$moved/cmake/gpumem"
	check "a program compiles with CMake" cmake --build "$scratch/cmake"
	exits 0 "and runs" "$scratch/cmake/hello"
	LD_LIBRARY_PATH=$libdir
else
	skip "cmake is not installed" "a program compiles with CMake"
fi

# ---- the plugins -----------------------------------------------------------

is "$(find "$root" -path '*/gpumem/*.la')" "" "no libtool file beside plugins"

# ---- a plugin, from the installed headers alone ----------------------------

mkdir "$scratch/plugins"
includedir=$(dirname "$(find "$root" -name backend.h)")
check "a plugin compiles" compile -std=gnu11 -shared -fPIC \
	-I"${includedir%/*}" -o "$scratch/plugins/good.so" \
	"$top_srcdir/tests/plugins/good.c"
conform=$(find "$root" -name gpumem-conform -type f)
if [ -n "$conform" ]; then
	check "it conforms" "$conform" "$scratch/plugins/good.so"
	exits 0 "and is found by its name" env GPUMEM_BACKEND=good \
		GPUMEM_PLUGIN_PATH="$scratch/plugins" \
		"${conform%/*}/gpumem-probe" --backend good
	check "with a device" grep -q 'good:0' "$scratch/out"
else
	skip "the tools were not built" "it conforms"
fi

done_testing
