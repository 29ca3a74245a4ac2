#include <algorithm>
#include <optional>
#include <string>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/stream_order.hpp"
#include "base/missing_diagonal.hpp"
#include "csr/device_csr.hpp"
#include "solver/cuda/flag.hpp"
#include "solver/cuda/input.hpp"
#include "solver/cuda/many.hpp"
#include "solver/cuda/staging.hpp"
#include "solver/cuda/sweep.hpp"
#include "solver/impl.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {
namespace {

__global__ void invert_diagonal(Index n, const double* values, const Offset* diagonal, double* pivot) {
  const auto i = static_cast<Index>(element());
  if (i < n) pivot[i] = 1.0 / values[diagonal[i]];
}

class CudaTriangular final : public TriangularSolver::Impl {
 public:
  CudaTriangular(const Context& context, const CsrView& a, MemorySpace space, const TriangularOptions& options,
                 Stream stream)
      : closing_(context.device()), device_(context.device()), unit_(options.unit_diagonal), flag_(native(stream)) {
    const cudaStream_t s = native(stream);
    const CudaPatternInput input(a.pattern, space, s);
    const kernels::DevicePattern& pattern = input.pattern();
    entries_ = static_cast<std::size_t>(pattern.entries);
    const auto rows = static_cast<std::size_t>(pattern.rows);
    if (!unit_) {
      diagonal_ = {rows, s};
      const Index missing = kernels::find_diagonal(pattern, diagonal_.data(), s);
      if (missing >= 0) refuse_missing_diagonal(missing);
    }
    request_ = request_of(options, context);
    if (options.transposed) {
      triangle_ = options.triangle == Triangle::lower ? Triangle::upper : Triangle::lower;
      kernels::DeviceCsr transposed = kernels::transpose_pattern(pattern, s);
      const AnalysedTriangle triangle(transposed.pattern(), triangle_, s);
      sweep_ = choose(triangle, transposed.source.data(), s);
      prepare_many(triangle, transposed.source.data(), options.columns, s);
      if (sweep_.rewrites_rows()) pattern_ = std::move(transposed);
    } else {
      triangle_ = options.triangle;
      const AnalysedTriangle triangle(pattern, triangle_, s);
      sweep_ = choose(triangle, nullptr, s);
      prepare_many(triangle, nullptr, options.columns, s);
      if (sweep_.rewrites_rows()) pattern_ = kernels::copy_pattern(pattern, s);
    }
    if (!unit_) pivot_ = {rows, s};
    info.rows = pattern.rows;
    info.levels = sweep_.features.levels;
    info.widest_level = sweep_.features.widest_level;
    info.entries = sweep_.features.entries;
    load(a.values, space, s);
    synchronize(s);
  }
  ~CudaTriangular() override { closing_.begin(); }

  void check_space(MemorySpace) const override {}
  void refuse_capture(Stream stream, const char* what) const override { cuda::refuse_capture(native(stream), what); }
  [[nodiscard]] bool looks_at_values() const override { return sweep_.rewrites_rows(); }

  void update_values(const double* values, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    const StreamOrder::Call call(order_, native(stream));
    load(values, space, native(stream));
  }

  void solve(Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx, MemorySpace space,
             Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    for (Index k = 0; k < count;) {
      const Index most = std::min(count - k, kernels::many::kMostColumns);
      const Index together = many_ && many_pays(sweep_, most) ? most : 1;
      with_device_columns(staging_, vectors_, info.rows, {together, b + k * ldb, ldb, x + k * ldx, ldx},
                          space == MemorySpace::device, s, [&](const CudaColumns& columns) { run(columns, s); });
      k += together;
    }
    if (space == MemorySpace::host) call.waited();
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

 private:
  [[nodiscard]] ChosenSweep choose(const AnalysedTriangle& triangle, const Offset* source_entry, cudaStream_t s) const {
    kernels::SweepInput input = triangle.input(source_entry);
    // Of the other triangle, where the pattern holds it.
    std::optional<kernels::RowLevels> levels;
    input.mirrored = [&]() -> const kernels::RowLevels& {
      const Triangle other = triangle.triangle == Triangle::lower ? Triangle::upper : Triangle::lower;
      levels.emplace(
          kernels::compute_levels(triangle.pattern, kernels::find_triangle(triangle.pattern, other, s), other, s));
      return *levels;
    };
    return {request_, triangle, input, s};
  }

  void prepare_many(const AnalysedTriangle& triangle, const Offset* source_entry, Index columns, cudaStream_t s) {
    if (triangle.pattern.rows > 0 && many_pays(sweep_, std::min(columns, kernels::many::kMostColumns))) {
      many_.emplace(triangle, source_entry, s);
    }
  }

  void run(const CudaColumns& columns, cudaStream_t s) {
    if (columns.count == 1) {
      sweep_->solve(columns.b, columns.x, flag_.data(), s);
    } else {
      many_->solve(columns, flag_.data(), s);
      count_bytes();
    }
  }

  void count_bytes() {
    info.bytes = sweep_->bytes() + pattern_.bytes() + (retired_ ? retired_->bytes() : 0) + diagonal_.bytes() +
                 pivot_.bytes() + (many_ ? many_->bytes() : 0);
  }

  void load(const double* values, MemorySpace space, cudaStream_t s) {
    if (space == MemorySpace::host) {
      if (host_values_.size() < entries_) host_values_ = {entries_, s};
      staging_.upload(host_values_.data(), values, entries_, s);
      values = host_values_.data();
    }
    if (!unit_ && info.rows > 0) {
      invert_diagonal<<<element_blocks(info.rows), kElementBlock, 0, s>>>(info.rows, values, diagonal_.data(),
                                                                          pivot_.data());
      check_launch("invert_diagonal");
    }
    const double* const pivot = unit_ ? nullptr : pivot_.data();
    sweep_->load_values(values, pivot, s);
    if (sweep_.rewrites_rows()) keep_rows_if_needed(values, pivot, s);
    if (retired_) retired_->load_values(values, pivot, s);
    info.schedule = sweep_.schedule;
    if (many_) many_->load_values(values, unit_ ? nullptr : pivot_.data(), s);
    count_bytes();
  }

  /// Gives schedules that rewrite rows up where they would lose too much with these values.
  void keep_rows_if_needed(const double* values, const double* pivot, cudaStream_t s) {
    const ScratchArray<double> most(1, s);
    check(cudaMemsetAsync(most.data(), 0, sizeof(double), s), "clearing a number");
    sweep_.measure_loss(values, pivot, most.data(), s);
    const double loss = fetch(most.data(), s);
    if (!loses_too_much(loss)) return;
    request_.keep_rows = true;
    ChosenSweep keeping = choose(AnalysedTriangle(pattern_.pattern(), triangle_, s),
                                 pattern_.source.size() ? pattern_.source.data() : nullptr, s);
    keeping->load_values(values, pivot, s);
    std::swap(sweep_, keeping);
    if (order_.captured()) retired_ = std::move(keeping.sweep);  // graphs of it go on
    pattern_ = {};
    info.given_up_loss = loss;
  }

  Closing closing_;
  int device_;
  bool unit_;
  ScheduleRequest request_;
  Triangle triangle_ = Triangle::lower;  ///< of pattern_
  kernels::DeviceCsr pattern_;           ///< that the sweep was made from, where it rewrites rows
  std::size_t entries_ = 0;
  DeviceArray<Offset> diagonal_;
  DeviceArray<double> pivot_;  ///< inverse pivots by row
  DeviceArray<double> host_values_;
  ChosenSweep sweep_;
  std::unique_ptr<kernels::Sweep> retired_;  ///< captured before sweep_ replaced it
  std::optional<ManySingle> many_;           ///< where several columns were asked for and pay
  CudaFlag flag_;
  CudaStaging staging_;
  CudaVectorPair vectors_;
  StreamOrder order_;
};

}  // namespace

std::unique_ptr<TriangularSolver::Impl> make_triangular(const Context& context, const CsrView& a, MemorySpace space,
                                                        const TriangularOptions& options, Stream stream) {
  const DeviceGuard guard(context.device());
  return std::make_unique<CudaTriangular>(context, a, space, options, stream);
}

}  // namespace taskdag::cuda
