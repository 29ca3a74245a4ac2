/// \file
/// Sweeps by the schedule flat: set-up, values, launch.
#include "backends/cuda/algorithm.cuh"
#include "base/index.hpp"
#include "csr/gather.hpp"
#include "kernels/sptrsv/schedules/flat/flat.hpp"

namespace taskdag::kernels {

namespace {

/// −1 where a position is a part's.
__global__ void compose(Index positions, const Index* index, const Index* order, Index* result) {
  const auto p = static_cast<Index>(cuda::element());
  if (p < positions) result[p] = order[p] < 0 ? -1 : index[order[p]];
}

StoredAs stored_as(const SweepInput& input) {
  if (input.complex_numbers) return StoredAs::complex;
  return input.precision == Precision::in_single ? StoredAs::in_single : StoredAs::in_double;
}

}  // namespace

cuda::DeviceArray<Index> by_position(const Index* index, const TaskList& tasks, cudaStream_t stream) {
  if (index == nullptr) return {};
  cuda::DeviceArray<Index> result(static_cast<std::size_t>(tasks.rows), stream);
  if (tasks.rows == 0) return result;
  compose<<<cuda::element_blocks(tasks.rows), cuda::kElementBlock, 0, stream>>>(tasks.rows, index, tasks.order.data(),
                                                                                result.data());
  cuda::check_launch("compose");
  return result;
}

FlatSweep::FlatSweep(const SweepInput& input, cudaStream_t stream)
    : packed_(input.pattern, input.triangle, *input.ranges, *input.levels, input.source_entry, stored_as(input),
              stream),
      rhs_index_(by_position(input.rhs_index, packed_.tasks(), stream)),
      x_index_(by_position(input.x_index, packed_.tasks(), stream)) {}

void FlatSweep::load_values(const double* source, const double* pivot, cudaStream_t stream) {
  if (packed_.is_complex()) {
    take_numbers(source, pivot, stream);
    return;
  }
  GatherBatch batch;
  if (packed_.is_single()) {
    packed_.round_values(source, stream);
    gather_pivots(batch, pivot, stream);
  } else {
    gather_values(batch, source, pivot, stream);
  }
  batch.run(stream);
}

void FlatSweep::gather_values(GatherBatch& batch, const double* source, const double* pivot, cudaStream_t stream) {
  packed_.gather_values(batch, source);
  gather_pivots(batch, pivot, stream);
}

bool FlatSweep::makes_room_for_pivots(const double* pivot, cudaStream_t stream) {
  unit_pivots_ = pivot == nullptr;
  if (!unit_pivots_ && pivot_.size() == 0) pivot_ = {at(packed_.tasks().rows) * at(packed_.parts()), stream};
  return !unit_pivots_;
}

void FlatSweep::gather_pivots(GatherBatch& batch, const double* pivot, cudaStream_t stream) {
  if (!makes_room_for_pivots(pivot, stream)) return;
  batch.add(packed_.tasks().rows, pivot, packed_.tasks().order.data(), pivot_.data());
}

void FlatSweep::take_numbers(const double* source, const double* pivot, cudaStream_t stream) {
  packed_.take_numbers({source, kDoublesOfRealBlock}, stream);
  if (!makes_room_for_pivots(pivot, stream)) return;
  gather_numbers(packed_.tasks().rows, {pivot}, packed_.tasks().order.data(), pivot_.data(), stream);
}

SolveArguments FlatSweep::arguments(const double* rhs, double* x, int* non_finite) const {
  const Index* const order = packed_.tasks().order.data();
  SolveArguments arguments;
  arguments.rhs = rhs;
  arguments.rhs_index = rhs_index_.size() > 0 ? rhs_index_.data() : order;
  arguments.pivot = unit_pivots_ ? nullptr : pivot_.data();
  arguments.x = x;
  arguments.x_index = x_index_.size() > 0 ? x_index_.data() : order;
  arguments.non_finite = non_finite;
  return arguments;
}

void FlatSweep::solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) {
  packed_.solve(arguments(rhs, x, non_finite), stream);
}

void FlatSweep::begin_product(const double* v, int* non_finite, cudaStream_t stream) {
  SolveArguments arguments = this->arguments(v, nullptr, non_finite);
  arguments.rhs_index = arguments.x_index;
  packed_.solve(arguments, stream);
}

void FlatSweep::prepare_product(const Sweep& first, const ProductRows& rows, cudaStream_t stream) {
  const TaskList& tasks = packed_.tasks();
  packed_.forget_overlap();
  if (product_.prepare(first, rows, tasks.rows, tasks.order.data(), stream)) cuda::synchronize(stream);
}

void FlatSweep::finish_product(const double* v, double* y, int* non_finite, cudaStream_t stream) {
  packed_.solve(arguments(v, nullptr, non_finite), product_.arguments(y), stream);
}

std::int64_t FlatSweep::bytes() const {
  return packed_.bytes() + rhs_index_.bytes() + x_index_.bytes() + pivot_.bytes() + product_.bytes();
}

}  // namespace taskdag::kernels
