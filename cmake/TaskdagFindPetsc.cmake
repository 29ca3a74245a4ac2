# Where PETSc is: for the build of the plugin and, installed beside taskdagConfig.cmake, for those who link it. PETSC_DIR
# and PETSC_ARCH (CMake or environment) name a PETSc, which must be there; without them pkg-config knows one.

# taskdag_named_petsc(OUT FAULT PREFIX): the folder that PETSC_DIR and PETSC_ARCH name; empty: they name none. FAULT: what
# is wrong with it, else empty. Where they are not set, what an earlier run took for PREFIX stays: CMake may run again in
# an environment without them.
function(taskdag_named_petsc out fault prefix)
  set(root "${${prefix}_ROOT}")
  if(DEFINED PETSC_DIR OR DEFINED ENV{PETSC_DIR})
    set(root "")
  endif()
  foreach(variable PETSC_DIR PETSC_ARCH)
    if(NOT DEFINED ${variable})
      set(${variable} "$ENV{${variable}}")
    endif()
  endforeach()
  if(PETSC_DIR)
    string(REGEX REPLACE "/+$" "" root "${PETSC_DIR}/${PETSC_ARCH}")
  endif()
  set(${out} "${root}" PARENT_SCOPE)
  set(${fault} "" PARENT_SCOPE)
  if(PETSC_ARCH AND NOT PETSC_DIR)
    set(${fault} "PETSC_ARCH is ${PETSC_ARCH}, but PETSC_DIR is not set" PARENT_SCOPE)
  elseif(root AND NOT EXISTS "${root}/lib/pkgconfig/PETSc.pc" AND NOT EXISTS "${root}/lib/pkgconfig/petsc.pc")
    set(${fault} "PETSC_DIR and PETSC_ARCH name ${root}, where no PETSc is: there is no ${root}/lib/pkgconfig/PETSc.pc"
      PARENT_SCOPE)
  endif()
endfunction()

# taskdag_search_petsc(PREFIX ROOT): looks for the PETSc in the folder ROOT, or where that is empty for the one that
# pkg-config knows. Sets what pkg_search_module(PREFIX) sets.
function(taskdag_search_petsc prefix root)
  if(NOT "${root}" STREQUAL "${${prefix}_ROOT}")
    # Another one than an earlier run took, whose libraries CMake would keep.
    get_cmake_property(known CACHE_VARIABLES)
    list(FILTER known INCLUDE REGEX "^(__pkg_config_checked|pkgcfg_lib)?_?${prefix}(_|$)")
    foreach(variable ${known})
      unset(${variable} CACHE)
    endforeach()
  endif()
  set(${prefix}_ROOT "${root}" CACHE INTERNAL "The folder that PETSC_DIR and PETSC_ARCH named")
  set(modules PETSc petsc)
  set(saved_path "$ENV{PKG_CONFIG_PATH}")
  if(root)
    set(ENV{PKG_CONFIG_PATH} "${root}/lib/pkgconfig:${saved_path}")
    if(NOT EXISTS "${root}/lib/pkgconfig/PETSc.pc")
      set(modules petsc)
    endif()
  endif()
  pkg_search_module(${prefix} QUIET ${modules})
  set(ENV{PKG_CONFIG_PATH} "${saved_path}")
  if(${prefix}_FOUND AND NOT ${prefix}_INCLUDE_DIRS)
    # A PETSc in a system directory: pkg-config leaves the directory out.
    pkg_get_variable(${prefix}_INCLUDE_DIRS ${${prefix}_MODULE_NAME} includedir)
  endif()
  set(${prefix}_INCLUDE_DIRS "${${prefix}_INCLUDE_DIRS}" PARENT_SCOPE)
  set(${prefix}_LINK_LIBRARIES "${${prefix}_LINK_LIBRARIES}" PARENT_SCOPE)
endfunction()
