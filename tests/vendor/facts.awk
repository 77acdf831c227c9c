# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Reads headers of backends/vendor, and prints a C program that prints what they
# say: each number, what a plain name stands for, the size of each type, and the
# place and size of each member. With THEIRS it is compiled with the vendor's
# instead, which are to have each function and type, and then each declaration once
# more: the compiler compares the two. What is included comes before it.
#
# A comment that begins with "if" is a condition of the preprocessor under which
# the vendor has such a thing: at the end of a line, of that line; on a line of its
# own, of the next one; before or behind a declaration, or where its members begin,
# of all of it; where they end, of its size. "ours" is one that never holds. With
# "declared if" the vendor drops a function from the header, while a type of pointers
# to it remains, with which it is compared. An #if of the header itself stays: it
# decides which of ours is compared. One line has one declaration, member or number,
# or a part of a declaration.

BEGIN {
	name = "[A-Za-z_][A-Za-z_0-9]*"
	marked = "@[^@]*@"
}

# under CONDITION TEXT: TEXT where the vendor has it
function under(condition, text)
{
	if (condition == "")
		return text "\n"
	return "#if " condition "\n" text "\n#endif\n"
}

function both(one, other)
{
	if (one == "" || other == "")
		return one other
	return "(" one ") && (" other ")"
}

function fact(condition, what)
{
	if (condition != "")
		condition = "!defined(THEIRS) || (" condition ")"
	facts = facts under(condition, "\tprintf(\"%s %lld\\n\", \"" what \
		"\", (long long)(" what "));")
}

# A name that stands for another one, until functions are declared.
function plain_name(name)
{
	names = names "static const char text_" name "[] = TEXT(" name ");\n" \
		"#undef " name "\n"
	facts = facts "\tprintf(\"%s %s\\n\", \"" name "\", text_" name ");\n"
}

# A line of the preprocessor that decides what is compared.
function decides(line)
{
	names = names line "\n"
	declarations = declarations line "\n"
	if (inside && kind == "struct")
		members[++count] = line
	else
		facts = facts line "\n"
}

function again(condition, text)
{
	declarations = declarations under(condition, text)
}

function mark_of(text)
{
	return match(text, marked) ? substr(text, RSTART + 1, RLENGTH - 2) : ""
}

function without_marks(text)
{
	gsub(marked, "", text)
	gsub(/[ \t]+/, " ", text)
	sub(/^ /, "", text)
	sub(/ $/, "", text)
	return text
}

# What a member or a typedef declares: of (*name)(...) the name, else the last.
function declared(text)
{
	if (match(text, "\\*" name "\\)\\("))
		return substr(text, RSTART + 1, RLENGTH - 3)
	gsub(/\[[^]]*\]/, "", text)
	sub(/ *;$/, "", text)
	match(text, name "$")
	return substr(text, RSTART, RLENGTH)
}

# A line between the braces. Members of what has no name are the outer's.
function member(text, condition)
{
	if (kind == "enum") {
		if (match(text, "^" name))
			fact(both(whole, condition),
				substr(text, RSTART, RLENGTH))
		return
	}
	if (kind == "struct" && text !~ /[;{]$/) {
		part = part text " "
		return
	}
	text = part text
	part = ""
	if (text ~ /\{$/) {
		first[++depth] = count + 1
		return
	}
	if (text ~ /^\}/) {
		text = declared(text)
		for (i = first[depth--]; text != "" && i <= count; i++)
			if (members[i] !~ /^#/)
				members[i] = text "." members[i]
		return
	}
	members[++count] = declared(text)
	conditions[count] = condition
}

# The line with the closing brace; its name, or its tag.
function end_of_type(text, condition,    type)
{
	type = text == "};" ? tag : declared(text)
	fact(both(whole, condition), "sizeof(" type ")")
	for (i = 1; i <= count; i++) {
		if (members[i] ~ /^#/) {
			facts = facts members[i] "\n"
			continue
		}
		fact(both(whole, conditions[i]),
			"offsetof(" type ", " members[i] ")")
		fact(both(whole, conditions[i]),
			"sizeof(((" type " *)0)->" members[i] ")")
	}
	inside = 0
	whole = ""
}

# All of a declaration that has no braces.
function declaration(text, condition,    function_name)
{
	if (text !~ /^(typedef|struct|union|enum) / &&
	    match(text, name " ?\\(")) {
		function_name = substr(text, RSTART, RLENGTH - 1)
		sub(/ $/, "", function_name)
		there = condition
		if (sub(/^declared /, "", there))
			condition = ""
		again("", "#undef " function_name)
		again(there, "extern __typeof__(" function_name ") *has_" \
			function_name ";")
	} else if (text ~ /^typedef /) {
		again(condition, "extern char has_" ++types "[sizeof(" \
			declared(text) " *)];")
	}
	again(condition, text)
}

# ---- lines ------------------------------------------------------------------

# A condition becomes @condition@; other comments go.
{
	line = $0
	sub(/\/\* ours \*\//, "/* if 0 */", line)
	sub(/\/\* declared if /, "/* if declared ", line)
	while (match(line, /\/\* if [^*]*\*\//)) {
		condition = substr(line, RSTART + 6, RLENGTH - 9)
		line = substr(line, 1, RSTART - 1) "@" condition "@" \
			substr(line, RSTART + RLENGTH)
	}
	if (in_comment) {
		if (!match(line, /\*\//))
			next
		line = substr(line, RSTART + 2)
		in_comment = 0
	}
	while (match(line, /\/\*/)) {
		rest = substr(line, RSTART)
		line = substr(line, 1, RSTART - 1)
		if (!match(rest, /\*\//)) {
			in_comment = 1
			break
		}
		line = line substr(rest, RSTART + 2)
	}
}

line ~ /^[ \t]*$/ { next }

line ~ /^# ?if/ { stays[++within] = line ~ /^# ?if / }

line ~ /^# ?(if|else|elif|endif)/ {
	if (stays[within])
		decides(line)
	if (line ~ /^# ?endif/)
		within--
	next
}

line ~ /^#/ {
	condition = both(before, mark_of(line))
	before = ""
	line = without_marks(line)
	if (match(line, "^# ?define " name " [^ ]")) {
		sub(/^# ?define /, "", line)
		match(line, "^" name)
		word = substr(line, RSTART, RLENGTH)
		if (line ~ ("^" name " [A-Za-z_]"))
			plain_name(word)
		else
			fact(condition, word)
	}
	next
}

without_marks(line) == "" {
	before = mark_of(line)
	next
}

{
	condition = mark_of(line)
	line = without_marks(line)
}

inside && line ~ /^\}/ && !depth {
	end_of_type(line, condition)
	before = ""
	next
}

inside {
	member(line, both(before, condition))
	before = ""
	next
}

{
	whole = both(whole, both(before, condition))
	before = ""
}

!pending && line ~ /^(typedef )?(struct|union|enum)[^;(]*\{$/ {
	inside = 1
	count = depth = 0
	kind = line ~ /^(typedef )?enum/ ? "enum" : "struct"
	tag = line
	sub(/^typedef /, "", tag)
	sub(/ *\{$/, "", tag)
	next
}

{
	text = pending ? text " " line : line
	pending = line !~ /;$/
	if (!pending) {
		declaration(text, whole)
		whole = ""
	}
}

END {
	print "#include <stddef.h>"
	print "#include <stdio.h>"
	print "#define WORDS(...) #__VA_ARGS__"
	print "#define TEXT(...) WORDS(__VA_ARGS__)"
	printf "%s", names
	print "#ifdef THEIRS"
	printf "%s", declarations
	print "#endif"
	print "int main(void)\n{"
	printf "%s", facts
	print "\treturn 0;\n}"
}
