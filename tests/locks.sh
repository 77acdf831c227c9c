#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The order of all locks: the table of docs/design.md has every mutex of core/ and
# no other; what a header states ("Locks, in this order") and what each function
# takes while it holds another agrees with it. What a function calls while it
# holds a lock is not seen.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1

# A mutex is written as FILE:NAME, the file below core/.

# declared FOLDER: every mutex that is declared below it
declared()
{
	(cd "$1" && grep -rE '^[[:space:]]*(static )?pthread_mutex_t [a-z_]+( =.*)?;' \
		--include='*.[ch]' .) |
		sed -E 's,^\./([^:]*):.*pthread_mutex_t ([a-z_]+).*,\1:\2,' | sort
}

# listed DOCUMENT: its table, "ORDER FILE:NAME" a line
listed()
{
	awk -F'[ |]+' '/^## / { on = /All locks/ }
		on && $2 ~ /^[0-9]+$/ { print $2, $3 ":" $4 }' "$1"
}

# stated FILE...: "FILE MUTEX..." for each order that a comment states
stated()
{
	awk 'FNR == 1 { on = 0 }
	/Locks, in this order/ {
		on = 1
		text = FILENAME
	}
	on {
		line = $0
		while (match(line, /[a-z_]+\/[a-z_]+\.[ch]:[a-z_]+/)) {
			text = text " " substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
		}
		if ($0 ~ /\.( |$)/ || $0 ~ /\*\//) {
			print text
			on = 0
		}
	}' "$@"
}

# nested FILE...: "FILE:LINE HELD TAKEN" for each lock that a function takes while
# it holds another. What it only tries it does not wait for.
nested()
{
	awk 'function mutex(expression, name, of)
	{
		name = expression
		sub(/.*[>.]/, "", name)
		if (name == expression)
			return file ":" name
		if (name == "trim_mutex")
			return "heap/heap.h:trim_mutex"
		if (name == "pressure_mutex")
			return "pool/pool.h:pressure_mutex"
		of = substr(expression, 1, length(expression) - length(name))
		sub(/(->|\.)$/, "", of)
		sub(/.*[>.]/, "", of)
		if (of == "heap")
			return "extent/heap_core.h:mutex"
		if (of == "device")
			return "device/device.h:mutex"
		if (of == "file")
			return "record/file.h:mutex"
		if (of == "move")
			return "sleep/move.h:mutex"
		if (of == "sleep")
			return "sleep/parts.h:mutex"
		if (of == "gate")
			return "device/gate.h:mutex"
		if (of == "event" || of == "spare")
			return "device/event.c:mutex"
		return "unknown:" expression
	}
	FNR == 1 {
		file = FILENAME
		sub(/.*core\//, "", file)
	}
	/^}/ { count = 0 }
	match($0, /pthread_mutex_(un)?lock\(&[^)]*\)/) {
		call = substr($0, RSTART, RLENGTH)
		expression = call
		sub(/.*&/, "", expression)
		sub(/\)$/, "", expression)
		this = mutex(expression)
		if (call ~ /unlock/) {
			for (i = 1; i <= count && held[i] != this; i++)
				;
			for (; i < count; i++)
				held[i] = held[i + 1]
			if (i == count)
				count--
		} else {
			for (i = 1; i <= count; i++)
				print file ":" FNR, held[i], this
			if (this ~ /^unknown/)
				print file ":" FNR, this, this
			held[++count] = this
		}
	}' "$@"
}

# disordered LIST: of "WHERE MUTEX..." lines of the standard input, those of which
# some mutex is not in the list, or not behind the one before it
disordered()
{
	awk 'NR == FNR {
		if (!($2 in order))
			order[$2] = $1
		next
	}
	{
		for (i = 2; i <= NF; i++)
			if (!($i in order) ||
			    (i > 2 && order[$i] <= order[$(i - 1)])) {
				print
				next
			}
	}' "$1" -
}

listed docs/design.md >"$scratch/list"
check "there is a list" test -s "$scratch/list"
is "$(awk '{ print $2 }' "$scratch/list" | sort)" "$(declared core)" \
	"it has every mutex of core/, and no other"
is "$(awk '$1 < last { print } { last = $1 }' "$scratch/list")" "" \
	"it is in order"
is "$(grep -rnE 'pthread_(rwlock|spinlock)_t|[^_a-z](mtx|sem)_t[^_a-z]' core)" "" \
	"there are no locks of another kind"

stated $(find core -name '*.[ch]') >"$scratch/stated"
is "$(awk '{ print $1 }' "$scratch/stated" | sort | tr '\n' ' ')" \
	"core/cache/local.c core/heap/heap.h core/pool/pool.h core/pool/record.c " \
	"an order is stated where several locks are taken"
is "$(awk 'NF < 3' "$scratch/stated")" "" "each names two or more"
is "$(disordered "$scratch/list" <"$scratch/stated")" "" \
	"each is that of the list"
nested $(find core -name '*.c') >"$scratch/nested"
check "functions hold two locks" test -s "$scratch/nested"
is "$(disordered "$scratch/list" <"$scratch/nested")" "" \
	"and take them in that order"

# This test can fail.
mkdir -p "$scratch/core/pool"
cat >"$scratch/core/pool/wrong.c" <<-'END'
	/* Locks, in this order: extent/heap_core.h:mutex,
	 * heap/heap.h:trim_mutex. */
	static pthread_mutex_t forgotten = PTHREAD_MUTEX_INITIALIZER;
	static void wrong(struct gm_heap *heap)
	{
		pthread_mutex_lock(&heap->mutex);
		pthread_mutex_lock(&heap->policy->trim_mutex);
		pthread_mutex_unlock(&heap->policy->trim_mutex);
		pthread_mutex_unlock(&heap->mutex);
		pthread_mutex_lock(&forgotten);
	}
	static void right(struct gm_heap *heap)
	{
		pthread_mutex_lock(&heap->policy->trim_mutex);
		pthread_mutex_lock(&heap->mutex);
	}
END
is "$(declared "$scratch/core")" "pool/wrong.c:forgotten" \
	"a mutex that is not listed is found"
is "$(stated "$scratch/core/pool/wrong.c" | disordered "$scratch/list" |
	grep -c .)" 1 "so is a wrong statement"
is "$(nested "$scratch/core/pool/wrong.c" | disordered "$scratch/list")" \
	"pool/wrong.c:7 extent/heap_core.h:mutex heap/heap.h:trim_mutex" \
	"and a function that takes locks in the wrong order"

done_testing
