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

# What the libraries need by themselves: C and C++, MPI and PETSc, each other. Compressed files are libtaskdag_io's alone.
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
while read -r library; do
  if needed "$library" | grep -vE '^(libtaskdag|libpetsc[a-z_]*|libmpi|libstdc\+\+|libgcc_s|libc|libm|ld-linux[a-z0-9-]*|libpthread|libdl|librt)\.so'; then
    echo "$library needs more than C, C++, MPI, PETSc and libtaskdag"
    exit 1
  fi
done < <(find "$TASKDAG_PREFIX" -name libtaskdag.so -o -name libtaskdag_papers.so -o -name libpetsctaskdag.so)
for library in libarchive libz; do
  needed "$(find "$TASKDAG_PREFIX" -name libtaskdag_io.so)" | grep -q "^$library\.so"
done
