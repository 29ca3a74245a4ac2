# taskdag_layer(NAME [STUDY] [SOURCES ...] [CUDA_SOURCES ...] [CUDA_ALONE ...] [NO_CUDA_SOURCES ...] LINKS ...
#   [CUDA_LINKS ...])
#
# A layer is a static library whose headers are reachable only through it: `#include "NAME/…"` resolves in targets that
# link the layer and nowhere else. taskdag_NAME_closed links the layer with what it declares and nothing more, so that
# using an undeclared layer fails to link. CUDA_… and NO_CUDA_… count in builds with and without CUDA.
# STUDY: for tests and benchmarks, no part of a library that is installed; built only where it is needed.
function(taskdag_layer name)
  cmake_parse_arguments(arg "STUDY" "" "SOURCES;CUDA_SOURCES;CUDA_ALONE;NO_CUDA_SOURCES;LINKS;CUDA_LINKS" ${ARGN})
  string(REPLACE "/" "_" target "taskdag_${name}")
  set(scope "")
  if(arg_STUDY)
    set(scope EXCLUDE_FROM_ALL)
  endif()
  add_library(${target} STATIC ${scope})
  # Whoever links layers to a program or a shared library links the device code of them all, once.
  set_target_properties(${target} PROPERTIES CUDA_RESOLVE_DEVICE_SYMBOLS OFF)
  taskdag_room(${target} SOURCES ${arg_SOURCES} CUDA_SOURCES ${arg_CUDA_SOURCES} CUDA_ALONE ${arg_CUDA_ALONE}
    NO_CUDA_SOURCES ${arg_NO_CUDA_SOURCES})
  set(links ${arg_LINKS})
  if(TASKDAG_CUDA_FOUND)
    list(APPEND links ${arg_CUDA_LINKS})
  endif()
  set(view "${PROJECT_BINARY_DIR}/layer_includes/${target}")
  get_filename_component(parent "${view}/${name}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/src/${name}" "${view}/${name}" SYMBOLIC)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/include" "${view}")
  target_link_libraries(${target} PUBLIC ${links} PRIVATE $<BUILD_INTERFACE:taskdag_flags>)

  if(TASKDAG_TESTS AND NOT TASKDAG_SANITIZE AND NOT arg_STUDY)
    file(WRITE "${PROJECT_BINARY_DIR}/layer_includes/closed.cpp.in" "// the layer check's only source of its own\n")
    file(COPY_FILE "${PROJECT_BINARY_DIR}/layer_includes/closed.cpp.in" "${PROJECT_BINARY_DIR}/layer_includes/${target}_closed.cpp" ONLY_IF_DIFFERENT)
    add_library(${target}_closed MODULE "${PROJECT_BINARY_DIR}/layer_includes/${target}_closed.cpp")
    target_link_libraries(${target}_closed PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${target}>")
    target_link_options(${target}_closed PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# taskdag_room(TARGET [SOURCES ...] [CUDA_SOURCES ...] [CUDA_ALONE ...] [NO_CUDA_SOURCES ...]): sources of this folder for a
# layer. CUDA_ALONE: CUDA sources whose names clash with others' where TASKDAG_UNITY_CUDA compiles a layer's together.
function(taskdag_room target)
  cmake_parse_arguments(arg "" "" "SOURCES;CUDA_SOURCES;CUDA_ALONE;NO_CUDA_SOURCES" ${ARGN})
  set(sources ${arg_SOURCES})
  if(TASKDAG_CUDA_FOUND)
    list(APPEND sources ${arg_CUDA_ALONE})
    list(APPEND sources ${arg_CUDA_SOURCES})
    if(TASKDAG_UNITY_CUDA)
      taskdag_cuda_together(${target} sources "${arg_CUDA_SOURCES}")
    endif()
  else()
    list(APPEND sources ${arg_NO_CUDA_SOURCES})
  endif()
  list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" REGEX "^[^/]")
  target_sources(${target} PRIVATE ${sources})
endfunction()

# taskdag_cuda_together(TARGET OUT FILES): in the list OUT one file of the build's, which holds those .cu of all rooms of
# the layer, takes the place of those of FILES. The first room brings it; what it holds is known once all have been read.
function(taskdag_cuda_together target out files)
  list(FILTER files INCLUDE REGEX "\\.cu$")
  if(NOT files)
    return()
  endif()
  list(REMOVE_ITEM ${out} ${files})
  get_target_property(others ${target} TASKDAG_CUDA_TOGETHER)
  if(NOT others)
    get_target_property(folder ${target} BINARY_DIR)
    file(GENERATE OUTPUT "${folder}/together.cu"
      CONTENT "$<JOIN:$<TARGET_PROPERTY:${target},TASKDAG_CUDA_TOGETHER>,\n>\n")
    list(APPEND ${out} "${folder}/together.cu")
  endif()
  list(TRANSFORM files REPLACE "(.+)" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\1\"")
  set_property(TARGET ${target} APPEND PROPERTY TASKDAG_CUDA_TOGETHER ${files})
  set(${out} ${${out}} PARENT_SCOPE)
endfunction()

# taskdag_write_together(FILE SOURCES...): a file that holds sources of this folder.
function(taskdag_write_together file)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"${CMAKE_CURRENT_SOURCE_DIR}/\\1\"\n" OUTPUT_VARIABLE lines)
  string(CONCAT text ${lines})
  file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
endfunction()

# taskdag_optimise(LEVEL): C and C++ of this folder, from here on, with -O<LEVEL> in release builds.
function(taskdag_optimise level)
  add_compile_options($<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:C,CXX>>:-O${level}>)
endfunction()
