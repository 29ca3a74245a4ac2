# Reverse Cuthill-McKee by tasks, form by form. Run by hand; a small problem runs with the tests.
add_executable(taskdag_rcm_tasks_bench rcm_tasks_bench.cpp rcm_tasks_forms.cpp rcm_tasks_rivals.cpp rcm_tasks_traced.cpp rcm_tasks_types.cpp rcm_cusolver.cpp
  $<IF:$<BOOL:${TASKDAG_CUDA_FOUND}>,rcm_device.cpp,rcm_device_absent.cpp> csv_text.cpp rows.cpp matrix_files.cpp problems.cpp)
target_link_libraries(taskdag_rcm_tasks_bench PRIVATE taskdag_papers_pichler_rcm taskdag_solver taskdag_generators taskdag_io
  nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS} taskdag_flags)
taskdag_engine_program(taskdag_rcm_tasks_bench rcm_tasks_traced.cpp)
add_test(NAME benchmark.rcm_tasks_smoke COMMAND taskdag_rcm_tasks_bench --backend host --threads 2 --repeat 1 --only "5-point 40^2"
  --types "${CMAKE_CURRENT_BINARY_DIR}/rcm-types.csv")
set_tests_properties(benchmark.rcm_tasks_smoke PROPERTIES TIMEOUT 300)
