# taskdag_engine_program(TARGET FILE...): the files use the task engine. With CUDA they are compiled as CUDA sources, so
# that the program's tasks run on both backends; relocatable device code is what the device controller needs (kernels that
# launch kernels). Without CUDA they are plain C++.
function(taskdag_engine_program target)
  if(TASKDAG_CUDA_FOUND)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
    set_target_properties(${target} PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_RUNTIME_LIBRARY Static)
    target_link_libraries(${target} PRIVATE CUDA::cudart_static)
  endif()
endfunction()
