// Cycles of multigrid as stages. Compiled as a CUDA source where CUDA is.
#include "taskdag/cycle.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/index.hpp"
#include "cycles/stages.hpp"
#include "krylov/chebyshev_rule.hpp"
#include "krylov/device.hpp"
#include "krylov/shape.hpp"
#include "taskdag/engine/loop/host.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/error.hpp"
#if defined(__CUDACC__)
#include "taskdag/engine/cuda/owners.cuh"
#include "taskdag/engine/loop/cuda.cuh"
#endif

namespace taskdag {
namespace cycles {
namespace {

/// Rows that a stage has a task for each of: those of a matrix, and how they are shared out.
class SharedRows {
 public:
  SharedRows() = default;
  SharedRows(const Context& context, const CsrView& matrix)
      : count_(static_cast<std::uint32_t>(matrix.pattern.rows)),
        rows_{matrix.pattern.row_offsets, matrix.pattern.col_indices, matrix.values} {
    if (context.backend() == Backend::host) {
      validate(matrix.pattern);
      entries_ = matrix.pattern.entries();
      share_out(context, krylov::cut_rows(matrix.pattern, 1, krylov::threads_of_loop(context, count_, entries_)));
    } else {
      entries_ = krylov::count_entries(matrix.pattern, {});
      row_threads_ = krylov::threads_of_row(count_, entries_);
    }
  }
  /// Those of a dense inverse, which are few.
  static SharedRows of_inverse(const Context& context, Index rows) {
    SharedRows shared;
    shared.count_ = static_cast<std::uint32_t>(rows);
    shared.entries_ = std::int64_t{rows} * rows;
    shared.row_threads_ = 32;
    if (context.backend() == Backend::host) shared.share_out(context, {0U, shared.count_});
    return shared;
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] std::int64_t entries() const { return entries_; }
  [[nodiscard]] int row_threads() const { return row_threads_; }
  /// Host.
  [[nodiscard]] engine::HostFlow& flow() const { return *flow_; }

 private:
  void share_out(const Context& context, std::vector<std::uint32_t> cut) {
    cut_ = std::make_unique<std::vector<std::uint32_t>>(std::move(cut));
    flow_ = std::make_unique<engine::HostFlow>(context, *cut_);
  }

  std::uint32_t count_ = 0;
  Rows rows_;
  std::int64_t entries_ = 0;
  int row_threads_ = 1;
  std::unique_ptr<std::vector<std::uint32_t>> cut_;  ///< where the flow finds it
  std::unique_ptr<engine::HostFlow> flow_;
};

/// A level, and the memory that a cycle needs there.
struct Level {
  SharedRows a;              ///< of the coarsest, where there is an inverse, that
  SharedRows interpolation;  ///< from the next coarser level
  SharedRows restriction;    ///< to it
  CycleSmoother before;
  CycleSmoother after;
  int visits = 1;
  engine::Array<double> b;  ///< not on the finest level
  engine::Array<double> x[2];
  engine::Array<double> direction;
  engine::Array<double> residual;
  engine::Array<double> scaled;  ///< M⁻¹ r, where M is a call

  [[nodiscard]] std::uint32_t rows() const { return a.count(); }
};

bool calls(const CycleSmoother& smoother) {
  return smoother.preconditioner != nullptr && smoother.preconditioner->diagonal() == nullptr;
}

// What does the stages of a cycle: run() one of them, apply() a preconditioner that is a call.

struct HostStages {
  template <class S>
  void run(const SharedRows& rows, const S& stage) const {
    rows.flow().stage(stage, rows.count());
  }
  void apply(LinearMap& map, const double* x, double* y) const { map.apply(x, y, {}); }
};

#if defined(__CUDACC__)
struct CudaStages {
  Stream stream;
  template <class S>
  void run(const SharedRows& rows, const S& stage) const {
    const engine::LoopScratch unused{};  // stages add nothing up
    engine::StreamFlow(static_cast<cudaStream_t>(stream.handle), unused, rows.row_threads()).stage(stage, rows.count());
  }
  void apply(LinearMap& map, const double* x, double* y) const { map.apply(x, y, stream); }
};
#endif

/// Does nothing but count.
struct CountedStages {
  CycleInfo& info;
  template <class S>
  void run(const SharedRows& rows, const S& /*stage*/) const {
    constexpr double bytes_of_entry = sizeof(double) + sizeof(Index);
    ++info.stages;
    info.bytes_of_cycle += rows.count() * static_cast<double>(sizeof(double) * S::vectors);
    if constexpr (engine::stage_has_parts<S>)
      info.bytes_of_cycle += static_cast<double>(rows.entries()) * bytes_of_entry + rows.count() * sizeof(Offset);
  }
  void apply(LinearMap& /*map*/, const double* /*x*/, double* /*y*/) const { ++info.calls; }
};

/// One application: where the solution of each level is, and what is known of it.
template <class Stages>
class Application {
 public:
  /// begins_in_y: the finest level's solution begins in y, else in the level's own array.
  Application(const std::vector<Level>& levels, const double* inverse, const CycleOptions& options,
              const Stages& stages, const double* b, double* y, bool begins_in_y)
      : levels_(levels), inverse_(inverse), options_(options), stages_(stages), states_(levels.size()) {
    for (std::size_t l = 0; l < levels.size(); ++l) {
      states_[l] = {levels[l].b.data(), levels[l].b.data(), levels[l].x[0].data(), levels[l].x[1].data(), true, false};
    }
    double* const own = levels[0].x[0].data();
    states_[0] = {b, nullptr, begins_in_y ? y : own, begins_in_y ? own : y, true, false};
  }

  /// Returns where the solution of the finest level is then.
  const double* run() {
    switch (options_.form) {
      case CycleForm::cycle:
        for (int c = 0; c < options_.cycles; ++c) cycle(0);
        break;
      case CycleForm::additive:
        run_additive();
        break;
      case CycleForm::full:
        climb([&](std::size_t l) { cycle(l); });
        break;
      case CycleForm::kaskade:
        climb([&](std::size_t l) { is_coarsest(l) ? solve_coarsest() : smooth(l, levels_[l].before); });
        break;
    }
    settle(0);
    return states_[0].x;
  }

 private:
  struct State {
    const double* b;
    double* own_b;  ///< the same, where it is the level's own
    double* x;      ///< the solution so far
    double* other;  ///< that a step of a smoother writes to
    bool zero;      ///< x is zero, and has not been written
    bool begun;     ///< the first step of the smoother has been done
  };

  [[nodiscard]] bool is_coarsest(std::size_t l) const { return l + 1 == levels_.size(); }

  void cycle(std::size_t l) {
    if (is_coarsest(l)) return solve_coarsest();
    smooth(l, levels_[l].before);
    restrict_from(l, residual_of(l), true);
    const int visits = is_coarsest(l + 1) ? 1 : levels_[l].visits;
    for (int v = 0; v < visits; ++v) cycle(l + 1);
    interpolate_to(l);
    smooth(l, levels_[l].after);
  }
  void run_additive() {
    for (std::size_t l = 0; l + 1 < levels_.size(); ++l) restrict_from(l, states_[l].b, false);
    for (std::size_t l = 0; l + 1 < levels_.size(); ++l) smooth(l, levels_[l].before);
    solve_coarsest();
    for (std::size_t l = levels_.size() - 1; l-- > 0;) interpolate_to(l);
  }
  /// From the coarsest level to the finest one, each beginning with what the one before has found.
  template <class Work>
  void climb(const Work& work) {
    for (std::size_t l = 0; l + 1 < levels_.size(); ++l) restrict_from(l, states_[l].b, false);
    for (std::size_t l = levels_.size(); l-- > 0;) {
      work(l);
      if (l > 0) {
        states_[l - 1].zero = true;
        interpolate_to(l - 1);
      }
    }
  }

  void solve_coarsest() {
    const std::size_t l = levels_.size() - 1;
    State& s = states_[l];
    if (inverse_ == nullptr) {
      s.zero = !s.begun;
      return smooth(l, levels_[l].before);
    }
    stages_.run(levels_[l].a, DenseProduct{inverse_, levels_[l].rows(), s.b, s.x});
    s.zero = false;
  }

  void smooth(std::size_t l, const CycleSmoother& smoother) {
    const bool begun = std::exchange(states_[l].begun, false);
    for (std::size_t k = begun ? 1 : 0; k < smoother.steps.size(); ++k) {
      calls(smoother) ? step_by_call(l, smoother, k) : step(l, smoother, k);
    }
  }
  [[nodiscard]] Step step_of(std::size_t l, const CycleSmoother& smoother, std::size_t k) const {
    const bool keeps = k + 1 < smoother.steps.size() && smoother.steps[k + 1].momentum != 0.0;
    const double* const diagonal = smoother.preconditioner == nullptr ? nullptr : smoother.preconditioner->diagonal();
    return {smoother.steps[k].step, k == 0 ? 0.0 : smoother.steps[k].momentum, diagonal, levels_[l].direction.data(),
            keeps};
  }
  void step(std::size_t l, const CycleSmoother& smoother, std::size_t k) {
    State& s = states_[l];
    const Step step = step_of(l, smoother, k);
    if (s.zero) {
      stages_.run(levels_[l].a, FirstStep{step, s.b, s.x});
      s.zero = false;
      return;
    }
    stages_.run(levels_[l].a, SmootherStage{levels_[l].a.rows(), step, s.b, s.x, s.other});
    std::swap(s.x, s.other);
  }
  void step_by_call(std::size_t l, const CycleSmoother& smoother, std::size_t k) {
    State& s = states_[l];
    double* const z = levels_[l].scaled.data();
    stages_.apply(*smoother.preconditioner, residual_of(l), z);
    Step step = step_of(l, smoother, k);
    step.diagonal = nullptr;  // M⁻¹ has been applied
    stages_.run(levels_[l].a, Update{step, z, s.x, s.zero});
    s.zero = false;
  }

  const double* residual_of(std::size_t l) {
    const State& s = states_[l];
    if (s.zero) return s.b;
    double* const r = levels_[l].residual.data();
    stages_.run(levels_[l].a, Residual{levels_[l].a.rows(), s.b, s.x, r});
    return r;
  }
  /// The coarser level's right-hand side, of which the solution is to begin at zero. `smooths`: it is smoothed next.
  void restrict_from(std::size_t l, const double* r, bool smooths) {
    State& coarse = states_[l + 1];
    const CycleSmoother& smoother = levels_[l + 1].before;
    const bool solved = is_coarsest(l + 1) && inverse_ != nullptr;
    coarse.zero = true;
    coarse.begun = smooths && !solved && !smoother.steps.empty() && !calls(smoother);
    Restriction stage{levels_[l].restriction.rows(), r, coarse.own_b, {}, nullptr};
    if (coarse.begun) {
      stage.step = step_of(l + 1, smoother, 0);
      stage.x = coarse.x;
      coarse.zero = false;
    }
    stages_.run(levels_[l].restriction, stage);
  }
  void interpolate_to(std::size_t l) {
    settle(l + 1);
    State& s = states_[l];
    stages_.run(levels_[l].interpolation,
                Interpolation{levels_[l].interpolation.rows(), states_[l + 1].x, s.x, s.zero});
    s.zero = false;
  }
  /// Writes a solution that is zero because nothing has been done for it.
  void settle(std::size_t l) {
    if (std::exchange(states_[l].zero, false)) stages_.run(levels_[l].a, Zero{states_[l].x});
  }

  const std::vector<Level>& levels_;
  const double* inverse_;
  const CycleOptions& options_;
  const Stages& stages_;
  std::vector<State> states_;
};

void check(const std::vector<CycleLevel>& levels, const CycleOptions& options) {
  if (levels.empty()) throw InvalidInput("a cycle has at least one level");
  if (options.cycles < 1) throw InvalidInput("an application has at least one cycle");
  if (options.cycles > 1 && options.form != CycleForm::cycle)
    throw InvalidInput("only the form `cycle` is repeated in an application");
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const CsrPattern& a = levels[l].a.pattern;
    const std::string name = "level " + std::to_string(l) + " of a cycle, counted from the finest one, ";
    if (a.rows < 1 || a.rows != a.cols) throw InvalidInput(name + "has no rows or is not square");
    if (levels[l].visits < 1) throw InvalidInput(name + "does not visit the next one");
    if (l + 1 == levels.size()) continue;
    const CsrPattern& p = levels[l].interpolation.pattern;
    const CsrPattern& r = levels[l].restriction.pattern;
    const Index coarse = levels[l + 1].a.pattern.rows;
    if (p.rows != a.rows || p.cols != coarse) throw InvalidInput(name + "has an interpolation of another size");
    if (r.rows != coarse || r.cols != a.rows) throw InvalidInput(name + "has a restriction of another size");
  }
}

}  // namespace
}  // namespace cycles

class Cycle::Impl {
 public:
  Impl(const Context& context, const std::vector<CycleLevel>& levels, const double* inverse,
       const CycleOptions& options)
      : context_(context), inverse_(inverse), options_(options), levels_(levels.size()) {
    cycles::check(levels, options);
    for (std::size_t l = 0; l < levels.size(); ++l) fill(levels[l], l);
    count();
  }

  void apply(const double* b, double* y, Stream stream) const {
#if defined(__CUDACC__)
    if (context_.backend() == Backend::cuda) {
      const engine::detail::CurrentDevice current(context_.device());
      return run(cycles::CudaStages{stream}, b, y);
    }
#endif
    static_cast<void>(stream);
    run(cycles::HostStages{}, b, y);
  }
  [[nodiscard]] const CycleInfo& info() const { return info_; }

 private:
  void fill(const CycleLevel& from, std::size_t l) {
    cycles::Level& to = levels_[l];
    const bool coarsest = l + 1 == levels_.size();
    if (coarsest && inverse_ != nullptr) {
      to.a = cycles::SharedRows::of_inverse(context_, from.a.pattern.rows);
    } else {
      to.a = cycles::SharedRows(context_, from.a);
    }
    if (!coarsest) {
      to.interpolation = cycles::SharedRows(context_, from.interpolation);
      to.restriction = cycles::SharedRows(context_, from.restriction);
    }
    to.before = from.before;
    to.after = from.after;
    to.visits = from.visits;
    for (engine::Array<double>* vector : {&to.x[0], &to.x[1], &to.direction, &to.residual}) make(vector, to.rows());
    if (l > 0) make(&to.b, to.rows());
    if (cycles::calls(to.before) || cycles::calls(to.after)) make(&to.scaled, to.rows());
    for (const CycleSmoother& one : {to.before, to.after}) {
      if (one.preconditioner != nullptr && !one.preconditioner->may_be_captured()) info_.may_be_captured = false;
    }
  }
  void make(engine::Array<double>* vector, std::uint32_t rows) {
    *vector = engine::Array<double>(context_, rows);
    info_.bytes += std::int64_t{rows} * static_cast<std::int64_t>(sizeof(double));
  }
  /// Steps of smoothers take turns between two arrays. Finds the one to begin with, so that the last one ends in y.
  void count() {
    double* const y = levels_[0].x[1].data();
    const cycles::CountedStages stages{info_};
    cycles::Application application(levels_, inverse_, options_, stages, nullptr, y, true);
    begins_in_y_ = application.run() == y;
  }
  template <class Stages>
  void run(const Stages& stages, const double* b, double* y) const {
    cycles::Application(levels_, inverse_, options_, stages, b, y, begins_in_y_).run();
  }

  Context context_;
  const double* inverse_;
  CycleOptions options_;
  std::vector<cycles::Level> levels_;
  CycleInfo info_;
  bool begins_in_y_ = true;
};

const char* to_string(CycleForm form) {
  switch (form) {
    case CycleForm::cycle:
      return "multiplicative";
    case CycleForm::additive:
      return "additive";
    case CycleForm::full:
      return "full";
    case CycleForm::kaskade:
      return "kaskade";
  }
  return "";
}

std::vector<SmootherStep> richardson_steps(int count, double damping) {
  return std::vector<SmootherStep>(static_cast<std::size_t>(std::max(count, 0)), SmootherStep{damping, 0.0});
}

std::vector<SmootherStep> chebyshev_steps(int count, KrylovChebyshev kind, double smallest, double largest) {
  KrylovOptions bounds;
  bounds.kind = kind;
  bounds.smallest = smallest;
  bounds.largest = largest;
  const auto rule = krylov::ChebyshevRule::of(bounds);
  std::vector<SmootherStep> steps;
  krylov::PolynomialCoefficients next{};
  for (int k = 0; k < count; ++k) {
    next = rule.next(next, k);
    steps.push_back({next.h, next.g});
  }
  return steps;
}

Cycle::Cycle(const Context& context, const std::vector<CycleLevel>& levels, const double* inverse,
             const CycleOptions& options)
    : impl_(std::make_unique<Impl>(context, levels, inverse, options)) {}
Cycle::~Cycle() = default;
void Cycle::apply(const double* x, double* y, Stream stream) { impl_->apply(x, y, stream); }
bool Cycle::may_be_captured() const { return impl_->info().may_be_captured; }
CycleInfo Cycle::info() const { return impl_->info(); }

}  // namespace taskdag
