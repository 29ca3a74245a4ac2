/// \file
/// Marks functions that a task body may call on both backends.
#pragma once

#if defined(__CUDACC__)
#define TASKDAG_HD __host__ __device__ __forceinline__
#else
#define TASKDAG_HD inline
#endif

/// Unrolls the loop that follows in device code, so that arrays indexed by it stay in registers.
#if defined(__CUDA_ARCH__)
#define TASKDAG_UNROLL _Pragma("unroll")
#else
#define TASKDAG_UNROLL
#endif
