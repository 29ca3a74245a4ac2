#!/usr/bin/env bash
# Checks that the output of a PETSc program has every option of the plugin's tables, with its help text.
# usage: help_lists_options.sh PRINTER PROGRAM ARGUMENTS...   PRINTER prints the tables as Markdown
set -euo pipefail
printer=$1
shift
help=$("$@")
count=0
missing=0
while IFS='|' read -r _ option _ _ meaning _; do
  option=$(tr -d ' `' <<<"${option%%,*}")
  meaning=$(sed 's/^ *//; s/ *$//' <<<"$meaning")
  count=$((count + 1))
  if ! grep -F -e "$option" <<<"$help" | grep -qF -e "$meaning"; then
    echo "missing in the help: $option: $meaning"
    missing=$((missing + 1))
  fi
done < <("$printer" | grep '^| `')
echo "$count options, $missing missing"
[ "$count" -gt 0 ] && [ "$missing" -eq 0 ]
