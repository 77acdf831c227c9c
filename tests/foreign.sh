# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What the tests of files of others share: the same figures in each tool, and
# the same refusal. Sourced after tool.sh; $log is the file, $program whose.

need_tool trace
need_tool replay
need_tool report
trace=$tools/gpumem-trace
log=$scratch/log

# figures NAME PEAK LIVE BLOCKS OOMS: of the log in each tool
figures()
{
	exits 0 "$1" "$trace" --json "$log"
	json_is "d['program'], d['peak_requested_bytes'], d['live_bytes'],
		d['allocations'], d['kinds']['oom'], d['unknown_events']" \
		"('$program', $2, $3, $4, $5, 0)" "has these figures"
	exits 0 "$1, replayed" "$tools/gpumem-replay" --device=host:0 --json "$log"
	json_is "d['peak_requested_bytes'], d['final_requested_bytes']" \
		"($2, $3)" "to the same"
	exits 0 "$1, reported" "$tools/gpumem-report" --json "$log"
	json_is "d['peak']['requested_bytes'], d['end']['requested_bytes']" \
		"($2, $3)" "the same"
}

# refused NAME REASON: by each tool
refused()
{
	for tool in trace replay report; do
		exits 1 "$1" "$tools/gpumem-$tool" "$log"
		is "$(cat "$scratch/err")" "gpumem-$tool: $log: $2" \
			"$tool says why"
	done
}
