#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The Debian packages, from debian/control to their purge: built by a user
# without rights, looked at by lintian, installed, and walked through as
# README.md and the pages say. It installs and removes packages of the system
# that it runs in, as root: it is for a bare system that is thrown away, which
# fresh.sh makes, and not for a machine that matters.
#
#	sh tests/fresh_package.sh

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
[ "$(id -u)" -eq 0 ] || skip_all "installing packages takes root"
[ -d debian ] || skip_all "debian/ is not in the tarball"
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
unset GPUMEM_BACKEND GPUMEM_CONF GPUMEM_PLUGIN_PATH
chmod 755 "$scratch"
work=$scratch/work
tree="$work/gpumem"

# as_user COMMAND...: by a user without rights, in $work
as_user()
(
	cd "$work" && HOME=$work setpriv --reuid=65534 --regid=65534 \
		--clear-groups "$@"
)

install_with()
{
	apt-get -q -y -o Dpkg::Use-Pty=0 --no-install-recommends "$@"
}

finish()
{
	[ "$tap_failed" -eq 0 ] || done_testing
}

# Files of ours in the system, but for this test's.
left()
{
	find / -xdev \( -path "$scratch" -o -path "$PWD" -o -path /proc \) -prune \
		-o -name '*gpumem*' -print
}

# ---- building ----------------------------------------------------------------

left | sort >"$scratch/before"
mkdir -p "$tree"
tar c --exclude=./.git . | tar x -C "$tree"
chown -R 65534:65534 "$work"

check "apt knows its packages" apt-get -q update
check "what debian/control asks for can be installed" \
	install_with build-dep "$tree"
check "so can what this test asks for" \
	install_with install cmake file lintian man-db
check "dpkg-buildpackage" as_user sh -c \
	"cd gpumem && DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage -us -uc -b"
finish
is "$(cd "$work" && ls ./*.deb | sed 's/^\.\/\([^_]*\)_.*/\1/' | grep -v dbgsym)" \
	"$(sed -n 's/^Package: //p' debian/control | sort)" "makes all packages"
exits 0 "lintian finds no error" as_user sh -c \
	'lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs *.changes'
is "$(grep -v '^[WN]: .*dbgsym' "$scratch/out")" "" "and warns of nothing"

# ---- installing --------------------------------------------------------------

find "$work" -name '*dbgsym*.deb' -exec rm {} +
check "they can be installed" sh -c \
	"cd '$work' && apt-get -q -y --no-install-recommends install ./*.deb"
finish

# ---- the tools ---------------------------------------------------------------

exits 0 "gpumem-probe" as_user gpumem-probe
check "shows the simulated GPU" grep -q '^host:0' "$scratch/out"
for plugin in cuda hip opencl; do
	as_user gpumem-probe --backend "$plugin" >"$scratch/out" 2>&1
	is "$(grep -c "$plugin.so is not installed" "$scratch/out")" 0 \
		"the plugin $plugin is found"
done
exits 0 "gpumem-conform" as_user gpumem-conform host

zcat /usr/share/man/man1/gpumem-replay.1.gz |
	sed -n 's/^\.Dl \$ \(gpumem-replay \/.*\)/\1/p' >"$scratch/commands"
check "gpumem-replay(1) replays an installed trace" \
	test -s "$scratch/commands"
exits 0 "as it says" as_user sh -e "$scratch/commands"

for name in bench conform probe replay; do
	check "completion of gpumem-$name" \
		bash -n "/usr/share/bash-completion/completions/gpumem-$name"
done
check "and for zsh" test -s /usr/share/zsh/vendor-completions/_gpumem

# ---- the manual --------------------------------------------------------------

is "$(for page in docs/man/*.[135] docs/man/link/*.3; do
	page=${page##*/}
	man -w "${page##*.}" "${page%.*}" >/dev/null || echo "$page"
done 2>&1)" "" "man finds every page"
# At 80 columns a function pointer in a synopsis fits into no line.
is "$(for page in docs/man/*.[135]; do
	page=${page##*/}
	as_user env MANWIDTH=100 man --warnings "${page##*.}" "${page%.*}" 2>&1 >/dev/null
done)" "" "and shows it without a warning"

# ---- README's program ----------------------------------------------------------

awk '/^```c$/ { on = !done; next } /^```$/ { if (on) done = 1; on = 0 } on' \
	/usr/share/doc/libgpumem-dev/README.md >"$work/program.c"
check "README.md has a program" grep -q gpumem_device_open "$work/program.c"
check "it compiles as README.md says" as_user sh -c \
	'cc -Wall -Werror=implicit-function-declaration -o program program.c \
		$(pkg-config --cflags --libs gpumem)'
exits 0 "and runs" as_user env GPUMEM_BACKEND=host ./program
is "$(cat "$scratch/err")" "" "without complaint"
check "linked statically, as gpumem(3) says" as_user sh -c \
	'cc -static -o program program.c $(pkg-config --cflags --libs --static gpumem)'
exits 0 "it runs too" as_user env GPUMEM_BACKEND=host ./program

for target in gpumem shared static; do
	check "gpumem::$target of CMake" as_user sh -c "
		cmake -S gpumem/tests/install -B '$target' \
			-DGPUMEM_TARGET='$target' \
			-DGPUMEM_COMPONENTS='shared;static;tools' &&
		cmake --build '$target' &&
		GPUMEM_BACKEND=host '$target/hello'"
done
check "the examples in C are right" as_user cc -Wall -fsyntax-only \
	/usr/share/doc/libgpumem-dev/docs/examples/opencl_scale.c \
	/usr/share/doc/libgpumem-dev/docs/examples/plugin_memfd.c \
	/usr/share/doc/libgpumem-dev/docs/examples/plugin_minimal.c
check "the packages' own test" as_user sh gpumem/debian/tests/smoke

# ---- and away ------------------------------------------------------------------

check "they can be purged" install_with purge $(sed -n 's/^Package: //p' \
	debian/control)
left | sort >"$scratch/after"
is "$(comm -13 "$scratch/before" "$scratch/after")" "" "nothing is left"

done_testing
