#include "taskdag/krylov.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "backends/ranks/agree.hpp"
#include "krylov/device.hpp"
#include "krylov/loop.hpp"
#include "krylov/null_space.hpp"
#include "krylov/ranks.hpp"
#include "krylov/shape.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

struct MethodRow {
  KrylovMethod method;
  const char* name;
  krylov::MakeLoop make;
};
constexpr std::array methods{
    MethodRow{KrylovMethod::cg, "cg", &krylov::make_cg},
    MethodRow{KrylovMethod::bicgstab, "bcgs", &krylov::make_bicgstab},
    MethodRow{KrylovMethod::gmres, "gmres", &krylov::make_gmres},
    MethodRow{KrylovMethod::fgmres, "fgmres", &krylov::make_gmres},
    MethodRow{KrylovMethod::minres, "minres", &krylov::make_minres},
    MethodRow{KrylovMethod::richardson, "richardson", &krylov::make_richardson},
    MethodRow{KrylovMethod::chebyshev, "chebyshev", &krylov::make_chebyshev},
};

const MethodRow& row_of(KrylovMethod method) {
  for (const MethodRow& row : methods) {
    if (row.method == method) return row;
  }
  throw InvalidInput("there is no such Krylov method");
}

void check_tolerances(const KrylovTolerances& t) {
  if (!(t.relative >= 0.0) || !(t.absolute >= 0.0) || !(t.divergence >= 0.0)) {
    throw InvalidInput("tolerances of a Krylov method must be 0 or more");
  }
  if (t.iterations < 0 || t.least_iterations < 0) throw InvalidInput("numbers of iterations must be 0 or more");
}

void check_coefficients(const KrylovOptions& options) {
  using M = KrylovMethod;
  constexpr std::array keep{M::cg, M::minres, M::gmres, M::fgmres};
  if (options.coefficients && std::ranges::find(keep, options.method) == keep.end()) {
    throw InvalidInput("CG, MINRES, GMRES and FGMRES alone keep their coefficients");
  }
}

void check_columns(const KrylovOptions& options, bool on_ranks) {
  if (options.columns < 1 || options.columns > most_krylov_columns)
    throw InvalidInput("a Krylov method solves for 1 to 32 right-hand sides at a time");
  if (options.columns == 1) return;
  if (on_ranks) throw Unsupported("on several ranks Krylov methods solve for one right-hand side at a time");
  if (options.coefficients) throw Unsupported("coefficients are kept where there is one right-hand side at a time");
}

/// Where methods that have no complex numbers of their own compute with the parts of these.
void check_complex(const KrylovOptions& options) {
  using M = KrylovMethod;
  if (!options.complex_numbers) return;
  constexpr std::array have_numbers{M::cg, M::bicgstab, M::gmres, M::fgmres};
  if (options.block_size != 1) throw Unsupported("complex numbers in dense blocks are not read by Krylov methods");
  if (options.columns != 1) throw Unsupported("of complex numbers there is one right-hand side at a time");
  if (options.coefficients) throw Unsupported("coefficients of complex numbers are not kept");
  if (options.side == KrylovSide::symmetric) throw Unsupported("complex numbers have no symmetric side");
  if (options.norm == KrylovNorm::natural && std::ranges::find(have_numbers, options.method) == have_numbers.end())
    throw Unsupported("the natural norm of complex numbers is CG's alone");
}

/// Ghosts that are complex numbers, as the parts that travel.
KrylovRanks by_parts(const KrylovRanks& ranks) {
  KrylovRanks result = ranks;
  result.ghosts.clear();
  for (const std::int64_t ghost : ranks.ghosts) result.ghosts.insert(result.ghosts.end(), {2 * ghost, 2 * ghost + 1});
  return result;
}

/// @throws InvalidInput
krylov::System system_of(const CsrView& a, LinearMap* preconditioner, const KrylovOptions& options) {
  using krylov::Preconditioning;
  const Index block = options.complex_numbers ? 2 : options.block_size;
  if (a.pattern.rows != a.pattern.cols) throw InvalidInput("Krylov methods need a square matrix");
  if (block < 1) throw InvalidInput("dense blocks have at least one row");
  if (std::int64_t{a.pattern.rows} * block > std::numeric_limits<Index>::max()) {
    throw InvalidInput("blocks have more rows in all than a 32-bit number can count");
  }
  krylov::System system;
  system.rows = static_cast<std::uint32_t>(a.pattern.rows * block);
  system.block = static_cast<std::uint32_t>(options.block_size);
  system.complex = options.complex_numbers;
  system.begin = a.pattern.row_offsets;
  system.column = a.pattern.col_indices;
  system.value = a.values;
  if (preconditioner == nullptr) return system;
  system.diagonal = preconditioner->diagonal();
  system.preconditioning = system.diagonal != nullptr ? Preconditioning::diagonal : Preconditioning::call;
  return system;
}

}  // namespace

LinearMap::~LinearMap() = default;
void LinearMap::apply_left(const double* /*x*/, double* /*y*/, Stream /*stream*/) {
  throw Unsupported("this preconditioner has no symmetric parts");
}
void LinearMap::apply_right(const double* /*x*/, double* /*y*/, Stream /*stream*/) {
  throw Unsupported("this preconditioner has no symmetric parts");
}
void LinearMap::apply_columns(Index count, const double* x, std::int64_t ldx, double* y, std::int64_t ldy,
                              Stream stream) {
  for (Index k = 0; k < count; ++k) apply(x + k * ldx, y + k * ldy, stream);
}
RankLost::~RankLost() = default;

void DiagonalMap::apply(const double* /*x*/, double* /*y*/, Stream /*stream*/) {
  throw Unsupported("a diagonal is multiplied by in the loop");
}

const char* to_string(KrylovMethod method) { return row_of(method).name; }

const char* to_string(KrylovReason reason) {
  switch (reason) {
    case KrylovReason::iterating:
      return "iterating";
    case KrylovReason::relative_tolerance:
      return "converged: relative tolerance";
    case KrylovReason::absolute_tolerance:
      return "converged: absolute tolerance";
    case KrylovReason::iterations:
      return "all iterations made";
    case KrylovReason::step_length:
      return "converged: limit of the solution's norm";
    case KrylovReason::happy_breakdown:
      return "converged: happy breakdown";
    case KrylovReason::iteration_limit:
      return "diverged: limit of iterations";
    case KrylovReason::divergence:
      return "diverged: the norm has grown";
    case KrylovReason::breakdown_gmres:
    case KrylovReason::breakdown:
    case KrylovReason::breakdown_bicg:
      return "diverged: breakdown";
    case KrylovReason::indefinite_preconditioner:
      return "diverged: indefinite preconditioner";
    case KrylovReason::not_a_number:
      return "diverged: NaN or infinity";
    case KrylovReason::indefinite_matrix:
      return "diverged: indefinite matrix";
  }
  throw InvalidInput("there is no such reason");
}

const char* to_string(KrylovForm form) {
  switch (form) {
    case KrylovForm::automatic:
      return "auto";
    case KrylovForm::graph:
      return "graph";
    case KrylovForm::one_block:
      return "one-block";
    case KrylovForm::host_driven:
      return "host-driven";
    case KrylovForm::threads:
      return "threads";
  }
  throw InvalidInput("there is no such form");
}

class Krylov::Impl {
 public:
  Impl(const Context& context, const CsrView& a, LinearMap* preconditioner, const KrylovOptions& options, Stream stream)
      : Impl(context, options) {
    look_at(a, preconditioner, stream);
    all_rows_ = input_.system.rows;
    input_.most_rows = input_.system.rows;
    make_loop();
  }
  Impl(const Context& context, const CsrView& a, LinearMap* preconditioner, const KrylovOptions& options,
       const KrylovRanks& ranks, Stream stream)
      : Impl(context, options) {
    if (ranks.group == nullptr) throw InvalidInput("a system on several ranks needs their group");
    group_ = ranks.group;
    ranks::agree(*group_, [&] {
      look_at(a, preconditioner, stream);
      look_at_outer(a, ranks, stream);
      outer_rows_ = krylov::mark_outer_rows(context_, ranks.outer.pattern, stream);
    });
    const KrylovRanks of_elements = options_.complex_numbers ? by_parts(ranks) : ranks;
    const krylov::RankPlan plan = krylov::RankPlan::of(of_elements, static_cast<Index>(input_.system.rows));
    all_rows_ = plan.rows;
    input_.most_rows = plan.most_rows;
    memory_.emplace(context_, of_elements, plan, most_sums(), 4U);
    ranks::agree(*group_, [&] { memory_->list_ahead(context_, plan, input_.system.rows); });
    krylov::Halo& halo = input_.system.halo;
    halo = memory_->halo();
    halo.begin = ranks.outer.pattern.row_offsets;
    halo.any = outer_rows_.data();
    halo.column = ranks.outer.pattern.col_indices;
    halo.value = ranks.outer.values;
    make_loop();
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  /// Between begin() and end() the others may wait.
  ~Impl() {
    if (begun_ && memory_) lose();
  }

  /// The loop is made anew: a graph holds the stages of the one before.
  void set_null_space(bool constant, const std::vector<const double*>& vectors) {
    if (options_.complex_numbers) throw Unsupported("null spaces of complex numbers are not removed");
    begun_ = false;
    in_agreement([&] { take_null_space(constant, vectors); });
    make_loop();
  }
  void take_null_space(bool constant, const std::vector<const double*>& vectors) {
    krylov::NullSpaceVectors taken;
    if (options_.side == KrylovSide::left)
      taken =
          krylov::NullSpaceVectors(context_, constant, vectors, all_rows_, static_cast<std::size_t>(options_.columns));
    null_space_ = std::move(taken);
    input_.system.null_space = null_space_.space();
  }

  KrylovOutcome begin(const krylov::Start& start, Stream stream) {
    if (options_.columns > 1) throw InvalidInput("a solve by pieces is of one right-hand side");
    check_start(start, stream);
    or_lose([&] {
      begin_loop(start, 0, stream);
      fetch(stream);
    });
    return outcome();
  }
  KrylovOutcome go_on(std::int64_t iterations, Stream stream) {
    if (!begun_) throw InvalidInput("a Krylov method goes on only after it has begun");
    or_lose([&] { run_until(outcome().iterations + std::max<std::int64_t>(iterations, 0), stream); });
    return outcome();
  }
  KrylovOutcome trace_iteration(engine::Report& trace, Stream stream) {
    if (!begun_) throw InvalidInput("an iteration of a Krylov method is traced only after it has begun");
    trace = {};
    if (outcome().reason != KrylovReason::iterating) return outcome();
    or_lose([&] {
      trace = loop_->trace(outcome().iterations + 1, stream);
      fetch(stream);
    });
    return outcome();
  }
  void end(Stream stream) {
    if (!begun_) throw InvalidInput("a Krylov method ends only after it has begun");
    or_lose([&] { loop_->end(stream); });
    begun_ = false;
  }
  std::vector<KrylovOutcome> solve(const krylov::Start& start, Stream stream) {
    const std::int64_t first = krylov::most_norms - 1;
    check_start(start, stream);
    or_lose([&] {
      begin_loop(start, first, stream);
      loop_->go_on(first, true, stream);
      fetch(stream);
      run_until(std::numeric_limits<std::int64_t>::max(), stream);
    });
    end(stream);
    return std::move(outcomes_);
  }
  std::vector<KrylovOutcome> solve_columns(Index count, krylov::Start start, Stream stream) {
    if (count < 0) throw InvalidInput("a number of right-hand sides must be 0 or more");
    const std::int64_t rows = input_.system.rows;
    if (count > 1 && (start.ldb < rows || start.ldx < rows))
      throw InvalidInput("columns of right-hand sides and solutions are as far apart as they have elements");
    std::vector<KrylovOutcome> outcomes;
    for (Index first = 0; first < count; first += options_.columns) {
      start.columns = static_cast<std::uint32_t>(std::min(options_.columns, count - first));
      std::ranges::move(solve(start, stream), std::back_inserter(outcomes));
      start.b += options_.columns * start.ldb;
      start.x += options_.columns * start.ldx;
    }
    return outcomes;
  }
  void capture_anew() { loop_->capture_anew(); }
  [[nodiscard]] KrylovInfo info() const { return loop_->info(); }

 private:
  Impl(const Context& context, const KrylovOptions& options)
      : context_(context), options_(options), input_{context_, options_, {}, {}} {}
  void look_at(const CsrView& a, LinearMap* preconditioner, Stream stream) {
    check_coefficients(options_);
    check_columns(options_, group_ != nullptr);
    check_complex(options_);
    input_.system = system_of(a, preconditioner, options_);
    input_.calls = {preconditioner};
    const std::int64_t elements = std::int64_t{options_.block_size} * options_.block_size;
    const krylov::System& system = input_.system;
    if (context_.backend() == Backend::host) {
      validate(a.pattern, {.square = true});
      input_.entries = a.pattern.entries() * elements;
      if (takes_rows_together()) input_.system.together = krylov::rows_together(a.pattern);
      const int threads = krylov::threads_of_loop(context_, system.rows, input_.entries);
      input_.cut = krylov::cut_rows(a.pattern, system.complex ? 2 : system.block, threads);
    } else {
      input_.entries = krylov::count_entries(a.pattern, stream) * elements;
      if (system.block == 1 && !system.complex)
        distances_ = krylov::DiagonalDistances(context_, a.pattern, input_.entries, stream);
      input_.system.distance = distances_.data();
      if (takes_rows_together())
        input_.system.together = krylov::rows_together(context_, a.pattern, input_.entries, stream);
      input_.row_threads = krylov::threads_of_row(system.rows, input_.entries);
    }
  }
  [[nodiscard]] bool takes_rows_together() const {
    const krylov::System& system = input_.system;
    return system.block == 1 && !system.complex && group_ == nullptr && options_.columns == 1;
  }
  void look_at_outer(const CsrView& a, const KrylovRanks& ranks, Stream stream) {
    const CsrPattern& outer = ranks.outer.pattern;
    if (options_.block_size > 1) throw Unsupported("Krylov methods read dense blocks on one rank alone");
    if (outer.rows != a.pattern.rows || outer.cols != static_cast<Index>(ranks.ghosts.size()))
      throw InvalidInput("the entries in other ranks' columns have a row for each row and a column for each ghost");
    if (context_.backend() == Backend::host) {
      validate(outer, {});
      input_.entries += outer.entries();
    } else {
      input_.entries += krylov::count_entries(outer, stream);
    }
  }
  /// Of a stage in all its slices: GMRES has a number for each vector of its basis.
  [[nodiscard]] std::uint32_t most_sums() const {
    const std::uint32_t parts = options_.complex_numbers ? 2 : 1;
    return parts * (static_cast<std::uint32_t>(std::max<Index>(options_.restart, 0)) + 16);
  }
  template <class Work>
  void in_agreement(const Work& work) const {
    if (group_ == nullptr) return work();
    ranks::agree(*group_, work);
  }
  void make_loop() {
    in_agreement([&] { loop_ = row_of(options_.method).make(input_); });
  }
  /// By pieces whose norms there is room for. Columns that go on have made equally many iterations.
  void run_until(std::int64_t iterations, Stream stream) {
    const auto goes_on = [](const KrylovOutcome& one) { return one.reason == KrylovReason::iterating; };
    while (true) {
      const auto one = std::ranges::find_if(outcomes_, goes_on);
      if (one == outcomes_.end() || one->iterations >= iterations) return;
      loop_->go_on(std::min(iterations, one->iterations + krylov::most_norms - 1), false, stream);
      fetch(stream);
    }
  }
  void check_start(const krylov::Start& start, Stream stream) const {
    check_tolerances(start.tolerances);
    if (lost_) throw_lost();
    krylov::require_not_captured(context_, stream);
  }
  void begin_loop(const krylov::Start& start, std::int64_t pause_at, Stream stream) {
    outcomes_.assign(start.columns, {});
    states_.resize(start.columns);
    begun_ = false;
    loop_->begin(start, pause_at, stream);
    begun_ = true;
  }
  /// A rank that leaves a solve by an error tells the others, which would wait for it.
  template <class Work>
  void or_lose(const Work& work) {
    try {
      work();
    } catch (const RankLost&) {
      throw;
    } catch (...) {
      lost_ = memory_.has_value();
      if (lost_) lose();
      throw;
    }
  }
  void fetch(Stream stream) {
    loop_->fetch(states_, stream);
    for (std::size_t c = 0; c < states_.size(); ++c) {
      const krylov::ColumnState& state = states_[c];
      KrylovOutcome& one = outcomes_[c];
      one.norms.insert(one.norms.end(), state.norms.begin(), state.norms.end());
      one.reason = static_cast<KrylovReason>(state.control.reason);
      one.iterations = state.control.iterations;
      one.norm = state.control.last_norm;
    }
    if (options_.coefficients) loop_->fetch_coefficients(states_.front().norms.size(), outcome(), stream);
    if (outcome().reason == KrylovReason::not_a_number && memory_ && has_lost()) {
      lost_ = true;
      throw_lost();
    }
  }
  /// Of a solve for one right-hand side.
  [[nodiscard]] KrylovOutcome& outcome() { return outcomes_.front(); }

  void lose() const noexcept {
    memory_->lose();
    if (input_.calls.preconditioner != nullptr) input_.calls.preconditioner->lose();
  }
  [[nodiscard]] bool has_lost() const {
    const LinearMap* const map = input_.calls.preconditioner;
    return memory_->has_lost() || (map != nullptr && map->has_lost_rank());
  }
  [[noreturn]] static void throw_lost() { throw RankLost("another rank of this solve has ended or does not answer"); }

  Context context_;
  KrylovOptions options_;
  krylov::LoopInput input_;
  const RankGroup* group_ = nullptr;
  std::int64_t all_rows_ = 0;  ///< of all ranks
  std::optional<krylov::RankMemory> memory_;
  engine::Array<std::uint32_t> outer_rows_;  ///< Halo::any
  bool lost_ = false;                        ///< another rank
  krylov::DiagonalDistances distances_;      ///< CUDA
  krylov::NullSpaceVectors null_space_;
  std::unique_ptr<krylov::Loop> loop_;
  std::vector<KrylovOutcome> outcomes_;      ///< of the columns of a solve
  std::vector<krylov::ColumnState> states_;  ///< the same
  bool begun_ = false;
};

Krylov::Krylov(const Context& context, const CsrView& a, LinearMap* preconditioner, const KrylovOptions& options,
               Stream stream)
    : impl_(std::make_unique<Impl>(context, a, preconditioner, options, stream)) {}
Krylov::Krylov(const Context& context, const CsrView& a, LinearMap* preconditioner, const KrylovOptions& options,
               const KrylovRanks& ranks, Stream stream)
    : impl_(std::make_unique<Impl>(context, a, preconditioner, options, ranks, stream)) {}
Krylov::~Krylov() = default;
Krylov::Krylov(Krylov&&) noexcept = default;
Krylov& Krylov::operator=(Krylov&&) noexcept = default;

void Krylov::set_null_space(bool constant, const std::vector<const double*>& vectors) {
  impl_->set_null_space(constant, vectors);
}
KrylovOutcome Krylov::solve(const double* b, double* x, bool guess, const KrylovTolerances& tolerances, Stream stream) {
  return std::move(impl_->solve({b, x, guess, tolerances}, stream).front());
}
std::vector<KrylovOutcome> Krylov::solve_columns(Index count, const double* b, std::int64_t ldb, double* x,
                                                 std::int64_t ldx, bool guess, const KrylovTolerances& tolerances,
                                                 Stream stream) {
  return impl_->solve_columns(count, {b, x, guess, tolerances, 1, ldb, ldx}, stream);
}
KrylovOutcome Krylov::begin(const double* b, double* x, bool guess, const KrylovTolerances& tolerances, Stream stream) {
  return impl_->begin({b, x, guess, tolerances}, stream);
}
KrylovOutcome Krylov::go_on(std::int64_t iterations, Stream stream) { return impl_->go_on(iterations, stream); }
KrylovOutcome Krylov::trace_iteration(engine::Report& trace, Stream stream) {
  return impl_->trace_iteration(trace, stream);
}
void Krylov::end(Stream stream) { impl_->end(stream); }
void Krylov::capture_anew() { impl_->capture_anew(); }
KrylovInfo Krylov::info() const { return impl_->info(); }

}  // namespace taskdag
