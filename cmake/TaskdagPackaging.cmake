# What is installed beside the libraries so that others find them: files for pkg-config, a module file, the documents and
# examples; and how `cpack` packs all of it.
file(RELATIVE_PATH TASKDAG_PC_UP "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" TASKDAG_PC_UP "${TASKDAG_PC_UP}")
set(pkgconfig_files taskdag)
set(TASKDAG_MODULE_PETSC "")
if(TASKDAG_PETSC_FOUND)
  list(APPEND pkgconfig_files petsctaskdag)
  set(TASKDAG_MODULE_PETSC ", its plugin for PETSc ${TASKDAG_PETSC_VERSION}")
  # pkg-config takes any patch release, as the plugin does.
  string(REGEX MATCH "^([0-9]+)[.]([0-9]+)" TASKDAG_PETSC_MINOR "${TASKDAG_PETSC_VERSION}")
  math(EXPR next_minor "${CMAKE_MATCH_2} + 1")
  set(TASKDAG_PETSC_NEXT_MINOR ${CMAKE_MATCH_1}.${next_minor})
endif()
foreach(name ${pkgconfig_files})
  configure_file(cmake/packaging/${name}.pc.in packaging/${name}.pc @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/packaging/${name}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
configure_file(cmake/packaging/modulefile.in packaging/modulefile @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/packaging/modulefile" DESTINATION share/taskdag/modulefiles/taskdag
  RENAME ${PROJECT_VERSION})
# As they lie in the sources, so that a path such as docs/schedules.md, in -help or in a document, is right there, too.
# Without the examples that work in a checkout alone.
install(FILES LICENSE CITATION.cff README.md DESTINATION share/doc/taskdag)
install(DIRECTORY docs DESTINATION share/doc/taskdag FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY examples DESTINATION share/doc/taskdag USE_SOURCE_PERMISSIONS
  REGEX "/examples/([^/]*\\.(sh|cmake|txt)|2_compare|6_main_job)$" EXCLUDE
  PATTERN "__pycache__" EXCLUDE)

set(CPACK_PACKAGE_NAME taskdag)
set(CPACK_PACKAGE_VENDOR "The TaskDAG authors")
set(CPACK_PACKAGE_CONTACT "The TaskDAG authors <maintainers@taskdag.invalid>")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
# From the libraries that ours need: those of PETSc and MPI among them. A PETSc outside the system's folders is looked
# for where it lies; no package holds it, and the field names none.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib" ${TASKDAG_PETSC_LIBRARY_DIRS})
include(CPack)
