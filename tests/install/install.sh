#!/usr/bin/env bash
# Installs into a prefix of its own, then moves it: what is installed must not depend on where it is.
set -euo pipefail
rm -rf "$TASKDAG_PREFIX" "$TASKDAG_PREFIX.first"
cmake --install "$TASKDAG_BUILD" --prefix "$TASKDAG_PREFIX.first" >/dev/null
mv "$TASKDAG_PREFIX.first" "$TASKDAG_PREFIX"
(cd "$TASKDAG_PREFIX" && find . -type f | sort)
if find "$TASKDAG_PREFIX" -name '*.so*' -type f -exec readelf -d {} + | grep -E "R(UN)?PATH.*$TASKDAG_BUILD"; then
  echo "an installed library looks for others in the build folder"
  exit 1
fi
if grep -rlE "$TASKDAG_BUILD|$TASKDAG_PREFIX.first|$TASKDAG_SOURCE" "$TASKDAG_PREFIX" --include='*.cmake' --include='*.pc'; then
  echo "an installed file names a folder of the build"
  exit 1
fi
