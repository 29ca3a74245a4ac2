#!/usr/bin/env bash
# The modules for Fortran and Python have every function of the header.
# usage: other_languages.sh taskdagpetsc.h taskdagpetsc.F90 petsctaskdag.py
set -euo pipefail
functions=$(grep -oE '\b(PC)?TaskDAG[A-Za-z0-9]*\(' "$1" | tr -d '(' | grep -v Finalize | sort -u)
[ "$(wc -l <<<"$functions")" -gt 40 ]
echo "== Fortran"
diff <(echo "$functions") <(sed -n "s/.*name='\(.*\)'.*/\1/p" "$2" | sort -u)
echo "== Python"
python=$(grep -oE '"[A-Za-z0-9]*\{\}[A-Za-z0-9]+"' "$3" | tr -d '"' | sed 's/^/PCTaskDAG/')
diff <(grep -v Initialize <<<"$functions") <(printf '%s\n' "${python//\{\}/Set}" "${python//\{\}/Get}" | sort -u)
