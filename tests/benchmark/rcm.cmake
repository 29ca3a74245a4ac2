# Reverse Cuthill-McKee: ours on both backends, the task engine's forms, cuSOLVER (opened where it is), PETSc (where the
# build has it). Run by hand; a small problem runs with the tests.
set(rcm_sources rcm_bench.cpp rcm_cusolver.cpp rcm_patterns.cpp rcm_tasks_forms.cpp csv_text.cpp rows.cpp
  matrix_files.cpp problems.cpp)
list(APPEND rcm_sources $<IF:$<BOOL:${TASKDAG_PETSC_FOUND}>,rcm_petsc.cpp,rcm_petsc_absent.cpp>)
list(APPEND rcm_sources $<IF:$<BOOL:${TASKDAG_CUDA_FOUND}>,rcm_device.cpp,rcm_device_absent.cpp>)
add_executable(taskdag_rcm_bench ${rcm_sources})
target_link_libraries(taskdag_rcm_bench PRIVATE taskdag_papers_pichler_rcm taskdag_solver taskdag_generators taskdag_io
  nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS} taskdag_flags)
if(TASKDAG_PETSC_FOUND)
  target_link_libraries(taskdag_rcm_bench PRIVATE taskdag_petsc_dep)
endif()
add_test(NAME benchmark.rcm_smoke COMMAND taskdag_rcm_bench --only "5-point 40^2" --threads 1 --threads 2 --repeat 1)
set_tests_properties(benchmark.rcm_smoke PROPERTIES TIMEOUT 300)
add_test(NAME benchmark.rcm_patterns COMMAND bash -c
  "$<TARGET_FILE:taskdag_rcm_bench> --only '27-point 2 unknowns 8^3' --patterns rcm_patterns.csv &&
   python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/rcm_patterns.py rcm_patterns.csv rcm_patterns.svg &&
   [ $(grep -c '<text' rcm_patterns.svg) = 3 ]")
set_tests_properties(benchmark.rcm_patterns PROPERTIES TIMEOUT 60)

# A study: several candidates in the search of the start node. Run by hand.
add_executable(taskdag_candidates_bench candidates/main.cpp candidates/start.cpp csv_text.cpp matrix_files.cpp problems.cpp)
target_include_directories(taskdag_candidates_bench PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(taskdag_candidates_bench PRIVATE taskdag_kernels_ordering taskdag_solver taskdag_generators taskdag_io
  taskdag_flags)
add_test(NAME benchmark.candidates_smoke COMMAND taskdag_candidates_bench --only "5-point 40^2" --repeat 1)
set_tests_properties(benchmark.candidates_smoke PROPERTIES TIMEOUT 120)
taskdag_test(benchmark_candidates SOURCES candidates/start_test.cpp candidates/start.cpp
  LINKS taskdag_kernels_ordering taskdag_generators LABELS unit TIMEOUT 60)
