#include <utility>

#include "backends/cuda/device.hpp"
#include "csr/device_csr.hpp"
#include "csr/gather.hpp"
#include "kernels/jacobi/cuda.hpp"
#include "solver/cuda/input.hpp"
#include "solver/cuda/staging.hpp"
#include "solver/cuda/stream_order.hpp"
#include "solver/impl.hpp"

namespace taskdag::cuda {
namespace {

class CudaJacobi final : public Jacobi::Impl {
 public:
  CudaJacobi(const Context& context, const CsrView& a, MemorySpace space, const JacobiOptions& options, Stream stream)
      : closing_(context.device()),
        device_(context.device()),
        options_(options),
        size_(static_cast<std::size_t>(a.pattern.rows)),
        scale_(size_, native(stream)),
        zeros_(1, native(stream)) {
    const cudaStream_t s = native(stream);
    const CudaPatternInput input(a.pattern, space, s);
    if (options.sweeps > 1) {
      pattern_ = kernels::copy_pattern(input.pattern(), s);
      values_ = {static_cast<std::size_t>(input.pattern().entries), s};
      work_ = {size_, s};
    }
    take_values(input.pattern(), a.values, space, s);
  }
  ~CudaJacobi() override { closing_.begin(); }

  void check_space(MemorySpace) const override {}
  void refuse_capture(Stream stream, const char* what) const override { cuda::refuse_capture(native(stream), what); }

  void update_values(const CsrView& a, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    if (options_.sweeps > 1) {
      take_values(pattern_.pattern(), a.values, space, s);
    } else {
      const CudaPatternInput input(a.pattern, space, s);
      take_values(input.pattern(), a.values, space, s);
    }
    call.waited();
  }

  void apply(const double* b, double* x, MemorySpace space, bool transposed, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    if (transposed && options_.sweeps > 1 && !has_transposed_) {
      cuda::refuse_capture(s, "the first transposed application of Jacobi");
      make_transposed(s);
    }
    with_device_vectors(staging_, vectors_, size_, b, x, space == MemorySpace::device, s,
                        [&](const double* device_b, double* device_x) { sweep(device_b, device_x, transposed, s); });
    if (space == MemorySpace::host) call.waited();
  }

 private:
  /// Synchronises.
  void take_values(const kernels::DevicePattern& pattern, const double* values, MemorySpace space, cudaStream_t s) {
    const auto entries = static_cast<std::size_t>(pattern.entries);
    const bool staged = space == MemorySpace::host && options_.sweeps == 1;
    const ScratchArray<double> scratch(staged ? entries : 0, s);
    if (space == MemorySpace::host) {
      double* const device_values = staged ? scratch.data() : values_.data();
      staging_.upload(device_values, values, entries, s);
      values = device_values;
    } else if (options_.sweeps > 1) {
      copy_on_device(values_.data(), values, entries, s);
    }
    kernels::cuda_jacobi_scale(pattern, values, options_, scale_.data(), zeros_.data(), s);
    if (has_transposed_) load_transposed(s);
    zero_diagonals = fetch(zeros_.data(), s);
    count_bytes();
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

  void sweep(const double* b, double* x, bool transposed, cudaStream_t s) {
    // The sweeps alternate between two arrays; x must be the last one written.
    double* from = options_.sweeps % 2 == 1 ? x : work_.data();
    double* to = from == x ? work_.data() : x;
    kernels::cuda_jacobi_first_sweep(static_cast<Index>(size_), scale_.data(), b, from, s);
    const kernels::DevicePattern pattern = (transposed ? transposed_ : pattern_).pattern();
    const double* const values = (transposed ? transposed_values_ : values_).data();
    for (int done = 1; done < options_.sweeps; ++done) {
      kernels::cuda_jacobi_sweep(pattern, values, scale_.data(), b, from, to, s);
      std::swap(from, to);
    }
  }

  void count_bytes() {
    bytes = scale_.bytes() + zeros_.bytes() + pattern_.bytes() + values_.bytes() + work_.bytes() + transposed_.bytes() +
            transposed_values_.bytes();
  }

  Closing closing_;
  int device_;
  JacobiOptions options_;
  std::size_t size_;
  DeviceArray<double> scale_;  ///< damping / d
  DeviceArray<Index> zeros_;
  kernels::DeviceCsr pattern_;  ///< this and what follows: with more than one sweep
  DeviceArray<double> values_;
  DeviceArray<double> work_;
  kernels::DeviceCsr transposed_;  ///< from the first transposed application on
  DeviceArray<double> transposed_values_;
  bool has_transposed_ = false;
  CudaStaging staging_;
  CudaVectorPair vectors_;
  StreamOrder order_;
};

}  // namespace

std::unique_ptr<Jacobi::Impl> make_jacobi(const Context& context, const CsrView& a, MemorySpace space,
                                          const JacobiOptions& options, Stream stream) {
  const DeviceGuard guard(context.device());
  return std::make_unique<CudaJacobi>(context, a, space, options, stream);
}

}  // namespace taskdag::cuda
