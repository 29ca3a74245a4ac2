#!/usr/bin/env bash
# The installed product as others find it: by pkg-config, by find_package with its components, and packed by cpack.
set -euo pipefail
work=$TASKDAG_WORK/packages
rm -rf "$work"
mkdir -p "$work/other"
own=$(dirname "$(find "$TASKDAG_PREFIX" -name taskdag.pc)")
export PKG_CONFIG_PATH=$own:$PETSC_DIR/lib/pkgconfig:${PKG_CONFIG_PATH:-}

# pkg-config: the plugin with its PETSc. The library alone is library.sh's.
read -ra flags < <(pkg-config --cflags --libs petsctaskdag)
mpicc "$TASKDAG_SOURCE/examples/3_linked_app/linked_app.c" -o "$work/linked_app" "${flags[@]}"
env -u LD_LIBRARY_PATH "$work/linked_app" | grep CONVERGED_RTOL
[ -e "$(pkg-config --variable=plugin petsctaskdag)" ]

# Another PETSc is refused: by pkg-config, and at configure.
version=$(pkg-config --modversion PETSc petsc 2>/dev/null | head -n 1)
for name in PETSc petsc; do
  printf 'Name: %s\nDescription: another one\nVersion: 9.9.9\n' $name >"$work/other/$name.pc"
done
if PKG_CONFIG_PATH=$work/other:$own pkg-config --exists petsctaskdag; then
  echo "pkg-config takes PETSc 9.9.9 for the plugin's, which is $version"
  exit 1
fi
refused() {
  echo "== $1"
  if env "${@:2}" cmake -S "$TASKDAG_SOURCE/examples/3_linked_app" -B "$work/refused" -DCMAKE_PREFIX_PATH="$TASKDAG_PREFIX" \
    >"$work/refused.txt" 2>&1; then
    echo "not refused"
    exit 1
  fi
  tr -s ' \n' ' ' <"$work/refused.txt" | grep -o "TaskDAG: $1"
  rm -rf "$work/refused"
}
refused "the plugin was built for PETSc [0-9.]*, here is 9.9.9" -u PETSC_DIR PKG_CONFIG_PATH="$work/other"
refused "PETSC_DIR and PETSC_ARCH name /nope, where no PETSc is" PETSC_DIR=/nope
refused "PETSC_DIR and PETSC_ARCH name $PETSC_DIR/nope, where no PETSc is" PETSC_ARCH=nope

# Every component, by its target's name and the plugin's old one, or none: the plugin's target brings PETSc and MPI.
mkdir "$work/components"
printf '#include <taskdagpetsc.h>\nint main() { return TaskDAGInitializePackage(); }\n' >"$work/components/main.cpp"
cat >"$work/components/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(components LANGUAGES CXX)
find_package(taskdag REQUIRED COMPONENTS ${components})
add_executable(components main.cpp)
target_link_libraries(components PRIVATE taskdag::petsctaskdag)
CMAKE
for components in "taskdag;io;papers;petsctaskdag" plugin ""; do
  echo "== components: $components"
  cmake -S "$work/components" -B "$work/components/build" -DCMAKE_PREFIX_PATH="$TASKDAG_PREFIX" "-Dcomponents=$components" \
    >"$work/components.txt"
  cmake --build "$work/components/build" --clean-first >>"$work/components.txt"
done

# Another PETSC_DIR in a build folder that had one counts.
mkdir -p "$work/moved/lib/pkgconfig"
cp "$work"/other/*.pc "$work/moved/lib/pkgconfig"
if PETSC_DIR=$work/moved cmake -S "$work/components" -B "$work/components/build" -Dcomponents=plugin >"$work/components.txt" 2>&1; then
  echo "PETSC_DIR=$work/moved is ignored"
  exit 1
fi
grep -o "here is 9.9.9" "$work/components.txt"

# The module file, where there is a Tcl to read it.
module=$(find "$TASKDAG_PREFIX/share/taskdag/modulefiles" -type f)
if command -v tclsh >/dev/null; then
  tclsh >"$work/module.txt" <<TCL
foreach name {module-whatis conflict} { proc \$name args {} }
foreach name {prepend-path setenv} { proc \$name {variable value} { puts "\$variable \$value" } }
set ModulesCurrentModulefile $module
source $module
TCL
  cat "$work/module.txt"
  grep -qx "TASKDAG_PLUGIN ${own%/pkgconfig}/libpetsctaskdag.so" "$work/module.txt"
  grep -qx "CMAKE_PREFIX_PATH $(realpath "$TASKDAG_PREFIX")" "$work/module.txt"
else
  echo "no tclsh: the module file is not read"
fi

# cpack: the archive holds what was installed; the Debian package names what the libraries need.
cpack --config "$TASKDAG_BUILD/CPackConfig.cmake" -G TGZ -B "$work" >"$work/cpack.txt"
tar tzf "$work"/taskdag-*.tar.gz | sed 's|^[^/]*/||' | grep -v '/$' | sort >"$work/packed.txt"
(cd "$TASKDAG_PREFIX" && find . \( -type f -o -type l \) -printf '%P\n' | sort) | diff - "$work/packed.txt"
if command -v dpkg-shlibdeps >/dev/null; then
  cpack --config "$TASKDAG_BUILD/CPackConfig.cmake" -G DEB -B "$work" >"$work/cpack.txt"
  dpkg-deb --field "$work"/taskdag_*.deb Package Version Depends | tee "$work/deb.txt"
  grep -q '^Depends:.*libarchive' "$work/deb.txt"

  # Installed into a root of its own, used there, and removed: nothing stays. Its scripts call ldconfig, which is left out.
  root=$work/root
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$work/bin"
  touch "$root/var/lib/dpkg/status"
  ln -s "$(command -v true)" "$work/bin/ldconfig"
  in_root() {
    PATH=$work/bin:$PATH dpkg --root="$root" --force-not-root --force-depends --force-script-chrootless "$@" >"$work/dpkg.txt" 2>&1 ||
      { cat "$work/dpkg.txt" && exit 1; }
  }
  in_root --install "$work"/taskdag_*.deb
  TASKDAG_PREFIX=$root/usr "$TASKDAG_SOURCE/tests/install/documents_test.py"
  PKG_CONFIG_PATH=$root/usr/lib/pkgconfig:$PKG_CONFIG_PATH
  read -ra flags < <(pkg-config --cflags --libs petsctaskdag)
  mpicc "$root/usr/share/doc/taskdag/examples/3_linked_app/linked_app.c" -o "$work/packaged_app" "${flags[@]}"
  env -u LD_LIBRARY_PATH ldd "$work/packaged_app" | grep "libpetsctaskdag.so.* => $root/"
  env -u LD_LIBRARY_PATH "$work/packaged_app" | grep CONVERGED_RTOL
  in_root --purge taskdag
  if find "$root" -name '*taskdag*' | grep .; then
    echo "the package leaves files behind"
    exit 1
  fi
else
  echo "no dpkg-shlibdeps: no Debian package is made"
fi
