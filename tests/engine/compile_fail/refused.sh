#!/bin/sh
# refused.sh COMPILER INCLUDE_DIRECTORY MISTAKE SENTENCE: the compiler refuses mistake number MISTAKE with SENTENCE in its
# words; mistake 0 is accepted.
set -u
here=$(dirname "$0")
said=$("$1" -std=c++20 -fsyntax-only "-I$2" "-DMISTAKE=$3" "$here/mistakes.cpp" 2>&1)
status=$?
if [ "$3" -eq 0 ]; then
  [ "$status" -eq 0 ] && exit 0
  echo "the program without a mistake is refused:"
elif [ "$status" -eq 0 ]; then
  echo "mistake $3 is accepted"
  exit 1
elif printf '%s' "$said" | grep -qF -- "$4"; then
  exit 0
else
  echo "mistake $3 is refused, but not with: $4"
fi
printf '%s\n' "$said" | head -40
exit 1
