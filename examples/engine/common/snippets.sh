#!/usr/bin/env bash
# Checks that the code in a document is the code of the examples. In the document, a line
#   <!-- snippet FILE NAME -->
# stands before a fenced block; in FILE (relative to ROOT), the block stands between the lines "[snippet NAME]" and
# "[snippet end]" (after // or #). Indentation that all of a snippet's lines share is not compared.
# usage: snippets.sh DOCUMENT ROOT
set -euo pipefail
document=$1 root=$2

outdent() {
  awk '{ line[NR] = $0; if ($0 != "") { match($0, /^ */); if (least == "" || RLENGTH < least) least = RLENGTH } }
       END { for (i = 1; i <= NR; ++i) print substr(line[i], least + 1) }'
}
in_source() { # FILE NAME
  awk -v name="[snippet $2]" 'index($0, "[snippet end]") { inside = 0 } inside { print } index($0, name) { inside = 1 }' \
    "$root/$1" | outdent
}
in_document() { # NUMBER of the marker's line
  awk -v marker="$1" 'NR > marker && /^```/ { if (inside) exit; inside = 1; next } inside { print }' "$document"
}

checked=0
while IFS=: read -r line marker; do
  read -r _ _ file name _ <<<"$marker"
  expected=$(in_source "$file" "$name")
  [ -n "$expected" ] || { echo "$document:$line: $file has no snippet $name"; exit 1; }
  if ! diff <(printf '%s\n' "$expected") <(in_document "$line"); then
    echo "$document:$line: this is not what $file says (snippet $name)"
    exit 1
  fi
  checked=$((checked + 1))
done < <(grep -n '^<!-- snippet ' "$document")
fences=$(grep -cE '^```(cpp|cmake)' "$document")
[ "$checked" = "$fences" ] || { echo "$document: $fences blocks of code, $checked of them compared"; exit 1; }
[ "$checked" -gt 0 ] || { echo "$document: no snippets"; exit 1; }
echo "$checked snippets are those of the examples"
