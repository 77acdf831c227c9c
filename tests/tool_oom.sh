#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The JSON of an out of memory in gpumem-report: a recording has it, and text, JSON and
# page show it; damaged, it is left out, and the rest of the report is not.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool report
need_tool replay
have_python || skip_all "there is no python3"
report=$tools/gpumem-report
recording=$scratch/recording
changed=$scratch/changed

printf '# gpumem-trace 1\na 1 1052672 0\na 2 5000000000 0\n' >"$scratch/small"
exits 1 "a program that is out of memory" \
	with "record:$recording,record_max:1MiB,limit:4MiB" \
	"$tools/gpumem-replay" --device=host:0 "$scratch/small"

# ---- what the library wrote --------------------------------------------------------

sentence='pool "replay" on host:0: its hard limit of 4.00 MiB is reached: out of memory for a request of 4.66 GiB; requested '
exits 0 "its recording" "$report" "$recording"
check "has its sentence" grep -q '^At second [0-9.]*: pool "replay" on host:0: its' \
	"$scratch/out"
is "$(sed -n '/^At second/,$p' "$scratch/out" | tr '\n' ' ' |
	grep -cF "$sentence")" 1 "of device, request and pool"
exits 0 "as JSON" "$report" --json "$recording"
json_is "[(o['report']['request']['bytes'], o['report']['advice'] == o['advice'],
	o['report']['status'] == o['status'],
	sum(r['bytes'] for r in o['report']['table']['rows'])
	== o['report']['table']['total_bytes']) for o in d['out_of_memory']]" \
	"[(5000000000, True, True, True)]" "it has all of it"
exits 0 "as a page" "$report" --html "$recording"
check "the page has the sentence" grep -q \
	'^<details><summary>pool &quot;replay&quot; on host:0: its hard limit of 4.00 MiB is' \
	"$scratch/out"
check "and the table of the device" grep -q \
	'^<tr><td>live</td><td>1 MiB</td><td>1052672</td><td>replay</td><td>-</td></tr>$' \
	"$scratch/out"

# ---- what else may stand there -----------------------------------------------------

# change NAME: the recording with what `text`, the JSON, becomes on standard input,
# or `size`, how many bytes of it there are said to be; reports it in each form
change()
{
	cat >"$scratch/change.py"
	python3 "$top_srcdir/tests/recording_first.py" "$recording" \
		"$scratch/first"
	python3 - "$scratch/first" "$changed" "$scratch/change.py" <<'END' ||
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
chunks_at, = struct.unpack_from('=Q', data, 32)
at = next(at for at in range(chunks_at + 64, len(data), 16) if data[at + 6] == 43)
size, = struct.unpack_from('=Q', data, at + 8)
pieces = range(at + 24, at + 24 + (size + 7) // 8 * 16, 16)
text = b''.join(bytes(data[piece:piece + 8]) for piece in pieces)[:size]
scope = {'text': text, 'size': size}
exec(open(sys.argv[3]).read(), scope)
new = scope['text'].ljust(8 * len(pieces), b' ')
assert len(new) == 8 * len(pieces) and new != text + bytes(len(new) - len(text)) \
    or scope['size'] != size
struct.pack_into('=Q', data, at + 8, scope['size'])
for number, piece in enumerate(pieces):
    data[piece:piece + 8] = new[8 * number:8 * number + 8]
open(sys.argv[2], 'wb').write(data)
END
		fail "$1: written"
	exits 0 "$1, as a page" "$report" --html "$changed"
	cp "$scratch/out" "$scratch/page.html"
	exits 0 "$1, as text" "$report" "$changed"
	cp "$scratch/out" "$scratch/text"
	exits 0 "$1, as JSON" "$report" --json "$changed"
}

# nowhere NAME: the out of memory is listed, without a report
nowhere()
{
	check "$1: it is listed" grep -qx '1 allocation failed:' "$scratch/text"
	check "$1: no sentence" not grep -q '^At second' "$scratch/text"
	check "$1: nothing to open" not grep -q '<details>' "$scratch/page.html"
}

not()
{
	! "$@"
}

change "more bytes than there are" <<'END'
size += 8
END
nowhere "more bytes than there are"
json_is "'report' in d['out_of_memory'][0]" False "and none in the JSON"

change "a number of bytes that overflows" <<'END'
size = 2 ** 64 - 1
END
nowhere "a number of bytes that overflows"

change "no JSON" <<'END'
text = b'x' + text[1:]
END
nowhere "no JSON"
json_is "d['out_of_memory'][0]['report']" None "it is null"

change "another type" <<'END'
text = b'[7]'
END
nowhere "another type"
json_is "d['out_of_memory'][0]['report']" "[7]" "it is what it is"

change "members of other types" <<'END'
text = b'{"text": 5, "table": {"rows": [3, {"what": {}, "bytes": -1}]}}'
END
nowhere "members of other types"

change "rows of other types" <<'END'
text = b'{"text": "<b>why\\n", "table": {"rows": [3, {"what": {}, "bytes": -1, "tag": "<i>"}]}}'
END
check "what is text is text" grep -q '^<details><summary>&lt;b&gt;why' \
	"$scratch/page.html"
is "$(grep -c '<td>-</td><td>0 B</td><td>0</td><td>-</td>' "$scratch/page.html")" 2 \
	"what is no row is an empty one"
check "a tag too" grep -q '<td>&lt;i&gt;</td>' "$scratch/page.html"
check "a line is one" grep -q '^At second [0-9.]*: <b>why *$' "$scratch/text"

done_testing
