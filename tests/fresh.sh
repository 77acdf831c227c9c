#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What README.md promises to who has nothing yet, on a bare system of the kind
# that this machine has: both commands in a fresh clone as root, `./quickstart
# check` in another by a user without rights, who has another locale and time
# zone and finds installed what root built; and the packages. Each clone is
# called gpumem and lies in a path with a blank. Nothing stays outside a clone's
# build folder. Run as root by .ci/run, after a check of full length on this
# machine, of which nothing is done again that has the same result on both: root
# runs the tests that find other packages there, in the length of
# GPUMEM_TEST_SCALE=small, and a few programs with each sanitizer; the user the
# tarball's, whose folder is read-only.
#
#	sh tests/fresh.sh
#
# The last line counts what is said here and what the checks inside counted.
# Their logs are in build/fresh/.

. "${top_srcdir:-.}/tests/tap.sh"
cd "$top_srcdir" || exit 1
. tests/fresh_root.sh
top=$PWD
logs=$top/build/fresh
place=$top/build/fresh/system
root=$place

closing()
{
	printf '\n%d passed, %d failed, %d skipped\n' "$1" "$2" "$3"
	[ "$2" -eq 0 ]
	exit
}

# ---- outside: a mount and process namespace, and what is left of it ---------

outside()
{
	why=$(why_none)
	[ -n "$why" ] || [ -d .git ] || [ -f .git ] || why="this is no git clone"
	if [ -n "$why" ]; then
		printf '1..0 # SKIP %s\n' "$why"
		closing 0 0 1
	fi
	rm -rf "$logs"
	mkdir -p "$logs" || exit 1
	trap 'rm -rf --one-file-system "$place" "$scratch"' EXIT
	TMPDIR=$scratch unshare --mount --pid --fork --kill-child --propagation private \
		sh tests/fresh.sh inside &
	child=$!
	# It keeps TERM from its child.
	trap 'kill -KILL $child; wait $child; exit 1' HUP INT TERM
	wait $child
	exit
}

[ "${1-}" = inside ] || outside

# ---- inside ----------------------------------------------------------------

inner_passed=0
inner_failed=0
inner_skipped=0

# count LOG: what passed, failed and was skipped, by its last line, by the summary
# of `make check`, or by lines of TAP
count()
{
	awk '/^(ok|1\.\.0) .*# SKIP/ { skipped++; next }
		/^ok / { passed++ }
		/^not ok / { failed++ }
		/^# (PASS|XFAIL): / { passed += $3 }
		/^# (FAIL|XPASS|ERROR): / { failed += $3 }
		/^# SKIP: / { skipped += $3 }
		/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {
			passed = $1; failed = $3; skipped = $5
		}
		END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

# step LOG NAME COMMAND...: its output goes to the log; what it counts is added
step()
{
	log=$logs/$1.txt
	name=$2
	shift 2
	start=$(date +%s)
	"$@" >"$log" 2>&1 </dev/null
	status=$?
	counts=$(count "$log")
	if [ $status -eq 0 ]; then
		pass "$name"
	else
		fail "$name" "exit status $status; of $log:
$({ grep -E '^(not ok|FAIL:|ERROR:|E: )|[Ee]rror[: ]' "$log" | head -n 40
	tail -n 25 "$log"; } | cut -c 1-300)"
	fi
	diag "$(($(date +%s) - start)) s; passed, failed, skipped inside: $counts"
	# Three numbers.
	# shellcheck disable=SC2086
	set -- $counts
	inner_passed=$((inner_passed + $1))
	inner_failed=$((inner_failed + $2))
	inner_skipped=$((inner_skipped + $3))
}

# clone FOLDER OWNER: the commit that is checked out here
clone()
{
	git -c safe.directory='*' clone -q "$top" "$root$1" &&
		chroot "$root" chown -R "$2:$2" "$1"
}

# The folders where a program may leave something, and all that is in them; of
# /usr/local the files only: packages of the distribution make folders there.
surroundings()
{
	(cd "$root" && find root home tmp var/tmp dev/shm run srv opt usr/local \
		-path "${1#/}" -prune -o -path "usr/local/*" -type d -o \
		! -path "${1#/}" -print) | sort
}

# tidy CLONE: nothing is new around it, and in it only what .gitignore calls the
# output of autoreconf, and build/
tidy()
{
	surroundings "$1" >"$scratch/after"
	is "$(comm -13 "$scratch/before" "$scratch/after")" "" \
		"nothing was left outside the clone"
	is "$(git -c safe.directory='*' -C "$root$1" status --porcelain \
		--ignored | sed 's/^...//' | grep -vxE \
		'build/|aclocal\.m4|autom4te\.cache/|build-aux/|configure~?|m4/|Makefile\.in')" \
		"" "and only build/ and autoreconf's output in it"
}

# told STATUS TEXT USER FOLDER COMMAND...: ends so and says so
told()
{
	want=$1
	text=$2
	shift 2
	inside "$@" >"$scratch/said" 2>&1
	status=$?
	cat "$scratch/said"
	[ $status -eq "$want" ] && grep -q "$text" "$scratch/said"
}

mine="/srv/two words/gpumem"
theirs="/srv/two more words/gpumem"

step system "a bare system" bare_system "$root"
[ "$tap_failed" -eq 0 ] || closing "$tap_run" "$tap_failed" 0
step clone "a clone" clone "$mine" root
step clone2 "a clone of somebody else's" clone "$theirs" somebody
step without "without rights it says what to install" \
	told 1 '^quickstart: please install: gcc ' somebody "$theirs" ./quickstart
is "$(git -c safe.directory='*' -C "$root$theirs" status --porcelain --ignored)" \
	"" "and leaves nothing"
surroundings "$mine" >"$scratch/before"
step quickstart "./quickstart" inside root "$mine" ./quickstart
tidy "$mine"
check "builds the backend for CUDA, whose headers are not there" \
	test -e "$root$mine/build/backends/.libs/cuda.so"
# plugins CLONE: those that were built, and the two libraries of gpumem-run
plugins()
{
	(cd "$root$1/build" && ls backends/.libs/*.so tools/.libs/*.so) |
		sed 's,.*/,,' | tr '\n' ' '
}

all="cuda.so hip.so opencl.so libgpumem-opencl-layer.so libgpumem-preload.so "
is "$(plugins "$mine")" "$all" "every plugin is there, without vendors' headers"
# A driver and no more, of which only the nodes are there.
mknod "$root/dev/nvidia0" c 195 0 && mknod "$root/dev/nvidiactl" c 195 255 &&
	mkdir -p "$root/dev/dri" && mknod "$root/dev/kfd" c 236 0 || fail "nodes"
step nodes "./quickstart, where GPUs are" inside root "$mine" ./quickstart
check "no GPU is called none" sh -c "! grep -i 'without a GPU' '$logs/nodes.txt'"
for word in libcuda libamdhip64; do
	check "it says that $word is missing" grep -q "$word" "$logs/nodes.txt"
done
rm -rf "$root/dev/nvidia0" "$root/dev/nvidiactl" "$root/dev/dri" "$root/dev/kfd"
scale=small
step check "./quickstart check machine" \
	inside root "$mine" ./quickstart check machine
check "is configured with what that installed" \
	grep -q "^HIP_CPPFLAGS = -D__HIP_PLATFORM_AMD__\$" "$root$mine/build/Makefile"
tidy "$mine"

# ---- installed, as quickstart says ----------------------------------------------

step install "make install" inside root "$mine" make -C build install
step ldconfig "ldconfig" inside root / ldconfig
step compile "a program compiles" inside root "$mine" sh -c \
	'gcc -o /tmp/hello tests/install/hello.c $(pkg-config --cflags --libs gpumem)'
step run "it runs" told 0 'on host:0' root / /tmp/hello
step probe "gpumem-probe runs" inside somebody / gpumem-probe
rm -f "$root/tmp/hello"

# ---- somebody else, elsewhere ----------------------------------------------

step locales "a locale" inside root / sh -c \
	'apt-get -q -y install --no-install-recommends locales tzdata &&
	localedef -i tr_TR -f UTF-8 tr_TR.UTF-8'
locale=tr_TR.UTF-8
zone=Pacific/Chatham
surroundings "$theirs" >"$scratch/before"
step check2 "./quickstart check, without rights, in Turkish, on Chatham" \
	inside somebody "$theirs" ./quickstart check tarball
tidy "$theirs"
unset locale zone

step uninstall "make uninstall" inside root "$mine" make -C build uninstall
is "$(cd "$root/usr/local" && find . -name '*gpumem*')" "" \
	"leaves nothing in /usr/local"

# ---- what tests leave, and the sanitizers --------------------------------------

surroundings "$mine" >"$scratch/before"
step left "make distclean" inside root "$mine" sh tests/left.sh build
for kind in asan tsan; do
	# shellcheck disable=SC2016
	step $kind "tests with --enable-$kind" inside root "$mine" sh -c '
		mkdir "build/$1" && cd "build/$1" &&
		../../configure -q "--enable-$1" CFLAGS=-O0 &&
		make -j"$(nproc)" check-TESTS check_PROGRAMS= check_LTLIBRARIES= \
			TESTS="tests/unit/lib/leaks tests/unit/lib/threads"' \
		sh $kind
done
tidy "$mine"

# ---- the packages ----------------------------------------------------------

if [ -f tests/fresh_package.sh ]; then
	package=/srv/package/gpumem
	step clone3 "a clone" clone "$package" root
	step package "the packages" inside root "$package" \
		sh tests/fresh_package.sh
	grep -E '^(ok|not ok) ' "$logs/package.txt" | sed 's/^/#   /'
else
	skip "there is no tests/fresh_package.sh" "the packages"
fi

printf '1..%d\n' "$tap_run"
closing $((tap_run - tap_failed + inner_passed)) \
	$((tap_failed + inner_failed)) "$inner_skipped"
