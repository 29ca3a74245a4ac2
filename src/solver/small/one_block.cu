// Factorisations of small matrices on CUDA: made on the host, applied by one thread block.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/cuda/stream_order.hpp"
#include "backends/host/thread_pool.hpp"
#include "base/index.hpp"
#include "context/state.hpp"
#include "kernels/sptrsv/many/layout.hpp"
#include "kernels/sptrsv/schedules/one_block/run.hpp"
#include "solver/cuda/columns.hpp"
#include "solver/cuda/factorization.hpp"
#include "solver/cuda/flag.hpp"
#include "solver/cuda/input.hpp"
#include "solver/cuda/staging.hpp"
#include "solver/host/factorization.hpp"
#include "taskdag/error.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::cuda {
namespace {

using kernels::one_block::Plan;
using kernels::one_block::StrictTriangle;

/// From so many rows on, and from this factor() on, the numeric phase is the device's: it is faster there, and the
/// set-up that it needs has been paid for by then.
constexpr Index kRowsOfNumeric = 5000;
constexpr int kFactorsOnHost = 2;
/// What a thread block reads in an application is bounded by what one multiprocessor can load.
constexpr Offset kMostEntriesPerRow = 16;

/// Options of the factorisation on the host: one thread reads its triangles as they stand.
FactorOptions on_host(const FactorOptions& options) {
  FactorOptions result = options;
  result.schedule = SolveSchedule::serial;
  result.precision = Precision::in_double;
  if (blocks_of_fill(options) == nullptr) result.blocks = nullptr;
  return result;
}

/// A pattern's own copy, for what is made of it later.
struct KeptPattern {
  Index rows = 0;
  std::vector<Offset> row_offsets;
  std::vector<Index> col_indices;

  explicit KeptPattern(const CsrPattern& pattern) : rows(pattern.rows) {
    if (rows == 0) return;
    row_offsets.assign(pattern.row_offsets, pattern.row_offsets + rows + 1);
    col_indices.assign(pattern.col_indices, pattern.col_indices + pattern.entries());
  }
  [[nodiscard]] CsrPattern view() const { return {rows, rows, row_offsets.data(), col_indices.data()}; }
};

StrictTriangle triangle_of(const host::SweepView& sweep) {
  const CsrPattern& pattern = sweep.pattern;
  return {pattern.rows, pattern.row_offsets, pattern.row_offsets + 1, pattern.col_indices, sweep.triangle};
}

class OneBlockFactorization final : public Factorization::Impl {
 public:
  OneBlockFactorization(const Context& context, const CsrPattern& pattern, const FactorOptions& options,
                        std::span<const Index> row_order, std::span<const Index> col_order, Stream stream)
      : closing_(context.device()),
        context_(context),
        options_(options),
        pattern_(pattern),
        row_order_(row_order.begin(), row_order.end()),
        col_order_(col_order.begin(), col_order.end()),
        pool_(1),
        flag_(native(stream)) {
    const cudaStream_t s = native(stream);
    if (options_.device_order) {
      row_order_ = options_.device_order->to_host();
      col_order_ = row_order_;
      options_.device_order.reset();
    }
    for (const std::vector<Index>* order : {&row_order_, &col_order_}) {
      if (!order->empty()) static_cast<void>(invert_permutation(*order));  // names a fault
    }
    const Context borrowed = Context::State::borrowing(pool_);
    const FactorOptions wanted = on_host(options);
    host_ = options.kind == FactorKind::ic ? host::make_ic(borrowed, pattern_.view(), wanted, row_order_)
                                           : host::make_ilu(borrowed, pattern_.view(), wanted, row_order_, col_order_);
    const host::ApplicationView view = host_->application();
    plan_ = kernels::one_block::make_plan({triangle_of(view.forward), triangle_of(view.backward)});
    program_ = {plan_, pattern_.rows, s};
    const bool ic = options.kind == FactorKind::ic;
    in_ = upload(row_order_, s);
    if (!ic) out_ = upload(col_order_, s);
    values_.resize(at(static_cast<Index>(pattern_.col_indices.size())));
    loaded_ = std::make_unique_for_overwrite<double[]>(plan_.column.size() + plan_.row.size());
    take_info(host_->info);
    info.one_block_limit = options.one_block_applications == applications_that_pay
                               ? kernels::one_block::runs_that_pay(plan_)
                               : options.one_block_applications;
    synchronize(s);
  }
  ~OneBlockFactorization() override { closing_.begin(); }

  void check_space(MemorySpace) const override {}
  void refuse_capture(Stream stream, const char* what) const override { cuda::refuse_capture(native(stream), what); }

  void set_pivoting(double shift_amount, double zero_pivot) override {
    options_.shift_amount = shift_amount;
    options_.zero_pivot = zero_pivot;
    host_->set_pivoting(shift_amount, zero_pivot);
    if (whole_) whole_->set_pivoting(shift_amount, zero_pivot);
  }

  FactorStatus factor(const double* values, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(context_.device());
    if (factors_ <= kFactorsOnHost) ++factors_;
    const bool again = factors_ > kFactorsOnHost && pattern_.rows >= kRowsOfNumeric && !is_replayed();
    if (again || took_over_) return factor_on_device(values, space, stream);
    const cudaStream_t s = native(stream);
    const StreamOrder::Call call(order_, s);
    take_values(values, space, s);
    status_ = host_->factor(values_.data(), MemorySpace::host, {});
    load(s);
    info.diagonal_only = host_->info.diagonal_only;
    if (whole_) static_cast<void>(factor_whole(stream));  // graphs of it may be replayed
    return status_;
  }

  void apply(Apply operation, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
             MemorySpace space, Stream stream) override {
    const DeviceGuard guard(context_.device());
    const bool usual = operation == Apply::full || (options_.kind == FactorKind::ic && operation == Apply::transposed);
    if (usual && !order_.captured() && is_due(native(stream))) leave(stream);
    if (took_over_ || !usual) {
      with_whole(stream, "the first application of another kind than the usual one",
                 [&] { whole_->apply(operation, count, b, ldb, x, ldx, space, stream); });
      return;
    }
    const cudaStream_t s = native(stream);
    StreamOrder::Call call(order_, s);
    for (Index k = 0; k < count;) {
      const Index together = std::min(count - k, kColumns);
      with_device_columns(staging_, vectors_, pattern_.rows, {together, b + k * ldb, ldb, x + k * ldx, ldx},
                          space == MemorySpace::device, s, [&](const CudaColumns& columns) { run(columns, s); });
      k += together;
    }
    most_columns_ = std::max(most_columns_, std::min(count, kernels::many::kMostColumns));
    if (info.one_block_limit > 0) ++info.one_block_applied;
    replayed_ = is_replayed();
    if (replayed_) info.one_block_limit = info.one_block_applied = 0;
    if (space == MemorySpace::host) call.waited();
  }

  bool prepare_replays(std::int64_t replays, Stream stream) override {
    const DeviceGuard guard(context_.device());
    prepares_replays_ = true;
    if (!took_over_ && info.one_block_limit > 0) {
      const std::int64_t left = info.one_block_limit - info.one_block_applied;
      info.one_block_applied +=
          static_cast<Index>(std::clamp<std::int64_t>(replays, 0, std::max<std::int64_t>(left, 0)));
    }
    if (is_due(native(stream))) leave(stream);
    return took_over_ && !std::exchange(told_of_, true);
  }

  double growth(const double* values, MemorySpace space, Stream stream) override {
    const DeviceGuard guard(context_.device());
    if (took_over_) return whole_->growth(values, space, stream);
    const cudaStream_t s = native(stream);
    const StreamOrder::Call call(order_, s);
    if (values == nullptr || space == MemorySpace::host) return host_->growth(values, MemorySpace::host, {});
    const std::vector<double> fetched = fetch_array(values, values_.size(), s);
    return host_->growth(fetched.data(), MemorySpace::host, {});
  }

  void solve_lower(const double* b, double* x, MemorySpace space, Stream stream) override {
    with_whole(stream, "the first half of a factor", [&] { whole_->solve_lower(b, x, space, stream); });
  }
  void solve_upper(const double* b, double* x, MemorySpace space, Stream stream) override {
    with_whole(stream, "the first half of a factor", [&] { whole_->solve_upper(b, x, space, stream); });
  }
  void multiply_upper(const double* x, double* y, MemorySpace space, Stream stream) override {
    with_whole(stream, "the first product with a factor", [&] { whole_->multiply_upper(x, y, space, stream); });
  }
  void set_diagonal(const double* d, MemorySpace space, Stream stream, TransformScaling scaling) override {
    with_whole(stream, "set_diagonal()", [&] { whole_->set_diagonal(d, space, stream, scaling); });
  }
  void multiply_transformed(const double* v, double* y, MemorySpace space, Stream stream) override {
    with_whole(stream, "the first product of Eisenstat's trick",
               [&] { whole_->multiply_transformed(v, y, space, stream); });
  }

  void pivots(double* e, MemorySpace space, Stream stream) const override {
    const DeviceGuard guard(context_.device());
    if (took_over_) {
      whole_->pivots(e, space, stream);
      return;
    }
    if (space == MemorySpace::host) {
      host_->pivots(e, space, stream);
      return;
    }
    std::vector<double> by_row(at(pattern_.rows));
    host_->pivots(by_row.data(), MemorySpace::host, stream);
    copy_to_device(e, by_row.data(), by_row.size(), native(stream));
    synchronize(native(stream));
  }

  SolveOutcome outcome() override {
    const DeviceGuard guard(context_.device());
    const SolveOutcome mine = worst(flag_.take(), host_->outcome());
    const SolveOutcome others = whole_ ? whole_->outcome() : SolveOutcome::success;
    return worst(mine, others);
  }
  SolveOutcome outcome(Stream stream) override {
    const DeviceGuard guard(context_.device());
    StreamOrder::Call call(order_, native(stream));
    const SolveOutcome mine = worst(flag_.take(native(stream)), host_->outcome());
    call.waited();
    const SolveOutcome others = whole_ ? whole_->outcome(stream) : SolveOutcome::success;
    return worst(mine, others);
  }

  CsrMatrix copy_factor() const override { return took_over_ ? whole_->copy_factor() : host_->copy_factor(); }
  std::vector<EngineRun> engine_runs() const override {
    return whole_ ? whole_->engine_runs() : std::vector<EngineRun>{};
  }

 private:
  /// Columns of vectors in host memory that are on the device at once.
  static constexpr Index kColumns = 16;

  static SolveOutcome worst(SolveOutcome a, SolveOutcome b) { return a == SolveOutcome::success ? b : a; }

  void take_info(const FactorizationInfo& of_host) {
    info = of_host;
    info.lower_levels = plan_.sweeps[0].levels;
    info.upper_levels = plan_.sweeps[1].levels;
    info.lower_threads = info.upper_threads = 1;
    info.lower_schedule = info.upper_schedule = SolveSchedule::one_block;
    info.bytes = own_bytes();
    info.numeric_bytes = 0;
  }
  [[nodiscard]] std::int64_t own_bytes() const { return program_.bytes() + in_.bytes() + out_.bytes(); }

  void take_values(const double* values, MemorySpace space, cudaStream_t s) {
    if (space == MemorySpace::host) {
      std::copy_n(values, values_.size(), values_.begin());
      return;
    }
    copy_to_host(values_.data(), values, values_.size(), s);
    synchronize(s);
  }

  /// What an application reads, from the host's factor to the device. Synchronises.
  void load(cudaStream_t s) {
    const host::ApplicationView view = host_->application();
    load_entries(view.forward, 0);
    load_entries(view.backward, 1);
    const std::size_t entries = plan_.column.size();
    double* const pivots = loaded_.get() + entries;
    std::fill_n(pivots, plan_.sweeps[1].first_row, 1.0);
    for (std::size_t p = plan_.sweeps[1].first_row; p < plan_.row.size(); ++p) {
      const Index row = plan_.row[p];
      pivots[p] = row >= 0 ? view.backward.inverse_pivots[row] : 0.0;
    }
    copy_to_device(program_.values(), loaded_.get(), entries + plan_.row.size(), s);
    synchronize(s);
  }

  void load_entries(const host::SweepView& sweep, std::size_t number) {
    const double* values = sweep.values;
    if (sweep.row_factor != nullptr) {
      scaled_.resize(at(sweep.pattern.entries()));
      for (Index i = 0; i < sweep.pattern.rows; ++i) {
        for (Offset e = sweep.pattern.row_offsets[i]; e < sweep.pattern.row_offsets[i + 1]; ++e) {
          scaled_[at(e)] = values[e] * sweep.row_factor[i];
        }
      }
      values = scaled_.data();
    }
    const std::size_t end =
        number + 1 < plan_.sweeps.size() ? plan_.sweeps[number + 1].first_entry : plan_.source.size();
    for (std::size_t slot = plan_.sweeps[number].first_entry; slot < end; ++slot) {
      const Offset entry = plan_.source[slot];
      loaded_[slot] = entry >= 0 ? values[entry] : 0.0;
    }
  }

  void run(const CudaColumns& columns, cudaStream_t s) {
    kernels::one_block::Vectors vectors;
    vectors.rhs = columns.b;
    vectors.rhs_index = in_.data();
    vectors.ld_rhs = columns.ldb;
    vectors.x = columns.x;
    vectors.x_index = options_.kind == FactorKind::ic ? in_.data() : out_.data();
    vectors.ld_x = columns.ldx;
    vectors.columns = columns.count;
    program_.run(vectors, false, flag_.data(), s);
  }

  /// The factorisation as larger matrices have it, for what this one has not: made when it is first needed.
  void make_whole(Stream stream) {
    if (whole_) return;
    FactorOptions options = options_;
    options.one_block_rows = 0;
    const CsrPattern pattern = pattern_.view();
    whole_ = std::make_unique<CudaFactorization>(context_, pattern, MemorySpace::host, options, row_order_, col_order_,
                                                 stream);
  }

  FactorStatus factor_whole(Stream stream) {
    whole_->facade.has_diagonal = false;
    return whole_->factor(values_.data(), MemorySpace::host, stream);
  }

  /// whole_ with the values of the last factor().
  FactorStatus enter_whole(Stream stream) {
    make_whole(stream);
    try {
      const FactorStatus status = factor_whole(stream);
      if (status.ok()) prepare_columns(stream);
      return status;
    } catch (...) {
      whole_.reset();  // without values it would look as if it had them
      throw;
    }
  }

  /// Where there have been applications to several columns, the next may be captured: whole_ makes what they need.
  void prepare_columns(Stream stream) {
    if (most_columns_ <= 1) return;
    const cudaStream_t s = native(stream);
    const DeviceArray<double> zeros(at(pattern_.rows) * at(most_columns_), s);
    check(cudaMemsetAsync(zeros.data(), 0, zeros.size() * sizeof(double), s), "clearing vectors");
    whole_->apply(Apply::full, most_columns_, zeros.data(), pattern_.rows, zeros.data(), pattern_.rows,
                  MemorySpace::device, stream);
    synchronize(s);
  }

  /// work() with whole_, which has the values of the last factor() wherever it is there.
  template <class Work>
  void with_whole(Stream stream, const char* what, const Work& work) {
    const DeviceGuard guard(context_.device());
    std::optional<StreamOrder::Call> call;
    if (!took_over_ && !is_capturing(native(stream))) call.emplace(order_, native(stream));
    if (!whole_) {
      cuda::refuse_capture(native(stream), what);
      const FactorStatus status = enter_whole(stream);
      if (info.one_block_limit > 0) settle(status);
    }
    whole_->facade.has_diagonal = facade.has_diagonal;
    work();
    facade.has_diagonal = whole_->facade.has_diagonal;
    info.bytes = (took_over_ ? 0 : own_bytes()) + whole_->info.bytes;
    info.numeric_bytes = whole_->info.numeric_bytes;
  }

  /// Whether graphs apply this factor, and go on doing so.
  [[nodiscard]] bool is_replayed() const { return replayed_ || (order_.captured() && !prepares_replays_); }
  /// Whether so many applications have been this one's that the next is whole_'s.
  [[nodiscard]] bool is_due(cudaStream_t s) const {
    return !took_over_ && info.one_block_limit > 0 && info.one_block_applied >= info.one_block_limit && status_.ok() &&
           !is_capturing(s);
  }

  /// Leaves applications to whole_, or stays for good.
  void leave(Stream stream) {
    const RelaxedCapture relaxed;
    StreamOrder::Call call(order_, native(stream));
    settle(enter_whole(stream));
    call.waited();
    if (!took_over_) whole_.reset();
  }

  /// `status`: of whole_, which takes over if it has ended as the host's factorisation has.
  void settle(const FactorStatus& status) {
    if (status.outcome == status_.outcome && status.shifts == status_.shifts)
      take_over();
    else
      info.one_block_limit = info.one_block_applied = 0;
  }

  /// From now on whole_ does everything. @pre it has been waited for, and is not is_replayed()
  void take_over() {
    took_over_ = true;
    const Index limit = info.one_block_limit;
    const Index applied = info.one_block_applied;
    info = whole_->info;
    info.one_block_limit = limit;
    info.one_block_applied = applied;
    program_ = {};
    in_ = {};
    out_ = {};
  }

  FactorStatus factor_on_device(const double* values, MemorySpace space, Stream stream) {
    std::optional<StreamOrder::Call> call;
    if (!took_over_) call.emplace(order_, native(stream));
    make_whole(stream);
    whole_->facade.has_diagonal = false;
    const FactorStatus status = whole_->factor(values, space, stream);
    if (!took_over_ && status.ok()) prepare_columns(stream);
    take_over();
    return status;
  }

  Closing closing_;
  Context context_;
  FactorOptions options_;
  KeptPattern pattern_;
  std::vector<Index> row_order_;
  std::vector<Index> col_order_;
  host::ThreadPool pool_;
  std::unique_ptr<host::HostFactorization> host_;
  Plan plan_;
  kernels::one_block::Program program_;
  DeviceArray<Index> in_;             ///< row → entry of the right-hand side; empty: the same
  DeviceArray<Index> out_;            ///< of the solution, for ilu
  std::vector<double> values_;        ///< of the matrix, of the last factor()
  std::vector<double> scaled_;        ///< of the backward sweep, where rows have a factor
  std::unique_ptr<double[]> loaded_;  ///< what an application reads
  std::unique_ptr<CudaFactorization> whole_;
  FactorStatus status_;  ///< of the last factor() on the host
  bool took_over_ = false;
  bool replayed_ = false;          ///< by graphs of one who did not
  bool prepares_replays_ = false;  ///< the caller who captures applications calls prepare_replays()
  bool told_of_ = false;           ///< that whole_ took over, by prepare_replays()
  Index most_columns_ = 0;         ///< that an application has taken together
  int factors_ = 0;
  CudaFlag flag_;
  CudaStaging staging_;
  CudaVectorPair vectors_;
  StreamOrder order_;
};

/// The pattern, in host memory wherever it is. Synchronises the stream.
class PatternOnHost {
 public:
  PatternOnHost(const CsrPattern& pattern, MemorySpace space, cudaStream_t s) : view_(pattern) {
    if (space == MemorySpace::host) return;
    row_offsets_ = fetch_array(pattern.row_offsets, at(pattern.rows) + 1, s);
    col_indices_ = fetch_array(pattern.col_indices, at(row_offsets_.back()), s);
    view_ = {pattern.rows, pattern.cols, row_offsets_.data(), col_indices_.data()};
    validate(view_, {.square = true});
  }
  [[nodiscard]] const CsrPattern& view() const { return view_; }

 private:
  std::vector<Offset> row_offsets_;
  std::vector<Index> col_indices_;
  CsrPattern view_;
};

bool takes_one_block(const FactorOptions& options, Index rows) {
  return rows > 0 && rows <= options.one_block_rows && options.schedule == SolveSchedule::automatic &&
         options.factor_schedule == FactorSchedule::automatic && options.precision == Precision::in_double &&
         !options.tune;
}

}  // namespace

std::unique_ptr<Factorization::Impl> make_one_block_factorization(const Context& context, const CsrPattern& pattern,
                                                                  MemorySpace space, const FactorOptions& options,
                                                                  std::span<const Index> row_order,
                                                                  std::span<const Index> col_order, Stream stream) {
  if (!takes_one_block(options, pattern.rows)) return nullptr;
  const DeviceGuard guard(context.device());
  const PatternOnHost on_host(pattern, space, native(stream));
  if (on_host.view().entries() / kMostEntriesPerRow > options.one_block_rows) return nullptr;
  return std::make_unique<OneBlockFactorization>(context, on_host.view(), options, row_order, col_order, stream);
}

}  // namespace taskdag::cuda
