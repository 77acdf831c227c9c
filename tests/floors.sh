#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# A file includes its own floor and those below, never above. Backends know
# the public headers only, and so do tools and tests; a unit test also knows
# the floor that its name begins with, the recorder of gpumem-run the floor
# record, whose files are compiled into the same library, and what writes the
# files of the tools how files are written, which is compiled into them too, and
# gpumem-probe how GPUs are seen.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1

# The floors below each, itself included.
below()
{
	case $1 in
	base) echo base ;;
	record) echo base record ;;
	loader) echo base loader ;;
	device) echo base loader device ;;
	extent) echo base record loader device extent ;;
	order) echo base record loader device extent order ;;
	space) echo base record loader device extent order space ;;
	pages | segments) echo base record loader device extent order space $1 ;;
	cache) echo base record loader device extent order cache ;;
	heap) echo base record loader device extent order space pages segments cache heap ;;
	share) echo base record loader device extent order space pages segments cache heap share ;;
	sleep) echo base record loader device extent order space pages segments cache heap sleep ;;
	pool) echo base record loader device extent order space pages segments cache heap share sleep pool ;;
	report | core)
		echo base record loader device extent order space pages segments cache heap share sleep pool \
			report
		;;
	esac
}

# allowed FILE NAME FLOOR...: may FILE include "NAME"? Yes if it lies beside
# FILE, anywhere in the same tower of tools or tests, or on one of the floors.
# A backend may use what is common to them, and no other backend; what is common
# to cuda and hip is compiled with the headers of either. Tools name each
# other's files from tools/ on, and a fuzz target those that it tries. What the
# build makes for a file is beside it, too.
allowed()
{
	target=${1%/*}/$2
	case $2 in
	*..*) target=$(realpath -m --relative-to=. "$target") ;;
	esac
	if [ -f "$target" ]; then
		[ "${target%/*}" != "${1%/*}" ] || return 0
		case $1:$target in
		tools/*:tools/* | tests/*:tests/*) return 0 ;;
		backends/*:backends/common/*) return 0 ;;
		esac
	fi
	case $2 in
	*/*) ;;
	*) [ ! -f "$top_builddir/${1%/*}/$2" ] || return 0 ;;
	esac
	case $1:$2 in
	backends/common/gpu/*:plugin.h | backends/common/gpu/*:names.h) return 0 ;;
	esac
	case $1 in
	tools/* | tests/fuzz/*) [ ! -f "tools/$2" ] || return 0 ;;
	esac
	name=$2
	shift 2
	for floor in "$@"; do
		case $name in
		"$floor"/*) [ ! -f "core/$name" ] || return 0 ;;
		esac
	done
	return 1
}

# trespass FILE FLOOR...: prints each include that is not allowed.
trespass()
{
	file=$1
	shift
	includes='^[ 	]*#[ 	]*include[ 	]*'
	sed -n -e "s/$includes\"\([^\"]*\)\".*/ours \1/p" \
		-e "s/$includes<\([^>]*\)>.*/theirs \1/p" "$file" |
		while read -r whose name; do
			if [ "$whose" = ours ]; then
				allowed "$file" "$name" "$@" ||
					echo "$file includes \"$name\""
			elif [ -f "core/$name" ]; then
				echo "$file includes <$name>"
			fi
		done
}

for floor in base record loader device extent order space pages segments cache heap share pool report core; do
	case $floor in
	core) files=$(ls core/*.[ch]) ;;
	*) files=$(ls core/$floor/*.[ch]) ;;
	esac
	is "$(for file in $files; do
		trespass "$file" $(below $floor)
	done)" "" "floor $floor"
done

is "$(for file in $(find backends bindings include tools -name '*.[ch]'); do
	case $file in
	tools/preload/recorder*.c) trespass "$file" $(below record) ;;
	tools/common/file.c | tools/run/environment.c | tools/trace/pytorch.h)
		trespass "$file" | grep -vE '"base/(own|path|torch)\.h"$'
		;;
	tools/probe/gpus.c | tools/run/adopt.c)
		trespass "$file" | grep -vE '"loader/sight\.h"$'
		;;
	*) trespass "$file" ;;
	esac
done)" "" "backends, bindings, public headers and tools know include/ only"

# In a build in the source folder other tests' files lie there too.
is "$(for file in $(find tests -path tests/tmp -prune -o -name '*.[ch]' -print); do
	case $file in
	tests/fuzz/*) trespass "$file" $(below report) ;;
	tests/unit/*)
		floor=${file%/*}
		trespass "$file" $(below "${floor##*/}")
		;;
	*) trespass "$file" ;;
	esac
done)" "" "a test knows include/, a unit test also its floor"

# Where gm_environment() is not asked, a set-user-id program could be led.
is "$(grep -rlwE 'getenv|secure_getenv|environ|__environ' core backends \
	--include='*.[ch]' | grep -vx core/base/option_conf.c)" "" \
	"the environment is read in one place"

# ---- what the modules' headers promise (order.h, space.h, budget.h, heap.h) ----

# callers PATTERN: the folders, or the FILES, of core/ that call such a function
callers()
{
	grep -rlE "\<($1)\(" core --include='*.c' | sed 's,/[^/]*$,,' |
		sort -u | grep -vx core/device | xargs
}

models="core/pages core/segments"
is "$(callers 'gm_limit_check|gm_limit_room')" "$models core/space" \
	"the limit is enforced in space, pages and segments"
is "$(grep -rlE '\<gm_handles_(steal|break)\(' core --include='*.c' |
	sort | xargs)" "core/pages/steal.c core/pages/supply.c" \
	"a page is stolen in pages/steal.c, for pages/supply.c"
is "$(callers 'gm_driver_(page_create|alloc)')" "$models core/sleep" \
	"memory comes from the driver in pages and segments, and for a store"
is "$(grep -rlE '\<gm_driver_(page_create|alloc)\(' core/sleep | xargs)" \
	core/sleep/memory.c "which is pinned memory"
is "$(callers 'gm_driver_(event_[a-z]+|stream_query)')" core/order \
	"a block waits for an event in order"
is "$(callers 'gm_(pending|arenas?|events)_wait')" \
	"core/heap core/order core/pool core/sleep" \
	"and who may wait for one is the ladder, a sleep, and a pool that ends"

# This test can fail.
mkdir -p "$scratch/core/base" "$scratch/core/pool"
cd "$scratch" || exit 1
echo '#include "pool/pool.h"' >core/base/list.h
: >core/pool/pool.h
is "$(trespass core/base/list.h base)" \
	'core/base/list.h includes "pool/pool.h"' "a trespass is found"
echo '#include <pool/pool.h>' >core/base/list.h
is "$(trespass core/base/list.h base)" \
	'core/base/list.h includes <pool/pool.h>' "in either kind of brackets"
echo '#include "../pool/pool.h"' >core/base/list.h
is "$(trespass core/base/list.h base)" \
	'core/base/list.h includes "../pool/pool.h"' "and by a way around"

done_testing
