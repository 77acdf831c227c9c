#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Every recorded program is replayed, with and without virtual memory: what it
# leaves live is what is requested in the end, trim gives the rest back, and
# the peak stays near what was asked for; also on a device that lags behind, and
# in a long run.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_tool replay
replay=$tools/gpumem-replay

# events, bytes and blocks that the trace leaves live, by other means
summary()
{
	gzip -dc "$1" | awk '
		$1 == "a" { size[$2] = $3; live += $3; blocks++; events++ }
		$1 == "f" { live -= size[$2]; blocks--; events++ }
		$1 == "u" { events++ }
		END { printf "%d %.0f %d\n", events, live, blocks }'
}

# most on|off|lag|behind TRACE: the highest allowed ratio of peak reserved to peak requested
most()
{
	case $1:$2 in
	on:*) echo 1.05 ;;
	off:*) echo 1.15 ;;
	lag:*) echo 1.05 ;;
	behind:*) echo 1.15 ;;
	esac
}

for name in $(recorded); do
	file=$top_srcdir/tests/traces/$name.trace.gz
	set -- $(summary "$file")
	events=$1 live=$2 blocks=$3
	for vm in on off; do
		what="$name, virtual memory $vm"
		exits 0 "$what" env GPUMEM_CONF="vm:$vm" "$replay" \
			--device host:0 --json "$file" || continue
		is "$(value events)" "$events" "$what: events"
		is "$(value final_requested_bytes)" "$live" \
			"$what: what is live is requested"
		ratio=$(value reserved_ratio)
		check "$what: ratio ${ratio:-?} is between 1 and $(most $vm "$name")" \
			awk "BEGIN { exit !(1 <= $ratio && $ratio <= $(most $vm "$name")) }"
		# A live block keeps at most the two handles at its ends in part,
		# each at most a 128th of what was reserved when it was made.
		kept=$(value final_reserved_bytes_after_trim)
		if [ $vm = on ]; then
			handle=$(($(value peak_reserved_bytes) / 128))
			[ $handle -ge $((8 << 20)) ] || handle=$((8 << 20))
			check "$what: trim keeps $kept bytes for $live" \
				test "$kept" -ge "$live" -a "$kept" -le \
				$((live + 2 * handle * blocks))
		elif [ "$live" -eq 0 ]; then
			is "$kept" 0 "$what: trim keeps nothing"
		fi
	done
	for lag in 1000 inf; do
		what="$name, segments, $lag events behind"
		exits 0 "$what" env GPUMEM_CONF=vm:off "$replay" --lag="$lag" \
			--device host:0 --json "$file" || continue
		ratio=$(value reserved_ratio)
		check "$what: ratio ${ratio:-?} is between 1 and $(most behind "$name")" \
			awk "BEGIN { exit !(1 <= $ratio && $ratio <= $(most behind "$name")) }"
		what="$name, $lag events behind"
		exits 0 "$what" "$replay" --lag="$lag" --device host:0 \
			--json "$file" || continue
		is "$(value final_requested_bytes)" "$live" \
			"$what: what is live is requested"
		ratio=$(value reserved_ratio)
		check "$what: ratio ${ratio:-?} is between 1 and $(most lag "$name")" \
			awk "BEGIN { exit !(1 <= $ratio && $ratio <= $(most lag "$name")) }"
	done
done

# Parts of pages that nothing can use become more by and by.
what="bert_inference, thirty passes"
if exits 0 "$what" "$replay" --passes=30 --device host:0 --json \
	"$top_srcdir/tests/traces/bert_inference.trace.gz"; then
	ratio=$(value reserved_ratio)
	check "$what: ratio ${ratio:-?} is between 1 and 1.05" \
		awk "BEGIN { exit !(1 <= $ratio && $ratio <= 1.05) }"
fi

done_testing
