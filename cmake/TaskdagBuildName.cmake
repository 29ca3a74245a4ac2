# cmake -DOUT=FILE -DTEXT=... -DROOT=FOLDER -P TaskdagBuildName.cmake: writes a header that defines TASKDAG_BUILD, TEXT and
# a hash of all headers below ROOT/src and ROOT/include. Libraries with equal names agree about what they pass each other.
file(GLOB_RECURSE headers "${ROOT}/src/*.hpp" "${ROOT}/src/*.cuh" "${ROOT}/include/*.hpp" "${ROOT}/include/*.cuh")
set(hashes "")
foreach(header ${headers})
  file(SHA256 "${header}" hash)
  string(APPEND hashes ${hash})
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 12 hash)
file(WRITE "${OUT}" "#pragma once\n#define TASKDAG_BUILD \"${TEXT}, interfaces ${hash}\"\n")
