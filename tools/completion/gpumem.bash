# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Completion of gpumem's tools for bash. Installed once for each tool, under the
# tool's name, where bash-completion finds it; sourced, it serves all of them.

# _gpumem_reply WORD...: those that begin with $cur. Of a word that holds = or :
# bash replaces only what stands behind the last of them.
_gpumem_reply()
{
	local word cut=

	if [[ $COMP_WORDBREAKS == *=* && $cur == *=* ]]; then
		cut=${cur%"${cur##*=}"}
	fi
	if [[ $COMP_WORDBREAKS == *:* && $cur == *:* ]]; then
		cut=${cur%"${cur##*:}"}
	fi
	for word; do
		if [[ $word == "$cur"* ]]; then
			COMPREPLY+=("${word#"$cut"}")
		fi
	done
}

# The devices that the gpumem-probe beside the tool lists.
_gpumem_devices()
{
	local probe=gpumem-probe line

	[[ $tool == */* ]] && probe=${tool%/*}/gpumem-probe
	"$probe" --list 2>/dev/null | while read -r line; do
		echo "${line%%: *}"
	done
}

# _gpumem_value OPTION: what may stand behind it
_gpumem_value()
{
	case ${tool##*/}:$1 in
	gpumem-conform:*) ;;
	*:--device | *:-d) _gpumem_devices ;;
	gpumem-run:--backend) echo "cuda hip opencl" ;;
	*:--backend | *:-b) echo "cuda hip opencl host" ;;
	*:--policy | *:-p) echo "cached direct" ;;
	*:--model) echo "h200" ;;
	gpumem-trace:--to | gpumem-trace:-t) echo "trace chrome pytorch" ;;
	esac
}

# The tool's options; those that take a value end in =.
_gpumem_options()
{
	case ${tool##*/} in
	gpumem-probe) echo "--backend= --device= --json --list --options --test" ;;
	gpumem-replay)
		echo "--check= --device= --json --lag= --limit= --model=" \
			"--no-load --passes= --policy= --sample= --scale= --tags="
		;;
	gpumem-bench)
		echo "--device= --iterations= --json --rounds= --seconds=" \
			"--threads= --uniform --warm="
		;;
	gpumem-conform) echo "--device= --one-thread --timeout=" ;;
	gpumem-keep)
		echo "--json --lease= --replace --root --socket= --words="
		;;
	gpumem-report)
		echo "--blocks= --html --json --output= --png --pool= --svg"
		;;
	gpumem-resume) echo "--json --tree" ;;
	gpumem-run)
		echo "--adopt --backend= --json --limit= --no-pool" \
			"--record= --report= --trim="
		;;
	gpumem-suspend) echo "--json --timeout= --tree" ;;
	gpumem-trace)
		echo "--anonymise --anonymize --from= --json --min-bytes= --output=" \
			"--pool= --stream= --to= --until="
		;;
	esac
	echo "--help --usage --version"
}

# _gpumem_files SUFFIX...: files that end so, and folders
_gpumem_files()
{
	local suffix word=${COMP_WORDS[COMP_CWORD]} IFS=$'\n'

	compopt -o filenames 2>/dev/null
	COMPREPLY+=($(compgen -d -- "$word"))
	for suffix; do
		COMPREPLY+=($(compgen -f -X "!*$suffix" -- "$word"))
	done
}

_gpumem()
{
	local IFS=$' \t\n' tool=${COMP_WORDS[0]} cur= before value words
	local line=${COMP_LINE:0:COMP_POINT}

	COMPREPLY=()
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] || cur=${words[${#words[@]} - 1]}
	before=${words[${#words[@]} - 1]}
	[[ -n $cur && ${#words[@]} -gt 1 ]] && before=${words[${#words[@]} - 2]}

	case $cur in
	--*=*)
		for value in $(_gpumem_value "${cur%%=*}"); do
			_gpumem_reply "${cur%%=*}=$value"
		done
		return
		;;
	-*)
		_gpumem_reply $(_gpumem_options)
		[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] &&
			compopt -o nospace 2>/dev/null
		return
		;;
	esac
	case $before in
	--backend | --device | --model | --policy | --to | -[bdpt])
		_gpumem_reply $(_gpumem_value "$before")
		[[ -n ${COMPREPLY[*]} ]] && return
		;;
	esac
	case ${tool##*/} in
	gpumem-replay) _gpumem_files .trace .gz ;;
	gpumem-report)
		_gpumem_files .rec .record .recording .trace .pickle .gz
		;;
	gpumem-trace) _gpumem_files .rec .record .recording .pickle .gz ;;
	gpumem-run)
		COMPREPLY+=($(compgen -c -- "$cur"))
		_gpumem_files ""
		;;
	gpumem-bench) _gpumem_reply pair threads random trim growth churn record ;;
	gpumem-keep) _gpumem_reply serve list show put get renew drop ;;
	gpumem-conform)
		_gpumem_reply cuda hip opencl host
		_gpumem_files .so
		;;
	esac
}

complete -F _gpumem gpumem-probe gpumem-replay gpumem-bench gpumem-conform \
	gpumem-keep gpumem-report gpumem-resume gpumem-run gpumem-suspend gpumem-trace
