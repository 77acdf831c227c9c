#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-probe: its answers, its exit codes, and that its test can fail.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool probe
probe=$tools/gpumem-probe

common_manners probe
wants_good_options probe
wants_good_options probe --options
wants_good_options probe --device=host:0 --test

# ---- listing ---------------------------------------------------------------

exits 0 "plain" "$probe"
check "shows the backend" grep -qE '^  host +\* +ok +1 device ' "$scratch/out"
check "shows the device" grep -qx 'host:0' "$scratch/out"
check "shows capabilities" grep -q 'yes  virtual memory' "$scratch/out"
is "$(grep -cE '(yes|no) +(the driver.s own|it is)' "$scratch/out")" 0 \
	"which are all good to have"
check "what is to be minded stands apart" \
	grep -qE "^  to be minded +it is simulated" "$scratch/out"
check "says why a backend is not there" \
	grep -qE '^  cuda .* (no|not) .*' "$scratch/out"

exits 0 "as JSON" "$probe" --json
valid_json "it is JSON"
json_is "[b['chosen'] for b in d['backends'] if b['name'] == 'host']" \
	"[True]" "host is chosen"
json_is "d['default'], d['no_default']" "('host:0', '')" "its first device"
json_is "all(b['reason'] for b in d['backends']
	if b['status'] != 'GPUMEM_OK')" True "each refusal has a reason"

exits 0 "three devices" with host.devices:3,host.capacity:1GiB "$probe" --json
json_is "[(x['name'], x['total_bytes'], x['free_bytes'])
	for b in d['backends'] for x in b['devices']]" \
	"[('host:0', 1073741824, None), ('host:1', 1073741824, None), ('host:2', 1073741824, None)]" \
	"are all listed, none of them opened"

exits 0 "one of them by environment" with host.devices:3 \
	env GPUMEM_BACKEND=cuda:7,host:2 "$probe" --json
json_is "d['default'], d['no_default']" "('host:2', '')" "is the default"
exits 0 "the same" with host.devices:3 env GPUMEM_BACKEND=host:2 "$probe"
check "is said" grep -qx '  default device: host:2' "$scratch/out"
exits 0 "one that is not there" with host.devices:3 \
	env GPUMEM_BACKEND=host:3 "$probe" --json
json_is "d['default'], d['no_default']" \
	"('', 'host:3: there are 3 devices, host:0 to host:2')" "is none"
exits 3 "and cannot be used" with host.devices:3 \
	env GPUMEM_BACKEND=host:3 "$tools/gpumem-bench" pair

exits 0 "a value that the device does not take" \
	with host.devices:65 "$probe"
check "is shown" grep -q 'host\.devices is "65": out of range' "$scratch/out"
exits 2 "and in the way of who names it" \
	with host.devices:65 "$probe" --device=host:0
exits 0 "listing opens no device" with 'host.fail:device_open@1+' "$probe"
exits 1 "naming one does" with 'host.fail:device_open@1+' \
	"$probe" --device=host:0

# ---- a GPU that can be seen and not used -----------------------------------

# in_view COMMAND...: where /dev has nothing but an NVIDIA device
in_view()
{
	unshare -rm sh -c 'mount --bind "$0" /dev && exec "$@"' \
		"$scratch/dev" env GPUMEM_PLUGIN_PATH=/nowhere "$@"
}

mkdir "$scratch/dev" && : >"$scratch/dev/nvidia0"
reason='there is a GPU that cannot be used; .* GPUMEM_BACKEND=host; /dev/nvidia0: plugin cuda.so is not installed: on Debian apt install libgpumem-plugin1-cuda, else build gpumem with it'
if in_view true 2>/dev/null; then
	exits 0 "a GPU" in_view env GPUMEM_BACKEND=auto "$probe"
	is "$(grep -c '^  [a-z]* *\* ' "$scratch/out")" 0 "none is chosen"
	check "which is explained" sh -c \
		"tr '\\n' ' ' <'$scratch/out' | tr -s ' ' | grep -q '$reason'"
	check "it is listed with what helps" sh -c \
		"tr '\\n' ' ' <'$scratch/out' | tr -s ' ' | grep -q \
		'GPUs here /dev/nvidia0 cannot be used: plugin cuda.so .* apt install'"
	exits 0 "as JSON" in_view env GPUMEM_BACKEND=auto "$probe" --json
	json_is "[(g['node'], g['backend'], g['status'], 'apt' in g['reason'])
		for g in d['gpus']]" \
		"[('/dev/nvidia0', 'cuda', 'GPUMEM_NOT_FOUND', True)]" \
		"the GPU is listed"
	json_is "any(b['chosen'] for b in d['backends']),
		'GPUMEM_BACKEND=host' in d['no_default']" "(False, True)" \
		"the same"
	exits 3 "no device is opened" in_view env GPUMEM_BACKEND=auto \
		"$tools/gpumem-bench" pair
	check "for that reason" grep -q "$reason" "$scratch/err"
	: >"$scratch/dev/nvidia1" >"$scratch/dev/nvidia10"
	: >"$scratch/dev/nvidia2" >"$scratch/dev/nvidiactl"
	exits 0 "several GPUs" in_view env GPUMEM_BACKEND=auto "$probe"
	is "$(sed -n '/^GPUs here/,/^$/p' "$scratch/out" |
		grep -oE '^  /dev/[a-z0-9]+ +cannot be used: [a-z]+' | tr -s ' ' |
		tr '\n' ,)" " /dev/nvidia0 cannot be used: plugin, /dev/nvidia1 cannot be used: the, /dev/nvidia2 cannot be used: the, /dev/nvidia10 cannot be used: the," \
		"each has its line, and the reason is said once"
	exits 0 "as JSON" in_view env GPUMEM_BACKEND=auto "$probe" --json
	json_is "[g['node'] for g in d['gpus']], len({(g['backend'], g['status'],
		g['reason']) for g in d['gpus']})" \
		"(['/dev/nvidia0', '/dev/nvidia1', '/dev/nvidia2', '/dev/nvidia10'], 1)" \
		"each is listed"
	rm "$scratch/dev"/nvidia*
	exits 0 "no GPU" in_view "$probe"
	check "is said" grep -q '^  none  there is no /dev/nvidia' "$scratch/out"
	exits 0 "as JSON" in_view "$probe" --json
	json_is "d['gpus']" "[]" "the list is empty"
	: >"$scratch/dev/nvidia0"
	exits 0 "but by name" in_view env GPUMEM_BACKEND=host "$probe" --json
	json_is "d['no_default'], ['SIMULATED' in str(x['capabilities']).upper()
		for b in d['backends'] for x in b['devices']
		if b['name'] == 'host']" "('', [True])" "which is simulated"
else
	skip "no other /dev can be had here" "a GPU that can be seen"
fi

# ---- choosing --------------------------------------------------------------

exits 0 "--backend" "$probe" --backend=host --json
json_is "[b['name'] for b in d['backends']]" "['host']" "shows that one"
exits 3 "a backend that is none" "$probe" --backend=nonsense
check "says so" grep -q 'no such backend: nonsense' "$scratch/err"
exits 3 "a backend without its driver" "$probe" --backend=cuda
check "says why" grep -q 'cuda' "$scratch/err"

exits 0 "--device" with host.devices:3 "$probe" --device=host:2 --json
json_is "[(x['name'], x['free_bytes'] == x['total_bytes'])
	for b in d['backends'] for x in b['devices']]" \
	"[('host:2', True)]" "shows that one with its free memory"
exits 0 "a device without a number" with host.devices:3 \
	"$probe" --device=host --json
json_is "[x['name'] for b in d['backends'] for x in b['devices']]" \
	"['host:0']" "is the first one"
for name in host:1 host:99999999999 host: host:x nonsense:0 :0; do
	exits 3 "no device \"$name\"" "$probe" --device="$name"
	check "says so" test -s "$scratch/err"
done
exits 3 "a number that is too high" with host.devices:3 "$probe" --device=host:3
check "says how many there are" grep -q 'host:3; host has 3, ' "$scratch/err"
exits 0 "a device by its UUID" with host.devices:3 "$probe" \
	--device=host:67707573-696d-4000-8000-000000000001 --json
json_is "[x['name'] for b in d['backends'] for x in b['devices']]" \
	"['host:1']" "is that one"
exits 3 "no such UUID" "$probe" \
	--device=host:67707573-696d-4000-8000-0000000000ff
check "which is said" grep -q "no device with the UUID" "$scratch/err"

# ---- who holds what --------------------------------------------------------

exits 0 "an open device" "$probe" --device=host:0
check "shows who holds its memory" \
	grep -qE '^  held by +0 B +process [0-9]+ .*gpumem-probe' \
	"$scratch/out"
exits 0 "as JSON" "$probe" --device=host:0 --json
json_is "[(p['bytes'], 'gpumem-probe' in p['name'])
	for b in d['backends'] for x in b['devices'] for p in x['processes']]" \
	"[(0, True)]" "the same"
exits 0 "a driver that cannot tell" \
	with 'host.fail:device_processes@1:unsupported' \
	"$probe" --device=host:0
check "says so" grep -qE '^  held by +host:0: device_processes' "$scratch/out"
exits 0 "as JSON" with 'host.fail:device_processes@1:unsupported' \
	"$probe" --device=host:0 --json
json_is "[(x['processes'], x['processes_reason'].split(':')[2])
	for b in d['backends'] for x in b['devices']]" \
	"[(None, ' device_processes')]" "says so too"
exits 0 "a device that is not open" "$probe" --json
json_is "[x['processes'] for b in d['backends'] for x in b['devices']]" \
	"[None]" "is not asked"

# ---- options ---------------------------------------------------------------

exits 0 "--options" with limit:1GiB "$probe" --options
check "shows value, source and default" \
	grep -qE '^limit +1GiB +environment +0 ' "$scratch/out"
check "shows the backends' own" grep -q '^host\.capacity ' "$scratch/out"
exits 0 "--options as JSON" with limit:1GiB "$probe" --options --json
valid_json "it is JSON"
json_is "[(o['value'], o['source'], o['default']) for o in d['options']
	if o['key'] in ('limit', 'vm')]" \
	"[('1GiB', 'environment', '0'), ('on', 'default', 'on')]" \
	"it says the same"

# ---- testing ---------------------------------------------------------------

exits 0 "--test" "$probe" --test
is "$(grep -cE '^  test: .* ok ' "$scratch/out")" 6 "six lines, all ok"
exits 0 "--test of each device, as JSON" with host.devices:2 \
	"$probe" --test --json
valid_json "it is JSON"
json_is "[[t['result'] for t in x['test']]
	for b in d['backends'] for x in b['devices']]" \
	"[['ok', 'ok', 'ok', 'ok', 'ok', 'ok'], ['ok', 'ok', 'ok', 'ok', 'ok', 'ok']]" \
	"all are ok"
exits 0 "--test without virtual memory" with vm:off "$probe" --test
exits 0 "--test of a device without virtual memory" with host.vm:off \
	"$probe" --test
exits 0 "--test of a device with nothing" \
	with host.vm:off,host.copy:off,host.capture:off,host.streams:off \
	"$probe" --test
is "$(grep -cE '^  test: .* skipped +the device has no fill' \
	"$scratch/out")" 2 "skips what needs copies, and says why"
exits 0 "--test of a small device" with host.capacity:32MiB "$probe" --test

# Each driver call that fails must fail the test, and only the test.
for slot in va_reserve page_create map unmap page_destroy fill copy \
	stream_sync; do
	exits 1 "--test when $slot fails" with "host.fail:$slot@1+:driver" \
		"$probe" --device=host:0 --test
	check "says FAILED" grep -q FAILED "$scratch/out"
done
exits 1 "--test when alloc fails" with 'host.fail:alloc@1' "$probe" --test
check "the raw latency" grep -qE 'raw latency +FAILED' "$scratch/out"

# ---- manners ---------------------------------------------------------------

refuses probe "--device=: expected a device such as cuda:0" -d ''
refuses probe "--backend=: expected a backend such as cuda" -b ''
refuses replay "--device=: expected a device such as cuda:0" -d '' x
refuses bench "--device=: expected a device such as cuda:0" -d '' pair
is "$(tail -n 1 "$scratch/err")" "$(
	"$probe" --nonsense 2>&1 | tail -n 1 | sed 's/gpumem-probe/gpumem-bench/g'
)" "all that is wrong ends in the same hint"
exits 2 "an argument" "$probe" host
exits 2 "two ways to name a backend" "$probe" --backend=host --device=host:0
exits 2 "--options with --test" "$probe" --options --test
if [ -c /dev/full ]; then
	exits 1 "output that cannot be written" sh -c "'$probe' >/dev/full"
else
	skip "there is no /dev/full" "output that cannot be written"
fi

done_testing
