# The host backend's benchmark: built without CUDA too, against PETSc where there is one. Run by hand; a small problem runs
# with the tests.
if(TASKDAG_PETSC_FOUND)
  set(rival petsc_rival.cpp)
else()
  set(rival petsc_absent.cpp)
endif()
add_executable(taskdag_host_bench host_bench.cpp matrix_files.cpp problems.cpp ${rival})
target_link_libraries(taskdag_host_bench PRIVATE taskdag_with_papers taskdag_solver taskdag_reference taskdag_generators taskdag_io taskdag_flags)
if(TASKDAG_PETSC_FOUND)
  target_link_libraries(taskdag_host_bench PRIVATE taskdag_petsc_dep)
endif()
add_test(NAME benchmark.host_smoke COMMAND taskdag_host_bench --only "5-point 40^2" --threads 1 --threads 2 --repeat 2)
set_tests_properties(benchmark.host_smoke PROPERTIES TIMEOUT 300)
# GCC 12 takes the elements of a long initialiser list of structs with strings for uninitialised.
set_source_files_properties(problems.cpp PROPERTIES COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)

# A study: iterations with factors stored in fewer bits. Run by hand.
set(rounding rounding/krylov.cpp rounding/rounded.cpp triangular_case.cpp)
add_executable(taskdag_rounding_bench rounding/main.cpp ${rounding} csv_text.cpp matrix_files.cpp problems.cpp)
target_include_directories(taskdag_rounding_bench PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(taskdag_rounding_bench PRIVATE taskdag_solver taskdag_reference taskdag_papers_helal taskdag_generators taskdag_io taskdag_flags)
add_test(NAME benchmark.rounding_smoke COMMAND taskdag_rounding_bench --only "5-point 40^2")
set_tests_properties(benchmark.rounding_smoke PROPERTIES TIMEOUT 120)
taskdag_test(benchmark_rounding SOURCES rounding/rounding_test.cpp ${rounding}
  LINKS taskdag_solver taskdag_reference taskdag_papers_helal taskdag_generators LABELS unit TIMEOUT 60)
target_include_directories(benchmark_rounding PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}"
  "${CMAKE_CURRENT_SOURCE_DIR}/rounding")

# The host's schedules against each other: speed-up over serial, barriers, amortisation. Run by hand.
add_executable(taskdag_host_schedules host_schedules/main.cpp host_schedules/cases.cpp host_schedules/large_cases.cpp
  host_schedules/measure.cpp host_schedules/options.cpp host_schedules/paper_sweep.cpp host_schedules/rival.cpp
  host_schedules/row_file.cpp host_schedules/summary.cpp csv_text.cpp)
target_link_libraries(taskdag_host_schedules PRIVATE taskdag_with_papers taskdag_solver taskdag_reference taskdag_generators taskdag_io taskdag_flags ${CMAKE_DL_LIBS})
taskdag_test(benchmark_protocol SOURCES host_schedules/protocol_test.cpp host_schedules/cases.cpp
  host_schedules/large_cases.cpp host_schedules/measure.cpp host_schedules/paper_sweep.cpp host_schedules/row_file.cpp
  host_schedules/summary.cpp csv_text.cpp LINKS taskdag_with_papers taskdag_solver taskdag_generators taskdag_io LABELS unit TIMEOUT 120)
target_include_directories(benchmark_protocol PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/host_schedules")
add_library(taskdag_rival_serial MODULE host_schedules/rivals/serial.cpp)
target_link_libraries(taskdag_rival_serial PRIVATE taskdag_flags)
set_target_properties(taskdag_rival_serial PROPERTIES CXX_VISIBILITY_PRESET default)
add_test(NAME benchmark.host_schedules_smoke COMMAND taskdag_host_schedules --cores 3 --set narrow-band --rows 2000
  --seeds 1 --repeat 2)
set_tests_properties(benchmark.host_schedules_smoke PROPERTIES TIMEOUT 300)
add_test(NAME benchmark.host_schedules_rival COMMAND taskdag_host_schedules --cores 2 --set narrow-band --rows 2000 --seeds 1
  --repeat 2 --schedule plan --rival $<TARGET_FILE:taskdag_rival_serial>)
set_tests_properties(benchmark.host_schedules_rival PROPERTIES TIMEOUT 300)
add_test(NAME benchmark.host_protocol COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/host_protocol.sh"
  $<TARGET_FILE:taskdag_host_schedules> "${CMAKE_CURRENT_BINARY_DIR}/host-protocol.csv" 200)
set_tests_properties(benchmark.host_protocol PROPERTIES TIMEOUT 300 LABELS benchmark
  ENVIRONMENT "SMOKE=1;TASKDAG_MATRIX_DIR=;SPMP=$<TARGET_FILE:taskdag_rival_serial>")
add_test(NAME benchmark.host_tables COMMAND "${TASKDAG_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/host_tables_test.py")
set_tests_properties(benchmark.host_tables PROPERTIES LABELS unit TIMEOUT 60)
