#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The manners that all tools share: no line is too wide, nothing but text goes
# to a file, colours and a bar that moves go to a terminal, a wrong argument is
# told with what is right, and output that cannot be written is an error.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool probe
probe=$tools/gpumem-probe
replay=$tools/gpumem-replay
bench=$tools/gpumem-bench
conform=$tools/gpumem-conform
esc=$(printf '\033')
printf 'a 1 4096 0\nf 1\n' >"$scratch/trace"
long=$top_srcdir/tests/traces/llama_generate.trace.gz

# fits COLUMNS NAME: in the last output, no line of several words is wider.
fits()
{
	is "$(awk -v most="$1" 'length > most' "$scratch/out" |
		grep -E '[^ ] +[^ ]')" "" "$2 fits into $1 columns"
}

# on COLUMNS COMMAND...: with a terminal of so many columns for all it prints
on()
{
	python3 "$top_srcdir/tests/terminal.py" "$@"
}

# ---- output that cannot be written ------------------------------------------

# fails NAME SHELL: ends with 1 and says what cannot be written
fails()
{
	exits 1 "$1" sh -c "$2"
	is "$(grep -cE "^gpumem-[a-z]+: $3\$" "$scratch/err")" 1 "says so"
}

for tool in "probe" "probe --options" "probe --list" "probe --json" \
	"replay '$scratch/trace'" "replay --json '$scratch/trace'" \
	"bench --iterations=1 --rounds=1 churn" \
	"bench --iterations=1 --rounds=1 --json churn" \
	"probe --help" "replay --usage" "bench --version" "conform -h"; do
	if [ -c /dev/full ]; then
		fails "a full disk: $tool" "'$tools'/gpumem-$tool >/dev/full" \
			"cannot write the output: No space left on device"
	else
		skip "there is no /dev/full" "a full disk: $tool"
	fi
	fails "closed: $tool" "'$tools'/gpumem-$tool >&-" \
		"cannot write the output: it is closed"
done
fails "a reader that is gone, where SIGPIPE is ignored" \
	"trap '' PIPE; { sleep 1; '$probe'; echo \$? >'$scratch/status'; } | :
	exit \$(cat '$scratch/status')" "cannot write the output: Broken pipe"
exits 0 "closed input" sh -c "'$probe' --test -b host <&-"
exits 1 "input that is closed" sh -c "'$replay' - <&-"
check "is told" test -s "$scratch/err"
exits 0 "closed errors" sh -c "'$replay' '$scratch/trace' 2>&-"
exits 2 "nothing open but output" sh -c "'$replay' --nonsense <&- 2>&-"

# ---- a wrong argument ---------------------------------------------------------

# wrong TOOL ARGUMENTS SENTENCE
wrong()
{
	exits 2 "gpumem-$1 $2" sh -c "'$tools/gpumem-$1' $2"
	is "$(head -n 1 "$scratch/err")" "gpumem-$1: $3" "is told"
	check "with where there is more" \
		grep -q "gpumem-$1 --help" "$scratch/err"
	check "and nothing is printed" test ! -s "$scratch/out"
}

size="a size such as 64MiB or 1.5GiB, or a part of the device's memory such as 80%"
wrong replay "--passes=abc x" \
	"--passes=abc: expected a whole number from 1 to 1000000"
wrong replay "--passes 0 x" \
	"--passes=0: expected a whole number from 1 to 1000000"
wrong replay "--check=-1 x" \
	"--check=-1: expected a whole number from 1 to 18446744073709551615"
wrong replay "--limit=much x" "--limit=much: expected $size"
wrong replay "--scale=2/3 x" "--scale=2/3: expected a fraction such as 1/4"
wrong replay "--policy=none x" "--policy=none: expected cached or direct"
wrong replay "--model=h100 x" "--model=h100: expected h200"
wrong replay "x y" "y: expected one trace only"
wrong replay "" "expected a trace"
wrong bench "--threads=0" "--threads=0: expected a whole number from 1 to 256"
wrong bench "--rounds=65" "--rounds=65: expected a whole number from 1 to 64"
wrong bench "--seconds=-1" \
	"--seconds=-1: expected a number of seconds above 0 and at most 3600"
wrong bench "nothing" \
	"nothing: expected pair, threads, random, trim, growth, churn or record"
wrong conform "--device=x host" \
	"--device=x: expected a whole number from 0 to 2147483647"
wrong conform "host host" "host: expected one backend only"
wrong conform "" "expected a backend's name or file"
wrong trace "--to=svg x" "--to=svg: expected trace, chrome or pytorch"
wrong trace "-o x y" "--output needs --to"
wrong report "" "expected a recording, trace or snapshot"
wrong trace "" "expected a recording"
wrong keep "" "expected serve, list, show, put, get, renew or drop"
wrong keep "forget x" "forget: expected serve, list, show, put, get, renew or drop"
wrong keep "drop" "drop: expected names behind it"
wrong keep "--lease=0 put x 0" \
	"--lease=0: expected a whole number from 1 to 2592000"
wrong suspend "" "expected the number of a process"
wrong suspend "--timeout=soon 1" \
	"--timeout=soon: expected a number of seconds from 0 to 86400"
wrong resume "0" "0: expected the number of a process"
wrong probe "host" "host: expected options only"
wrong probe "--options --test" "--options: expected no other option but --json"
wrong probe "--list --json" "--list: expected neither --test nor --json"
wrong probe "-b host -d host:0" \
	"--device=host:0: expected no --backend beside it"
wrong probe "--nonsense" "unrecognized option '--nonsense'"

# ---- width, in a file -----------------------------------------------------------

for tool in probe replay bench conform keep report resume suspend trace; do
	exits 0 "gpumem-$tool -h" "$tools/gpumem-$tool" -h
	fits 80 "it"
	cp "$scratch/out" "$scratch/help"
	exits 0 "gpumem-$tool --help" "$tools/gpumem-$tool" --help
	check "is the same" cmp "$scratch/help" "$scratch/out"
	exits 0 "gpumem-$tool --usage" "$tools/gpumem-$tool" --usage
	fits 80 "it"
done
exits 0 "devices and backends" env COLUMNS=200 "$probe" --test
fits 80 "it"
exits 0 "options" env COLUMNS=200 "$probe" --options
fits 80 "it"
exits 0 "a long value" with \
	"host.fail:alloc@3;map@7;page_create@900:driver;unmap@5+:driver" \
	"$probe" --options
fits 80 "it"
exits 0 "a replay" "$replay" --model=h200 "$long"
fits 80 "it"
exits 0 "a report" "$tools/gpumem-report" "$scratch/trace"
fits 80 "it"
exits 0 "a benchmark" "$bench" --iterations=8 --rounds=1 --threads=2 pair \
	threads churn
fits 80 "it"
check "its last columns are there" grep -q 'memory calls last' "$scratch/out"
is "$(grep -c "$esc" "$scratch/out")" 0 "nothing but text"
exits 0 "one line for each device" with host.devices:3 "$probe" --list -b host
is "$(cat "$scratch/out")" \
	"host:0: gpumem simulated GPU, 64 GiB (UUID 67707573-696d-4000-8000-000000000000)
host:1: gpumem simulated GPU, 64 GiB (UUID 67707573-696d-4000-8000-000000000001)
host:2: gpumem simulated GPU, 64 GiB (UUID 67707573-696d-4000-8000-000000000002)" \
	"and no more"
exits 0 "of one" with host.devices:3,host.fail:device_open@1+ \
	"$probe" -L -d host:1
is "$(cut -d, -f1 "$scratch/out")" "host:1: gpumem simulated GPU" \
	"that one, without opening it"
exits 3 "of none" "$probe" -L -d host:7

# ---- one of something -----------------------------------------------------------

# reads TEXT: the last output, its lines joined
reads()
{
	case $(tr '\n' ' ' <"$scratch/out") in
	*"$1"*) pass "reads: $1" ;;
	*) fail "reads: $1" "$(cat "$scratch/out")" ;;
	esac
}

exits 0 "one pass of a short trace" "$replay" "$scratch/trace"
reads ": 2 events, 1 block, at most 1 at one time, 1 stream "
printf 'a 1 4096 0\n' >"$scratch/one"
exits 0 "one event" "$replay" "$scratch/one"
reads ": 1 event, 1 block, "
exits 0 "one round" "$bench" --iterations=1 --rounds=1 churn
reads "Medians of 1 round. "

# ---- on a terminal ----------------------------------------------------------------

if ! have_python; then
	skip "there is no python3" "on a terminal"
	done_testing
fi
export TERM=xterm
unset NO_COLOR COLUMNS

exits 0 "options on 200 columns" on 200 "$probe" --options
check "are a line each" grep -qE '^vm +on +default +on +use virtual memory' \
	"$scratch/out"
exits 0 "on 60 columns" on 60 "$probe" --options
fits 60 "it"
check "what they do is below" grep -q '^    use virtual memory' "$scratch/out"
exits 0 "on a terminal that does not tell" on 0 env COLUMNS=200 "$probe" \
	--options
check "COLUMNS is asked" grep -qE '^vm +on +default +on +use virtual memory' \
	"$scratch/out"
exits 0 "nor is COLUMNS there" on 0 "$probe" --options
fits 80 "it"
exits 0 "with a COLUMNS that is none" on 0 env COLUMNS=wide "$probe" --options
fits 80 "it"

exits 0 "a test on a terminal" on 80 "$probe" --test -b host
is "$(grep -c "$esc\[32mok$esc\[0m " "$scratch/out")" 7 "its results are coloured"
exits 0 "with NO_COLOR" on 80 env NO_COLOR=1 "$probe" --test -b host
is "$(grep -c "$esc" "$scratch/out")" 0 "they are not"
exits 0 "with an empty NO_COLOR" on 80 env NO_COLOR= "$probe" -b host
check "they are" grep -q "$esc\[32mok" "$scratch/out"
for kind in dumb ''; do
	exits 0 "on a terminal \"$kind\"" on 80 env TERM="$kind" \
		"$replay" --passes=2 "$long"
	is "$(tr -d '\012\040-\176' <"$scratch/out")" "" "text only"
done

# parts LABEL: how many different parts of the bar were drawn
parts()
{
	tr '\r' '\n' <"$scratch/out" | grep -oE "$1 \[#* *\] +[0-9]+ %" |
		sed 's/.*\] *//' | sort -un | wc -l | tr -d ' '
}

exits 0 "fifty passes" on 80 "$replay" --passes=50 "$long"
check "the bar moves through all of them: $(parts replaying)" \
	test "$(parts replaying)" -ge 95
is "$(tr '\r' '\n' <"$scratch/out" | grep -oE 'replaying .* [0-9]+ %' |
	sed -e 's/.*\] *//' -e 's/ %//' | sort -nc 2>&1)" "" "and never back"
exits 0 "a benchmark" on 80 "$bench" --iterations=8 --rounds=4 pair
check "the bar moves: $(parts 'pair: .*')" test "$(parts 'pair: .*')" -ge 50
check "and is wiped" grep -q "$(printf '\r   *\r')" "$scratch/out"
exits 1 "one that fails" on 80 env GPUMEM_CONF=host.capacity:8MiB "$bench" \
	--iterations=8 pair
check "says so on a line of its own" sh -c \
	"tr '\r' '\n' <'$scratch/out' | grep -q '^gpumem-bench: pair, 20 MiB: '"

done_testing
