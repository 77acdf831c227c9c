#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What a driver has answered, into the file of what is known:
#
#	sh tests/device/answers/merge.sh answers.txt >new
#
# where answers.txt is of the step "answers" of tests/device/run.sh. An answer that
# the double gives too loses its mark; where the double says something else, that is
# marked: mend the double, or say in the double why it differs. Questions that were
# not asked, since their section ended before, stay as they are. The line that says
# which driver it was is for you to write.

known=$(cd "$(dirname "$0")/../../fake/cuda" && pwd)/answers.txt
exec awk -v real="${1:?the answers of a driver}" '
function cut(line) { # line: question, then what follows it
	at = 0
	while ((i = index(substr(line, at + 1), ": ")) > 0)
		at += i
	question = substr(line, 1, at - 1)
	rest = substr(line, at + 2)
}
function read_real() {
	if ((getline line < real) <= 0) {
		next_question = ""
		return
	}
	cut(line)
	next_question = question
	next_answer = rest
}
BEGIN { read_real() }
/^#/ { print; next }
{
	double = $0
	sub(/ \[not compared\]$/, "", double)
	if (match(double, / \[double: .*\]$/)) {
		said = substr(double, RSTART + 10, RLENGTH - 11)
		double = substr(double, 1, RSTART - 1)
		cut(double)
	} else {
		cut(double)
		said = rest
	}
	if (question != next_question) {
		print
		next
	}
	asked = question
	answer = next_answer
	if (answer == said)
		print asked ": " answer
	else
		print asked ": " answer " [double: " said "]"
	read_real()
}' "$known"
