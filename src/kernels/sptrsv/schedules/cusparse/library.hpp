/// \file
/// libcusparse, opened when it is first needed.
#pragma once

#include <cusparse.h>

namespace taskdag::kernels {

/// The functions of libcusparse that the "cusparse" schedule calls.
struct CusparseFunctions {
  decltype(&cusparseCreate) create;
  decltype(&cusparseDestroy) destroy;
  decltype(&cusparseSetStream) set_stream;
  decltype(&cusparseGetErrorString) error_string;
  decltype(&cusparseCreateCsr) create_csr;
  decltype(&cusparseDestroySpMat) destroy_matrix;
  decltype(&cusparseSpMatSetAttribute) set_attribute;
  decltype(&cusparseCreateDnVec) create_vector;
  decltype(&cusparseDestroyDnVec) destroy_vector;
  decltype(&cusparseDnVecSetValues) set_vector;
  decltype(&cusparseSpSV_createDescr) create_solve;
  decltype(&cusparseSpSV_destroyDescr) destroy_solve;
  decltype(&cusparseSpSV_bufferSize) buffer_size;
  decltype(&cusparseSpSV_analysis) analysis;
  decltype(&cusparseSpSV_solve) solve;
  decltype(&cusparseSpSV_updateMatrix) update;
};

/// Opens the library at the first call and keeps it; tries again after a failure. Takes a library of the major version
/// that this file was compiled for. Safe from several threads.
/// @throws DeviceError naming what was tried and why it failed
const CusparseFunctions& cusparse_functions();

/// @throws DeviceError "<what>: <cuSPARSE's words>", OutOfMemory where it reports that
void check(cusparseStatus_t status, const char* what);

}  // namespace taskdag::kernels
