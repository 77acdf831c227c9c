#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What is installed is enough: a program is compiled against it with
# pkg-config and with CMake, and a plugin from the headers alone.

. "${top_srcdir:-.}/tests/tap.sh"

[ -f "$top_builddir/Makefile" ] || skip_all "nothing is configured here"
plain_scratch
root=$plain/root
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
	# It takes $CC from the environment, also one of two words.
	check "CMake finds the package" cmake -S "$example" -B "$scratch/cmake" \
		-DCMAKE_C_FLAGS="$SANITIZE_CFLAGS" \
		-Dgpumem_DIR="$moved/cmake/gpumem"
	check "a program compiles with CMake" cmake --build "$scratch/cmake"
	exits 0 "and runs" "$scratch/cmake/hello"
	LD_LIBRARY_PATH=$libdir
else
	skip "cmake is not installed" "a program compiles with CMake"
fi

is "$(find "$root" -path '*/man1/*.1' | sed 's,.*/\(.*\)\.1$,\1,' | sort)" \
	"$(find "$root" -path '*/bin/gpumem*' | sed 's,.*/,,' | sort)" \
	"each program has its page, and no other has one"
version=$(sed -n 's/^#define GPUMEM_VERSION_STRING "\(.*\)"/\1/p' \
	"$top_srcdir/include/gpumem/gpumem.h")
is "$(find "$root" -path '*/man/*' -name 'gpumem*' -exec \
	grep -LE "^(\.Os gpumem $version\$|\.so )" {} +)" "" \
	"the pages say the version"

# ---- where plugins are looked for -------------------------------------------

abi=$(sed -n 's/^#define GPUMEM_BACKEND_ABI \([0-9]*\)u$/\1/p' \
	"$top_srcdir/include/gpumem/backend.h")
is "$(pkg-config --variable=plugindir gpumem | grep -c "/gpumem/abi-$abi\$")" \
	1 "the folder of plugins has the number of their interface"
is "$(find "$root" -path "*/gpumem/abi-$abi/*" ! -name '*.so')" "" \
	"only plugins are there"

# looks_in LIBRARY [PATH]: where a program with that library looks for a plugin
looks_in()
{
	env -u GPUMEM_PLUGIN_PATH ${2+GPUMEM_PLUGIN_PATH="$2"} \
		GPUMEM_BACKEND=absent LD_LIBRARY_PATH="$1" "$scratch/hello" \
		2>&1 | sed -n 's/^plugin absent.so .* (looked in \(.*\))$/\1/p'
}

if [ -x "$scratch/hello" ]; then
	build=$(realpath "$top_builddir")
	is "$(looks_in "$build/.libs")" "$build/.libs/gpumem/abi-$abi" \
		"in the build folder: those of the build, and no others"
	mkdir -p "$scratch/place/gpumem/abi-$abi" "$scratch/link"
	place=$(realpath "$scratch/place")
	cp "$libdir"/libgpumem.so.* "$place"
	ln -s "$place/libgpumem.so.0" "$scratch/link"
	is "$(looks_in "$place")" "$place/gpumem/abi-$abi" \
		"installed: beside the library"
	is "$(looks_in "$scratch/link")" "$place/gpumem/abi-$abi" \
		"beside the file that a link leads to"
	rmdir "$place/gpumem/abi-$abi"
	is "$(looks_in "$place")" \
		"$(sed -n 's/^plugindir = //p' "$build/Makefile" |
			sed "s,\${libdir},${libdir#"$root"},")" \
		"where nothing lies beside it: the folder of configure"
	is "$(looks_in "$build/.libs" /a:/b)" "/a, /b" \
		"GPUMEM_PLUGIN_PATH names all folders there are"
	is "$(looks_in "$build/.libs" /a:)" \
		"/a, $build/.libs/gpumem/abi-$abi" \
		"with an empty entry, the installed one too"
else
	skip "there is no program" "where plugins are looked for"
fi

# ---- a plugin, from the installed headers alone ----------------------------

mkdir "$scratch/plugins"
includedir=$(dirname "$(find "$root" -name backend.h)")
check "a plugin compiles" compile -std=gnu11 -shared -fPIC \
	-I"${includedir%/*}" -o "$scratch/plugins/good.so" \
	"$top_srcdir/tests/plugins/good.c"
conform=$(find "$root" -name gpumem-conform -type f -perm -u+x)
if [ -n "$conform" ]; then
	is "$(find "$root" -path '*/bash-completion/completions/gpumem-*' |
		sed 's,.*/,,' | sort | tr '\n' ' ')" \
		"gpumem-bench gpumem-conform gpumem-keep gpumem-probe gpumem-replay gpumem-report gpumem-resume $(
		find "$root" -path '*/bin/gpumem-run' -printf '%f ')gpumem-suspend gpumem-trace " \
		"bash finds the completion of each tool"
	check "zsh finds that of all" test -f \
		"$(find "$root" -path '*/zsh/site-functions/_gpumem')"
	check "it conforms" "$conform" "$scratch/plugins/good.so"
	exits 0 "and is found by its name" env GPUMEM_BACKEND=good \
		GPUMEM_PLUGIN_PATH="$scratch/plugins" \
		"${conform%/*}/gpumem-probe" --backend good
	check "with a device" grep -q 'good:0' "$scratch/out"
	cp -R "$root" "$scratch/other"
	other=$scratch/other${libdir#"$root"}
	mkdir -p "$other/gpumem/abi-$abi"
	cp "$scratch/plugins/good.so" "$other/gpumem/abi-$abi"
	exits 0 "a plugin of an installation that was moved is found" \
		env -u GPUMEM_PLUGIN_PATH LD_LIBRARY_PATH="$other" \
		"$scratch/other${conform#"$root"}" good
else
	skip "the tools were not built" "it conforms"
fi

# ---- and what was installed goes -------------------------------------------

check "make uninstall" make -C "$top_builddir" uninstall DESTDIR="$root"
prefix=$(sed -n 's/^prefix = //p' "$top_builddir/Makefile")
is "$(cd "$root$prefix" && find . -path '*gpumem*')" "" \
	"leaves no file and no folder"

done_testing
