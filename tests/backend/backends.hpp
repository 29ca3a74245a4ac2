/// \file
/// The fixture of the backend tests: each case runs on the host backend with several numbers of threads, and on the
/// CUDA backend with host and with device arrays. CUDA instances are skipped where no device is usable.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "device.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag::test {

struct Where {
  Backend backend = Backend::host;
  int threads = 1;
  MemorySpace space = MemorySpace::host;
  bool one_block = false;  ///< factorisations with FactorOptions::one_block_rows
};
/// "host1", "cuda_host_arrays", "cuda_device_arrays", "cuda_one_block".
std::string name_of(const Where& where);
std::vector<Where> everywhere();
/// Also on CUDA by one thread block.
std::vector<Where> everywhere_and_one_block();
/// The host with two threads, and CUDA: for cases that take long.
std::vector<Where> once_per_backend();
/// CUDA with device arrays alone.
std::vector<Where> device_arrays();
/// The schedules of a backend that can run here: solve_schedules() but for `cells` where the GPU or the code for it is
/// too old (device_has_cells()).
std::vector<SolveSchedule> runnable_schedules(Backend backend);
void PrintTo(const Where& where, std::ostream* out);

/// A copy of a host vector in the memory space under test.
template <class T>
class Array {
 public:
  Array(DeviceStream* device, const std::vector<T>& values) : values_(values) {
    if (device != nullptr) buffer_ = device->upload(values.data(), values.size() * sizeof(T));
  }
  T* data() { return buffer_ ? static_cast<T*>(buffer_->data()) : values_.data(); }
  /// What it holds now. Waits for the stream.
  std::vector<T> read() {
    if (buffer_) buffer_->read(values_.data());
    return values_;
  }

 private:
  std::vector<T> values_;
  std::unique_ptr<DeviceBuffer> buffer_;
};

/// A copy of a host matrix in the memory space under test.
class MatrixArrays {
 public:
  MatrixArrays(DeviceStream* device, const CsrMatrix& a)
      : rows_(a.rows),
        cols_(a.cols),
        row_offsets_(device, a.row_offsets),
        col_indices_(device, a.col_indices),
        values_(device, a.values) {}
  CsrPattern pattern() { return {rows_, cols_, row_offsets_.data(), col_indices_.data()}; }
  CsrView view() { return {pattern(), values_.data()}; }
  const double* values() { return values_.data(); }

 private:
  Index rows_;
  Index cols_;
  Array<Offset> row_offsets_;
  Array<Index> col_indices_;
  Array<double> values_;
};

class BackendTest : public testing::TestWithParam<Where> {
 protected:
  void SetUp() override;

  [[nodiscard]] const Context& context() const { return *context_; }
  [[nodiscard]] static MemorySpace space() { return GetParam().space; }
  [[nodiscard]] Stream stream() const { return device_ ? device_->stream() : Stream{}; }
  [[nodiscard]] DeviceStream* device() const { return device_.get(); }
  [[nodiscard]] MatrixArrays place(const CsrMatrix& a) const { return {device_.get(), a}; }
  [[nodiscard]] Array<double> place(const std::vector<double>& v) const { return {device_.get(), v}; }

  // The public classes, with arrays in the memory space under test.
  TriangularSolver triangular(const CsrMatrix& a, const TriangularOptions& options) const;
  Factorization factorization(const CsrMatrix& a, const FactorOptions& options,
                              const std::vector<Index>& row_order = {}, const std::vector<Index>& col_order = {}) const;
  Jacobi jacobi(const CsrMatrix& a, const JacobiOptions& options) const;
  FactorStatus factor(Factorization& f, const std::vector<double>& values) const;
  std::vector<double> solve(TriangularSolver& t, const std::vector<double>& b) const;
  std::vector<double> solve_in_place(TriangularSolver& t, const std::vector<double>& b) const;
  std::vector<double> apply(Factorization& f, Apply part, const std::vector<double>& b) const;
  std::vector<double> apply_in_place(Factorization& f, Apply part, const std::vector<double>& b) const;
  std::vector<double> apply(Jacobi& j, const std::vector<double>& b, bool transposed = false) const;

 private:
  std::unique_ptr<Context> context_;
  std::unique_ptr<DeviceStream> device_;
};

}  // namespace taskdag::test

/// Declares a test suite that runs everywhere (or on the places of `places`).
#define TASKDAG_BACKEND_SUITE(Suite, places)                     \
  class Suite : public taskdag::test::BackendTest {};            \
  INSTANTIATE_TEST_SUITE_P(On, Suite, testing::ValuesIn(places), \
                           [](const auto& parameter) { return taskdag::test::name_of(parameter.param); })
