# engine_example_tests(NAME REGEX command...): the command runs with every scheduler and in each way of each_way.sh, ends
# with status 0 and prints something that matches REGEX.
set(engine_each_way "${CMAKE_CURRENT_LIST_DIR}/each_way.sh")
function(engine_example_tests name regex)
  foreach(scheduler timesliced megakernel controller)
    set(test example.${name}.${scheduler})
    add_test(NAME ${test} COMMAND "${engine_each_way}" "${regex}" ${scheduler} ${ARGN})
    set_tests_properties(${test} PROPERTIES LABELS examples TIMEOUT 300 PROCESSORS 2)
  endforeach()
endfunction()
