#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Shell completion: every option of --help is completed and no other, and the
# shells themselves complete options, devices, words and files.

. "${top_srcdir:-.}/tests/tap.sh"
. "${top_srcdir:-.}/tests/tool.sh"

need_tool probe
folder=$top_srcdir/tools/completion

# Tools that only tell how they were called, with three devices of which one has
# blanks in its name.
mkdir "$scratch/bin" "$scratch/there" "$scratch/there/folder"
for tool in probe replay bench conform keep report resume run suspend trace; do
	cat >"$scratch/bin/gpumem-$tool" <<-END
		#!/bin/sh
		if [ "\$*" = --list ]; then
			echo 'host:0: gpumem simulated GPU, 64 GiB (UUID a: b)'
			echo 'cuda:0: NVIDIA H200, 139.8 GiB (UUID c)'
			echo 'cuda:1: NVIDIA H200, 139.8 GiB (UUID d)'
		else
			printf '%s|' "\${0##*/}" "\$@" >>'$scratch/called'
			echo >>'$scratch/called'
		fi
	END
	chmod +x "$scratch/bin/gpumem-$tool"
done
for file in one.trace two.trace.gz three.txt four.rec plugin.so; do
	: >"$scratch/there/$file"
done

# ---- the options are those of --help --------------------------------------------

# options_of TOOL: with = behind those that take a value
options_of()
{
	"$tools/gpumem-$1" --help | sed '/^ *--[a-z]*, --/s/,/  /' | grep -oE -e ' --[a-z][a-z-]+(\[?=|  |$)' |
		tr -d ' [' | sort
}

# listed TOOL: the same, of zsh's file
listed()
{
	awk -v tool="gpumem-$1)" '
		/^common=/ { on = 1 } /^\)/ { on = 0 }
		/^json=/ && tool !~ /conform/ { print }
		$1 == tool { on = 1 } $1 == ";;" { on = 0 }
		on { print }' "$folder/_gpumem" |
		sed "s/\[.*//; s/'(.*)'//; s/'(.*)//" >"$scratch/specs"
	grep -oE -e '--[a-z][a-z-]+=?' "$scratch/specs" | sort -u
}

cat >"$scratch/reply.bash" <<'END'
. "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDBREAKS=$' \t\n"\'@><=;|&(:'
read -ra COMP_WORDS <<<"$2"
[[ $2 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
$(complete -p "${COMP_WORDS[0]##*/}" | sed 's/.*-F \([^ ]*\).*/\1/')
((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"
END

# bash_replies LINE: what the function makes of it
bash_replies()
{
	(
		cd "$scratch/there" && PATH=$scratch/bin:$PATH bash --norc \
			"$scratch/reply.bash" "$folder/gpumem.bash" "$1"
	)
}

have_bash=$(bash -c 'echo yes' 2>/dev/null)
for tool in probe replay bench conform keep report resume run suspend trace; do
	if [ ! -x "$tools/gpumem-$tool" ]; then
		skip "gpumem-$tool was not built" "the options of gpumem-$tool"
		continue
	fi
	is "$(listed "$tool")" "$(options_of "$tool")" \
		"zsh has the options of gpumem-$tool"
	if [ -n "$have_bash" ]; then
		is "$(bash_replies "gpumem-$tool --" | sort)" \
			"$(options_of "$tool")" \
			"bash has the options of gpumem-$tool"
	else
		skip "there is no bash" "bash has the options of gpumem-$tool"
	fi
done
is "$("$tools/gpumem-bench" --help | tr '\n' ' ' |
	sed 's/.*BENCHMARK is one of \([a-z, ]*\)\. .*/\1/; s/,//g; s/ and / /; s/  */ /g')" \
	"$(sed -n 's/.*benchmark:(\(.*\)).*/\1/p' "$folder/_gpumem")" \
	"zsh has the benchmarks"

# ---- bash -------------------------------------------------------------------------

# replies LINE EXPECTED
replies()
{
	if [ -n "$have_bash" ]; then
		is "$(bash_replies "$1" | sort | xargs)" "$2" "bash: $1"
	else
		skip "there is no bash" "bash: $1"
	fi
}

replies "gpumem-probe --te" "--test"
replies "gpumem-probe --device=" "cuda:0 cuda:1 host:0"
replies "gpumem-probe --device=cu" "cuda:0 cuda:1"
replies "gpumem-probe --device=cuda:" "0 1"
replies "gpumem-probe --test -d cuda:" "0 1"
replies "gpumem-replay --device " "cuda:0 cuda:1 host:0"
replies "../bin/gpumem-probe --device=ho" "host:0"
replies "gpumem-probe -b " "cuda hip host opencl"
replies "gpumem-run --backend=" "cuda hip opencl"
replies "gpumem-replay --policy=d" "direct"
replies "gpumem-replay --model=" "h200"
replies "gpumem-replay --passes=" ""
replies "gpumem-replay --json " "folder one.trace two.trace.gz"
replies "gpumem-replay on" "one.trace"
replies "gpumem-bench --uniform t" "threads trim"
replies "gpumem-keep d" "drop"
replies "gpumem-conform " "cuda folder hip host opencl plugin.so"
replies "gpumem-report " "folder four.rec one.trace two.trace.gz"
replies "gpumem-trace --to=" "chrome pytorch trace"
replies "gpumem-trace -t c" "chrome"
replies "gpumem-trace f" "folder four.rec"
replies "gpumem-probe " ""

# ---- typed into a shell -----------------------------------------------------------

# typed SHELL LINE EXPECTED: what runs when it is typed
typed()
{
	tap_shell=$1
	: >"$scratch/called"
	printf '%s\n' "$2" | (
		cd "$scratch/there" && TERM=dumb PS1= HOME=$scratch \
			ZDOTDIR=$scratch PATH=$scratch/bin:$PATH \
			PROMPT_COMMAND='printf "READY>"' python3 \
			"$top_srcdir/tests/shell.py" $1
	) >/dev/null 2>&1
	is "$(cat "$scratch/called")" "$3" \
		"${tap_shell%% *} completes: $(echo "$2" | sed "s/$tab/<tab>/g")"
}

cat >"$scratch/.bashrc" <<END
. '$folder/gpumem.bash'
END
cat >"$scratch/.zshrc" <<END
fpath=('$folder' \$fpath)
autoload -U compinit && compinit -u -D
precmd() { print -n 'READY>' }
END
tab=$(printf '\t')
for shell in "bash --rcfile ../.bashrc" "zsh -d -i"; do
	name=${shell%% *}
	if ! "$name" -c : 2>/dev/null || ! have_python; then
		skip "there is no $name or no python3" "$name completes"
		continue
	fi
	typed "$shell" "gpumem-probe --op$tab" "gpumem-probe|--options|"
	typed "$shell" "gpumem-probe --device=ho$tab --test" \
		"gpumem-probe|--device=host:0|--test|"
	typed "$shell" "gpumem-probe -d cuda:1$tab --te$tab" \
		"gpumem-probe|-d|cuda:1|--test|"
	typed "$shell" "gpumem-replay --pol${tab}di$tab on$tab" \
		"gpumem-replay|--policy=direct|one.trace|"
	typed "$shell" "gpumem-bench gr$tab --js$tab" \
		"gpumem-bench|growth|--json|"
	typed "$shell" "gpumem-conform ./pl$tab" "gpumem-conform|./plugin.so|"
done

done_testing
