# cmake -DNVCC= -DHOST_COMPILER= -DARCHITECTURES= -DFLAGS= -DLINKER= -DNM= -DOBJECTS= -DOUTPUT= -P device_link.cmake
# Links the device code of each object that the file OBJECTS names by itself, and puts what that gives into one object.
# Those that launch kernels from kernels have CUDA's device runtime inside, which a process can register for one link
# alone, so they are linked together. ARCHITECTURES is a list as CMAKE_CUDA_ARCHITECTURES.
set(code "")
foreach(architecture IN LISTS ARCHITECTURES)
  if(NOT architecture MATCHES "^([0-9]+[af]?)(-real|-virtual)?$")
    list(APPEND code "-arch=${architecture}")  # native, all, all-major
  elseif(CMAKE_MATCH_2 STREQUAL "-real")
    list(APPEND code "--generate-code=arch=compute_${CMAKE_MATCH_1},code=[sm_${CMAKE_MATCH_1}]")
  elseif(CMAKE_MATCH_2 STREQUAL "-virtual")
    list(APPEND code "--generate-code=arch=compute_${CMAKE_MATCH_1},code=[compute_${CMAKE_MATCH_1}]")
  else()
    list(APPEND code
      "--generate-code=arch=compute_${CMAKE_MATCH_1},code=[compute_${CMAKE_MATCH_1},sm_${CMAKE_MATCH_1}]")
  endif()
endforeach()
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
if(HOST_COMPILER)
  list(APPEND flags "-ccbin=${HOST_COMPILER}")
endif()

# link(OUT OBJECT...)
function(link out)
  execute_process(COMMAND "${NVCC}" ${flags} ${code} -Wno-deprecated-gpu-targets -Xcompiler=-fPIC -dlink ${ARGN}
    -lcudadevrt -o "${out}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(STRINGS "${OBJECTS}" objects)
set(linked "")
set(launching "")
foreach(object IN LISTS objects)
  list(LENGTH linked number)
  set(one "${OUTPUT}.${number}.o")
  link("${one}" "${object}")
  execute_process(COMMAND "${NM}" "${one}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  if(symbols MATCHES "RegisterLinkedBinary[A-Za-z0-9_]*cuda_device_runtime")
    list(APPEND launching "${object}")
  else()
    list(APPEND linked "${one}")
  endif()
endforeach()
if(launching)
  set(one "${OUTPUT}.launching.o")
  link("${one}" ${launching})
  list(APPEND linked "${one}")
endif()
execute_process(COMMAND "${LINKER}" -r -o "${OUTPUT}" ${linked} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${linked})
