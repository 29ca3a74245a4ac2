/// \file
/// SOR by point blocks on the device.
#include "backends/cuda/device.hpp"
#include "backends/cuda/stream_order.hpp"
#include "csr/device_csr.hpp"
#include "dag/transpose.hpp"
#include "kernels/sor/point_block/cuda.hpp"
#include "solver/cuda/input.hpp"
#include "solver/cuda/staging.hpp"
#include "solver/point_block_sor.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {

namespace {

using kernels::point_block::ScaledRows;

class CudaPointBlockSor final : public PointBlockSor {
 public:
  CudaPointBlockSor(const Context& context, const CsrPattern& blocks, MemorySpace space, const SorOptions& options,
                    std::span<const Index> order, cudaStream_t s)
      : PointBlockSor(options), closing_(context.device()), device_(context.device()), rows_(blocks.rows) {
    const CudaPatternInput input(blocks, space, s);
    const kernels::DevicePattern& pattern = input.pattern();
    blocks_ = pattern.entries;
    static_cast<void>(checked_entries(blocks_));
    offsets_ = {at(rows_) + 1, s};
    copy_on_device(offsets_.data(), pattern.row_offsets, offsets_.size(), s);
    diagonal_ = {at(rows_), s};
    const Index missing = kernels::find_diagonal(pattern, diagonal_.data(), s);
    if (missing >= 0) refuse_missing_diagonal(missing, {.blocks = true});
    inverses_ = {at(checked_entries(rows_)), s};
    findings_ = {1, s};
    rhs_ = {at(rows_) * at(options.block_size), s};
    make_by_rows(context, pattern.col_indices, order, s);
    count_bytes();
    synchronize(s);
  }
  ~CudaPointBlockSor() override { closing_.begin(); }

  void check_space(MemorySpace) const override {}
  void refuse_capture(Stream stream, const char* what) const override { cuda::refuse_capture(native(stream), what); }

  FactorStatus update_values(const double* values, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_of_calls_, s);
    const std::size_t elements = at(info.entries);
    const ScratchArray<double> copy(space == MemorySpace::host ? elements : 0, s);
    if (space == MemorySpace::host) {
      staging_.upload(copy.data(), values, elements, s);
      values = copy.data();
    }
    const kernels::BlockFindings none;
    copy_to_device(findings_.data(), &none, 1, s);
    const ScaledRows rows = known_rows(nullptr);
    const ScratchArray<double> scaled(at(rows.entries(blocks_)), s);
    kernels::point_block::cuda_scale_rows(rows, values, options_.omega, options_.shift, inverses_.data(), scaled.data(),
                                          findings_.data(), s);
    by_rows_->update_values(scaled.data(), MemorySpace::device, stream);
    count_bytes();
    const FactorStatus status = kernels::status_of(fetch(findings_.data(), s));
    call.waited();
    return status;
  }

  void iterate(SorSweep sweep, int iterations, SorStart start, const double* b, double* x, MemorySpace space,
               Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_of_calls_, s);
    const bool on_device = space == MemorySpace::device;
    if (!on_device && start == SorStart::given) {
      vectors_.reserve(rhs_.size(), s);
      staging_.upload(vectors_.out(), x, rhs_.size(), s);
    }
    with_device_vectors(staging_, vectors_, rhs_.size(), b, x, on_device, s, [&](const double* from, double* to) {
      kernels::point_block::cuda_multiply_inverses(rows_, options_.block_size, inverses_.data(), from, rhs_.data(), s);
      by_rows_->iterate(sweep, iterations, start, rhs_.data(), to, MemorySpace::device, stream);
    });
    if (!on_device) call.waited();
  }

 private:
  [[nodiscard]] ScaledRows known_rows(const Index* columns) const {
    return {rows_, offsets_.data(), diagonal_.data(), columns, options_.block_size};
  }

  /// columns: of blocks, in device memory.
  void make_by_rows(const Context& context, const Index* columns, std::span<const Index> order, cudaStream_t s) {
    const Index n = rows_ * options_.block_size;
    const ScaledRows rows = known_rows(columns);
    const ScratchArray<Offset> row_offsets(at(n) + 1, s);
    const ScratchArray<Index> col_indices(at(rows.entries(blocks_)), s);
    kernels::point_block::cuda_scaled_pattern(rows, row_offsets.data(), col_indices.data(), s);
    by_rows_ = make_sor(context, {n, n, row_offsets.data(), col_indices.data()},
                        n == 0 ? MemorySpace::host : MemorySpace::device, options_by_rows(),
                        order_of_rows(order, options_.block_size), {s});
  }

  void count_bytes() {
    describe(blocks_, offsets_.bytes() + diagonal_.bytes() + inverses_.bytes() + findings_.bytes() + rhs_.bytes());
  }

  Closing closing_;
  int device_;
  Index rows_;         ///< of blocks
  Offset blocks_ = 0;  ///< of the matrix
  DeviceArray<Offset> offsets_;
  DeviceArray<Offset> diagonal_;
  DeviceArray<double> inverses_;
  DeviceArray<kernels::BlockFindings> findings_;
  DeviceArray<double> rhs_;
  CudaStaging staging_;
  CudaVectorPair vectors_;
  StreamOrder order_of_calls_;
};

}  // namespace

std::unique_ptr<Sor::Impl> make_point_block_sor(const Context& context, const CsrPattern& blocks, MemorySpace space,
                                                const SorOptions& options, std::span<const Index> order,
                                                Stream stream) {
  const DeviceGuard guard(context.device());
  return std::make_unique<CudaPointBlockSor>(context, blocks, space, options, order, native(stream));
}

}  // namespace taskdag::cuda
