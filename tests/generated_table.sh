#!/usr/bin/env bash
# Checks that a document holds the table that a program prints, between <!-- TABLE: begin --> and <!-- TABLE: end -->.
# usage: generated_table.sh TABLE PRINTER DOCUMENT [--write]   --write puts the printed table there
set -euo pipefail
table=$1 printer=$2 document=$3
printed=$("$printer")
[ -n "$printed" ] || { echo "$printer prints nothing" && exit 1; }
if [ "${4:-}" = --write ]; then
  PRINTED=$printed awk -v begin="<!-- $table: begin -->" -v end="<!-- $table: end -->" '
    index($0, end) { inside = 0 }
    !inside
    index($0, begin) { inside = 1; print ENVIRON["PRINTED"] }' "$document" >"$document.new"
  mv "$document.new" "$document"
fi
diff <(sed -n "/<!-- $table: begin -->/,/<!-- $table: end -->/p" "$document" | sed '1d;$d') <(printf '%s\n' "$printed") || {
  echo "$document (<) and the program (>) differ; tests/generated_table.sh $table PRINTER $document --write mends it"
  exit 1
}
