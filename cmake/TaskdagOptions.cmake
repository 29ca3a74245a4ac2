# Build options and what every target of the project compiles with.
set(TASKDAG_CUDA AUTO CACHE STRING "Build the CUDA backend: ON, OFF, or AUTO (where nvcc is found)")
set_property(CACHE TASKDAG_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TASKDAG_PETSC AUTO CACHE STRING "Build the PETSc plugin: ON, OFF, or AUTO (where PETSc is found)")
set_property(CACHE TASKDAG_PETSC PROPERTY STRINGS AUTO ON OFF)
# Who runs the tests develops: what is built beside the libraries follows, unless it is said otherwise.
option(TASKDAG_TESTS "Build the tests" OFF)
option(TASKDAG_EXAMPLES "Build the example programs (some need PETSc)" ${TASKDAG_TESTS})
option(TASKDAG_WERROR "Treat warnings as errors" ${TASKDAG_TESTS})
option(TASKDAG_IO "Build libtaskdag_io, which reads Matrix Market files; tests and examples do" OFF)
if(TASKDAG_TESTS OR TASKDAG_EXAMPLES)
  set(TASKDAG_IO ON)
endif()
option(TASKDAG_UNITY "Compile sources of a target together, eight at a time: for checks" OFF)
option(TASKDAG_UNITY_PETSC "Compile sources of the PETSc plugin together: for checks" OFF)
option(TASKDAG_UNITY_CUDA "Compile CUDA sources of a layer or a program together: for checks" OFF)
set(TASKDAG_SANITIZE "" CACHE STRING "Sanitizers for the whole build: empty, address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)

# taskdag_flags: compile flags, private to the build.
add_library(taskdag_flags INTERFACE)
set(cxx_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
set(cuda_warnings -Wall,-Wextra,-Wshadow)
# From g++ 13 on: a function that takes a temporary and returns a reference is believed to return one into the temporary.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  list(APPEND cxx_warnings -Wno-dangling-reference)
  string(APPEND cuda_warnings ",-Wno-dangling-reference")
endif()
if(TASKDAG_WERROR)
  list(APPEND cxx_warnings -Werror)
  string(APPEND cuda_warnings ",-Werror")
  target_compile_options(taskdag_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
target_compile_options(taskdag_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${cxx_warnings}>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${cuda_warnings}>)

# Schedules, threads and ways to compile promise the same bits (docs/design.md, invariants): where the processor has fused
# multiply-adds, compilers may take one or not, as the code around it comes out.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("
#if !defined(__FP_FAST_FMA) && !defined(__FMA__)
#error none
#endif
int main() {}" TASKDAG_HAS_FMA)
if(TASKDAG_HAS_FMA)
  target_compile_options(taskdag_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>)
endif()

# Several sources in one compilation read the headers once. What is right in a file may clash with another file's: what
# clashes by its warnings is not asked here, since the other builds do; what does not compile stands alone.
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
endif()
set(CMAKE_UNITY_BUILD ${TASKDAG_UNITY})
set(together "$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>")
target_compile_options(taskdag_flags INTERFACE
  $<$<AND:${together},$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-shadow;-Wno-subobject-linkage>
  $<$<AND:${together},$<COMPILE_LANG_AND_ID:CXX,Clang>>:-Wno-shadow>)

# taskdag_alone(TARGET FILE...): sources of this folder whose names clash with those of the target's other sources.
function(taskdag_alone target)
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

option(TASKDAG_FUZZERS "Build tests/fuzz with libFuzzer, and the library with what that observes" OFF)
if(TASKDAG_FUZZERS)
  if(NOT TASKDAG_TESTS)
    message(FATAL_ERROR "TaskDAG: TASKDAG_FUZZERS needs TASKDAG_TESTS")
  endif()
  set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
  check_cxx_source_compiles("extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }"
    TASKDAG_HAS_LIBFUZZER)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT TASKDAG_HAS_LIBFUZZER)
    message(FATAL_ERROR "TaskDAG: TASKDAG_FUZZERS needs a compiler with libFuzzer, such as clang++; "
      "${CMAKE_CXX_COMPILER} has none")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(TASKDAG_SANITIZE)
  add_compile_options($<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-fsanitize=${TASKDAG_SANITIZE}> $<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-fno-omit-frame-pointer>)
  # These take a third of the time that templates take to compile. What the first two find ends a program anyway, by a
  # signal or by AddressSanitizer; the third one looks at casts to classes with virtual functions, which are few.
  if(TASKDAG_SANITIZE MATCHES "address.*undefined")
    add_compile_options($<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-fno-sanitize=null,object-size,vptr>)
  endif()
  add_link_options(-fsanitize=${TASKDAG_SANITIZE})
endif()
