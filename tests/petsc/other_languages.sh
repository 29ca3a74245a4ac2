#!/usr/bin/env bash
# The modules for Fortran and Python have every function of the headers.
# usage: other_languages.sh taskdagpetsc.F90 petsctaskdag.py HEADER...
set -euo pipefail
fortran=$1 module=$2
shift 2
functions=$(grep -hoE '\b(PC|Mat)?TaskDAG[A-Za-z0-9]*\(' "$@" | tr -d '(' | grep -v Finalize | sort -u)
[ "$(wc -l <<<"$functions")" -gt 40 ]
echo "== Fortran"
diff <(echo "$functions") <(sed -n "s/.*name='\(.*\)'.*/\1/p" "$fortran" | sort -u)
echo "== Python"
python=$(grep -oE '"[A-Za-z0-9]*\{\}[A-Za-z0-9]+"' "$module" | tr -d '"' | sed 's/^/PCTaskDAG/')
direct=$(grep -oE '(library|\(\))\.[A-Za-z]*TaskDAG[A-Za-z]*\(' "$module" | sed -E 's/.*\.(.*)\(/\1/')
diff <(echo "$functions") <(printf '%s\n' "${python//\{\}/Set}" "${python//\{\}/Get}" "$direct" | sort -u)
