#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What who makes packages asks for: a second build, from the files of the
# tarball, with a static library and a folder of plugins of its own, installed
# where it was configured for. What is installed there must not be seen by the
# tests of that build.

. "${top_srcdir:-.}/tests/tap.sh"

[ -f "$top_builddir/Makefile" ] || skip_all "nothing is configured here"
[ "${GPUMEM_TEST_SCALE-}" != small ] ||
	skip_all "a second build belongs to a run at full length"
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR SANITIZE_CFLAGS
example=$top_srcdir/tests/install
plain_scratch
tree=$plain/tree
root=$plain/root
plugins=$plain/plugins

in_tree()
(
	cd "$tree" && "$@"
)

compile()
{
	$CC -Wall -Werror "$@"
}

# ---- building ----------------------------------------------------------------

check "the files of the tarball" \
	make -C "$top_builddir" distdir distdir="$tree"
bare=$plain/bare
cp -Rp "$tree" "$bare"
check "configure" in_tree ./configure -q --prefix="$root" --enable-static \
	--with-plugindir="$plugins" --without-cuda --without-hip \
	--without-opencl CC="$CC" CFLAGS=-O0
check "make" make -C "$tree" -j"$(nproc)"
check "make install" make -C "$tree" install
[ -f "$root/lib/pkgconfig/gpumem.pc" ] || done_testing

# ---- the folder of plugins ----------------------------------------------------

mkdir -p "$plugins"
check "a plugin compiles" compile -std=gnu11 -shared -fPIC \
	-I"$root/include" -o "$plugins/good.so" \
	"$top_srcdir/tests/plugins/good.c"
check "gpumem.pc names the folder" \
	grep -qx "plugindir=$plugins" "$root/lib/pkgconfig/gpumem.pc"
if [ -x "$root/bin/gpumem-probe" ]; then
	exits 0 "--with-plugindir: a plugin there is found" \
		env -u GPUMEM_PLUGIN_PATH "$root/bin/gpumem-probe" \
		--backend good
	exits 3 "but not by what runs in the build folder" \
		env -u GPUMEM_PLUGIN_PATH "$tree/tools/gpumem-probe" \
		--backend good
	check "and the tests pass beside it" make -C "$tree" check-TESTS \
		check_PROGRAMS= check_LTLIBRARIES= \
		TESTS="tests/tool_probe.sh tests/unit/loader/pick"
else
	skip "the tools were not built" "--with-plugindir"
fi

# ---- what the documents name --------------------------------------------------

is "$(cd "$root/share/doc/gpumem" && find . -name '*.md' |
	while read -r document; do
		grep -oE '\]\([^)#]*\)' "$document" | tr -d ']()' |
			grep -v '://' | while read -r name; do
			[ -e "${document%/*}/$name" ] ||
				echo "$document: $name"
		done
	done)" "" "what an installed document links to is installed"
is "$(grep -ohE '/usr/local/[^ ]*' -r "$root/share/man")" "" \
	"no page names another prefix"
is "$(grep -ohE "$root/[^ ]*" -r "$root/share/man" | sort -u |
	while read -r name; do
		[ -e "$name" ] || echo "$name"
	done)" "" "what the pages name is installed"
is "$(find "$root/share/man/man1" -type f | sed 's,.*/\(.*\)\.1$,\1,' | sort)" \
	"$(find "$root/bin" -name 'gpumem*' | sed 's,.*/,,' | sort)" \
	"each program has its page, and no other has one"
check "they name the traces" grep -rqF \
	"$root/share/gpumem/traces" "$root/share/man/man1/gpumem-replay.1"
check "and the folder of plugins" grep -rqF \
	"$plugins" "$root/share/man/man3/gpumem_backend.3"

# ---- the static library ------------------------------------------------------

# flags OPTION...: what pkg-config says of the installation
flags()
{
	PKG_CONFIG_LIBDIR="$root/lib/pkgconfig" pkg-config "$@" gpumem
}

if ! pkg-config --version >/dev/null 2>&1; then
	skip "pkg-config is not installed" "a static program"
elif ! echo 'int main(void) { return 0; }' |
	$CC -static -x c -o "$scratch/none" - 2>/dev/null; then
	skip "there is no static C library" "a static program"
else
	check "a static program links" compile -static $(flags --cflags) \
		-o "$scratch/static" "$example/hello.c" \
		$(flags --static --libs)
	exits 0 "it runs on host" env GPUMEM_BACKEND=host "$scratch/static"
	exits 1 "it is told that it can load no plugin" \
		env -u GPUMEM_PLUGIN_PATH GPUMEM_BACKEND=good "$scratch/static"
	is "$(cat "$scratch/err")" "$plugins/good.so cannot be loaded: this program is linked statically; link it dynamically, or use the backend host, which is built in" \
		"by this sentence"
	exits 0 "and takes the next of its choices" env -u GPUMEM_PLUGIN_PATH \
		GPUMEM_BACKEND=good,host "$scratch/static"
	check "a program with libgpumem.a alone links" compile \
		$(flags --cflags) -o "$scratch/half" "$example/hello.c" \
		"$root/lib/libgpumem.a"
	exits 0 "and can load plugins" env -u GPUMEM_PLUGIN_PATH \
		GPUMEM_BACKEND=good "$scratch/half"
	is "$(cat "$scratch/out")" "gpumem $(flags --modversion) on good:0" \
		"those of the configured folder"
fi

# ---- CMake --------------------------------------------------------------------

# with_cmake TARGET [COMPONENTS]: builds the example
with_cmake()
{
	cmake -S "$example" -B "$scratch/cmake-$1" \
		-DGPUMEM_TARGET="$1" \
		-DGPUMEM_COMPONENTS="${2-$1}" \
		-Dgpumem_DIR="$scratch/moved/lib/cmake/gpumem" &&
		cmake --build "$scratch/cmake-$1"
}

# needs_library PROGRAM
needs_library()
{
	objdump -p "$1" | grep -c 'NEEDED.*libgpumem'
}

if cmake --version >/dev/null 2>&1; then
	mv "$root" "$scratch/moved"
	for target in gpumem:shared:1 shared:shared:1 static:static:0; do
		name=${target%%:*}
		component=${target#*:}
		check "gpumem::$name" with_cmake "$name" "${component%:*}"
		is "$(needs_library "$scratch/cmake-$name/hello")" \
			"${target##*:}" "is the library that it says"
		exits 0 "and works" env GPUMEM_BACKEND=host \
			LD_LIBRARY_PATH="$scratch/moved/lib" \
			"$scratch/cmake-$name/hello"
	done
	rm "$scratch/moved/lib/libgpumem.a"
	rm -rf "$scratch/cmake-static"
	check "a component that is not there is missed" sh -c \
		"! cmake -S '$example' -B '$scratch/cmake-none' \
			-DGPUMEM_COMPONENTS=static \
			-Dgpumem_DIR='$scratch/moved/lib/cmake/gpumem' \
			>'$scratch/said' 2>&1 &&
			grep -q 'static is not installed' '$scratch/said'"
	mv "$scratch/moved" "$root"
else
	skip "cmake is not installed" "components"
fi

# ---- a compiler that looks elsewhere than pkg-config -----------------------------

mkdir "$scratch/elsewhere"
echo '#error absent' >"$scratch/elsewhere/jansson.h"
if pkg-config zlib jansson 2>/dev/null; then
	exits 0 "configure without a jansson.h that compiles" in_tree ./configure \
		-q --without-cuda --without-hip --without-opencl CC="$CC" \
		CPPFLAGS="-I$scratch/elsewhere"
	check "says that the tools miss it, and nothing else" grep -qx \
		' *tools *none: missing jansson (libjansson-dev)' "$scratch/out"
else
	skip "no zlib, or no jansson" "a compiler that looks elsewhere"
fi

# ---- without the tools, and without shared libraries ---------------------------

tree=$bare
exits 0 "configure --disable-tools --disable-shared" in_tree ./configure -q \
	--disable-tools --disable-shared --enable-static CC="$CC"
check "says that there are no tools" \
	grep -q 'none: --disable-tools' "$scratch/out"
is "$(grep -c 'left out: --disable-shared' "$scratch/out")" 3 \
	"and no plugins, whatever headers there are"
is "$(make -n -C "$tree" install-exec DESTDIR=/nowhere |
	grep -cE 'gpumem-probe|opencl')" 0 "none is installed"

done_testing
