# taskdag_layer(NAME SOURCES ... LINKS other layers or libraries)
#
# A layer is a static library whose headers are reachable only through it: `#include "NAME/…"` resolves in targets that
# link the layer and nowhere else. taskdag_NAME_closed links the layer with what it declares and nothing more, so that
# using an undeclared layer fails to link.
function(taskdag_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  string(REPLACE "/" "_" target "taskdag_${name}")
  add_library(${target} STATIC ${arg_SOURCES})
  set(view "${PROJECT_BINARY_DIR}/layer_includes/${target}")
  get_filename_component(parent "${view}/${name}" DIRECTORY)
  file(MAKE_DIRECTORY "${parent}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/src/${name}" "${view}/${name}" SYMBOLIC)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/include" "${view}")
  target_link_libraries(${target} PUBLIC ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:taskdag_flags>)

  if(TASKDAG_TESTS AND NOT TASKDAG_SANITIZE)
    file(WRITE "${PROJECT_BINARY_DIR}/layer_includes/closed.cpp.in" "// the layer check's only source of its own\n")
    file(COPY_FILE "${PROJECT_BINARY_DIR}/layer_includes/closed.cpp.in" "${PROJECT_BINARY_DIR}/layer_includes/${target}_closed.cpp" ONLY_IF_DIFFERENT)
    add_library(${target}_closed MODULE "${PROJECT_BINARY_DIR}/layer_includes/${target}_closed.cpp")
    target_link_libraries(${target}_closed PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${target}>")
    target_link_options(${target}_closed PRIVATE -Wl,--no-undefined)
  endif()
endfunction()
