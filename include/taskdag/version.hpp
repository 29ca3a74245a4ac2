/// \file
/// Version of the library. CMakeLists.txt reads it from here.
#pragma once

#define TASKDAG_VERSION_MAJOR 0
#define TASKDAG_VERSION_MINOR 2
#define TASKDAG_VERSION_PATCH 0
