#include <limits>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/cuda/stream_order.hpp"
#include "csr/device_csr.hpp"
#include "csr/gather.hpp"
#include "kernels/jacobi/blocks/cuda.hpp"
#include "kernels/jacobi/blocks/residual.hpp"
#include "kernels/jacobi/weights.hpp"
#include "solver/cuda/input.hpp"
#include "solver/cuda/staging.hpp"
#include "solver/impl.hpp"
#include "taskdag/block_jacobi.hpp"

namespace taskdag::cuda {
namespace {

/// A layout in device memory.
struct DeviceBlocks {
  DeviceBlocks(const kernels::BlockLayout& layout, cudaStream_t s)
      : row(upload(layout.row, s)),
        span(upload(layout.span, s)),
        place(upload(layout.place, s)),
        offset(upload(layout.offset, s)) {}
  [[nodiscard]] kernels::BlockSlices slices() const {
    return {static_cast<Index>(offset.size()) - 1, row.data(), span.data(), place.data(), offset.data()};
  }
  [[nodiscard]] std::int64_t bytes() const { return row.bytes() + span.bytes() + place.bytes() + offset.bytes(); }

  DeviceArray<Index> row;
  DeviceArray<kernels::BlockSpan> span;
  DeviceArray<Index> place;
  DeviceArray<std::int64_t> offset;
};

class CudaBlockJacobi final : public BlockJacobi::Impl {
 public:
  CudaBlockJacobi(const Context& context, const CsrPattern& pattern, MemorySpace space,
                  const kernels::BlockLayout& layout, const BlockJacobiOptions& options, cudaStream_t s)
      : closing_(context.device()),
        device_(context.device()),
        options_(options),
        keeps_(options.sweeps > 1 || options.keep_matrix),
        size_(static_cast<std::size_t>(pattern.rows)),
        blocks_(layout, s),
        inverse_(static_cast<std::size_t>(layout.values()), s),
        findings_(1, s) {
    if (keeps_) keep_pattern(CudaPatternInput(pattern, space, s).pattern(), s);
    info = {pattern.rows, layout.blocks, layout.largest, layout.block_entries, 0};
    count_bytes();
    synchronize(s);
  }
  ~CudaBlockJacobi() override { closing_.begin(); }

  void check_space(MemorySpace) const override {}
  void refuse_capture(Stream stream, const char* what) const override { cuda::refuse_capture(native(stream), what); }

  FactorStatus update_values(const CsrView& a, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    const kernels::BlockFindings none;
    copy_to_device(findings_.data(), &none, 1, s);
    if (space == MemorySpace::host) {
      take_from_host(a, s);
    } else {
      if (keeps_) copy_on_device(values_.data(), a.values, values_.size(), s);
      invert(a, s);
    }
    if (has_transposed_) load_transposed(s);
    const FactorStatus status = kernels::status_of(fetch(findings_.data(), s));
    call.waited();
    return status;
  }

  void apply(const double* b, double* x, MemorySpace space, bool transposed, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    if (transposed && options_.sweeps > 1 && !has_transposed_) {
      cuda::refuse_capture(s, "the first transposed application of block Jacobi");
      make_transposed(s);
    }
    with_device_vectors(staging_, vectors_, size_, b, x, space == MemorySpace::device, s,
                        [&](const double* device_b, double* device_x) {
                          correct(0, transposed, false, device_b, device_x, s);
                          for (int k = 1; k < options_.sweeps; ++k) improve(k, transposed, device_b, device_x, s);
                        });
    if (space == MemorySpace::host) call.waited();
  }

  void iterate(const double* b, double* x, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    if (space == MemorySpace::device) {
      for (int k = 0; k < options_.sweeps; ++k) improve(k, false, b, x, s);
      return;
    }
    vectors_.reserve(size_, s);
    staging_.upload(vectors_.in(), b, size_, s);
    staging_.upload(vectors_.out(), x, size_, s);
    for (int k = 0; k < options_.sweeps; ++k) improve(k, false, vectors_.in(), vectors_.out(), s);
    staging_.download(x, vectors_.out(), size_, s);
    call.waited();
  }

 private:
  void keep_pattern(const kernels::DevicePattern& pattern, cudaStream_t s) {
    pattern_ = kernels::copy_pattern(pattern, s);
    values_ = {static_cast<std::size_t>(pattern.entries), s};
    residual_ = {size_, s};
    if (options_.long_row == 0 || size_ == 0) return;
    const std::vector<Offset> offsets = fetch_array(pattern_.pattern().row_offsets, size_ + 1, s);
    std::vector<Index> rows;
    for (std::size_t i = 0; i < size_; ++i) {
      if (offsets[i + 1] - offsets[i] > options_.long_row) rows.push_back(static_cast<Index>(i));
    }
    long_rows_ = upload(rows, s);
  }

  void take_from_host(const CsrView& a, cudaStream_t s) {
    const CudaPatternInput input(a.pattern, MemorySpace::host, s);
    const auto entries = static_cast<std::size_t>(input.pattern().entries);
    const ScratchArray<double> scratch(keeps_ ? 0 : entries, s);
    double* const values = keeps_ ? values_.data() : scratch.data();
    staging_.upload(values, a.values, entries, s);
    const kernels::DevicePattern& p = input.pattern();
    invert({{p.rows, p.rows, p.row_offsets, p.col_indices}, values}, s);
  }

  /// a: in device memory.
  void invert(const CsrView& a, cudaStream_t s) {
    kernels::cuda_invert_blocks(a, blocks_.slices(), info.largest_block, inverse_.data(), findings_.data(), s);
  }

  void make_transposed(cudaStream_t s) {
    transposed_ = kernels::transpose_pattern(pattern_.pattern(), s);
    transposed_values_ = {values_.size(), s};
    load_transposed(s);
    has_transposed_ = true;
    count_bytes();
  }
  void load_transposed(cudaStream_t s) {
    kernels::gather(pattern_.entries, values_.data(), transposed_.source.data(), transposed_values_.data(), s);
  }

  void improve(int sweep, bool transposed, const double* b, double* x, cudaStream_t s) {
    // Rows of the transposed matrix that are long are not counted: it is for few applications.
    const kernels::LongRows none{std::numeric_limits<Offset>::max(), nullptr, 0};
    const kernels::LongRows some{options_.long_row, long_rows_.data(), static_cast<Index>(long_rows_.size())};
    if (transposed) {
      kernels::cuda_residual(transposed_.pattern(), transposed_values_.data(), none, b, x, residual_.data(), s);
    } else {
      kernels::cuda_residual(pattern_.pattern(), values_.data(), long_rows_.size() > 0 ? some : none, b, x,
                             residual_.data(), s);
    }
    correct(sweep, transposed, true, residual_.data(), x, s);
  }

  void correct(int sweep, bool transposed, bool adds, const double* r, double* x, cudaStream_t s) {
    const double factor = options_.damping * kernels::jacobi_weight(options_.weights, options_.sweeps, sweep);
    kernels::cuda_apply_blocks(blocks_.slices(), inverse_.data(), transposed, adds, factor, r, x, s);
  }

  void count_bytes() {
    info.bytes = blocks_.bytes() + inverse_.bytes() + findings_.bytes() + pattern_.bytes() + values_.bytes() +
                 residual_.bytes() + long_rows_.bytes() + transposed_.bytes() + transposed_values_.bytes();
  }

  Closing closing_;
  int device_;
  BlockJacobiOptions options_;
  bool keeps_;
  std::size_t size_;
  DeviceBlocks blocks_;
  DeviceArray<double> inverse_;
  DeviceArray<kernels::BlockFindings> findings_;
  kernels::DeviceCsr pattern_;  ///< this and what follows: if keeps_
  DeviceArray<double> values_;
  DeviceArray<double> residual_;
  DeviceArray<Index> long_rows_;
  kernels::DeviceCsr transposed_;  ///< from the first transposed application on
  DeviceArray<double> transposed_values_;
  bool has_transposed_ = false;
  CudaStaging staging_;
  CudaVectorPair vectors_;
  StreamOrder order_;
};

}  // namespace

std::unique_ptr<BlockJacobi::Impl> make_block_jacobi(const Context& context, const CsrPattern& pattern,
                                                     MemorySpace space, const JacobiBlocks& blocks,
                                                     const BlockJacobiOptions& options, Stream stream) {
  const DeviceGuard guard(context.device());
  return std::make_unique<CudaBlockJacobi>(context, pattern, space, kernels::BlockLayout(blocks), options,
                                           native(stream));
}

}  // namespace taskdag::cuda
