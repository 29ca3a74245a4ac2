# TASKDAG_DEVICE_LINK: whether relocatable device code can be linked here. The device controller needs it (kernels that
# launch kernels); the other schedulers do not.
set(TASKDAG_DEVICE_LINK OFF)
if(TASKDAG_CUDA_FOUND)
  find_library(TASKDAG_CUDADEVRT cudadevrt HINTS ${CUDAToolkit_LIBRARY_DIR})
  mark_as_advanced(TASKDAG_CUDADEVRT)
  # Nothing is linked for devices that only PTX is built for, and kernels in relocatable code would be missing there.
  set(real_architectures ${CMAKE_CUDA_ARCHITECTURES})
  list(FILTER real_architectures EXCLUDE REGEX "-virtual$")
  if(NOT TASKDAG_CUDADEVRT)
    message(STATUS "TaskDAG: no libcudadevrt: the task engine has no device controller here")
  elseif(NOT real_architectures)
    message(STATUS "TaskDAG: built as PTX alone: the task engine has no device controller here")
  else()
    set(TASKDAG_DEVICE_LINK ON)
  endif()
endif()

# taskdag_engine_program(TARGET FILE...): the files use the task engine. With CUDA they are compiled as CUDA sources, so
# that the program's tasks run on both backends, and as relocatable device code. Without CUDA they are plain C++.
# Relocatable code is slower where kernels call what is not inlined: the target has programs and no other kernels.
function(taskdag_engine_program target)
  if(TASKDAG_CUDA_FOUND)
    set(files ${ARGN})
    if(TASKDAG_UNITY_CUDA)
      taskdag_programs_together(files ${target} ${ARGN})
    endif()
    set_source_files_properties(${files} PROPERTIES LANGUAGE CUDA)
    set_target_properties(${target} PROPERTIES CUDA_SEPARABLE_COMPILATION ${TASKDAG_DEVICE_LINK} CUDA_RUNTIME_LIBRARY Static)
    target_link_libraries(${target} PRIVATE CUDA::cudart_static)
    # A thread of 1024 has 64 registers. Where functions are not put inside their callers, for a debugger or to compile
    # sooner, theirs would be more, and a kernel of so many threads would not link.
    set(calls_functions $<CONFIG:Debug>)
    if(CMAKE_CUDA_FLAGS_RELEASE MATCHES "--Ofast-compile")
      set(calls_functions 1)
    endif()
    target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CUDA>,${calls_functions}>:-maxrregcount=64>)
  endif()
endfunction()

# taskdag_programs_together(OUT TARGET FILE...): in the target files of the build's, which hold four of the files each, take
# their place; OUT: the build's. CMake puts no CUDA sources together, and nvcc takes longer for the engine's headers than
# for a program.
function(taskdag_programs_together out target)
  set(left ${ARGN})
  get_target_property(sources ${target} SOURCES)
  string(REPLACE "${CMAKE_CURRENT_SOURCE_DIR}/" "" sources "${sources}")
  list(REMOVE_ITEM sources ${left})
  set(made "")
  while(left)
    list(SUBLIST left 0 4 batch)
    list(REMOVE_ITEM left ${batch})
    list(LENGTH made number)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_programs_${number}.cpp")
    taskdag_write_together("${file}" ${batch})
    list(APPEND made "${file}")
  endwhile()
  set_property(TARGET ${target} PROPERTY SOURCES ${sources} ${made})
  set(${out} ${made} PARENT_SCOPE)
endfunction()

# taskdag_device_link(LIBRARY OBJECT...): a shared library that holds these objects, some of engine programs. Their device
# code is linked inside it, so that its users need no CUDA and no device link of their own; each object's by itself, since
# CUDA loads what has been linked together as a whole, some milliseconds of a process' first solve.
function(taskdag_device_link library)
  if(NOT TASKDAG_DEVICE_LINK)
    return()
  endif()
  set(linked "${CMAKE_CURRENT_BINARY_DIR}/${library}_device_$<CONFIG>.o")
  set(list "${CMAKE_CURRENT_BINARY_DIR}/${library}_device_$<CONFIG>.txt")
  file(GENERATE OUTPUT "${list}" CONTENT "$<JOIN:${ARGN},\n>\n")
  set(script "${PROJECT_SOURCE_DIR}/cmake/device_link.cmake")
  add_custom_command(OUTPUT "${linked}" VERBATIM COMMENT "Linking device code of ${library}, object by object"
    COMMAND "${CMAKE_COMMAND}" "-DNVCC=${CMAKE_CUDA_COMPILER}" "-DHOST_COMPILER=${CMAKE_CUDA_HOST_COMPILER}"
      "-DARCHITECTURES=${CMAKE_CUDA_ARCHITECTURES}" "-DFLAGS=${CMAKE_CUDA_FLAGS} $<$<CONFIG:Debug>:-G>"
      "-DLINKER=${CMAKE_LINKER}" "-DNM=${CMAKE_NM}" "-DOBJECTS=${list}" "-DOUTPUT=${linked}" -P "${script}"
    DEPENDS ${ARGN} "${list}" "${script}")
  target_sources(${library} PRIVATE "${linked}")
  set_source_files_properties("${linked}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set_target_properties(${library} PROPERTIES CUDA_RESOLVE_DEVICE_SYMBOLS OFF CUDA_RUNTIME_LIBRARY Static)
endfunction()

# taskdag_exports(LIBRARY MAP): what a shared library exports is restricted by cmake/MAP.
function(taskdag_exports library map)
  set(file "${PROJECT_SOURCE_DIR}/cmake/${map}")
  set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS "${file}")
  target_link_options(${library} PRIVATE "-Wl,--version-script=${file}")
endfunction()
