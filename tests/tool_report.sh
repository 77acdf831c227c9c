#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-report: what it says is live at the peak and at the end is, tag by tag and
# to the byte, what a count of the same trace in awk says, for small programs and
# for every recorded one; and the same of their recordings and snapshots.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool report
need_tool trace
need_tool replay
report=$tools/gpumem-report
trace=$tools/gpumem-trace
replay=$tools/gpumem-replay
recording=$scratch/recording

common_manners report

# record TRACE: records its replay on the simulated GPU
record()
{
	rm -f "$recording"
	with "record:$recording,record_max:16MiB" "$replay" --device=host:0 \
		--json "$1" >"$scratch/replayed"
}

# counted peak|end TRACE: "TAG BYTES BLOCKS" of each tag that has live blocks then,
# by other means. Resizes and frees as in version 2.
counted()
{
	awk -v moment="$1" '
		function step() {
			if ($1 == "g")
				tag = NF > 1 ? $2 : "-"
			else if ($1 == "a") {
				of[$2] = tag == "" ? "-" : tag
				size[$2] = $3
				live += $3
			} else if ($1 == "r") {
				live += $3 - size[$2]
				size[$2] = $3
			} else if ($1 == "f") {
				live -= size[$2]
				delete size[$2]
			}
		}
		FNR == 1 { pass++; live = 0; tag = ""; split("", size) }
		pass == 1 {
			step()
			if (live > peak) {
				peak = live
				at = FNR
			}
			last = FNR
		}
		pass == 2 && FNR <= (moment == "peak" ? at : last) { step() }
		END {
			for (id in size) {
				bytes[of[id]] += size[id]
				blocks[of[id]]++
			}
			for (tag in bytes)
				printf "%s %.0f %d\n", tag, bytes[tag], blocks[tag]
		}' "$2" "$2" | sort
}

# reported peak|end: the same, of the text that the last `exits` printed
reported()
{
	awk -v head="Live at the $1, by tag:" '
		on && NF == 0 { exit }
		on && $1 != "size" { print $10, $3, $6 }
		$0 == head { on = 1 }' "$scratch/out" | sort
}

# explains NAME TRACE FILE: the report of the file, by tag and to the byte
explains()
{
	exits 0 "$1" env COLUMNS=200 "$report" "$3"
	for moment in peak end; do
		is "$(reported $moment)" "$(counted $moment "$2")" \
			"$1: the tags at the $moment"
	done
}

# ---- a small program -----------------------------------------------------------

cat >"$scratch/small" <<'END'
# gpumem-trace 2 of a test
t 1000000000
a 7 1048576 0
g model/layer
a 1 4096 9
t 1500000000
a 8 5000000000 0
r 7 2097152
g
a 2 300 0
f 7
t 2000000000
f 8
g cache
a 3 300 0
a 4 100 0
u 4 9
END
explains "a trace" "$scratch/small" "$scratch/small"
is "$(reported peak | tr '\n' ,)" "- 2097452 2,model/layer 5000004096 2," \
	"a resized block has the tag that it was allocated with"
is "$(tr '\n' ' ' <"$scratch/out" |
	grep -c "small: trace: 10 events, 2 streams  *moment ")" 1 \
	"says what it is"
check "says the peak" grep -qE \
	'^peak +5 +1\.500000 +4 +4\.66 GiB +- +- +-$' "$scratch/out"
check "lists the largest block" grep -qE \
	'^4\.66 GiB +5000000000 +- +1 +0 +1\.500000 +model/layer$' \
	"$scratch/out"
exits 0 "as JSON" "$report" --json "$scratch/small"
valid_json "it is JSON"
json_is "[(t['tag'], t['bytes'], t['blocks'], t['largest_bytes'],
	t['oldest_seconds']) for t in d['peak']['tags']]" \
	"[('model/layer', 5000004096, 2, 5000000000, 1.0), (None, 2097452, 2, 2097152, 1.0)]" \
	"has the tags at the peak"
json_is "[(t['tag'], t['bytes'], t['oldest_seconds'])
	for t in d['end']['tags']]" \
	"[('model/layer', 4096, 1.0), ('cache', 400, 2.0), (None, 300, 1.5)]" \
	"and what is live at the end"
json_is "[[d[m][k] for k in ('event', 'seconds', 'blocks', 'requested_bytes',
	'reserved_bytes', 'unused_bytes', 'unreleasable_bytes')]
	for m in ('peak', 'end')], d['most_unreleasable']" \
	"([[5, 1.5, 4, 5002101548, None, None, None], [10, 2.0, 4, 4796, None, None, None]], None)" \
	"and the moments"
json_is "[(b['bytes'], b['seconds'], b['stream'], b['tag'], b['address'])
	for b in d['end']['largest']]" \
	"[(4096, 1.0, 1, 'model/layer', None), (300, 1.5, 0, None, None), (300, 2.0, 0, 'cache', None), (100, 2.0, 0, 'cache', None)]" \
	"and the blocks, of one size the older one first"
exits 0 "two blocks" "$report" --json --blocks=2 "$scratch/small"
json_is "len(d['end']['largest']), len(d['end']['tags'])" "(2, 3)" \
	"are listed, and all tags"
exits 0 "no blocks" "$report" --blocks=0 "$scratch/small"
is "$(grep -c 'largest blocks' "$scratch/out")" 0 "are listed"
gzip -c "$scratch/small" >"$scratch/small.gz"
explains "the same, compressed" "$scratch/small" "$scratch/small.gz"
exits 0 "from standard input" sh -c "COLUMNS=200 '$report' - <'$scratch/small'"
is "$(reported peak)" "$(counted peak "$scratch/small")" "says the same"

# A leak: 8 bytes in each step of a loop that also has what it frees, and what is
# allocated once.
awk 'BEGIN {
	print "# gpumem-trace 2\nt 0\ng weights\na 1 1000 0"
	for (i = 0; i <= 40; i++)
		printf "t %d\ng leak\na %d 8 0\ng step\na %d 100 0\n%s", i,
			100 + i, 200 + i, i < 40 ? "f " 200 + i "\n" : ""
}' >"$scratch/leak"
exits 0 "a leak" env COLUMNS=200 "$report" "$scratch/leak"
is "$(sed -n '/quarter of the run/,/^$/p' "$scratch/out" | tr -s ' ' |
	sed 's/^ //' | tr '\n' ,)" \
	"Live at the end, by the quarter of the run in which it was allocated:,first second third last grows tag,1000 B 0 B 0 B 0 B no weights,80 B 80 B 80 B 88 B yes leak,0 B 0 B 0 B 100 B no step," \
	"is the tag that grows"
exits 0 "the same without times" sh -c \
	"sed '/^t/d' '$scratch/leak' | '$report' --json -"
json_is "[(t['tag'], t['grows'], sum(t['quarter_bytes']) == t['bytes'],
	t['quarter_bytes'][0] > 0) for t in d['end']['tags']]" \
	"[('weights', False, True, True), ('leak', True, True, True), ('step', False, True, False)]" \
	"by events"
exits 0 "its page" "$report" --html "$scratch/leak"
check "says so too" grep -qF \
	'<td>80 B</td><td>88 B</td><td>yes</td><td>leak</td>' "$scratch/out"

# What ends with the peak's event, or with the last one, is over.
printf '# gpumem-trace 2\na 1 10 0\na 2 5 0\nr 1 20\nf 2\n' >"$scratch/edges"
explains "a peak by a resize, and an end by a free" "$scratch/edges" \
	"$scratch/edges"
printf 'a 1 100 0\nf 1\n' >"$scratch/freed"
exits 0 "a program that frees all" "$report" "$scratch/freed"
check "leaves nothing" grep -qx 'Nothing is live at the end.' "$scratch/out"
check "has no times" grep -qE '^peak +1 +- +1 +100 B ' "$scratch/out"
printf 'a 1 0 0\na 2 0 0\nf 1\n' >"$scratch/zero"
exits 0 "blocks of no bytes" "$report" --json "$scratch/zero"
json_is "d['peak']['event'], d['end']['blocks'], d['end']['requested_bytes']" \
	"(0, 1, 0)" "have no peak"

# ---- the page and the picture ------------------------------------------------------

cat >"$scratch/page.py" <<'END'
import base64, html.parser, json, re, sys, xml.dom.minidom

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.text, self.rows, self.scripts = [], {}, [], []
        self.ids = []

    def handle_starttag(self, tag, attrs):
        assert not {'src', 'href', 'onload'} & dict(attrs).keys(), (tag, attrs)
        if tag != 'meta':
            self.open.append(tag)
        if tag == 'tr':
            self.rows.append([])
        if tag == 'script':
            self.scripts.append('')
            self.ids.append(dict(attrs).get('id'))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open[-1:] == ['td']:
            self.rows[-1].append(data)
        elif self.open[-1:] == ['script']:
            self.scripts[-1] += data
        elif self.open:
            self.text.setdefault(self.open[-1], []).append(data.strip())

text = open(sys.argv[1], encoding='utf-8').read()
d = json.load(open(sys.argv[2]))
page = Page()
page.feed(text)
page.close()
assert not page.open, page.open
assert not re.search(r'https?://(?!www.w3.org/2000/svg)|@import|url\(', text)
scripts = dict(zip(page.ids, page.scripts))
data = json.loads(scripts['data'])
bins = data['bins']
assert len(bins) == 800
for row in bins:
    assert sum(row[3:]) == row[0] and len(row) == 3 + len(data['names'])
peak = d['peak']['requested_bytes']
assert max(row[0] for row in bins) == bins[data['peak']][0] == peak
if d['peak']['reserved_bytes'] is not None:
    assert bins[data['peak']][1] == d['peak']['reserved_bytes']
    assert max(0, bins[data['peak']][2] - peak) == \
        d['peak']['unreleasable_bytes']
assert bins[-1][0] >= d['end']['requested_bytes']
names = [t['tag'] or 'without a tag' for t in d['peak']['tags']][:7]
assert data['names'][:len(names)] == names, (data['names'], names)
for i, t in enumerate(d['peak']['tags'][:7]):
    assert bins[data['peak']][3 + i] == t['bytes']
for m in 'peak', 'end':
    for t in d[m]['tags']:
        assert any(row[1:2] == [str(t['bytes'])] and
                   row[-1] == (t['tag'] or '-') for row in page.rows), t
svg = re.search(r'<svg.*</svg>', text, re.S).group()
picture = xml.dom.minidom.parseString(svg)
areas = [p for p in picture.getElementsByTagName('path')
         if re.fullmatch('c[0-7]', p.getAttribute('class'))]
assert len(areas) == len(data['names'])
legend = [t.firstChild.data for t in picture.getElementsByTagName('text')]
assert [n for n in legend if n in data['names']] == data['names'][::-1]

# The map: blocks that are live, by the event after which they are.
def numbers(text):
    number = shift = 0
    for byte in base64.b64decode(text, validate=True):
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield number
            number = shift = 0
    assert not shift

def ranged(info, unit):
    pool, begin, at = max((r for r in info['ranges'] if r[2] <= unit),
                          key=lambda r: r[2])
    return pool, int(begin, 16) + (unit - at) * info['unit']

def check_map(info, text):
    kind = {key: row[0] for key, row in info['kinds'].items()}
    rest, spans, live, ns, total = numbers(text), [], {}, 0, 0
    places, mapped = [], {}
    wanted = dict(zip(data['events'], (row[0] for row in bins)))
    for event in range(1, info['events'] + 1):
        ns += next(rest)
        what = next(rest)
        if what in (kind['alloc'], kind['live']):
            live[len(spans)] = [next(rest) for _ in range(4)] + [ns]
            spans.append(live[len(spans)])
            total += spans[-1][1]
        elif what in (kind['resize'], kind['free']):
            block = list(live.pop(len(spans) - next(rest)))
            total -= block[1]
            if what == kind['resize']:
                block[1] = next(rest)
                live[len(spans)] = block
                spans.append(block)
                total += block[1]
        elif what in (kind['map'], kind['unmap'], kind['pool_end']):
            for back in iter(lambda: next(rest), 0):
                del mapped[len(places) - back]
            size = next(rest) if what == kind['map'] else 0
            if size:
                unit, twin, origin = (next(rest) for _ in range(3))
                page = places[len(places) - twin][1] if twin else len(places)
                mapped[len(places)] = (size, page)
                places.append((ranged(info, unit), page))
                assert not origin or ranged(info, origin - 1)
        elif what != kind['use']:
            next(rest)
        if event in wanted:
            assert wanted.pop(event) == total, event
        for m in 'peak', 'end':
            if d[m]['event'] == event:
                check_live(info, m, live)
                check_mapped(info, d[m], mapped)
    assert len(places) == info['places']
    assert next(rest, None) is None and len(spans) == info['spans']
    assert not wanted or list(wanted) == [0], wanted

def check_mapped(info, moment, mapped):
    size = sum(s for s, page in mapped.values())
    twice = size - sum({page: s for s, page in mapped.values()}.values())
    known = moment['mapped_bytes'] is not None
    assert known == (info['places'] > 0)
    assert not known or (size, twice, info['ever'] - size) == \
        (moment['mapped_bytes'], moment['twice_mapped_bytes'],
         moment['hole_bytes'])
    assert [moment['event'], size, twice] in info['mapped']

def check_live(info, moment, live):
    tags, blocks = {}, []
    for unit, size, stream, tag, ns in live.values():
        tag = info['paths'].get(str(tag)) if tag else None
        pool, address = ranged(info, unit)
        tags[tag] = tags.get(tag, 0) + size
        blocks.append((size, address, pool, stream, tag, round(ns / 1e9, 6)))
    assert tags == {t['tag']: t['bytes'] for t in d[moment]['tags']}
    assert len(blocks) == d[moment]['blocks']
    for b in d[moment]['largest']:
        assert (b['bytes'], b['address'] // info['unit'] * info['unit'],
                b['pool'], b['stream'], b['tag'],
                round(b['seconds'], 6)) in blocks, b

has_map = 'map-data' in scripts
assert has_map == (d['most_unreleasable'] is not None and
                   (d['peak']['blocks'] > 0 or
                    d['peak']['mapped_bytes'] is not None))
if has_map:
    check_map(json.loads(scripts['map-data']), scripts['map-events'])
print('right', svg == (open(sys.argv[3]).read().strip()
                       if len(sys.argv) > 3 else svg))
END

# the_page NAME FILE: what the page says is what the JSON says
the_page()
{
	exits 0 "$1: the page" "$report" -o "$scratch/page.html" "$2"
	is "$(cat "$scratch/out" "$scratch/err")" "" "prints nothing"
	exits 0 "$1: the picture" "$report" --svg "$2"
	mv "$scratch/out" "$scratch/picture.svg"
	"$report" --json "$2" >"$scratch/expected"
	if have_python; then
		is "$(python3 "$scratch/page.py" "$scratch/page.html" \
			"$scratch/expected" "$scratch/picture.svg" 2>&1 |
			tail -n 3)" "right True" \
			"$1: both have the same figures"
	else
		skip "there is no python3" "$1: both have the same figures"
	fi
}

# A browser that does not come up, or not in time, says nothing about the page.
chromium=$(command -v chromium || command -v chromium-browser)

# browses NAME WORDS: the page's own check of what it shows; and what that is
browses()
{
	if [ -n "$chromium" ]; then
		HOME=$scratch timeout -k 5 100 "$chromium" --headless \
			--no-sandbox --disable-gpu --dump-dom \
			"file://$scratch/page.html#${hash:-check}" \
			>"$scratch/dom" 2>/dev/null
	else
		: >"$scratch/dom"
	fi
	if ! grep -q '</html>' "$scratch/dom"; then
		skip "there is no chromium that answers" "$1, in a browser"
		return
	fi
	is "$(grep -o 'data-checked="[a-z]*"' "$scratch/dom")" \
		'data-checked="true"' "$1, in a browser: adds up"
	[ $# -eq 1 ] || said readout "$2"
}

# said ID WORDS: what the element of the last page has
said()
{
	if grep -q '</html>' "$scratch/dom"; then
		is "$(sed -n "s/.*id=\"$1\"[^>]*>\([^<]*\)<.*/\1/p" \
			"$scratch/dom")" "$2" "and $1"
	else
		skip "there is no chromium that answers" "$1"
	fi
}

the_page "a trace" "$scratch/small"
browses "a trace" "second 1.50125: requested 4.66 GiB. model/layer 4.66 GiB, without a tag 2 MiB, all other tags 0 B"
hash="from=1.2&to=1.7" browses "a part of it"
said readout "second 1.50031: requested 4.66 GiB. model/layer 4.66 GiB, without a tag 2 MiB, all other tags 0 B"
check "where all is shown there is nothing to go back to" grep -qF \
	'<button id="whole" disabled>' "$scratch/page.html"
exits 0 "on standard output" "$report" --html "$scratch/small"
check "the page is the same" cmp "$scratch/out" "$scratch/page.html"
exits 0 "the picture into a file" "$report" --svg --output="$scratch/file" \
	"$scratch/small"
check "is the same" cmp "$scratch/file" "$scratch/picture.svg"
mkdir "$scratch/<b>&"
printf '# gpumem-trace 2\ng </script><b>&"\342\200\256\na 1 7 0\ng \\\na 2 9 0\n' \
	>"$scratch/<b>&/markup"
exits 0 "names that are markup" "$report" -o "$scratch/page.html" \
	"$scratch/<b>&/markup"
check "are shown as text" grep -qF \
	'<td>&lt;/script&gt;&lt;b&gt;&amp;&quot;\xe2\x80\xae</td>' \
	"$scratch/page.html"
is "$(grep -c '<b>' "$scratch/page.html")" 0 "and nowhere else"
browses "they" "event 1.99875: requested 16 B. \ 9 B, &lt;/script&gt;&lt;b&gt;&amp;\"$(printf '\342\200\256') 7 B"
awk 'BEGIN {
	print "# gpumem-trace 2"
	for (i = 1; i <= 12; i++)
		printf "g tag %d\na %d %d 0\n", i, i, i
	for (i = 1; i <= 12; i++)
		print "f", i
}' >"$scratch/many"
the_page "more tags than colours" "$scratch/many"
check "the others are one" grep -q '>all other tags<' "$scratch/page.html"
the_page "a program that frees all" "$scratch/freed"
the_page "blocks of no bytes" "$scratch/zero"

# ---- its recording ----------------------------------------------------------------

record "$scratch/small"
exits 0 "a recording" "$report" --json "$recording"
json_is "[(d[m]['requested_bytes'], d[m]['reserved_bytes'] >=
	d[m]['requested_bytes'], d[m]['unused_bytes'] ==
	d[m]['reserved_bytes'] - d[m]['requested_bytes']) for m in
	('peak',)], d['program'], d['end']['blocks']" \
	"([(5002101548, True, True)], 'gpumem-replay', 0)" \
	"has what was reserved"
json_is "[b['bytes'] for b in d['peak']['largest']],
	len({b['address'] for b in d['peak']['largest']})" \
	"([5000000000, 2097152, 4096, 300], 4)" "and addresses"
json_is "0 < d['peak']['unreleasable_bytes'] <=
	d['most_unreleasable']['unreleasable_bytes'] < 4 * 2 * 2**20" True \
	"and what pages lose"
exits 0 "of a pool" "$report" --json --pool=replay "$recording"
json_is "d['peak']['requested_bytes']" 5002101548 "is that of the pool"
exits 1 "of a number that no pool has" "$report" --json --pool=2 "$recording"
check "it is refused" grep -q 'it has no pool of that number' "$scratch/err"

# A replay tags no blocks: tags are written into its recording, as many as sizes
# have digits.
cat >"$scratch/tag.py" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
header, chunk, chunks, count = struct.unpack_from('=IIQQ', data, 24)
used, = struct.unpack_from('=Q', data, 48)
for number in range(1, 17):
    path = (b'digits/%d' % number).ljust(16, b'\0')
    struct.pack_into('=IIQ16s', data, header + used, 32, 2, number, path)
    used += 32
struct.pack_into('=Q', data, 48, used)
for begin in range(chunks, len(data) - chunk + 1, chunk):
    large = 0
    for at in range(begin + 64, begin + chunk, 16):
        kind, high = data[at + 6], data[at + 7]
        value, = struct.unpack_from('=Q', data, at + 8)
        if not kind:
            break
        if kind in (16, 17):
            size = large or (value & 0xffffff) | high << 24
            struct.pack_into('=H', data, at + 4, len(str(size)))
        large = 0
        if kind == 4:
            large = value
open(sys.argv[2], 'wb').write(data)
END

# digits FILE: the trace with a tag for each block, as many as its size has digits
digits()
{
	awk 'NR == 1 { print "# gpumem-trace 2" }
		$1 == "a" { print "g digits/" length($3) }
		$1 != "#" { print }' "$1" >"$scratch/digits"
}

# the_recording NAME TRACE: tagged, it says by tag what the trace does
the_recording()
{
	record "$2"
	digits "$2"
	python3 "$top_srcdir/tests/recording_first.py" "$recording" \
		"$scratch/first"
	python3 "$scratch/tag.py" "$scratch/first" "$scratch/tagged"
	exits 0 "$1, recorded" env COLUMNS=200 "$report" "$scratch/tagged"
	is "$(reported peak)" "$(counted peak "$scratch/digits")" \
		"$1, recorded: the tags at the peak"
	the_page "$1, recorded" "$scratch/tagged"
	browses "$1, recorded"
	"$trace" --to=trace "$scratch/tagged" >"$scratch/back"
	explains "$1, recorded, as a trace" "$scratch/back" "$scratch/back"
	is "$(reported peak)" "$(counted peak "$scratch/digits")" \
		"$1, recorded, as a trace: the same"
	"$trace" --to=pytorch -o "$scratch/pickle" "$recording"
	"$report" --json "$recording" >"$scratch/expected"
	exits 0 "$1, as PyTorch's snapshot" "$report" --json "$scratch/pickle"
	json_is "all(d[m][k] == e[m][k] for e in
		[json.load(open('$scratch/expected'))] for m in ('peak', 'end')
		for k in ('requested_bytes', 'blocks', 'unreleasable_bytes'))" \
		True "says the same"
}

# A replay resizes no block: the use of one by another stream is made a resize, to
# 77 bytes.
cat >"$scratch/resize.py" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
chunk, chunks = struct.unpack_from('=IQ', data, 28)
for at in range(chunks, len(data), 16):
    value, = struct.unpack_from('=Q', data, at + 8)
    if (at - chunks) % chunk >= 64 and data[at + 6:at + 8] == b'\x13\0':
        data[at + 6] = 20
        struct.pack_into('=Q', data, at + 8, value >> 24 << 24 | 77)
open(sys.argv[2], 'wb').write(data)
END

if have_python; then
	the_recording "a program" "$scratch/small"
	python3 "$scratch/resize.py" "$scratch/tagged" "$scratch/resized"
	the_page "one that resizes" "$scratch/resized"
	is "$("$trace" "$scratch/resized" | grep -c '1  resized$')" 1 \
		"it resizes a block"
	browses "one that resizes"
fi

# ---- every recorded program -----------------------------------------------------------

for name in $(recorded); do
	gzip -dc "$top_srcdir/tests/traces/$name.trace.gz" >"$scratch/plain"
	digits "$scratch/plain"
	explains "$name" "$scratch/digits" "$scratch/digits"
	the_page "$name" "$scratch/digits"
	case $name in
	llama_generate | prefetch_streams) ;;
	*) continue ;;
	esac
	if have_python; then
		the_recording "$name" "$scratch/plain"
	else
		skip "there is no python3" "$name, recorded"
	fi
done

# ---- addresses that are known -------------------------------------------------------

# Pages of 2 MiB: what is in use of them, less what was requested.
cat >"$scratch/snapshot.py" <<'END'
import pickle, sys

MB = 1 << 20
first = 1700000000000000
events = [
    ('alloc', 20 * MB, 1 * MB),            # one page: 1 MiB
    ('alloc', 21 * MB + MB // 2, 1 * MB),  # two: 2 MiB
    ('alloc', 41 * MB, 6 * MB),            # four more, and 2 MiB
    ('free_requested', 20 * MB, 1 * MB),   # both pages of it still in use: 5 MiB
    ('free_requested', 41 * MB, 6 * MB),   # one block of 1 MiB in two pages: 3
    ('alloc', 2 ** 64 - 1, 1),             # the last page, but for a byte
    ('oom', 0, 7 * MB),
]
if len(sys.argv) > 2:
    del events[5]
entries = []
for at, (action, address, size) in enumerate(events):
    entry = {'action': action, 'addr': address, 'size': size, 'stream': 0,
             'time_us': first + at * 1000000, 'frames': []}
    if action == 'oom':
        entry = {'action': action, 'device_free': 1, 'size': size,
                 'stream': 0, 'time_us': entry['time_us'], 'frames': []}
    entries.append(entry)
pickle.dump({'segments': [], 'device_traces': [entries],
             'allocator_settings': {}, 'external_annotations': []},
            open(sys.argv[1], 'wb'), 4)
END
if have_python; then
	python3 "$scratch/snapshot.py" "$scratch/pickle"
	exits 0 "a snapshot" "$report" --json "$scratch/pickle"
	json_is "[(d[m]['seconds'], d[m]['requested_bytes'],
		d[m]['unreleasable_bytes'], d[m]['reserved_bytes'])
		for m in ('peak', 'most_unreleasable', 'end')]" \
		"[(2.0, $((8 << 20)), $((4 << 20)), None), (3.0, $((7 << 20)), $((5 << 20)), None), (6.0, $(((1 << 20) + 1)), $(((5 << 20) - 1)), None)]" \
		"has the pages that blocks keep"
	json_is "[(o['seconds'], o['bytes'], o['status'], o['pool'],
		o['requested_bytes']) for o in d['out_of_memory']]" \
		"[(6.0, $((7 << 20)), 'GPUMEM_NO_MEMORY', 1, $(((1 << 20) + 1)))]" \
		"and the out of memory"
	json_is "['advice' in o for o in d['out_of_memory']]" "[False]" \
		"of which nobody said what would help"
	exits 0 "in words" "$report" "$scratch/pickle"
	check "too" grep -qE '^ 6\.000000 +1 +7 MiB +1 MiB +0 B +' \
		"$scratch/out"
	the_page "it" "$scratch/pickle"
	python3 "$scratch/snapshot.py" "$scratch/pickle" known
	the_page "a map" "$scratch/pickle"
	# A browser that is slow, or prints, has drawn no frame yet.
	sed -i 's|^<script>$|&requestAnimationFrame = () => 0;|' \
		"$scratch/page.html"
	browses "it" "second 2.00312: requested 8 MiB, unreleasable 4 MiB. without a tag 8 MiB"
	said happens "Event 4 of 7, second 2: allocated: 6 MiB, without a tag, stream 0. 3 blocks, 8 MiB."
	said tip "0x1400000: 1 MiB, without a tag, stream 0, 1048576 bytes, 2 seconds old, pool 1"
	cat >"$scratch/keys" <<'END'
<script>
const press = (element, ...keys) => keys.forEach((key) =>
	element.dispatchEvent(new KeyboardEvent('keydown', {key})));
const [view] = views;
press(view.canvas, 'ArrowRight', 'ArrowDown', '+', '+');
const wide = view.to - view.from, from = view.from;
press(view.canvas, '-', 'Escape');
slider.value = 3;
slider.dispatchEvent(new Event('input'));
const slid = [map.event, map.sum, data.events[at]];
press(figure, 'End', 'Home');
document.body.dataset.keys = [view.cell, map.info.end / wide, from > 0,
	view.from, view.to === map.info.end, ...slid, map.event, map.sum];
const area = picture.querySelector('path.c0'), path = area.getAttribute('d');
const peak = picture.querySelector('.peak'), states = [];
const note = () => states.push([location.hash, slider.min, slider.max, at,
	map.event, area.getAttribute('d') === path, back.disabled,
	peak.getAttribute('transform'), peak.getAttribute('visibility')].join(' '));
press(figure, 'p', '+');
note();
press(figure, 'End', 'ArrowRight');
note();
press(figure, 'p', 'Escape');
note();
press(figure, '-');
note();
const box = picture.getBoundingClientRect();
const point = (type, second) => picture.dispatchEvent(new PointerEvent(type,
	{bubbles: true, clientX: box.left +
		(data.left + 800 * second / data.last) * box.width / data.width}));
point('pointerdown', 4.5);
point('pointermove', 3.5);
point('pointerup', 3.5);
states.push(shown.from.toFixed(2) + '-' + shown.to.toFixed(2));
states.push(shown.bins.map((row) => row[0]).filter((bytes, i, all) =>
	bytes !== all[i - 1]).join(' '));
note();
press(figure, 'p');
note();
document.body.dataset.zoom = states;
</script></body></html>
END
	sed -i 's|</body></html>||' "$scratch/page.html"
	cat "$scratch/keys" >>"$scratch/page.html"
	browses "its keys and slider"
	if grep -q '</html>' "$scratch/dom"; then
		is "$(grep -o 'data-keys="[^"]*"' "$scratch/dom")" \
			'data-keys="801,4,true,0,true,3,2097152,3,2,1048576"' \
			"lead to where they should"
		is "$(grep -o 'data-zoom="[^"]*"' "$scratch/dom" | tr ,'"' '\n\n' |
			sed '1d; $d' | sed 's/&amp;/\&/')" "#from=1&to=3.5 3 5 320 4 false false translate(0 0) inherit
#from=1.003125&to=3.503125 3 5 799 5 false false translate(-1 0) inherit
 0 7 320 4 true true  inherit
 0 7 320 4 true true  inherit
3.50-4.50
7340032 1048576
#from=3.5&to=4.5 5 6 0 5 false false translate(-1520 0) hidden
 0 7 320 4 true true  inherit" \
			"and to parts of the time, and back"
	else
		skip "there is no chromium that answers" "keys and slider"
	fi
else
	skip "there is no python3" "a snapshot"
fi

exits 1 "a program that is out of memory" \
	with "record:$scratch/oom,record_max:1MiB,limit:4MiB" \
	"$replay" --device=host:0 "$scratch/small"
exits 0 "its recording" "$report" "$scratch/oom"
check "says how many failed" grep -qx '1 allocation failed:' "$scratch/out"
check "says which" grep -qE '^ +[0-9.]+ +1 +4\.66 GiB +1 MiB ' "$scratch/out"
check "and what would help" grep -qE ' +limit$' "$scratch/out"
the_page "an out of memory" "$scratch/oom"
check "is marked" grep -q '<title>out of memory: 4.66 GiB asked for</title>' \
	"$scratch/page.html"
check "and listed, with what would help" grep -q \
	'<td>4.66 GiB</td><td>1 MiB</td>.*</td><td>limit</td></tr>$' \
	"$scratch/page.html"
exits 0 "as JSON" "$report" --json "$scratch/oom"
json_is "[(o['bytes'], o['status'], o['advice'], o['requested_bytes'],
	o['reserved_bytes'] <= 4 << 20) for o in d['out_of_memory']]" \
	"[(5000000000, 'GPUMEM_LIMIT', 'limit', 1052672, True)]" "too"

# All of it at the same time: memory goes back after the peak, in its part.
if have_python; then
	cat >"$scratch/at_once.py" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
header, chunk, chunks, count = struct.unpack_from('=IIQQ', data, 24)
for begin in range(chunks, len(data) - chunk + 1, chunk):
    for at in range(begin + 64, begin + chunk, 16):
        data[at:at + 4] = data[begin + 64:begin + 68]
open(sys.argv[2], 'wb').write(data)
END
	printf '# gpumem-trace 1\na 1 4194304 0\nf 1\na 2 8388608 1\n' \
		>"$scratch/two"
	with "record:$scratch/in_order,wait:off" "$replay" --device=host:0 --lag=inf \
		"$scratch/two" >"$scratch/replayed"
	python3 "$top_srcdir/tests/recording_first.py" "$scratch/in_order" \
		"$scratch/first"
	python3 "$scratch/at_once.py" "$scratch/first" "$scratch/at_once"
	the_page "a peak after which memory goes back" "$scratch/at_once"
else
	skip "there is no python3" "a peak after which memory goes back"
fi

# A file that holds the newest only.
rm -f "$recording"
with "record:$recording,record_max:1MiB" "$replay" --device=host:0 --passes=8 \
	"$top_srcdir/tests/traces/llama_generate.trace.gz" >"$scratch/replayed"
exits 0 "a recording that begins late" "$report" "$recording"
check "says so" grep -q 'overwritten: the recording begins late' "$scratch/out"
exits 0 "its page" "$report" --html "$recording"
check "too" grep -q 'were overwritten: the recording begins late' "$scratch/out"

# ---- two runs -------------------------------------------------------------------

cat >"$scratch/other" <<'END'
# gpumem-trace 2
g cache
a 1 100 0
g model/layer
a 2 4096 0
g new/<b>
a 3 700 0
a 4 700 0
END
exits 0 "two runs" env COLUMNS=200 "$report" "$scratch/small" "$scratch/other"
is "$(sed -n '/difference/,$p' "$scratch/out" | tr -s ' ' | sed 's/^ //' |
	tr '\n' ,)" \
	"first second difference ratio figure,4.66 GiB 5.46 KiB -4.66 GiB 0.000 peak requested,- - - - peak reserved,- - - - unused at the peak,- - - - most unreleasable,4.68 KiB 5.46 KiB +800 B 1.167 requested at the end,4 4 0 1.000 blocks at the peak,6 4 -2 0.667 allocations,0 0 0 - out of memory,,Live at the peak of each, by tag:,first second difference ratio tag,4.66 GiB 4 KiB -4.66 GiB 0.000 model/layer,2 MiB 0 B -2 MiB 0.000 -,0 B 1.37 KiB +1.37 KiB - new/<b>,0 B 100 B +100 B - cache," \
	"are side by side"
exits 0 "as JSON" "$report" --json "$scratch/small" "$scratch/other"
valid_json "it is JSON"
json_is "[(t['tag'], t['first_bytes'], t['second_bytes'], t['first_blocks'],
	t['second_blocks']) for t in d['tags']]" \
	"[('model/layer', 5000004096, 4096, 2, 1), (None, 2097452, 0, 2, 0), ('new/<b>', 0, 1400, 0, 2), ('cache', 0, 100, 0, 1)]" \
	"has the tags of both"
json_is "[(d[r]['file'].split('/')[-1], d[r]['peak_requested_bytes'],
	d[r]['peak_reserved_bytes'], d[r]['end_requested_bytes'],
	d[r]['allocations'], d[r]['events']) for r in ('first', 'second')]" \
	"[('small', 5002101548, None, 4796, 6, 10), ('other', 5596, None, 5596, 4, 4)]" \
	"and their figures"
record "$scratch/small"
"$report" --json "$recording" >"$scratch/expected"
exits 0 "a recording beside the trace of it" "$report" --json "$scratch/small" \
	"$recording"
json_is "[d['second'][k] == v and (k == 'peak_requested_bytes') ==
	(d['first'][k] == v) for e in
	[json.load(open('$scratch/expected'))] for k, v in
	(('peak_requested_bytes', e['peak']['requested_bytes']),
	('peak_unused_bytes', e['peak']['unused_bytes']),
	('most_unreleasable_bytes',
	e['most_unreleasable']['unreleasable_bytes']))],
	d['second']['peak_reserved_bytes'] >= d['second']['peak_requested_bytes']" \
	"([True, True, True], True)" "says what the report of it says"
exits 0 "a run beside itself" "$report" --json "$recording" "$recording"
json_is "d['first'] == d['second'],
	all(t['first_bytes'] == t['second_bytes'] for t in d['tags'])" \
	"(True, True)" "is the same"

# In both pictures a byte is as high, a tag has one colour, and time one scale,
# unless one run is more than twice as long.
cat >"$scratch/two.py" <<'END'
import html, json, re, sys, xml.dom.minidom
page, picture, d = (open(name, encoding='utf-8').read() for name in sys.argv[1:4])
d = json.loads(d)
# What turns the direction of text is written out.
shown = [(t['tag'] or '-').replace('\u202e', r'\xe2\x80\xae') for t in d['tags']]
assert not re.search(r'https?://(?!www.w3.org/2000/svg)|@import|url\(|<script|'
                     r' (src|href|onload)=', page)
begin, end = page.index('<body>'), page.index('</body>') + len('</body>')
xml.dom.minidom.parseString(page[begin:end])
pictures = re.findall(r'<svg.*?</svg>', page, re.S)
assert len(pictures) == 2 and all(text in picture for text in pictures)
outer = xml.dom.minidom.parseString(picture).documentElement
assert len(outer.getElementsByTagName('svg')) == 2

def nodes(svg, name, **wanted):
    return [n for n in svg.getElementsByTagName(name) if all(
        n.getAttribute(key) == value for key, value in wanted.items())]

def times(svg):
    return [n.firstChild.data
            for n in nodes(svg, 'text', **{'text-anchor': 'middle'})]

def legend(svg):
    return {n.getAttribute('class'): n.nextSibling.firstChild.data
            for n in nodes(svg, 'rect')}

svgs = [xml.dom.minidom.parseString(text) for text in pictures]
runs = [d['first'], d['second']]
top = max(run[key] or 0 for run in runs
          for key in ('peak_requested_bytes', 'peak_reserved_bytes'))
for svg, run in zip(svgs, runs):
    circle, = nodes(svg, 'circle')
    if run['most_unreleasable_bytes'] is None:
        height = 320 * run['peak_requested_bytes'] / top
        assert abs(float(circle.getAttribute('cy')) - 344 + height) < 0.06
names = [legend(svg) for svg in svgs]
tags = ['without a tag' if tag == '-' else tag for tag in shown]
for i, tag in enumerate(tags[:7]):
    assert names[0]['c%d' % i] == names[1]['c%d' % i] == tag, (names, tag)
axes = [re.findall(r'text-anchor="end">([0-9][^<]*B)<', one) for one in pictures]
assert axes[0] and axes[0] == axes[1], axes
cells = [[html.unescape(cell) for cell in re.findall(r'<td>([^<]*)</td>', row)]
         for row in re.findall(r'<tr>.*?</tr>', page)]
assert [row[-1] for row in cells if row][8:] == shown
print('right', times(svgs[0]) == times(svgs[1]))
END

# side_by_side NAME SAME_TIME FILE OTHER
side_by_side()
{
	exits 0 "$1: the page" "$report" -o "$scratch/page.html" "$3" "$4"
	is "$(cat "$scratch/out" "$scratch/err")" "" "prints nothing"
	exits 0 "$1: the picture" "$report" --svg "$3" "$4"
	mv "$scratch/out" "$scratch/picture.svg"
	"$report" --json "$3" "$4" >"$scratch/expected"
	if have_python; then
		is "$(python3 "$scratch/two.py" "$scratch/page.html" \
			"$scratch/picture.svg" "$scratch/expected" 2>&1 |
			tail -n 3)" "right $2" "$1: on the same scales"
	else
		skip "there is no python3" "$1: on the same scales"
	fi
}

printf '# gpumem-trace 2\nt 0\ng cache\na 1 9000 0\nt 2000000000\nf 1\n' \
	>"$scratch/two"
printf '# gpumem-trace 2\nt 0\ng cache\na 1 900 0\nt 1000000000\nf 1\n' \
	>"$scratch/half"
printf '# gpumem-trace 2\nt 0\ng a\na 1 900 0\nt 999999998\nf 1\n' \
	>"$scratch/less"
side_by_side "a run half as long" True "$scratch/two" "$scratch/half"
check "which says so" grep -q 'same scale of bytes and of time\.' \
	"$scratch/page.html"
is "$(grep -o '<circle[^/]*/>' "$scratch/page.html" | sed -n 's/.* cy="\([^"]*\)".*/\1/p' |
	tr '\n' ,)" "24.0,312.0," "a tenth is a tenth as high"

# as_png FILE...: the picture of one run or of two
as_png()
{
	exits 0 "PNG of $*" "$report" --png "$@"
	mv "$scratch/out" "$scratch/picture.png"
	"$report" --png -o "$scratch/file" "$@"
	check "the same in a file" cmp "$scratch/picture.png" "$scratch/file"
	"$report" --svg "$@" >"$scratch/picture.svg"
	is "$(python3 -c 'import struct, sys
print(*struct.unpack(">8s4x4sII", open(sys.argv[1], "rb").read(24)))' \
		"$scratch/file")" "$(python3 -c 'import re, sys
print(b"\x89PNG\r\n\x1a\n", b"IHDR", *(2 * int(n) for n in re.search(
    r"width=.([0-9]+). height=.([0-9]+)", open(sys.argv[1]).read()).groups()))' \
		"$scratch/picture.svg")" "of twice the size"
}

if command -v rsvg-convert >/dev/null; then
	as_png "$scratch/small"
	as_png "$scratch/two" "$scratch/half"
	exits 1 "PNG of a file that is not there" "$report" --png \
		"$scratch/none"
	check "writes none" test ! -s "$scratch/out"
	[ ! -c /dev/full ] || exits 1 "PNG on a full disk" "$report" --png \
		-o /dev/full "$scratch/small"
else
	skip "there is no rsvg-convert" "PNG"
fi
mkdir "$scratch/path"
ln -s /bin/* /usr/bin/* "$scratch/path" 2>"$scratch/err"
rm -f "$scratch/path/rsvg-convert"
exits 1 "PNG without rsvg-convert" env PATH="$scratch/path" "$report" --png \
	"$scratch/small"
is "$(cat "$scratch/err")" \
	"gpumem-report: --png: it needs rsvg-convert, which is not installed (Debian's librsvg2-bin)" \
	"says what to install"
side_by_side "one that is shorter" False "$scratch/less" "$scratch/two"
check "which says so" grep -q 'their scales of time differ' "$scratch/page.html"
side_by_side "one without times" False "$scratch/many" "$scratch/two"
side_by_side "names of files that are markup" False "$scratch/<b>&/markup" \
	"$scratch/many"
check "are text" grep -qF '&lt;b&gt;&amp;/markup</h2>' "$scratch/page.html"
side_by_side "a recording and its trace" False "$recording" "$scratch/small"
exits 1 "a recording is not overwritten by two" "$report" -o "$recording" \
	"$scratch/small" "$recording"
exits 0 "one from standard input" sh -c \
	"'$report' '$scratch/small' - <'$scratch/other'"
exits 1 "a second one that is not there" "$report" "$scratch/small" \
	"$scratch/none"
is "$(cat "$scratch/out" "$scratch/err")" \
	"gpumem-report: $scratch/none: No such file or directory" "says so"

# ---- what is refused -----------------------------------------------------------

# refused NAME FILE REASON
refused()
{
	for option in --json --blocks=1 --html; do
		exits 1 "$1 ($option)" "$report" $option "$2"
		is "$(cat "$scratch/err")" "gpumem-report: $2: $3" "says why"
		check "prints nothing else" test ! -s "$scratch/out"
	done
}

# bad NAME REASON TEXT
bad()
{
	printf "$3" >"$scratch/bad"
	refused "$1" "$scratch/bad" "$2"
}

refused "a file that is not there" "$scratch/none" "No such file or directory"
none="it is no recording, trace, snapshot or profile of PyTorch's, or log of RMM's or Umpire's"
bad "nothing" "$none" ''
bad "another file" "$none" 'x\n'
bad "a damaged trace" "line 2: ID 1 is live already" 'a 1 1 0\na 1 1 0\n'
bad "a trace that is cut off" "line 2: cut off: the line has no end" \
	'a 1 1 0\nf 1'
bad "a trace of nothing" "line 1: no events" '# x\n'
bad "a later version" "line 1: not version 1 or 2 of the format" \
	'# gpumem-trace 3\na 1 1 0\n'
awk 'BEGIN {
	print "# gpumem-trace 2"
	for (i = 1; i <= 65536; i++)
		printf "g %d\na %d 1 0\n", i, i
}' >"$scratch/bad"
refused "tags without end" "$scratch/bad" \
	"line 131073: more than 65535 different tags"
head -n 131071 "$scratch/bad" >"$scratch/most"
exits 0 "as many as there may be" "$report" --json "$scratch/most"
json_is "len(d['end']['tags']), d['end']['tags'][-1]" \
	"(65535, {'tag': '65535', 'bytes': 1, 'blocks': 1, 'largest_bytes': 1, 'oldest_seconds': None, 'quarter_bytes': [0, 0, 0, 1], 'grows': False})" \
	"are all there"
printf '# gpumem-trace 2\ng \033[2J\na 1 1 0\n' >"$scratch/bad"
refused "a tag that commands a terminal" "$scratch/bad" \
	"line 2: unexpected character 0x1b in column 3"
# A recording that is cut off, where it has something to be cut off: either there
# is a reason, or a report, and the two agree whether it is text or a page.
cat >"$scratch/cut.py" <<'END'
import struct, subprocess, sys
report, name, cut = sys.argv[1:]
data = open(name, 'rb').read()
header, chunk, chunks, count = struct.unpack_from('=IIQQ', data, 24)
at = {0, 1, 8, 12, 16, 24, header, header + 32, chunks, chunks + 64,
      chunks + chunk, chunks + chunk + 64, len(data)}
at |= {n + d for n in at for d in (-1, 1)}
for n in sorted(n for n in at if 0 <= n <= len(data)):
    open(cut, 'wb').write(data[:n])
    runs = [subprocess.run([report, option, cut], capture_output=True)
            for option in ('--json', '--html')]
    for run in runs:
        assert run.returncode in (0, 1), (n, run)
        assert (run.returncode == 0) == bool(run.stdout), (n, run)
        assert run.stderr.count(b'\n') == run.returncode, (n, run)
    assert runs[0].stderr == runs[1].stderr, (n, runs)
    assert runs[0].returncode == 0 or n < chunks, (n, runs[0].stderr)
print('right')
END
record "$scratch/small"
if have_python; then
	is "$(python3 "$scratch/cut.py" "$report" "$recording" "$scratch/cut" \
		2>&1 | tail -n 3)" right "a recording that is cut off"
else
	skip "there is no python3" "a recording that is cut off"
fi
exits 1 "a pool that is not there" "$report" --pool=none "$recording"
is "$(cat "$scratch/err")" \
	"gpumem-report: $recording: it has no pool of that name" "says so"
exits 1 "a recording is not overwritten" "$report" -o "$recording" "$recording"
is "$(cat "$scratch/err")" \
	"gpumem-report: $recording: it is a recording, which is not overwritten" \
	"says so"
exits 1 "a folder that is not there" "$report" --svg -o "$scratch/none/file" \
	"$scratch/small"
is "$(cat "$scratch/err")" \
	"gpumem-report: $scratch/none/file: No such file or directory" "says so"
if [ -c /dev/full ]; then
	exits 1 "a full disk" "$report" -o /dev/full "$scratch/small"
	is "$(cat "$scratch/err")" \
		"gpumem-report: /dev/full: No space left on device" "says so"
	exits 1 "and on standard output" sh -c "'$report' '$scratch/small' >/dev/full"
else
	skip "there is no /dev/full" "a full disk"
fi

refuses report "expected a recording, trace or snapshot"
refuses report "z: expected two files at most" x y z
refuses report "-: expected it once" - -
refuses report "expected only one of --html, --json, --png and --svg" --svg --json x
refuses report "expected only one of --html, --json, --png and --svg" --svg --png x
refuses report "--json: expected no --output beside it" --json -o y x
refuses report "--blocks=-1: expected a whole number from 0 to 4294967295" --blocks=-1 x

# ---- two devices -----------------------------------------------------------

# Of 100 bytes on the first, then 90 on the second while 20 are on the first.
if have_python; then
	python3 -c 'import pickle, sys
def event(action, address, size, at):
	return {"action": action, "addr": address, "size": size,
		"stream": 0, "time_us": at, "frames": []}
pickle.dump({"segments": [], "device_traces": [
	[event("alloc", 4096, 100, 1), event("free_requested", 4096, 100, 2),
	 event("free_completed", 4096, 100, 3), event("alloc", 8192, 20, 6)],
	[event("alloc", 4096, 90, 5)]]}, open(sys.argv[1], "wb"), protocol=4)' \
		"$scratch/two.pickle"
	exits 0 "two devices, as JSON" "$report" --json "$scratch/two.pickle"
	json_is "[(p['pool'], p['peak_requested_bytes'], p['tags'][0]['bytes'])
		for p in d['pools']], d['peak']['requested_bytes']" \
		"([(1, 100, 100), (2, 90, 90)], 110)" "each has its own peak"
	exits 0 "as text" "$report" "$scratch/two.pickle"
	check "the first has its row" \
		grep -qE '^pool 1 on device 0 +100 B ' "$scratch/out"
	check "and the total is said to be one" \
		grep -qE '^all together +110 B ' "$scratch/out"
	check "and has its tags" \
		grep -qx 'Live at the peak of pool 2 on device 1, by tag:' \
		"$scratch/out"
	exits 0 "as a page" "$report" --html "$scratch/two.pickle"
	check "the same" grep -q '>pool 2 on device 1</td>' "$scratch/out"
	exits 1 "a number that no pool has" "$report" --pool=9 \
		"$scratch/two.pickle"
	check "is refused" grep -q 'it has no pool of that number' "$scratch/err"
	exits 0 "one of them" "$report" --pool=2 --json "$scratch/two.pickle"
	json_is "d['pools'], d['peak']['requested_bytes']" "([], 90)" \
		"is the whole"
else
	skip "there is no python3" "two devices"
fi

# ---- the page's head and legend --------------------------------------------

exits 0 "the page of a recording" "$report" --html "$scratch/oom"
check "says what was recorded, and when" grep -qE \
	', process [0-9]+, gpumem [0-9.]+, [0-9-]+ [0-9:]+ UTC, .* events\.' \
	"$scratch/out"
check "and what the red triangles are" \
	grep -q '>out of memory</text>' "$scratch/out"

done_testing
