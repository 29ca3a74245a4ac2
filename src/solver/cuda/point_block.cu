/// \file
/// Factorisations by point blocks on the device.
#include <climits>
#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/reduce.hpp"
#include "backends/cuda/stream_order.hpp"
#include "backends/host/thread_pool.hpp"
#include "context/state.hpp"
#include "kernels/factor/growth.hpp"
#include "kernels/factor/point_block/cuda/factor.hpp"
#include "solver/checks.hpp"
#include "solver/cuda/block_sweeps.hpp"
#include "solver/cuda/flag.hpp"
#include "solver/cuda/input.hpp"
#include "solver/cuda/order.hpp"
#include "solver/cuda/staging.hpp"
#include "solver/point_block.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::cuda {

namespace {

using kernels::point_block::DeviceFactor;
using kernels::point_block::DeviceFactorPattern;

/// A pattern in either space, on the host. Synchronises.
class HostPattern {
 public:
  HostPattern(const CsrPattern& pattern, MemorySpace space, cudaStream_t s) : view_(pattern) {
    if (space == MemorySpace::host) return;
    const auto rows = at(pattern.rows);
    offsets_ = fetch_array(pattern.row_offsets, rows + 1, s);
    columns_ = fetch_array(pattern.col_indices, at(offsets_.back()), s);
    view_ = {pattern.rows, pattern.cols, offsets_.data(), columns_.data()};
    validate(view_, {.square = true});
  }
  [[nodiscard]] const CsrPattern& view() const { return view_; }

 private:
  CsrPattern view_;
  std::vector<Offset> offsets_;
  std::vector<Index> columns_;
};

/// Fill is found on the host.
DeviceFactorPattern analyse(const CsrPattern& blocks, MemorySpace space, const FactorOptions& options,
                            std::span<const Index> row_order, std::span<const Index> col_order,
                            const DeviceArray<Index>& device_row_order, const DeviceArray<Index>& device_col_order,
                            int threads, cudaStream_t s) {
  if (options.levels == 0) {
    const CudaPatternInput input(blocks, space, s);
    return kernels::point_block::find_pattern(input.pattern(), device_row_order.data(), device_col_order.data(),
                                              options.kind, options.block_size, s);
  }
  const HostPattern pattern(blocks, space, s);
  host::ThreadPool pool(threads);
  return kernels::point_block::upload(
      kernels::point_block::make_pattern(pattern.view(), row_order, col_order, options, pool), s);
}

/// Of one of two orders of blocks; empty where both are. @throws InvalidInput where it is no permutation
DeviceArray<Index> upload_blocks(std::span<const Index> order, std::span<const Index> other, Index rows,
                                 cudaStream_t s) {
  if (order.empty() && other.empty()) return {};
  return upload_order(order, at(rows), s);
}

/// The factored matrix' diagonal, and where its rows and columns are in the caller's vectors.
struct GrowthArguments {
  Index rows;  ///< of the matrix
  Index block_size;
  bool complex_blocks;
  const double* values;  ///< null: all weights are 1
  const Offset* source;
  const Offset* diagonal;
  const Index* row_order;
  const Index* col_order;

  __device__ double weight(Index i) const {
    if (values == nullptr) return 1.0;
    const std::int64_t block = source[diagonal[i / block_size]];
    const double* const own = values + block * block_size * block_size;
    return kernels::growth_weight(kernels::point_block::diagonal_size(own, block_size, i % block_size, complex_blocks));
  }
  __device__ std::int64_t element(const Index* order, Index i) const {
    const Index block = i / block_size;
    return std::int64_t{order != nullptr ? order[block] : block} * block_size + i % block_size;
  }
};

__global__ void point_block_weights_kernel(const GrowthArguments a, double* b) {
  const auto i = static_cast<Index>(element());
  if (i < a.rows) b[a.element(a.row_order, i)] = a.weight(i) * kernels::growth_element(i);
}

__global__ void point_block_sizes_kernel(const GrowthArguments a, const double* x, double* size) {
  const auto i = static_cast<Index>(element());
  if (i < a.rows) size[i] = kernels::weighted_size(a.weight(i), x[a.element(a.col_order, i)]);
}

class CudaPointBlockFactorization final : public PointBlockFactorization {
 public:
  CudaPointBlockFactorization(const Context& context, const CsrPattern& blocks, MemorySpace space,
                              const FactorOptions& options, std::span<const Index> row_order,
                              std::span<const Index> col_order, cudaStream_t s)
      : PointBlockFactorization(options),
        closing_(context.device()),
        device_(context.device()),
        row_order_(upload_blocks(row_order, col_order, blocks.rows, s)),
        col_order_(upload_blocks(col_order, row_order, blocks.rows, s)),
        factor_(analyse(blocks, space, options, row_order, col_order, row_order_, col_order_,
                        context.state()->host_threads, s),
                options.block_size, s),
        sweeps_(make_sweeps(context, s)),
        flag_(s) {
    const Offset entries = blocks.rows == 0               ? 0
                           : space == MemorySpace::device ? fetch(blocks.row_offsets + blocks.rows, s)
                                                          : blocks.entries();
    if (needs_dominance())
      input_ = {in_device_memory(blocks.row_offsets, at(blocks.rows) + 1, space, s),
                in_device_memory(blocks.col_indices, at(entries), space, s)};
    input_values_ = at(entries) * at(options.block_size) * at(options.block_size);
    take_sizes(pattern().rows, pattern().blocks);
    info.lower_levels = sweeps_->sweeps().first.features.levels;
    info.upper_levels = sweeps_->sweeps().second.features.levels;
    info.lower_schedule = sweeps_->sweeps().first.schedule;
    info.upper_schedule = sweeps_->sweeps().second.schedule;
    count_bytes();
    synchronize(s);
  }
  ~CudaPointBlockFactorization() override { closing_.begin(); }

  void check_space(MemorySpace) const override {}
  void refuse_capture(Stream stream, const char* what) const override { cuda::refuse_capture(native(stream), what); }

  FactorStatus factor(const double* values, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    if (space == MemorySpace::host) {
      if (host_values_.size() < input_values_) host_values_ = {input_values_, s};
      staging_.upload(host_values_.data(), values, input_values_, s);
      values = host_values_.data();
      count_bytes();
    }
    kernels::ShiftStrategy strategy(options_, needs_dominance() ? dominance(values, s) : 0.0);
    kernels::FactorReport report;
    do {
      report = factor_.factor(values, pivoting(strategy), s);
    } while (strategy.again(report.last_zero >= 0));
    sweeps_->load(factor_.blocks(), s);
    FactorStatus status;
    status.shift_amount = strategy.amount();
    status.shifts = report.shifted + strategy.shifts();
    status.last_row = report.last_zero;
    // Of other blocks it is exactly 0.
    if (report.last_zero >= 0 && is_numbers()) status.last_pivot = pivot_magnitude(report.last_zero / 2, s);
    if (report.last_zero >= 0 && report.first_zero <= report.first_non_finite) {
      status.outcome = FactorOutcome::zero_pivot;
      status.first_row = report.first_zero;
    } else if (report.first_non_finite != INT_MAX) {
      status.outcome = FactorOutcome::non_finite;
      status.first_row = report.first_non_finite;
    }
    return status;
  }

  void apply(Apply operation, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
             MemorySpace space, Stream stream) override {
    check_operation(operation);
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    const bool transposed = operation == Apply::transposed;
    if (transposed && !sweeps_->transposes()) {
      cuda::refuse_capture(s, "the first transposed application");
      sweeps_->prepare_transposed(factor_.blocks(), s);
      count_bytes();
    }
    for (Index k = 0; k < count; ++k) {
      with_device_vectors(staging_, vectors_, at(info.rows), b + k * ldb, x + k * ldx, space == MemorySpace::device, s,
                          [&](const double* from, double* to) { run(transposed, from, to, s); });
    }
    if (space == MemorySpace::host) call.waited();
  }

  double growth(const double* values, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    if (info.rows == 0) return 0.0;
    StreamOrder::Call call(order_, s);
    // What factor() was given in host memory it has copied.
    if (values != nullptr && space == MemorySpace::host) values = host_values_.data();
    const GrowthArguments arguments{info.rows,
                                    options_.block_size,
                                    options_.complex_blocks,
                                    values,
                                    pattern().source.data(),
                                    pattern().diagonal.data(),
                                    row_order_.data(),
                                    col_order_.data()};
    ScratchArray<double> b(at(info.rows), s);
    ScratchArray<double> x(at(info.rows), s);
    point_block_weights_kernel<<<element_blocks(info.rows), kElementBlock, 0, s>>>(arguments, b.data());
    check_launch("point_block_weights_kernel");
    run(false, b.data(), x.data(), s);
    point_block_sizes_kernel<<<element_blocks(info.rows), kElementBlock, 0, s>>>(arguments, x.data(), b.data());
    check_launch("point_block_sizes_kernel");
    const double result = largest_size(b.data(), info.rows, s);
    call.waited();
    return result;
  }

  SolveOutcome outcome() override {
    const DeviceGuard guard(device_);
    return flag_.take();
  }
  SolveOutcome outcome(Stream stream) override {
    const DeviceGuard guard(device_);
    StreamOrder::Call call(order_, native(stream));
    const SolveOutcome result = flag_.take(native(stream));
    call.waited();
    return result;
  }

  [[nodiscard]] CsrMatrix copy_factor() const override {
    const DeviceGuard guard(device_);
    check(cudaDeviceSynchronize(), "waiting for the device");
    const UniqueStream own;
    const cudaStream_t s = own.get();
    const std::vector<Offset> offsets = fetch_array(pattern().offsets.data(), at(pattern().rows) + 1, s);
    const std::vector<Index> columns = fetch_array(pattern().columns.data(), at(pattern().blocks), s);
    return by_rows({pattern().rows, pattern().rows, offsets.data(), columns.data()},
                   fetch_array(factor_.blocks().values, at(info.entries), s).data());
  }

 private:
  [[nodiscard]] const DeviceFactorPattern& pattern() const { return factor_.pattern(); }

  /// The matrix' pattern, where the shift has to look at it.
  struct Input {
    DeviceArray<Offset> offsets;
    DeviceArray<Index> columns;
  };
  [[nodiscard]] std::unique_ptr<BlockSweeps> make_sweeps(const Context& context, cudaStream_t s) const {
    const BlockSweepsInput input{
        request_of(options_, context), pattern().symmetric(), options_.complex_blocks, row_order_, col_order_,
        independent_blocks(options_)};
    return is_numbers() ? make_complex_sweeps(input, factor_.blocks(), s) : make_row_sweeps(input, factor_.blocks(), s);
  }
  template <class T>
  static DeviceArray<T> in_device_memory(const T* from, std::size_t count, MemorySpace space, cudaStream_t s) {
    DeviceArray<T> copy(count, s);
    const cudaMemcpyKind kind = space == MemorySpace::device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
    check(cudaMemcpyAsync(copy.data(), from, count * sizeof(T), kind, s), "copying a pattern");
    return copy;
  }
  [[nodiscard]] double dominance(const double* values, cudaStream_t s) const {
    return kernels::point_block::dominance_of_numbers(pattern().rows, input_.offsets.data(), input_.columns.data(),
                                                      values, s);
  }
  [[nodiscard]] double pivot_magnitude(Index row, cudaStream_t s) const {
    const Offset diagonal = fetch(pattern().diagonal.data() + row, s);
    const std::vector<double> inverse = fetch_array(factor_.blocks().values + std::size_t{4} * at(diagonal), 4, s);
    return kernels::point_block::magnitude_of_inverse(inverse.data());
  }
  void run(bool transposed, const double* b, double* x, cudaStream_t s) {
    sweeps_->apply(factor_.blocks(), transposed, b, x, flag_.data(), s);
  }
  void count_bytes() {
    info.numeric_bytes = host_values_.bytes();
    info.bytes = factor_.bytes() + sweeps_->bytes() + row_order_.bytes() + col_order_.bytes() + host_values_.bytes() +
                 input_.offsets.bytes() + input_.columns.bytes();
  }

  Closing closing_;
  int device_;
  std::size_t input_values_ = 0;
  Input input_;
  DeviceArray<Index> row_order_;  ///< of blocks; empty: natural
  DeviceArray<Index> col_order_;
  DeviceFactor factor_;
  std::unique_ptr<BlockSweeps> sweeps_;
  DeviceArray<double> host_values_;
  CudaFlag flag_;
  CudaStaging staging_;
  CudaVectorPair vectors_;
  StreamOrder order_;
};

}  // namespace

std::unique_ptr<Factorization::Impl> make_point_block_factorization(const Context& context, const CsrPattern& blocks,
                                                                    MemorySpace space, const FactorOptions& options,
                                                                    std::span<const Index> row_order,
                                                                    std::span<const Index> col_order, Stream stream) {
  const DeviceGuard guard(context.device());
  return std::make_unique<CudaPointBlockFactorization>(context, blocks, space, options, row_order, col_order,
                                                       native(stream));
}

}  // namespace taskdag::cuda
