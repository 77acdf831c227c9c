#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-report of a program with two devices, each with two pools: text, JSON, page and
# picture have each device for itself, and what they have adds up to the whole.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool report
need_tool replay
report=$tools/gpumem-report
library=$top_builddir/.libs
[ -f "$library/libgpumem.so" ] ||
	skip_all "there is no $library/libgpumem.so"

# The pools are made by turns: their numbers do not go by device.
cat >"$scratch/program.c" <<'END'
#include <gpumem/gpumem.h>
#include <stdio.h>
#include <stdlib.h>

static void must(gpumem_status status)
{
	if (status == GPUMEM_OK)
		return;
	fprintf(stderr, "%s\n", gpumem_error_text());
	exit(1);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"first", "second"};
	gpumem_device *devices[2];
	gpumem_pool *pools[4];
	void *blocks[4], *more;

	(void)argc;
	for (int i = 0; i < 4; i++) {
		struct gpumem_pool_config config =
			GPUMEM_INIT(struct gpumem_pool_config);

		config.name = names[i / 2];
		if (i < 2)
			must(gpumem_device_open(argv[1 + i], &devices[i]));
		must(gpumem_pool_create(devices[i % 2], &config, &pools[i]));
	}
	must(gpumem_tag_push("all <of> it"));
	for (int i = 0; i < 4; i++)
		must(gpumem_alloc(pools[i], (size_t)(i + 1) << 20, NULL,
				  &blocks[i]));
	must(gpumem_alloc(pools[3], 5u << 20, NULL, &more));
	must(gpumem_free(more, NULL));
	must(gpumem_record_end());
	for (int i = 0; i < 4; i++)
		must(gpumem_pool_destroy(pools[i], GPUMEM_DESTROY_FORCE));
	for (int i = 0; i < 2; i++)
		must(gpumem_device_close(devices[i]));
	return 0;
}
END
check "the program compiles" $CC $SANITIZE_CFLAGS -I"$top_srcdir/include" \
	-o "$scratch/program" "$scratch/program.c" -L"$library" -lgpumem

# recorded_as NAME CONF DEVICE OTHER
recorded_as()
{
	exits 0 "$1 runs" with "host.devices:2,record:$scratch/$1,record_max:1MiB$2" \
		env LD_LIBRARY_PATH="$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
		"$scratch/program" "$3" "$4"
}

recorded_as two "" host:0 host:1
recorded_as segments ,vm:off host:0 host:1
recorded_as one "" host:1 host:1

# ---- text and JSON -------------------------------------------------------------

exits 0 "as text" env COLUMNS=200 "$report" "$scratch/two"
is "$(sed -n '/^peak of/,/^all together/p' "$scratch/out" | tr -s ' ' |
	sed 's/ [0-9.]* [0-9]* MiB \([0-9]* MiB\)$/ \1/' | sed 1d)" \
	"pool 1, first on host:0 1 MiB 1 MiB
pool 2, first on host:1 2 MiB 2 MiB
pool 3, second on host:0 3 MiB 3 MiB
pool 4, second on host:1 9 MiB 4 MiB
all of host:0 4 MiB 4 MiB
all of host:1 11 MiB 6 MiB
all together 15 MiB 10 MiB" "each pool and device has its row"
exits 0 "as JSON" "$report" --json "$scratch/two"
json_is "[(x['device'], x['peak_requested_bytes'] >> 20,
	x['end_requested_bytes'] >> 20, x['tags'][0]['bytes'] >> 20)
	for x in d['devices']]" \
	"[('host:0', 4, 4, 4), ('host:1', 11, 6, 11)]" "too"
json_is "[sum(x[k] for x in d['devices']) == sum(x[k] for x in d['pools']) == all
	for k, all in (('end_requested_bytes', d['end']['requested_bytes']),)]" \
	"[True]" "and they add up"

# ---- the page and the picture --------------------------------------------------

# page_of NAME: made and looked at without a network or a browser
page_of()
{
	exits 0 "the page of $1" "$report" -o "$scratch/$1.html" "$scratch/$1"
	is "$(grep -cE 'https?://[^w]|@import|url\(|(src|href)=' \
		"$scratch/$1.html")" 0 "it needs no network"
	: >"$scratch/page"
	node=$(command -v node || command -v nodejs) || return
	"$node" "$top_srcdir/tests/page_dom.js" "$scratch/$1.html" check \
		>"$scratch/page" 2>"$scratch/page.err" ||
		cat "$scratch/page.err" >"$scratch/page"
}

# shows NAME PATTERN: a line of what the page says
shows()
{
	if [ -n "$node" ]; then
		check "$1" grep -qE "$2" "$scratch/page"
	else
		skip "there is no node" "$1"
	fi
}

for run in two segments; do
	page_of $run
	is "$(grep -o '^<h3>[^<]*' "$scratch/$run.html" | sort | uniq -c |
		tr -s ' ')" " 2 <h3>host:0: pool 1, first; pool 3, second
 2 <h3>host:1: pool 2, first; pool 4, second" \
		"each device has its curves and its addresses, with its name"
	is "$(grep -c '<canvas ' "$scratch/$run.html")" 2 "on an axis of its own"
	is "$(grep -o 'aria-label="Which block is where, host:[01]' \
		"$scratch/$run.html" | tr -dc '01\n' | tr '\n' ,)" "0,1," \
		"which says whose it is"
	is "$(grep -o 'circle cx="[0-9]*" .*>peak [^<]*' "$scratch/$run.html" |
		sed 's/.*>//' | tr '\n' ,)" "peak 15 MiB,peak 4 MiB,peak 11 MiB," \
		"all together and each device have their own peak"
	shows "the script finds that it adds up" '^checked: true$'
	shows "each device says what it holds" '^holds: 2 blocks, 4 MiB\.'
	shows "the other, too" '^holds: 3 blocks, 11 MiB\.'
	shows "a cell says its pool and device" \
		'^tip: .* seconds old, pool 1, first on host:0;'
	shows "and that of the other map" \
		'^tip: .* seconds old, pool 2, first on host:1;'
	shows "and the event does" \
		'^happens: Event [0-9]+ of [0-9]+, .*, pool 4, second on host:1\. 5 blocks, 15 MiB'
done
exits 0 "the picture" "$report" --svg "$scratch/two"
is "$(grep -oE '<text x="90" y="[0-9]+">(all devices|host:)[^<]*' "$scratch/out" |
	sed 's/.*>//')" "all devices together
host:0: pool 1, first; pool 3, second
host:1: pool 2, first; pool 4, second" "has each device by name"

# Views are led one by one.
cat >"$scratch/keys.js" <<'END'
const press = (element, ...names) => names.forEach((key) =>
	element.dispatchEvent({type: 'keydown', key}));
const state = () => views.map((view) =>
	[view.cell, Math.round((view.end - view.begin) / (view.to - view.from)),
	view.from >= view.begin && view.to <= view.end].join(' ')).join(', ');
press(views[1].canvas, 'ArrowRight', 'ArrowDown', '+', '+');
console.log('led: ' + state());
press(views[1].canvas, 'Escape');
views[1].canvas.dispatchEvent({type: 'pointermove', clientX: 799.9, clientY: 287.9});
draw(map);
console.log('back: ' + state());
views[0].cell = views[1].cell;
draw(map);
END
page_of two
[ -z "$node" ] || "$node" "$top_srcdir/tests/page_dom.js" "$scratch/two.html" check \
	"$scratch/keys.js" >"$scratch/page" 2>&1
shows "keys lead one view" '^led: 0 1 true, 801 4 true$'
shows "and let it go" '^back: 0 1 true, 19199 1 true$'
shows "the last cell of the first is its own" \
	'^tip: 0x[0-9a-f]*: no block, pool 3, second on host:0; page of 2 MiB'
shows "and of the second" \
	'^tip: 0x[0-9a-f]*: no block, pool 4, second on host:1; page of 2 MiB'

# ---- one device ------------------------------------------------------------------

page_of one
is "$(grep -cE '<h3>|class="holds"|Which block is where,' "$scratch/one.html")" 0 \
	"one device is not told from others"
is "$(grep -c '<canvas id="cells"' "$scratch/one.html")" 1 "and has one map"
shows "its page adds up" '^checked: true$'
shows "a cell says its pool" '^tip: .* seconds old, pool 1;'

done_testing
