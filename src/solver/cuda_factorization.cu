#include <algorithm>
#include <climits>
#include <cmath>
#include <cub/device/device_reduce.cuh>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "kernels/eliminate.hpp"
#include "kernels/gather.hpp"
#include "kernels/shift.hpp"
#include "solver/cuda_flag.hpp"
#include "solver/cuda_input.hpp"
#include "solver/cuda_many.hpp"
#include "solver/cuda_staging.hpp"
#include "solver/cuda_sweep.hpp"
#include "solver/fill.hpp"
#include "solver/impl.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {
namespace {

using kernels::DeviceCsr;
using kernels::DevicePattern;

/// Two sweeps in a row. The first one leaves its result where the second one finds it.
struct SweepPair {
  ChosenSweep first;
  ChosenSweep second;

  SweepPair() = default;
  /// `in`: row → entry of the right-hand side; `out`: row → entry of the solution; null: the same. blocks: of the rows,
  /// or null.
  SweepPair(const ScheduleRequest& request, const AnalysedTriangle& forward, const Offset* forward_source,
            const Index* in, const AnalysedTriangle& backward, const Offset* backward_source, const Index* out,
            const RowBlocks* blocks, cudaStream_t s) {
    kernels::SweepInput input = forward.input(forward_source);
    input.rhs_index = in;
    input.blocks = blocks;
    first = ChosenSweep(request, forward, input, s);
    input = backward.input(backward_source);
    input.rhs_index = first->result_index();
    input.x_index = out;
    input.blocks = blocks;
    second = ChosenSweep(request, backward, input, s);
  }

  void solve(const double* b, double* x, int* non_finite, cudaStream_t s) const {
    first->solve(b, nullptr, non_finite, s);
    second->solve(first->result(), x, non_finite, s);
  }
  [[nodiscard]] std::int64_t bytes() const { return first.sweep ? first->bytes() + second->bytes() : 0; }
};

class CudaFactorization final : public Factorization::Impl {
 public:
  CudaFactorization(const Context& context, const CsrPattern& pattern, MemorySpace space, const FactorOptions& options,
                    std::span<const Index> row_order, std::span<const Index> col_order, Stream stream)
      : device_(context.device()),
        options_(options),
        request_(request_of(options, context)),
        flag_(native(stream)),
        last_stream_(native(stream)) {
    const cudaStream_t s = native(stream);
    const CudaPatternInput input(pattern, space, s);
    const auto rows = static_cast<std::size_t>(input.pattern().rows);
    input_entries_ = static_cast<std::size_t>(input.pattern().entries);
    if (!row_order.empty() || !col_order.empty()) {
      row_order_ = upload_order(row_order, rows, s);
      col_order_ = upload_order(col_order, rows, s);
      pattern_ = kernels::permute_pattern(input.pattern(), row_order_.data(), col_order_.data(), s);
    } else {
      pattern_ = kernels::copy_pattern(input.pattern(), s);
    }
    diagonal_ = {rows, s};
    const Index missing = find_diagonal(s);
    if (missing >= 0) throw InvalidInput("row " + std::to_string(missing) + " has no diagonal entry");
    if (options.kind == FactorKind::ic0) {
      analyse_ic0(s);
    } else {
      analyse_ilu0(s);
    }
    info.rows = pattern_.rows;
    info.entries = pattern_.entries;
    info.lower_levels = sweeps_.first.features.levels;
    info.upper_levels = sweeps_.second.features.levels;
    info.lower_schedule = sweeps_.first.schedule;
    info.upper_schedule = sweeps_.second.schedule;
    count_bytes();
    synchronize(s);
  }

  FactorStatus factor(const double* values, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    last_stream_ = s;
    if (space == MemorySpace::host) {
      if (host_values_.size() < input_entries_) host_values_ = {input_entries_, s};
      staging_.upload(host_values_.data(), values, input_entries_, s);
      values = host_values_.data();
    }
    const FactorStatus status = attempt_until_done(values, s);
    symmetric_ready_ = false;
    many_.loaded = false;
    many_transposed_.loaded = false;
    count_bytes();
    return status;
  }

  void apply(Apply part, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx, MemorySpace space,
             Stream stream) override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = native(stream);
    last_stream_ = s;
    prepare(part, s);
    for (Index k = 0; k < count;) {
      const Index together = columns_together(part, count - k);
      const CudaColumns columns{together, b + k * ldb, ldb, x + k * ldx, ldx};
      if (space == MemorySpace::device) {
        run(part, columns, s);
      } else {
        run_staged(part, columns, s);
      }
      k += together;
    }
  }

  SolveOutcome outcome() override {
    const DeviceGuard guard(device_);
    return flag_.take(last_stream_);
  }

  CsrMatrix copy_factor() const override {
    const DeviceGuard guard(device_);
    const cudaStream_t s = last_stream_;
    CsrMatrix result;
    result.rows = result.cols = pattern_.rows;
    result.row_offsets = fetch_array(pattern_.row_offsets.data(), pattern_.row_offsets.size(), s);
    result.col_indices = fetch_array(pattern_.col_indices.data(), pattern_.col_indices.size(), s);
    result.values = fetch_array(factor_.entries(), static_cast<std::size_t>(pattern_.entries), s);
    if (options_.kind == FactorKind::ic0) {
      const auto unit = fetch_array(unit_.data(), unit_.size(), s);
      for (Index i = 0; i < result.rows; ++i) {
        const auto begin = static_cast<std::size_t>(result.row_offsets[static_cast<std::size_t>(i)]);
        const auto end = static_cast<std::size_t>(result.row_offsets[static_cast<std::size_t>(i) + 1]);
        for (std::size_t e = begin + 1; e < end; ++e) result.values[e] = unit[e];
      }
    }
    return result;
  }

 private:
  static DeviceArray<Index> upload_order(std::span<const Index> order, std::size_t rows, cudaStream_t s) {
    std::vector<Index> identity;
    if (order.empty()) {
      identity.resize(rows);
      for (std::size_t i = 0; i < rows; ++i) identity[i] = static_cast<Index>(i);
      order = identity;
    }
    DeviceArray<Index> device(rows, s);
    copy_to_device(device.data(), order.data(), rows, s);
    synchronize(s);  // `identity` and the caller's array may go
    return device;
  }

  Index find_diagonal(cudaStream_t s) { return kernels::find_diagonal(pattern_.pattern(), diagonal_.data(), s); }

  /// Replaces the pattern by that of the fill level. The search is the host's.
  void fill(cudaStream_t s) {
    MappedPattern known{pattern_.rows, pattern_.rows,
                        fetch_array(pattern_.row_offsets.data(), pattern_.row_offsets.size(), s),
                        fetch_array(pattern_.col_indices.data(), pattern_.col_indices.size(), s),
                        fetch_array(pattern_.source.data(), pattern_.source.size(), s)};
    if (known.source_entry.empty()) {
      known.source_entry.resize(known.col_indices.size());
      std::iota(known.source_entry.begin(), known.source_entry.end(), Offset{0});
    }
    host::ThreadPool pool(host::available_threads());
    const MappedPattern filled = options_.kind == FactorKind::ic0 ? fill_upper_pattern(known, options_.levels, pool)
                                                                  : fill_pattern(known, options_.levels, pool);
    const std::size_t entries = filled.col_indices.size();
    DeviceCsr result{
        filled.rows, static_cast<Offset>(entries), {filled.row_offsets.size(), s}, {entries, s}, {entries, s}};
    copy_to_device(result.row_offsets.data(), filled.row_offsets.data(), filled.row_offsets.size(), s);
    copy_to_device(result.col_indices.data(), filled.col_indices.data(), entries, s);
    copy_to_device(result.source.data(), filled.source_entry.data(), entries, s);
    synchronize(s);  // `filled` may go
    pattern_ = std::move(result);
  }

  void analyse_ilu0(cudaStream_t s) {
    if (options_.levels > 0) {
      fill(s);
      static_cast<void>(find_diagonal(s));
    }
    const DevicePattern p = pattern_.pattern();
    const AnalysedTriangle forward(p, Triangle::lower, s);
    factor_ = kernels::Factor(kernels::Elimination::ilu0(p, diagonal_.data(), forward.levels, source(), s),
                              FactorKind::ilu0, p.entries, s);
    sweeps_ = SweepPair(request_, forward, nullptr, row_order_.data(), AnalysedTriangle(p, Triangle::upper, s), nullptr,
                        col_order_.data(), blocks(), s);
  }

  void analyse_ic0(cudaStream_t s) {
    DeviceCsr upper = kernels::upper_pattern(pattern_.pattern(), diagonal_.data(), s);
    if (pattern_.source.size() > 0) {  // upper entry → permuted entry → entry of the input
      DeviceArray<Offset> source(upper.source.size(), s);
      kernels::gather(upper.entries, pattern_.source.data(), upper.source.data(), source.data(), s);
      upper.source = std::move(source);
    }
    if (options_.shift == ShiftType::positive_definite) full_ = std::move(pattern_);
    pattern_ = std::move(upper);
    if (options_.levels > 0) fill(s);
    static_cast<void>(find_diagonal(s));  // now the first entry of each row
    const DevicePattern p = pattern_.pattern();
    const DeviceCsr above = kernels::transpose_pattern(p, s);
    const AnalysedTriangle forward(above.pattern(), Triangle::lower, s);
    factor_ = kernels::Factor(kernels::Elimination::ic0(p, above, forward.levels, source(), s), FactorKind::ic0,
                              p.entries, s);
    unit_ = {static_cast<std::size_t>(p.entries), s};
    sweeps_ = SweepPair(request_, forward, above.source.data(), row_order_.data(),
                        AnalysedTriangle(p, Triangle::upper, s), nullptr, row_order_.data(), blocks(), s);
  }

  /// Fill couples blocks of one colour.
  [[nodiscard]] const RowBlocks* blocks() const { return options_.levels == 0 ? options_.blocks.get() : nullptr; }

  /// Entry of the factor's pattern → entry of the input; null: the same.
  [[nodiscard]] const Offset* source() const { return pattern_.source.size() > 0 ? pattern_.source.data() : nullptr; }

  FactorStatus attempt_until_done(const double* values, cudaStream_t s) {
    FactorStatus status;
    const double dominance = options_.shift == ShiftType::positive_definite ? full_dominance(values, s) : 0.0;
    kernels::ShiftStrategy strategy(options_, dominance);
    const kernels::PivotRule rule{options_.shift, options_.zero_pivot, options_.shift_amount};
    kernels::FactorReport report;
    do {
      factor_.attempt({values, source(), strategy.amount()}, rule, s);
      load_sweeps(s);  // before the outcome is known: an attempt that must be repeated is rare
      report = factor_.report();
    } while (strategy.again(report.last_zero >= 0));
    status.shift_amount = strategy.amount();
    status.shifts = options_.shift == ShiftType::inblocks ? report.shifted : strategy.shifts();
    if (report.last_zero >= 0) {
      status.last_row = report.last_zero;
      const Offset at = fetch(diagonal_.data() + report.last_zero, s);
      status.last_pivot = std::abs(fetch(factor_.entries() + at, s));
    }
    if (report.last_zero >= 0 && report.first_zero <= report.first_non_finite) {
      status.outcome = FactorOutcome::zero_pivot;
      status.first_row = report.first_zero;
    } else if (report.first_non_finite != INT_MAX) {
      status.outcome = FactorOutcome::non_finite;
      status.first_row = report.first_non_finite;
    }
    return status;
  }

  /// PETSc takes the shift's top from the whole rows of A, also for IC(0); the row sums do not depend on the ordering.
  double full_dominance(const double* values, cudaStream_t s) {
    if (options_.kind == FactorKind::ilu0) {
      return kernels::diagonal_dominance(pattern_.pattern(), values, source(), s);
    }
    return kernels::diagonal_dominance(full_.pattern(), values, full_.source.size() ? full_.source.data() : nullptr, s);
  }

  void load_sweeps(cudaStream_t s) {
    const double* const entries = factor_.entries();
    if (options_.kind == FactorKind::ic0) {
      // The second sweep solves with D·U: pivots D make it U⁻¹ D⁻¹ without a pass for D.
      kernels::scale_to_unit(pattern_.pattern(), factor_, unit_.data(), s);
      sweeps_.first->load_values(unit_.data(), nullptr, s);
    } else {
      sweeps_.first->load_values(entries, nullptr, s);
    }
    sweeps_.second->load_values(entries, factor_.inverse_pivots(), s);
    if (transposed_.first.sweep) load_transposed(s);
  }

  /// Uᵀ and Lᵀ, made when they are first asked for.
  void make_transposed(cudaStream_t s) {
    const DeviceCsr transposed = kernels::transpose_pattern(pattern_.pattern(), s);
    const DevicePattern p = transposed.pattern();
    transposed_ =
        SweepPair(request_, AnalysedTriangle(p, Triangle::lower, s), transposed.source.data(), col_order_.data(),
                  AnalysedTriangle(p, Triangle::upper, s), transposed.source.data(), row_order_.data(), blocks(), s);
    load_transposed(s);
    count_bytes();
  }

  void load_transposed(cudaStream_t s) {
    transposed_.first->load_values(factor_.entries(), factor_.inverse_pivots(), s);
    transposed_.second->load_values(factor_.entries(), nullptr, s);
  }

  void prepare_symmetric(cudaStream_t s) {
    if (info.rows > 0) {
      ScratchArray<double> smallest(1, s);
      with_scratch(
          [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceReduce::Min(scratch, bytes, factor_.inverse_pivots(), smallest.data(), info.rows, s);
          },
          s);
      if (fetch(smallest.data(), s) < 0.0) {
        throw InvalidInput("a symmetric part of the factor needs pivots that are not negative; one is");
      }
    }
    if (scaled_.size() == 0) {
      scaled_ = {extent(sweeps_.first->result_index(), info.rows, s), s};
      count_bytes();
    }
    symmetric_ready_ = true;
  }

  void prepare(Apply part, cudaStream_t s) {
    const bool symmetric = part == Apply::symmetric_left || part == Apply::symmetric_right;
    if (symmetric && !symmetric_ready_) prepare_symmetric(s);
    if (runs_transposed(part) && !transposed_.first.sweep) make_transposed(s);
  }

  /// Sweeps over several columns, from the first application to so many on that they pay.
  struct Many {
    std::optional<ManyPair> sweeps;
    bool loaded = false;  ///< with the values of the last factor()
  };

  /// Whether `part` is that of the sweeps in transposed_.
  [[nodiscard]] bool runs_transposed(Apply part) const {
    return part == Apply::transposed && options_.kind == FactorKind::ilu0;
  }

  /// How many of `left` columns one pass takes.
  [[nodiscard]] Index columns_together(Apply part, Index left) const {
    const SweepPair& single = runs_transposed(part) ? transposed_ : sweeps_;
    const Index most = std::min(left, kernels::many::kMostColumns);
    return info.rows > 0 && many_pays(single.first, single.second, most) ? most : 1;
  }

  ManyPair& many(Apply part, cudaStream_t s) {
    const bool transposed = runs_transposed(part);
    Many& many = transposed ? many_transposed_ : many_;
    const double* const inverse = factor_.inverse_pivots();
    if (!many.sweeps) {
      const DevicePattern p = pattern_.pattern();
      if (transposed) {
        const DeviceCsr turned = kernels::transpose_pattern(p, s);
        const DevicePattern t = turned.pattern();
        many.sweeps.emplace(AnalysedTriangle(t, Triangle::lower, s), turned.source.data(), col_order_.data(),
                            AnalysedTriangle(t, Triangle::upper, s), turned.source.data(), row_order_.data(), s);
      } else if (options_.kind == FactorKind::ic0) {
        const DeviceCsr above = kernels::transpose_pattern(p, s);
        many.sweeps.emplace(AnalysedTriangle(above.pattern(), Triangle::lower, s), above.source.data(),
                            row_order_.data(), AnalysedTriangle(p, Triangle::upper, s), nullptr, row_order_.data(), s);
      } else {
        many.sweeps.emplace(AnalysedTriangle(p, Triangle::lower, s), nullptr, row_order_.data(),
                            AnalysedTriangle(p, Triangle::upper, s), nullptr, col_order_.data(), s);
      }
    }
    if (!many.loaded) {
      const double* const first = options_.kind == FactorKind::ic0 ? unit_.data() : factor_.entries();
      many.sweeps->first().load_values(first, transposed ? inverse : nullptr, s);
      many.sweeps->second().load_values(factor_.entries(), transposed ? nullptr : inverse, s);
      many.loaded = true;
    }
    return *many.sweeps;
  }

  void run(Apply part, const CudaColumns& columns, cudaStream_t s) {
    if (columns.count == 1) {
      run(part, columns.b, columns.x, s);
      return;
    }
    ManyPair& pair = many(part, s);
    const std::int64_t bytes = pair.bytes();
    switch (part) {
      case Apply::symmetric_left:
        pair.solve_first(columns, factor_.inverse_pivots(), flag_.data(), s);
        break;
      case Apply::symmetric_right:
        pair.solve_second(columns, factor_.inverse_pivots(), flag_.data(), s);
        break;
      case Apply::transposed:
      case Apply::full:
        pair.solve(columns, flag_.data(), s);
    }
    if (pair.bytes() != bytes) count_bytes();
  }

  /// Vectors in host memory.
  void run_staged(Apply part, const CudaColumns& columns, cudaStream_t s) {
    const auto rows = static_cast<std::size_t>(info.rows);
    vectors_.reserve(rows * static_cast<std::size_t>(columns.count), s);
    for (Index k = 0; k < columns.count; ++k) {
      staging_.upload(vectors_.in() + k * info.rows, columns.b + k * columns.ldb, rows, s);
    }
    run(part, {columns.count, vectors_.in(), info.rows, vectors_.out(), info.rows}, s);
    for (Index k = 0; k < columns.count; ++k) {
      staging_.download(columns.x + k * columns.ldx, vectors_.out() + k * info.rows, rows, s);
    }
  }

  void run(Apply part, const double* b, double* x, cudaStream_t s) {
    const double* const inverse = factor_.inverse_pivots();
    const ChosenSweep& first = sweeps_.first;
    switch (part) {
      case Apply::symmetric_left:
        first->solve(b, nullptr, flag_.data(), s);
        kernels::gather_scaled(info.rows, first->result(), first->result_index(), inverse, x, s);
        break;
      case Apply::symmetric_right:  // (D^½ U)⁻¹ = (D U)⁻¹ D^½
        kernels::scatter_scaled(info.rows, b, inverse, first->result_index(), scaled_.data(), s);
        sweeps_.second->solve(scaled_.data(), x, flag_.data(), s);
        break;
      case Apply::transposed:
      case Apply::full: {
        (runs_transposed(part) ? transposed_ : sweeps_).solve(b, x, flag_.data(), s);
      }
    }
  }

  void count_bytes() {
    info.bytes = pattern_.bytes() + full_.bytes() + diagonal_.bytes() + row_order_.bytes() + col_order_.bytes() +
                 factor_.bytes() + unit_.bytes() + sweeps_.bytes() + transposed_.bytes() + scaled_.bytes() +
                 host_values_.bytes();
    for (const Many* const many : {&many_, &many_transposed_}) {
      if (many->sweeps) info.bytes += many->sweeps->bytes();
    }
  }

  int device_;
  FactorOptions options_;
  ScheduleRequest request_;
  std::size_t input_entries_ = 0;
  DeviceArray<Index> row_order_;  ///< empty: natural
  DeviceArray<Index> col_order_;
  DeviceCsr pattern_;  ///< of the factor: all of B (ilu0), its upper triangle (ic0)
  DeviceCsr full_;     ///< all of B, for ic0 with a positive definite shift
  DeviceArray<Offset> diagonal_;
  kernels::Factor factor_;
  DeviceArray<double> unit_;  ///< U of ic0
  SweepPair sweeps_;
  SweepPair transposed_;        ///< from the first transposed application of ilu0 on
  DeviceArray<double> scaled_;  ///< right-hand side of the second sweep in a symmetric part
  bool symmetric_ready_ = false;
  Many many_;
  Many many_transposed_;
  DeviceArray<double> host_values_;
  CudaFlag flag_;
  CudaStaging staging_;
  CudaVectorPair vectors_;
  cudaStream_t last_stream_;
};

}  // namespace

std::unique_ptr<Factorization::Impl> make_factorization(const Context& context, const CsrPattern& pattern,
                                                        MemorySpace space, const FactorOptions& options,
                                                        std::span<const Index> row_order,
                                                        std::span<const Index> col_order, Stream stream) {
  const DeviceGuard guard(context.device());
  return std::make_unique<CudaFactorization>(context, pattern, space, options, row_order, col_order, stream);
}

}  // namespace taskdag::cuda
