/// \file
/// Marks functions that a task body may call on both backends.
#pragma once

#if defined(__CUDACC__)
#define TASKDAG_HD __host__ __device__ __forceinline__
#else
#define TASKDAG_HD inline
#endif
