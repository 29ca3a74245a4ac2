// SOR on CUDA: two triangular sweeps in a row, and passes over vectors where an iteration does not start from zero.
#include <utility>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/cuda/stream_order.hpp"
#include "csr/device_csr.hpp"
#include "csr/gather.hpp"
#include "dag/transpose.hpp"
#include "kernels/sor/cuda.hpp"
#include "solver/cuda/flag.hpp"
#include "solver/cuda/input.hpp"
#include "solver/cuda/order.hpp"
#include "solver/cuda/product.hpp"
#include "solver/cuda/retired.hpp"
#include "solver/cuda/staging.hpp"
#include "solver/cuda/sweep_pair.hpp"
#include "solver/impl.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {
namespace {

class CudaSor final : public Sor::Impl {
 public:
  CudaSor(const Context& context, const CsrPattern& pattern, MemorySpace space, const SorOptions& options,
          std::span<const Index> order, Stream stream)
      : closing_(context.device()),
        device_(context.device()),
        options_(options),
        request_(request_of(options, context)),
        flag_(native(stream)) {
    const cudaStream_t s = native(stream);
    const CudaPatternInput input(pattern, space, s);
    const auto rows = static_cast<std::size_t>(input.pattern().rows);
    input_entries_ = static_cast<std::size_t>(input.pattern().entries);
    if (!order.empty()) {
      order_ = upload_order(order, rows, s);
      pattern_ = kernels::permute_pattern(input.pattern(), order_.data(), order_.data(), s);
    } else {
      pattern_ = kernels::copy_pattern(input.pattern(), s);
    }
    position_ = {rows, s};
    const Index missing = kernels::find_diagonal(pattern_.pattern(), position_.data(), s);
    if (missing >= 0) refuse_missing_diagonal(order_.size() > 0 ? fetch(order_.data() + missing, s) : missing);
    sweeps_ = make_sweeps(s);
    values_ = {input_entries_, s};
    diagonal_ = {rows, s};
    findings_ = {1, s};
    rhs_ = {rows, s};
    middle_ = {extent(sweeps_.first->result_index(), pattern_.rows, s), s};
    info.rows = pattern_.rows;
    info.entries = pattern_.entries;
    describe();
    synchronize(s);
  }
  ~CudaSor() override { closing_.begin(); }

  void check_space(MemorySpace) const override {}
  void refuse_capture(Stream stream, const char* what) const override { cuda::refuse_capture(native(stream), what); }

  FactorStatus update_values(const double* values, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_of_calls_, s);
    take(values, space, s);
    const kernels::SorFindings none;
    copy_to_device(findings_.data(), &none, 1, s);
    kernels::sor_diagonal(pattern_.pattern(), position_.data(), values_.data(), options_.omega, options_.shift,
                          diagonal_.data(), findings_.data(), s);
    load(s);
    const FactorStatus status = status_of(fetch(findings_.data(), s));
    call.waited();
    return status;
  }

  void iterate(SorSweep sweep, int iterations, SorStart start, const double* b, double* x, MemorySpace space,
               Stream stream) override {
    with_vectors(b, x, start == SorStart::given, space, stream, [&](const double* from, double* to, cudaStream_t s) {
      if (sweep == SorSweep::symmetric) {
        symmetric(iterations, start, from, to, s);
      } else {
        for (int k = 0; k < iterations; ++k) {
          const bool zero = k == 0 && start == SorStart::zero;
          if (sweep == SorSweep::forward) {
            forward(zero, from, to, s);
          } else {
            backward(zero, from, to, s);
          }
        }
      }
    });
  }

  void multiply_upper(const double* x, double* y, MemorySpace space, Stream stream) override {
    with_vectors(x, y, false, space, stream, [&](const double* from, double* to, cudaStream_t s) {
      kernels::sor_multiply_upper(pattern_.pattern(), position_.data(), values_.data(), known_rows(), from, to, s);
    });
  }
  void pivots(double* e, MemorySpace space, Stream stream) const override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_of_calls_, s);
    if (space == MemorySpace::device) {
      kernels::sor_pivots(known_rows(), e, s);
      return;
    }
    const ScratchArray<double> found(rhs_.size(), s);
    kernels::sor_pivots(known_rows(), found.data(), s);
    copy_to_host(e, found.data(), rhs_.size(), s);
    synchronize(s);
    call.waited();
  }

  void set_diagonal(const double* d, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_of_calls_, s);
    const ScratchArray<double> copy(space == MemorySpace::host ? rhs_.size() : 0, s);
    if (space == MemorySpace::host) {
      staging_.upload(copy.data(), d, rhs_.size(), s);
      d = copy.data();
    }
    const ScratchArray<double> e(rhs_.size(), s);
    kernels::SorRows by_row = known_rows();
    by_row.order = nullptr;
    kernels::sor_pivots(by_row, e.data(), s);
    product_.take(sweeps_, retired_.sweeps, {pattern_.rows, order_.data(), 1.0 / (2.0 - options_.omega)}, e.data(), d,
                  s);
    describe();
    synchronize(s);
    call.waited();
  }
  void multiply_transformed(const double* v, double* y, MemorySpace space, Stream stream) override {
    with_vectors(v, y, false, space, stream, [&](const double* from, double* to, cudaStream_t s) {
      product_.run(sweeps_, from, to, flag_.data(), s);
    });
  }

  SolveOutcome outcome() override {
    const DeviceGuard guard(device_);
    return flag_.take();
  }

  [[nodiscard]] std::vector<EngineRun> engine_runs() const override {
    const DeviceGuard guard(device_);
    check(cudaDeviceSynchronize(), "waiting for the device");
    std::vector<EngineRun> runs;
    sweeps_.add_runs("", runs);
    return runs;
  }

 private:
  [[nodiscard]] SweepPair make_sweeps(cudaStream_t s) const {
    const kernels::DevicePattern p = pattern_.pattern();
    return {request_,
            AnalysedTriangle(p, Triangle::lower, s),
            nullptr,
            order_.data(),
            AnalysedTriangle(p, Triangle::upper, s),
            nullptr,
            order_.data(),
            options_.blocks.get(),
            false,
            s};
  }

  void describe() {
    info.lower_levels = sweeps_.first.features.levels;
    info.upper_levels = sweeps_.second.features.levels;
    info.lower_schedule = sweeps_.first.schedule;
    info.upper_schedule = sweeps_.second.schedule;
    info.bytes = pattern_.bytes() + order_.bytes() + position_.bytes() + values_.bytes() + diagonal_.bytes() +
                 rhs_.bytes() + middle_.bytes() + product_.bytes() + host_values_.bytes() + sweeps_.bytes() +
                 retired_.bytes();
  }

  [[nodiscard]] kernels::SorRows known_rows() const {
    return {pattern_.rows, diagonal_.data(), options_.omega, order_.data(), sweeps_.first->result_index()};
  }

  void take(const double* values, MemorySpace space, cudaStream_t s) {
    if (space == MemorySpace::host) {
      if (host_values_.size() < input_entries_) host_values_ = {input_entries_, s};
      staging_.upload(host_values_.data(), values, input_entries_, s);
      values = host_values_.data();
    }
    if (pattern_.source.size() > 0) {
      kernels::gather_or_zero(pattern_.entries, values, pattern_.source.data(), values_.data(), s);
    } else {
      copy_on_device(values_.data(), values, input_entries_, s);
    }
  }

  void load(cudaStream_t s) {
    const ScratchArray<double> entries(input_entries_, s);
    const ScratchArray<double> pivot(diagonal_.size(), s);
    kernels::sor_sweep_values(pattern_.pattern(), values_.data(), known_rows(), entries.data(), pivot.data(), s);
    load(sweeps_, entries.data(), pivot.data(), s);
    for (const SweepPair& pair : retired_.sweeps) load(pair, entries.data(), pivot.data(), s);
    if (sweeps_.rewrites_rows()) keep_rows_if_needed(entries.data(), pivot.data(), s);
    describe();
  }
  static void load(const SweepPair& sweeps, const double* entries, const double* pivot, cudaStream_t s) {
    sweeps.load({entries}, {entries, pivot}, s);
  }

  /// Gives schedules that rewrite rows up where they would lose too much with these values.
  void keep_rows_if_needed(const double* entries, const double* pivot, cudaStream_t s) {
    if (!sweeps_.loses_with(entries, pivot, s)) return;
    request_.keep_rows = true;
    SweepPair keeping = make_sweeps(s);
    load(keeping, entries, pivot, s);
    DeviceArray<double> middle(extent(keeping.first->result_index(), pattern_.rows, s), s);
    std::swap(sweeps_, keeping);
    if (order_of_calls_.captured()) {  // graphs of them go on
      retired_.sweeps.push_back(std::move(keeping));
      retired_.vectors.push_back(std::move(middle_));
    }
    middle_ = std::move(middle);
  }

  [[nodiscard]] static FactorStatus status_of(const kernels::SorFindings& found) {
    FactorStatus status;
    status.last_row = found.last_zero;
    if (found.first_zero <= found.first_non_finite && found.last_zero >= 0) {
      status.outcome = FactorOutcome::zero_pivot;
      status.first_row = found.first_zero;
    } else if (found.first_non_finite != INT_MAX) {
      status.outcome = FactorOutcome::non_finite;
      status.first_row = found.first_non_finite;
    }
    return status;
  }

  /// work(device_from, device_to, stream) for arrays in either space.
  template <class Work>
  void with_vectors(const double* from, double* to, bool reads_to, MemorySpace space, Stream stream, const Work& work) {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_of_calls_, s);
    if (space == MemorySpace::device) {
      work(from, to, s);
      return;
    }
    const std::size_t rows = rhs_.size();
    vectors_.reserve(rows, s);
    staging_.upload(vectors_.in(), from, rows, s);
    if (reads_to) staging_.upload(vectors_.out(), to, rows, s);
    work(vectors_.in(), vectors_.out(), s);
    staging_.download(to, vectors_.out(), rows, s);
    call.waited();
  }

  void start(kernels::SorOther other, const double* b, const double* x, double* out, cudaStream_t s) const {
    kernels::sor_start(pattern_.pattern(), position_.data(), values_.data(), known_rows(), other, b, x, out, s);
  }

  void forward(bool zero, const double* b, double* x, cudaStream_t s) {
    if (!zero) start(kernels::SorOther::upper, b, x, rhs_.data(), s);
    sweeps_.first->solve(zero ? b : rhs_.data(), nullptr, flag_.data(), s);
    kernels::sor_from_first(known_rows(), sweeps_.first->result(), x, flag_.data(), s);
  }

  void backward(bool zero, const double* b, double* x, cudaStream_t s) {
    if (zero) {
      kernels::sor_to_second(known_rows(), b, middle_.data(), s);
    } else {
      start(kernels::SorOther::lower, b, x, middle_.data(), s);
    }
    sweeps_.second->solve(middle_.data(), x, flag_.data(), s);
  }

  void symmetric(int iterations, SorStart from, const double* b, double* x, cudaStream_t s) {
    const bool zero = from == SorStart::zero;
    if (zero && iterations == 1) {
      sweeps_.solve(b, x, flag_.data(), s);
      return;
    }
    const kernels::SorRows rows = known_rows();
    const double* second_rhs = middle_.data();
    if (zero) {
      sweeps_.first->solve(b, nullptr, flag_.data(), s);
      second_rhs = sweeps_.first->result();
      sweeps_.second->solve(second_rhs, x, flag_.data(), s);
    } else {
      start(kernels::SorOther::upper, b, x, rhs_.data(), s);
      finish_symmetric(b, x, s);
    }
    for (int k = 1; k < iterations; ++k) {
      kernels::sor_next(rows, b, second_rhs, x, rhs_.data(), s);
      finish_symmetric(b, x, s);
      second_rhs = middle_.data();
    }
  }
  /// The two sweeps of an iteration whose first right-hand side is in rhs_.
  void finish_symmetric(const double* b, double* x, cudaStream_t s) {
    sweeps_.first->solve(rhs_.data(), nullptr, flag_.data(), s);
    kernels::sor_between(known_rows(), b, rhs_.data(), sweeps_.first->result(), middle_.data(), s);
    sweeps_.second->solve(middle_.data(), x, flag_.data(), s);
  }

  Closing closing_;
  int device_;
  SorOptions options_;
  ScheduleRequest request_;
  std::size_t input_entries_ = 0;
  DeviceArray<Index> order_;  ///< new → old; empty: natural
  kernels::DeviceCsr pattern_;
  DeviceArray<Offset> position_;  ///< of each row's diagonal entry
  SweepPair sweeps_;
  SweepProduct product_;
  Retired retired_;
  DeviceArray<double> values_;    ///< of pattern_: for sums over the triangle that a sweep does not solve
  DeviceArray<double> diagonal_;  ///< D + shift
  DeviceArray<kernels::SorFindings> findings_;
  DeviceArray<double> rhs_;     ///< of the first sweep, where that is not b
  DeviceArray<double> middle_;  ///< of the second one, where that is not the result of the first
  DeviceArray<double> host_values_;
  CudaFlag flag_;
  CudaStaging staging_;
  CudaVectorPair vectors_;
  mutable StreamOrder order_of_calls_;  ///< reading is a call, too
};

}  // namespace

std::unique_ptr<Sor::Impl> make_sor(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                    const SorOptions& options, std::span<const Index> order, Stream stream) {
  const DeviceGuard guard(context.device());
  return std::make_unique<CudaSor>(context, pattern, space, options, order, stream);
}

}  // namespace taskdag::cuda
