
#include <string>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "kernels/device_csr.hpp"
#include "solver/cuda_flag.hpp"
#include "solver/cuda_input.hpp"
#include "solver/cuda_staging.hpp"
#include "solver/impl.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {
namespace {

__global__ void invert_diagonal(Index n, const double* values, const Offset* diagonal, const Index* order,
                                double* pivot) {
  const auto p = static_cast<Index>(element());
  if (p < n) pivot[p] = 1.0 / values[diagonal[order[p]]];
}

class CudaTriangular final : public TriangularSolver::Impl {
 public:
  CudaTriangular(const Context& context, const CsrView& a, MemorySpace space, const TriangularOptions& options,
                 Stream stream)
      : device_(context.device()), unit_(options.unit_diagonal), flag_(native(stream)) {
    const cudaStream_t s = native(stream);
    last_stream_ = s;
    const CudaPatternInput input(a.pattern, space, s);
    const kernels::DevicePattern& pattern = input.pattern();
    entries_ = static_cast<std::size_t>(pattern.entries);
    const auto rows = static_cast<std::size_t>(pattern.rows);
    if (!unit_) {
      diagonal_ = {rows, s};
      const Index missing = kernels::find_diagonal(pattern, diagonal_.data(), s);
      if (missing >= 0) throw InvalidInput("row " + std::to_string(missing) + " has no diagonal entry");
    }
    if (options.transposed) {
      const kernels::DeviceCsr transposed = kernels::transpose_pattern(pattern, s);
      const Triangle turned = options.triangle == Triangle::lower ? Triangle::upper : Triangle::lower;
      packed_ = kernels::PackedTriangle(transposed.pattern(), turned, transposed.source.data(), s);
    } else {
      packed_ = kernels::PackedTriangle(pattern, options.triangle, nullptr, s);
    }
    if (!unit_) pivot_ = {rows, s};
    info.rows = pattern.rows;
    info.levels = packed_.tasks().levels;
    info.widest_level = packed_.tasks().widest_level;
    info.entries = packed_.tasks().entries;
    info.bytes = packed_.bytes() + diagonal_.bytes() + pivot_.bytes();
    load(a.values, space, s);
    synchronize(s);
  }

  void update_values(const double* values, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    last_stream_ = native(stream);
    load(values, space, native(stream));
  }

  void solve(const double* b, double* x, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    last_stream_ = s;
    kernels::SolveArguments arguments;
    arguments.rhs_index = packed_.tasks().order.data();
    arguments.x_index = packed_.tasks().order.data();
    arguments.pivot = unit_ ? nullptr : pivot_.data();
    arguments.non_finite = flag_.data();
    with_device_vectors(staging_, vectors_, static_cast<std::size_t>(info.rows), b, x, space == MemorySpace::device, s,
                        [&](const double* device_b, double* device_x) {
                          arguments.rhs = device_b;
                          arguments.x = device_x;
                          packed_.solve(arguments, s);
                        });
  }

  SolveOutcome outcome() override {
    const DeviceGuard guard(device_);
    return flag_.take(last_stream_);
  }

 private:
  void load(const double* values, MemorySpace space, cudaStream_t s) {
    if (space == MemorySpace::host) {
      if (host_values_.size() < entries_) host_values_ = {entries_, s};
      staging_.upload(host_values_.data(), values, entries_, s);
      values = host_values_.data();
    }
    packed_.load_values(values, s);
    if (!unit_ && info.rows > 0) {
      invert_diagonal<<<element_blocks(info.rows), kElementBlock, 0, s>>>(info.rows, values, diagonal_.data(),
                                                                          packed_.tasks().order.data(), pivot_.data());
      check_launch("invert_diagonal");
    }
  }

  int device_;
  bool unit_;
  std::size_t entries_ = 0;
  DeviceArray<Offset> diagonal_;
  DeviceArray<double> pivot_;
  DeviceArray<double> host_values_;
  kernels::PackedTriangle packed_;
  CudaFlag flag_;
  CudaStaging staging_;
  CudaVectorPair vectors_;
  cudaStream_t last_stream_ = nullptr;
};

}  // namespace

std::unique_ptr<TriangularSolver::Impl> make_triangular(const Context& context, const CsrView& a, MemorySpace space,
                                                        const TriangularOptions& options, Stream stream) {
  const DeviceGuard guard(context.device());
  return std::make_unique<CudaTriangular>(context, a, space, options, stream);
}

}  // namespace taskdag::cuda
