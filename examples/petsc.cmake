# The examples that need PETSc.
add_executable(solve 1_solve/main.cpp 1_solve/problem.cpp 1_solve/distribute.cpp 1_solve/run.cpp 1_solve/backend.cpp)
taskdag_alone(solve 1_solve/backend.cpp)
target_link_libraries(solve PRIVATE petsctaskdag taskdag_io_library taskdag_petsc_dep taskdag_flags)
target_include_directories(solve PRIVATE "${PROJECT_SOURCE_DIR}/petsc_plugin/include" "${PROJECT_BINARY_DIR}/include")
set_target_properties(solve PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")

add_executable(linked_app 3_linked_app/linked_app.c)
target_link_libraries(linked_app PRIVATE petsctaskdag taskdag_petsc_dep)
target_include_directories(linked_app PRIVATE "${PROJECT_SOURCE_DIR}/petsc_plugin/include" "${PROJECT_BINARY_DIR}/include")
set_target_properties(linked_app PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")

if(NOT TASKDAG_TESTS)
  return()
endif()

# Several ranks on any machine, as root too; a PETSc with CUDA over an MPI without.
set(example_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none "TASKDAG_SOLVE=$<TARGET_FILE:solve>" "MPIEXEC=${MPIEXEC_EXECUTABLE}")
list(APPEND example_environment "PKG_CONFIG_PATH=${PETSC_PC_PREFIX}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
if(TASKDAG_PETSC_CUDA)
  list(APPEND example_environment "PETSC_OPTIONS=-use_gpu_aware_mpi 0")
endif()

set(here "${CMAKE_CURRENT_SOURCE_DIR}")
set(data "${here}/1_solve/data")
set(two_ranks "${MPIEXEC_EXECUTABLE}" -n 2)

example_test(solve_generated 0 "reason: CONVERGED_RTOL" $<TARGET_FILE:solve> -stencil 7 -nx 12 -wind 0.5)
example_test(solve_every_stencil 0 "27-point stencil, 5 x 4 x 3 nodes, 2 unknowns"
  $<TARGET_FILE:solve> -stencil 27 -nx 5 -ny 4 -nz 3 -dof 2)
example_test(solve_reads_matrix_and_right_hand_side 0 "rows: 6.*residual: [0-9.]+e-(1[0-9])"
  $<TARGET_FILE:solve> -f ${data}/small.mtx -rhs ${data}/small_rhs.mtx -ksp_rtol 1e-12)
example_test(solve_on_two_ranks 0 "ranks: 2.*with taskdag.*CONVERGED_RTOL"
  ${two_ranks} $<TARGET_FILE:solve> -f ${data}/small.mtx -rhs ${data}/small_rhs.mtx)
foreach(type baij sbaij sell dense)
  example_test(solve_${type}_matrices 0 "symmetric: yes.*iterations: 15.*CONVERGED_RTOL"
    $<TARGET_FILE:solve> -stencil 5 -nx 20 -pc_type taskdag -mat_type ${type})
  if(NOT type STREQUAL sell)  # PETSc 3.18 multiplies by 0 with a converted one
    example_test(solve_${type}_matrices_on_two_ranks 0 "CONVERGED_RTOL"
      ${two_ranks} $<TARGET_FILE:solve> -stencil 5 -nx 20 -pc_type taskdag -mat_type ${type})
  endif()
endforeach()
# A smooth part takes more iterations than noise.
example_test(solve_a_random_solution 0 "CONVERGED_RTOL"
  $<TARGET_FILE:solve> -stencil 5 -nx 200 -ksp_type cg -pc_type jacobi -ksp_rtol 1e-4 -ksp_max_it 100)
example_test(solve_a_random_solution_with_a_mean 2 "DIVERGED_ITS"
  $<TARGET_FILE:solve> -stencil 5 -nx 200 -ksp_type cg -pc_type jacobi -ksp_rtol 1e-4 -ksp_max_it 100 -mean 1)
example_test(solve_repeats 0 "solve, median of 3" $<TARGET_FILE:solve> -stencil 5 -nx 20 -repeat 3)
example_test(solve_names_the_backend 0 "backend: .*host"
  $<TARGET_FILE:solve> -nx 8 -pc_type taskdag -pc_taskdag_backend host)
example_test(solve_names_petsc_where_nothing_is_ours 0 "backend: PETSc" $<TARGET_FILE:solve> -nx 8 -pc_type ilu)
example_test(solve_uses_our_factor_inside_petscs_ilu 0 "backend: .*host"
  $<TARGET_FILE:solve> -nx 8 -pc_type ilu -pc_factor_mat_solver_type taskdag)
example_test(solve_says_when_it_does_not_converge 2 "DIVERGED_ITS" $<TARGET_FILE:solve> -nx 20 -ksp_max_it 2)
example_test(solve_has_no_solution_that_is_not_finite 2 "CONVERGED_ITS.*there is no solution: it is not finite"
  $<TARGET_FILE:solve> -nx 8 -ksp_type richardson -ksp_norm_type none -ksp_richardson_scale 1e9 -ksp_max_it 100)
example_test(solve_refuses_a_missing_file 1 "solve: .*no_such_file.mtx" $<TARGET_FILE:solve> -f no_such_file.mtx)
example_test(solve_refuses_a_missing_file_on_two_ranks 1 "solve: .*no_such_file.mtx"
  ${two_ranks} $<TARGET_FILE:solve> -f no_such_file.mtx)
example_test(solve_refuses_a_missing_binary_file 1 "cannot read no_such_file" $<TARGET_FILE:solve> -f no_such_file)
example_test(solve_refuses_a_file_of_another_format 1 "neither a Matrix Market file"
  $<TARGET_FILE:solve> -f ${here}/CMakeLists.txt)
example_test(solve_refuses_a_rectangular_matrix 1 "2 x 3, a square one is needed"
  $<TARGET_FILE:solve> -f ${data}/rectangular.mtx)
example_test(solve_refuses_a_right_hand_side_of_another_size 1 "right-hand side has 2 rows, the matrix has 6"
  ${two_ranks} $<TARGET_FILE:solve> -f ${data}/small.mtx -rhs ${data}/short_rhs.mtx)
example_test(solve_warns_of_unknown_options 0 "no_such_option"
  $<TARGET_FILE:solve> -nx 8 -no_such_option 3)
example_test(solve_writes_the_residual_history 0 "0,[0-9.e+-]+\n1,"
  bash -c "\"$0\" -nx 8 -residual_history history.csv >/dev/null && cat history.csv" $<TARGET_FILE:solve>)
example_test(solve_binary_files 0 "iterations"
  bash -c "\"$0\" -nx 8 -ksp_view_mat binary:m.bin -ksp_view_rhs binary:b.bin && \"$0\" -f m.bin -rhs b.bin"
  $<TARGET_FILE:solve>)
if(TASKDAG_PETSC_CUDA)
  example_test(solve_device_matrix 0 "matrix seqaijcusparse.*CONVERGED_RTOL" bash -c
    # No semicolons: CMake would cut the argument there.
    "nvidia-smi -L >/dev/null 2>&1 || (echo 'skipped: no GPU' && false) || exit 77 && \"$0\" -nx 12 -mat_type aijcusparse"
    $<TARGET_FILE:solve>)
endif()

example_test(compare 0 "TaskDAG icc.*PETSc gamg" ${here}/2_compare/compare.sh -stencil 7 -nx 10 -ksp_type cg)
example_test(compare_nonsymmetric 0 "TaskDAG ilu.*PETSc gamg" ${here}/2_compare/compare.sh -f ${data}/small.mtx)
example_test(compare_on_two_ranks 0 "ranks: 2.*TaskDAG icc"
  env RANKS=2 ${here}/2_compare/compare.sh -stencil 5 -nx 20 -ksp_type cg)
example_test(linked_app 0 "CONVERGED_RTOL" $<TARGET_FILE:linked_app>)
example_test(linked_app_on_two_ranks 0 "CONVERGED_RTOL" ${two_ranks} $<TARGET_FILE:linked_app>)
example_test(slurm 0 "ranks: 3.*CONVERGED_RTOL"
  env "LAUNCH=${MPIEXEC_EXECUTABLE} -n 3" ${here}/4_slurm/solve.slurm -nx 15)
example_test(slurm_ranks_per_gpu 0 "--ntasks-per-node=8 --cpus-per-task=1"
  "${PROJECT_SOURCE_DIR}/tests/slurm.sh" $<TARGET_FILE:solve> ${MPIEXEC_EXECUTABLE})
example_test(petsc4py 0 "reason [1-9].*iterations" ${here}/5_petsc4py/run.sh $<TARGET_FILE:petsctaskdag>)
example_test(petsc4py_settings 0 "'type': 'icc', 'threads': 1.*reason [1-9].*is refused with code 63"
  env TASKDAG_SCRIPT=settings.py ${here}/5_petsc4py/run.sh $<TARGET_FILE:petsctaskdag>)
example_test(fortran 0 "type 1, threads 1, ordering natural, iterations [1-9]" ${here}/7_fortran/run.sh $<TARGET_FILE:petsctaskdag>)
example_test(fortran_on_two_ranks 0 "type 3, threads 1, ordering natural, iterations [1-9]"
  env "MPIEXEC=${MPIEXEC_EXECUTABLE} -n 2" ${here}/7_fortran/run.sh $<TARGET_FILE:petsctaskdag> -pc_taskdag_type sor)
example_test(main_job 0 "same number of iterations"
  env -u TASKDAG_MATRIX_DIR TASKDAG_GRID=20 TASKDAG_RESULTS=main_job ${here}/6_main_job/main_job.sh)
example_test(main_job_with_a_matrix 0 "small.mtx.*gmres with ilu.*same number of iterations"
  env TASKDAG_RESULTS=main_job_matrix ${here}/6_main_job/main_job.sh ${data}/small.mtx)

# docs/options.md holds the option tables that the plugin prints.
add_test(NAME docs.option_table COMMAND "${PROJECT_SOURCE_DIR}/tests/generated_table.sh" options
  $<TARGET_FILE:taskdag_petsc_options> "${PROJECT_SOURCE_DIR}/docs/options.md")
