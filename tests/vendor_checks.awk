# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Reads declarations of backends/vendor/, and writes C that compiles only if the
# vendor's header, included before it, says the same: each number, the size of
# each struct and where its members are, each signature, what a plain name stands
# for. An "#if" is passed on: there the vendor's version decides what is compared.
# A line that ends in "ours" is not. It knows the layout that those files have,
# and not C.
#
#	awk -f tests/vendor_checks.awk FILE...

function assert(condition)
{
	return "SAME(" condition ");\n"
}

function is_ours(line)
{
	return line ~ /\/\* ours \*\/$/
}

# The name before the ";", "," or "[" with which a line ends.
function name_in(line)
{
	sub(/(\[[0-9]*\])*[;,]$/, "", line)
	sub(/.*[ \t*]/, "", line)
	return line
}

function enumerators(name, lines, count, text, i, words)
{
	for (i = 2; i < count; i++) {
		split(lines[i], words, /[ \t,]+/)
		text = text assert(words[2] " == " words[4])
	}
	return text assert("sizeof(" name ") == sizeof(int)")
}

function same_member(name, path)
{
	return assert("offsetof(own_" name ", " path ") == offsetof(" name \
		", " path ")") \
		assert("sizeof(((own_" name " *)0)->" path ") == sizeof(((" \
		name " *)0)->" path ")")
}

# Members of structs and unions within are those of the struct, by their path.
function members(name, lines, count, text, i, last, from, path, j, word)
{
	for (i = 2; i < count; i++) {
		word = name_in(lines[i])
		if (lines[i] ~ /^#/) {
			path[++last] = lines[i]
		} else if (lines[i] ~ /^[ \t]*(struct|union) \{$/) {
			from = last + 1
		} else if (lines[i] ~ /^[ \t]*\}/) {
			for (j = from; word != "}" && j <= last; j++)
				path[j] = word "." path[j]
		} else if (!is_ours(lines[i])) {
			path[++last] = word
		}
	}
	for (i = 1; i <= last; i++)
		text = text (path[i] ~ /^#/ ? path[i] "\n" : \
			same_member(name, path[i]))
	return text assert("sizeof(own_" name ") == sizeof(" name ")")
}

function declaration(text, lines, count, name)
{
	count = split(text, lines, "\n") - 1
	name = name_in(lines[count])
	if (text ~ /^typedef enum \{/)
		return enumerators(name, lines, count)
	if (text ~ /^typedef (struct|union) \{/) {
		sub(/\}[^}]*$/, "} own_" name ";\n", text)
		return text members(name, lines, count)
	}
	# The compiler compares it with what it knows.
	if (text ~ /^typedef .*\)\(/)
		return text
	if (text ~ /^typedef /)
		return text assert("sizeof(" name " *)")
	match(text, /[A-Za-z_0-9]+\(/)
	name = substr(text, RSTART, RLENGTH - 1)
	plain = plain "#undef " name "\n"
	return text assert("sizeof(&" name ")")
}

is_ours($0) && !statement { next }
/^[ \t]*\/\*/ || comment { comment = !/\*\/$/; next }
/^#(if|else)( |$)/ { conditional = 1 }
/^#define [A-Za-z_0-9]+ / {
	name = $2
	sub(/^#define [^ ]+ /, "")
	if (/^[0-9]/)
		body = body assert(name " == " $0)
	else
		plain = plain assert("!__builtin_strcmp(TEXT(" name "), \"" $0 \
			"\")") "#undef " name "\n"
	next
}
/^#/ && !conditional || /^$/ { next }
/^#endif/ { conditional = 0 }
/^#/ && !statement { body = body $0 "\n"; next }
{
	statement = statement $0 "\n"
	depth += gsub(/\{/, "{") - gsub(/\}/, "}")
	if (!depth && /;$/) {
		body = body declaration(statement)
		statement = ""
	}
}

END {
	print "#include <stddef.h>\n#include <stdint.h>\n" \
		"#define WORDS(...) #__VA_ARGS__\n" \
		"#define TEXT(...) WORDS(__VA_ARGS__)\n" \
		"#define SAME(...) _Static_assert(__VA_ARGS__, #__VA_ARGS__)"
	printf "%s%s", plain, body
}
