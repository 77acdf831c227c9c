#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-replay: figures that are known, both policies, and traces that are
# cut, malformed or hostile. Under AddressSanitizer a leak fails it, too.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool replay
replay=$tools/gpumem-replay

common_manners replay

# ---- figures that are known ------------------------------------------------

cat >"$scratch/small" <<'END'
# gpumem-trace 1 a comment
a 7 1048576 0
a 18446744073709551615 4096 9
# another
a 8 0 0
f 7
a 7 2097152 0
f 8
f 18446744073709551615
END

wants_good_options replay "$scratch/small"
exits 0 "a small trace" "$replay" "$scratch/small"
check "prints a table" grep -qE '^peak requested +2 MiB +2101248 +1\.0000$' \
	"$scratch/out"
cp "$scratch/out" "$scratch/text"
check "says what its times are" \
	grep -q "simulated in the host's memory" "$scratch/out"
exits 0 "as JSON" "$replay" --json "$scratch/small"
json_is "d['simulated']" True "in JSON too"
valid_json "it is JSON"
for fact in hits misses retries; do
	json_is "d['$fact']" "$(sed -n "s/^$fact  *//p" "$scratch/text")" \
		"$fact are in both"
done
# Whatever the pool counts, as the public header lists it.
statistics=$(sed -n 's/^	X(\([a-z_]*\), \(COUNTER\|VALUE\|RATIO\), .*/\1/p' \
	"$top_srcdir/include/gpumem/gpumem.h")
check "there are statistics" test -n "$statistics"
for fact in $statistics; do
	json_is "'$fact' in d" True "JSON has $fact"
done
json_is "d['final_reserved_bytes']" \
	"$(awk '/^reserved at the end/ { print $NF }' "$scratch/text")" \
	"and what is reserved at the end"
keys="d['events'], d['blocks'], d['peak_blocks'], d['streams'],
	d['peak_requested_bytes'], d['final_requested_bytes'],
	d['final_allocated_bytes'],
	d['final_reserved_bytes_after_trim'] <= 2 * 2097152"
json_is "$keys" "(7, 4, 3, 2, 2101248, 2097152, 2097152, True)" \
	"all counts are exact"
json_is "d['peak_requested_bytes'] <= d['peak_allocated_bytes'] <=
	d['peak_reserved_bytes'] and abs(d['reserved_ratio'] -
	d['peak_reserved_bytes'] / d['peak_requested_bytes']) < 1e-6" True \
	"the peaks keep the law"
json_is "d['seconds'] > 0 and d['ns_per_op'] > 0 and d['driver_calls'] ==
	sum(c['count'] for c in d['calls'].values())" True \
	"time and driver calls are there"

# In two runs, of a trace that frees nothing: what is asked of a stream, and which
# pages can be moved, depends on when the device is done with what was freed. How
# often addresses are asked for is the system's business.
printf '# gpumem-trace 1\na 1 1048576 0\na 2 9437184 0\n' >"$scratch/grows"
exits 0 "a trace that only grows" "$replay" "$scratch/grows"
cp "$scratch/out" "$scratch/text"
exits 0 "as JSON" "$replay" --json "$scratch/grows"
json_is "{n: c['count'] for n, c in d['calls'].items() if c['count'] and
	n.split('_')[0] not in ('stream', 'event', 'va')} ==
	{$(awk '/^driver call/ { on = 1; next } /^total/ { on = 0 }
		on && !/^(stream|event|va)_/ { printf "\"%s\": %d, ", $1, $2 }' \
		"$scratch/text")}" True "the driver's calls are in both"

gzip -c "$scratch/small" >"$scratch/small.gz"
exits 0 "the same, compressed" "$replay" --json "$scratch/small.gz"
json_is "$keys" "(7, 4, 3, 2, 2101248, 2097152, 2097152, True)" \
	"gives the same"
exits 0 "from standard input" sh -c "'$replay' --json - <'$scratch/small.gz'"
json_is "d['events']" 7 "gives the same"
exits 0 "without loading" "$replay" --no-load --json "$scratch/small"
json_is "$keys" "(7, 4, 3, 2, 2101248, 2097152, 2097152, True)" \
	"gives the same"

exits 0 "three passes" "$replay" --passes=3 --json "$scratch/small"
json_is "len(d['pass']), d['peak_requested_bytes'],
	sum(p['driver_calls'] for p in d['pass']) <= d['driver_calls']" \
	"(3, 2101248, True)" "each is reported"
exits 0 "three passes without loading" "$replay" --passes=3 --no-load --json \
	"$scratch/small"
json_is "len(d['pass']), d['final_requested_bytes']" "(3, 2097152)" \
	"each is read anew"

for conf in vm:off host.vm:off host.streams:off,host.copy:off,host.capture:off
do
	exits 0 "with $conf" with "$conf" "$replay" --check=1 --json \
		"$scratch/small"
	json_is "d['final_allocated_bytes']" 2097152 "gives the same"
done

# ---- several streams ---------------------------------------------------------

# Small blocks that come and go on two and on eight streams, nearly all of them
# in the caches of one thread: its peaks are those of the trace, to the byte.
for streams in 2 8; do
	awk -v streams="$streams" 'BEGIN {
		srand(12)
		for (event = 0; event < 1000; event++) {
			if (!live || (live < 60 && rand() < 0.5)) {
				bytes = 1 + int(rand() * 255)
				id[live++] = event
				print "a", event, bytes, int(rand() * streams)
			} else {
				at = int(rand() * live)
				print "f", id[at]
				id[at] = id[--live]
			}
		}
	}' >"$scratch/body"
	{
		echo "# gpumem-trace 1"
		cat "$scratch/body"
	} >"$scratch/streams"
	exits 0 "1000 events of small blocks on $streams streams" "$replay" \
		--json "$scratch/streams"
	json_is "d['streams'], d['peak_requested_bytes']" \
		"($streams, $(awk '/^a/ { b[$2] = $3; l += $3 }
			/^f/ { l -= b[$2] } l > m { m = l }
			END { print m }' "$scratch/body"))" \
		"its peak is that of the trace"
done

# ---- version 2 ---------------------------------------------------------------

# Block 2 stays where it lies; block 3, of which more is behind, need not.
cat >"$scratch/two" <<'END'
# gpumem-trace 2 a comment
t 0
g model/layer 1
a 1 1048576 0
a 2 4096 9
u 1 9
t 1000
r 2 100
r 2 3000 0
f 1 9
g
a 3 1048576 0
a 4 0 0
r 4 300
r 3 33554432
u 4 0
t 1000
r 4 0
u 4 9
f 4
END
for option in --load --no-load --check=1 --passes=3 --lag=2 --lag=inf \
	--policy=direct "--policy=direct --passes=2"; do
	exits 0 "version 2, $option" "$replay" --json \
		$(echo "$option" | sed 's/^--load//') "$scratch/two"
	json_is "d['events'], d['blocks'], d['peak_blocks'], d['streams'],
		d['peak_requested_bytes'], d['final_requested_bytes']" \
		"(14, 4, 3, 2, 33557732, 33557432)" "all counts are exact"
done
exits 0 "an eighth of it" "$replay" --json --scale=1/8 "$scratch/two"
json_is "d['peak_requested_bytes'], d['final_requested_bytes']" \
	"(4194717, 4194679)" "resized blocks too"
exits 0 "a driver's calls" "$replay" --policy=direct --json --model=h200 \
	"$scratch/two"
json_is "d['model']['native']['driver_calls']" 12 \
	"a resize is a free and an allocation"
exits 1 "a resize that does not fit" "$replay" --limit=16MiB "$scratch/two"
check "says where" grep -q 'two:15: resize of 33554432 bytes failed: .* out of memory' \
	"$scratch/err"

# ---- a smaller device --------------------------------------------------------

for load in '' --no-load; do
	exits 0 "a third of each block${load:+, }$load" "$replay" --scale=1/3 \
		$load --json "$scratch/small"
	json_is "d['divisor'], d['events'], d['peak_requested_bytes'],
		d['final_allocated_bytes'] >= d['final_requested_bytes']" \
		"(3, 7, 700417, True)" "rounded up, and no byte of none"
	json_is "d['final_requested_bytes']" 699051 "to the end"
done
exits 0 "the driver's own calls" "$replay" --scale=1/1024 --policy=direct \
	--json "$scratch/small"
json_is "d['peak_requested_bytes'], d['peak_reserved_bytes']" \
	"(2052, 4194304)" "are smaller too"
for scale in 0 1 2 1/0 1/ 1/-2 2/3 1/x; do
	exits 2 "--scale=$scale" "$replay" --scale=$scale "$scratch/small"
done

# ---- direct ----------------------------------------------------------------

exits 0 "the driver's own calls" "$replay" --policy=direct --json \
	"$scratch/small"
json_is "d['driver_calls'], d['peak_reserved_bytes'],
	d['final_reserved_bytes_after_trim'], 'hits' in d" \
	"(5, 4194304, 2097152, False)" "are those of the trace, rounded up"
exits 0 "and without loading, three times" "$replay" --policy=direct \
	--no-load --passes=3 "$scratch/small"

# ---- the model of a driver --------------------------------------------------

# Three times two pages side by side; then the first two move behind the last.
# The first map fails, so that two are given back as well. Prices: tools/replay/model.c.
# With second mappings nothing would be unmapped.
cat >"$scratch/move" <<'END'
a 1 4194304 0
a 2 4194304 0
a 3 4194304 0
f 1
f 3
a 4 8388608 0
f 2
f 4
END
round="lambda ns: ns and round(ns, 3)"
model="d['model']['calls']"
exits 0 "a model" with host.fail:map@1,alias:off "$replay" --model=h200 --limit=12MiB \
	--json "$scratch/move"
valid_json "it is JSON"
json_is "[list(map($round, $model[c].values())) for c in
	('page_create', 'page_destroy', 'map', 'unmap')]" \
	"[[8, 0, 16777216, 66536.0], [2, 0, 4194304, 24612.0], [5, 10, 20971520, 228646.0], [1, 2, 4194304, 31232.4]]" \
	"prices calls, pages and bytes"
json_is "[c['count'] for c in $model.values()] ==
	[c['count'] for c in d['calls'].values()]" True \
	"has seen the calls that the pool has"
json_is "abs(sum(c['ns'] or 0 for c in $model.values()) - d['model']['ns'])
	< 1e-3, d['model']['unpriced_calls'] ==
	sum(c['count'] for c in $model.values() if c['ns'] is None)" \
	"(True, True)" "sums up what has a price"
json_is "($round)(d['model']['native']['ns']), d['model']['native']['driver_calls'],
	($round)(d['model']['native']['ns_per_op'] * 8)" "(240540.0, 8, 240540.0)" \
	"and what a call for every event would take"
json_is "d['device']" host:0 "the device keeps its name"

exits 0 "a model of the driver's own calls" "$replay" --policy=direct \
	--model=h200 --passes=2 --json "$scratch/small"
json_is "[p['ns'] == d['model']['native']['ns'] for p in d['model']['pass']],
	$model['alloc'], $model['free']['count'] - 1, $model['map']['count']" \
	"([True, True], {'count': 6, 'pages': 0, 'bytes': 12582912, 'ns': 189840.0}, 4, 0)" \
	"is that of native"
exits 0 "a model without loading" "$replay" --no-load --model=h200 --json \
	"$scratch/small"
json_is "($round)(d['model']['native']['ns'])" 149828.0 "counts all events"
exits 0 "a model without virtual memory" with vm:off "$replay" --model=h200 \
	"$scratch/small"
check "prints its tables" grep -qE '^alloc +[1-9][0-9]* +0 +.* us +[0-9.]+ %$' \
	"$scratch/out"
check "with the whole" grep -qE '^native: .* us +1\.0000$' "$scratch/out"
exits 0 "no model" "$replay" --json "$scratch/small"
json_is "'model' in d" False "prints none"
exits 2 "a model that is none" "$replay" --model=h100 "$scratch/small"
check "says which there are" grep -q 'model=h100: expected h200$' \
	"$scratch/err"
exits 3 "a model and no device" "$replay" --model=h200 --device=host:1 \
	"$scratch/small"
exits 1 "a model and a driver that fails" with host.fail:page_create@1+:driver \
	"$replay" --model=h200 "$scratch/small"
check "the driver's word comes through" grep -q 'page_create' "$scratch/err"

# ---- a longer one ----------------------------------------------------------

awk 'BEGIN {
	srand(3)
	for (i = 1; i <= 20000; i++) {
		print "a", i, int(exp(rand() * 14) + 1), i % 4
		if (i > 300) {
			do { k = i - 300 + int(rand() * 300) } while (k in gone)
			gone[k] = 1
			print "f", k
		}
	}
}' >"$scratch/long"
want=$(awk '
	$1 == "a" { b[$2] = $3; n += $3; if (n > p) p = n }
	$1 == "f" { n -= b[$2] }
	END { printf "(%d, %d, %d)", NR, p, n }' "$scratch/long")
for conf in vm:on vm:off; do
	exits 0 "a random one with checks, $conf" with "$conf" \
		"$replay" --check=100 --json "$scratch/long"
	json_is "d['events'], d['peak_requested_bytes'],
		d['final_requested_bytes']" "$want" "all counts are exact"
done
exits 0 "without loading" "$replay" --no-load --json "$scratch/long"
json_is "d['events'], d['peak_requested_bytes'], d['final_requested_bytes']" \
	"$want" "all counts are exact"

# ---- the course of memory ----------------------------------------------------

at=$(awk '
	$1 == "a" { b[$2] = $3; n += $3 }
	$1 == "f" { n -= b[$2] }
	NR % 7 == 0 && NR < 15 { printf "(%d, %d), ", NR, n }' "$scratch/long")
for way in --check=3 --no-load --policy=direct; do
	exits 0 "samples, $way" "$replay" "$way" --passes=2 --sample=7 --json \
		"$scratch/long"
	json_is "[(s['events'], s['requested_bytes']) for s in d['samples'][:2]]" \
		"[${at%, }]" "hold what the trace says"
	json_is "[len([s for s in d['samples'] if s['pass'] == p]) - d['events'] // 7
		for p in (1, 2)], all(s['requested_bytes'] <= s['allocated_bytes']
		<= s['reserved_bytes'] <= d['peak_reserved_bytes']
		for s in d['samples'])" "([0, 0], True)" "of each pass, in bounds"
done
if python3 -c 'import matplotlib' 2>/dev/null; then
	exits 0 "samples to draw" "$replay" --sample=7 --json "$scratch/long"
	cp "$scratch/out" "$scratch/samples"
	echo '{"trace": "long", "allocator": "another <pool>", "device": "X",
		"date": "Then", "samples": [[7, 5000000], [14, 9000000]]}' \
		>"$scratch/native"
	draw="python3 -B $top_srcdir/docs/plots/memory.py --out=$scratch"
	exits 0 "are drawn" $draw --command=command --machine=Machine \
		--date=Today "$scratch/native" "$scratch/samples"
	for text in 'on host:0; Machine; Today' 'another &lt;pool&gt; on X; Then' \
		'gpumem, reserved' 'device memory, GiB'; do
		check "the figure says: $text" sh -c \
			'tr "\n" " " <"$1" | grep -q "$2"' sh \
			"$scratch/memory.svg" "$text"
	done
	sed 's/long/short/' "$scratch/native" >"$scratch/other"
	exits 2 "not beside another program's" $draw --command=command \
		--machine=Machine --date=Today "$scratch/other" \
		"$scratch/samples"
else
	skip "python3 has no matplotlib" "the figure of memory"
fi
exits 0 "no samples" "$replay" --json "$scratch/small"
json_is "'samples' in d" False "unless asked for"
exits 2 "samples as text" "$replay" --sample=7 "$scratch/small"
check "says why" grep -q -e '--sample needs --json' "$scratch/err"

# ---- a device that lags behind ---------------------------------------------

# 40 blocks of 3 MiB on one stream, freed on it, then 40 on another: on an idle
# device the second get the pages of the first; on one that is 10 events behind
# all but those whose fills are not over, and on one that never ends none.
awk 'BEGIN {
	for (i = 1; i <= 40; i++) print "a", i, 3145728, 1
	for (i = 1; i <= 40; i++) print "f", i
	for (i = 41; i <= 80; i++) print "a", i, 3145728, 2
}' >"$scratch/two"
for lag in 0 10 inf; do
	exits 0 "lag $lag" "$replay" --lag=$lag --json --check=7 \
		--device=host:0 "$scratch/two"
	case $lag in
	inf) json_is 'd["lag"]' inf "as it was asked for" ;;
	*) json_is 'd["lag"]' $lag "as it was asked for" ;;
	esac
	cp "$scratch/out" "$scratch/lag.$lag"
done
json_of()
{
	python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["peak_reserved_bytes"] // 3145728)' "$1"
}
check "on an idle device the second blocks get the memory of the first" \
	test "$(json_of "$scratch/lag.0")" -lt 48
check "on one that is behind they get it when the fills are over" \
	test "$(json_of "$scratch/lag.10")" -lt 48
check "on one that never ends by waiting for the other stream's" \
	test "$(json_of "$scratch/lag.inf")" -lt 48
exits 0 "streams that wait for none" env GPUMEM_CONF=stream_waste:1000% \
	"$replay" --lag=inf --json --device=host:0 "$scratch/two"
check "do not get it there" test "$(json_of "$scratch/out")" -ge 80
exits 0 "under a limit the fills are waited for" "$replay" --lag=inf \
	--limit=160MiB --json --device=host:0 "$scratch/two"
exits 0 "the driver's calls are counted too" "$replay" --lag=10 \
	--model=h200 --json --device=host:0 "$scratch/two"
exits 2 "a lag without a pool" "$replay" --lag=10 --policy=direct \
	"$scratch/small"
check "says why" grep -q -e '--lag needs --policy=cached' "$scratch/err"
exits 1 "a lag without streams" env GPUMEM_CONF=host.streams:off "$replay" \
	--lag=10 --device=host:0 "$scratch/small"
check "says why" grep -q 'no streams that fill' "$scratch/err"
exits 2 "a lag that is no number" "$replay" --lag=x "$scratch/small"

# ---- tags with a word of a sleep ---------------------------------------------

# Blocks of 30 sizes share pages, unless they are of several tags.
awk 'BEGIN { for (i = 1; i <= 30; i++) print "a", i, 300000 + i * 4096, 1 }' \
	>"$scratch/sizes"
for tags in 0 1 64; do
	exits 0 "$tags tags" "$replay" --tags=$tags --json --check=1 \
		--device=host:0 "$scratch/sizes"
	json_is 'd["tags"]' $tags "as it was asked for"
	cp "$scratch/out" "$scratch/tags.$tags"
done
check "one tag's blocks share pages as those of none" test \
	"$(json_of "$scratch/tags.1")" -eq "$(json_of "$scratch/tags.0")"
check "those of two do not" test \
	"$(json_of "$scratch/tags.64")" -gt "$(json_of "$scratch/tags.0")"
exits 2 "tags without a pool" "$replay" --tags=2 --policy=direct \
	"$scratch/small"
check "says why" grep -q -e '--tags needs --policy=cached' "$scratch/err"
exits 2 "too many tags" "$replay" --tags=65 "$scratch/small"

# ---- out of memory, and a driver that fails --------------------------------

exits 1 "a limit below one page" "$replay" --limit=1MiB "$scratch/small"
check "says which is the smallest" \
	grep -q 'the smallest is 2097152 bytes' "$scratch/err"
exits 1 "a limit that is too low" "$replay" --limit=2MiB "$scratch/small"
check "says where, and the figures" \
	grep -q 'small:[1-9]: allocation .* out of memory' "$scratch/err"
exits 0 "a limit that is not" "$replay" --limit=16MiB "$scratch/small"
cat >"$scratch/five" <<'END'
# gpumem-trace 1
a 1 2097152 0
a 2 2097152 0
a 3 2097152 0
a 4 2097152 0
a 5 2097152 0
END
for limit in 8MiB 8MB 8m '8 MiB' 8388608 50%; do
	exits 1 "direct, --limit=$limit of 16 MiB" with host.capacity:16MiB \
		"$replay" --policy=direct --limit="$limit" "$scratch/five"
	check "says where" grep -q 'five:6: allocation' "$scratch/err"
	exits 1 "as option limit" with host.capacity:16MiB,limit:"$limit" \
		"$replay" --policy=direct "$scratch/five"
	check "says the same" grep -q 'five:6: allocation' "$scratch/err"
	exits 0 "--limit goes before it" with limit:"$limit" \
		"$replay" --policy=direct --limit=0 "$scratch/five"
done
exits 1 "a part of a device is a limit of a pool" with host.capacity:16MiB \
	"$replay" --limit=50% "$scratch/five"
check "which it names" grep -q 'limit 8.00 MiB' "$scratch/err"
exits 1 "a device that is too small" with host.capacity:2MiB,host.page:4KiB \
	"$replay" "$scratch/small"
exits 1 "a direct limit" "$replay" --policy=direct --limit=2MiB \
	"$scratch/small"
check "says where" grep -q 'small:3: allocation of 4096' "$scratch/err"
for slot in page_create map va_reserve stream_create; do
	exits 1 "when $slot fails" with "host.fail:$slot@1+:driver" \
		"$replay" "$scratch/small"
	check "says so" test -s "$scratch/err"
done
exits 1 "when the driver cannot take memory back" \
	with 'host.fail:page_destroy@1+:driver' "$replay" "$scratch/small"
for nth in 1 2 3; do
	exits 1 "direct, when call $nth fails" with "host.fail:alloc@$nth" \
		"$replay" --policy=direct "$scratch/small"
done
exits 1 "a block of 2^63 bytes" sh -c \
	"printf 'a 1 9223372036854775808 0\n' | '$replay' -"
check "says where" grep -q -e '-:1: allocation' "$scratch/err"

# ---- traces that are none --------------------------------------------------

# bad NAME LINE REASON: in the file "$scratch/bad"
bad()
{
	for load in --json --no-load; do
		exits 1 "$1 ($load)" "$replay" $load "$scratch/bad"
		is "$(cat "$scratch/err")" \
			"gpumem-replay: $scratch/bad:$2: $3" \
			"says file, line and reason"
		check "prints nothing else" test ! -s "$scratch/out"
	done
}

# text NAME LINE REASON CONTENT
text()
{
	printf "$4" >"$scratch/bad"
	bad "$1" "$2" "$3"
}

text "nothing" 1 "no events" ''
text "only comments" 2 "no events" '# gpumem-trace 1\n# x\n'
for version in 0 3 9 21; do
	text "version $version" 1 "not version 1 or 2 of the format" \
		"# gpumem-trace $version\\na 1 1 0\\n"
done
text "no version" 1 "not version 1 or 2 of the format" \
	'# gpumem-trace \na 1 1 0\n'
text "version 10" 1 "not version 1 or 2 of the format" \
	'# gpumem-trace 10\na 1 1 0\n'
text "an empty line" 2 "empty" 'a 1 1 0\n\nf 1\n'
text "another letter" 2 "begins with none of #, a and f" 'a 1 1 0\nx\n'
for line in 'u 1 0' 'r 1 5' 't 1' 'g x'; do
	text "a line of version 2: $line" 3 "begins with none of #, a and f" \
		"# gpumem-trace 1\\na 1 1 0\\n$line\\n"
done
text "a free with a stream in version 1" 2 \
	"unexpected character 0x20 in column 4" 'a 1 1 0\nf 1 0\n'
text "another letter in version 2" 2 \
	"begins with none of #, a, f, g, r, t and u" '# gpumem-trace 2\nx\n'
text "a use without a stream" 3 "STREAM is missing" \
	'# gpumem-trace 2\na 1 1 0\nu 1\n'
text "a use of what is not live" 3 "ID 2 is not live" \
	'# gpumem-trace 2\na 1 1 0\nu 2 0\n'
text "a resize without bytes" 3 "BYTES is missing" \
	'# gpumem-trace 2\na 1 1 0\nr 1\n'
text "a resize of what is not live" 4 "ID 1 is not live" \
	'# gpumem-trace 2\na 1 1 0\nf 1\nr 1 5\n'
text "a resize to a sum above 64 bits" 4 "the live bytes are above 64 bits" \
	'# gpumem-trace 2\na 1 1 0\na 2 1 0\nr 1 18446744073709551615\n'
text "a resize with too many fields" 3 \
	"unexpected character 0x20 in column 8" \
	'# gpumem-trace 2\na 1 1 0\nr 1 5 0 0\n'
text "a time that goes back" 4 "NS goes back" \
	'# gpumem-trace 2\nt 9\na 1 1 0\nt 8\n'
text "a time that is none" 2 "NS is not a number" '# gpumem-trace 2\nt x\n'
text "a tag with a tab" 2 "unexpected character 0x09 in column 4" \
	'# gpumem-trace 2\ng x\ty\n'
text "a tag without its space" 2 "unexpected character 0x78 in column 2" \
	'# gpumem-trace 2\ngx\n'
text "no ID" 1 "ID is missing" 'a\n'
text "no stream" 1 "STREAM is missing" 'a 1 1\n'
text "no number" 1 "BYTES is not a number" 'a 1 -1 0\n'
text "two spaces" 1 "ID is not a number" 'a  1 1 0\n'
text "too many fields" 1 "unexpected character 0x20 in column 8" 'a 1 1 0 0\n'
text "a carriage return" 1 "unexpected character 0x0d in column 8" \
	'a 1 1 0\r\n'
text "a zero byte" 2 "unexpected character 0x00 in column 4" \
	'a 1 1 0\nf 1\000\n'
text "a number above 64 bits" 2 "BYTES is above 64 bits" \
	'a 1 1 0\na 2 18446744073709551616 0\n'
text "a number far above" 1 "ID is above 64 bits" \
	'f 99999999999999999999999999\n'
text "a sum above 64 bits" 2 "the live bytes are above 64 bits" \
	'a 1 1 0\na 2 18446744073709551615 0\n'
text "an ID that is live" 3 "ID 7 is live already" \
	'a 7 1 0\na 8 1 0\na 7 2 0\n'
text "an ID that is unknown" 2 "ID 8 is not live" 'a 7 1 0\nf 8\n'
text "an ID freed twice" 3 "ID 7 is not live" 'a 7 1 0\nf 7\nf 7\n'
text "a line without its end" 2 "cut off: the line has no end" \
	'a 7 1 0\nf 7'
{
	printf 'a 1 1 0\n#'
	awk 'BEGIN { while (i++ < 5000) printf "x" }'
	printf '\n'
} >"$scratch/bad"
bad "a line too long" 2 "longer than 4096 bytes"
awk 'BEGIN { while (i++ < 1100) print "a", i, 1, i }' >"$scratch/bad"
bad "too many streams" 1024 "more than 1024 different streams"

# ---- compressed files that are broken --------------------------------------

gzip -c "$scratch/long" >"$scratch/long.gz"
size=$(wc -c <"$scratch/long.gz")
for part in 1 5 19 50 99; do
	head -c "$((size * part / 100))" "$scratch/long.gz" >"$scratch/bad"
	exits 1 "$part % of a compressed trace" "$replay" "$scratch/bad"
	check "says so with its line" grep -qE \
		'bad:[0-9]+: the file is cut off: gzip' "$scratch/err"
	exits 1 "and found while replaying" "$replay" --no-load "$scratch/bad"
done
head -c "$((size - 4))" "$scratch/long.gz" >"$scratch/bad"
exits 1 "a compressed trace without its checksum" "$replay" "$scratch/bad"
{
	head -c "$((size - 8))" "$scratch/long.gz"
	printf 'abcdefgh'
} >"$scratch/bad"
exits 1 "a compressed trace with a wrong checksum" "$replay" "$scratch/bad"
check "says so with its line" grep -qE 'bad:[0-9]+: damaged gzip data' "$scratch/err"

# ---- manners ---------------------------------------------------------------

exits 1 "a trace that is not there" "$replay" "$scratch/nothing"
check "says so" grep -q 'nothing: No such file' "$scratch/err"
exits 1 "a directory" "$replay" "$scratch"
exits 2 "no trace" "$replay"
exits 2 "two traces" "$replay" "$scratch/small" "$scratch/small"
exits 2 "a policy that is none" "$replay" --policy=nonsense "$scratch/small"
for option in --passes=0 --passes=x --passes=-1 --check=0 --sample=0 --limit=12XiB \
	--limit=1.2.3MiB --limit= --limit=0% --limit=101%; do
	exits 2 "$option" "$replay" "$option" "$scratch/small"
done
exits 3 "a device that is not there" "$replay" --device=host:1 \
	"$scratch/small"
exits 3 "a backend that is not there" "$replay" --device=nonsense \
	"$scratch/small"

done_testing
