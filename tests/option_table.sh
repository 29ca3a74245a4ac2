#!/usr/bin/env bash
# Checks that README.md holds the option table that the plugin prints.
# usage: option_table.sh PRINTER README.md [--write]   --write puts the printed table there
set -euo pipefail
printer=$1 readme=$2
printed=$("$printer")
if [ "${3:-}" = --write ]; then
  TABLE=$printed awk '
    /<!-- options: end -->/ { inside = 0 }
    !inside
    /<!-- options: begin -->/ { inside = 1; print ENVIRON["TABLE"] }' "$readme" >"$readme.new"
  mv "$readme.new" "$readme"
fi
diff <(sed -n '/<!-- options: begin -->/,/<!-- options: end -->/p' "$readme" | sed '1d;$d') <(printf '%s\n' "$printed") || {
  echo "README.md (<) and the plugin (>) differ; tests/option_table.sh PRINTER README.md --write mends it"
  exit 1
}
