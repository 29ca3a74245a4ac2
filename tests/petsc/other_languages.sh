#!/usr/bin/env bash
# The modules for Fortran and Python have every function of the header.
# usage: other_languages.sh taskdagpetsc.h taskdagpetsc.F90 petsctaskdag.py
set -euo pipefail
functions=$(grep -oE '\b(PC|Mat)?TaskDAG[A-Za-z0-9]*\(' "$1" | tr -d '(' | grep -v Finalize | sort -u)
[ "$(wc -l <<<"$functions")" -gt 40 ]
echo "== Fortran"
diff <(echo "$functions") <(sed -n "s/.*name='\(.*\)'.*/\1/p" "$2" | sort -u)
echo "== Python"
python=$(grep -oE '"[A-Za-z0-9]*\{\}[A-Za-z0-9]+"' "$3" | tr -d '"' | sed 's/^/PCTaskDAG/')
direct=$(grep -oE '(library|\(\))\.[A-Za-z]*TaskDAG[A-Za-z]*\(' "$3" | sed -E 's/.*\.(.*)\(/\1/')
diff <(echo "$functions") <(printf '%s\n' "${python//\{\}/Set}" "${python//\{\}/Get}" "$direct" | sort -u)
