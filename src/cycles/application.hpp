/// \file
/// The order of a cycle's stages.
#pragma once

#include <utility>
#include <vector>

#include "cycles/levels.hpp"
#include "cycles/stages.hpp"

namespace taskdag::cycles {

/// What a cycle is made of.
struct Program {
  std::vector<Level> levels;  ///< finest first
  const double* inverse;      ///< of the coarsest operator; null: it is smoothed
  CycleOptions options;
  /// What is done from a level on, as a dense matrix.
  struct Small {
    std::size_t first = 0;  ///< level; 0: there is none
    SharedRows rows;        ///< of the matrix
    const double* elements = nullptr;
  } small = {};
};

/// One application: where the solution of each level is, and what is known of it.
template <class Stages>
class Application {
  using Matrix = typename Stages::Matrix;

 public:
  /// begins_in_y: the finest level's solution begins in y, else in the level's own array.
  Application(const Program& program, const Stages& stages, const double* b, double* y, bool begins_in_y)
      : levels_(program.levels),
        inverse_(program.inverse),
        options_(program.options),
        small_(program.small),
        stages_(stages),
        states_(levels_.size()) {
    const std::vector<Level>& levels = levels_;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      states_[l] = {levels[l].b, levels[l].b, levels[l].x[0], levels[l].x[1], true, false, false};
    }
    double* const own = levels[0].x[0];
    states_[0] = {b, nullptr, begins_in_y ? y : own, begins_in_y ? own : y, true, false, false};
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
  /// What a cycle does on the levels from `first` on, once they have a right-hand side; returns where the solution is.
  double* run_from(std::size_t first) {
    begin(first, false);
    correct_below(first - 1);
    settle(first);
    return states_[first].x;
  }

 private:
  struct State {
    const double* b;
    double* own_b;  ///< the same, where it is the level's own
    double* x;      ///< the solution so far
    double* other;  ///< the solution before, which a step of a smoother writes over
    bool zero;      ///< x is zero, and has not been written
    bool first;     ///< the solution before was zero, and has not been written
    bool begun;     ///< the first step of the smoother has been done
  };

  /// Whether the next level is on all ranks as a whole, and this one dealt out to them.
  [[nodiscard]] bool gathers_below(std::size_t l) const { return levels_[l].dealt_out && !levels_[l + 1].dealt_out; }
  /// Other ranks' elements of a first step are not there.
  [[nodiscard]] bool joins_steps(std::size_t l) const { return stages_.joins_steps && !levels_[l].dealt_out; }
  [[nodiscard]] bool is_coarsest(std::size_t l) const { return l + 1 == levels_.size(); }

  void cycle(std::size_t l) {
    if (is_coarsest(l)) return solve_coarsest();
    smooth(l, levels_[l].before);
    restrict_from(l, residual_of(l, states_[l].b), small_.first != l + 1);
    correct_below(l);
    interpolate_to(l);
    smooth(l, levels_[l].after);
  }
  void correct_below(std::size_t l) {
    if (small_.first == l + 1) {
      State& s = states_[l + 1];
      stages_.run(small_.rows, DenseProduct{small_.elements, small_.rows.count(), s.b, s.x});
      s.zero = false;
      return;
    }
    const int visits = is_coarsest(l + 1) ? 1 : levels_[l].visits;
    for (int v = 0; v < visits; ++v) cycle(l + 1);
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
      if (l > 0) interpolate_to(l - 1);
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
    std::size_t k = std::exchange(states_[l].begun, false) ? 1 : 0;
    if (levels_[l].applies_apart(smoother)) return smooth_apart(l, smoother);
    if (joins_steps(l) && states_[l].zero && smoother.steps.size() > 1) {
      first_two_steps(l, smoother);
      k = 2;
    }
    for (; k < smoother.steps.size(); ++k) step(l, smoother, k);
  }
  void smooth_apart(std::size_t l, const CycleSmoother& smoother) {
    const krylov::NullSpaceVectors& left = levels_[l].left_null_space;
    const double* b = states_[l].b;
    if (left.any() && !smoother.steps.empty()) {
      remove(l, left, b, levels_[l].rest);
      b = levels_[l].rest;
    }
    for (std::size_t k = 0; k < smoother.steps.size(); ++k) step_apart(l, smoother, k, b);
  }
  /// y = x without those vectors.
  void remove(std::size_t l, const krylov::NullSpaceVectors& removed, const double* x, double* y) const {
    const krylov::NullSpace& space = removed.space();
    for (std::uint32_t first = 0; first < space.count; first += krylov::NullSpaceDots::sums) {
      stages_.run(levels_[l].a, krylov::NullSpaceDots{space, x, first});
      stages_.run(levels_[l].a, krylov::NullSpaceRemoval{space, x, y, first});
      x = y;
    }
  }
  [[nodiscard]] static Step step_of(const CycleSmoother& smoother, std::size_t k) {
    const double* const diagonal = smoother.preconditioner == nullptr ? nullptr : smoother.preconditioner->diagonal();
    return {smoother.steps[k].step, k == 0 ? 0.0 : smoother.steps[k].momentum, diagonal};
  }
  void first_two_steps(std::size_t l, const CycleSmoother& smoother) {
    State& s = states_[l];
    double* const x_before = smoother.steps.size() > 2 ? s.other : nullptr;
    stages_.run(levels_[l].a,
                FirstTwoSteps{levels_[l].a.rows(), smoother.steps[0].step, step_of(smoother, 1), s.b, s.x, x_before});
    s.zero = s.first = false;
  }
  /// residual: of a solution that is zero, or M⁻¹ times that
  void first_step(std::size_t l, const Step& step, const double* residual) {
    State& s = states_[l];
    stages_.run(levels_[l].a, FirstStep{step, residual, s.x});
    s.zero = false;
    s.first = true;
  }
  void step(std::size_t l, const CycleSmoother& smoother, std::size_t k) {
    State& s = states_[l];
    const Step step = step_of(smoother, k);
    if (s.zero) return first_step(l, step, s.b);
    stages_.run(levels_[l].a, SmootherStage<Matrix>{stages_.matrix(levels_[l].a), step, s.b, solutions(s)});
    turn(&s);
  }
  void step_apart(std::size_t l, const CycleSmoother& smoother, std::size_t k, const double* b) {
    State& s = states_[l];
    double* const z = levels_[l].scaled;
    const double* const r = residual_of(l, b);
    Step step = step_of(smoother, k);
    if (calls(smoother))
      stages_.apply(*smoother.preconditioner, r, z);
    else
      stages_.run(levels_[l].a, Scaling{step.diagonal, r, z});
    remove(l, levels_[l].null_space, z, z);
    step.diagonal = nullptr;  // M⁻¹ has been applied
    if (s.zero) return first_step(l, step, z);
    stages_.run(levels_[l].a, Update{step, z, solutions(s)});
    turn(&s);
  }
  static Solutions solutions(const State& s) { return {s.x, s.other, s.first}; }
  static void turn(State* s) {
    std::swap(s->x, s->other);
    s->first = false;
  }

  const double* residual_of(std::size_t l, const double* b) {
    const State& s = states_[l];
    if (s.zero) return b;
    double* const r = levels_[l].residual;
    stages_.run(levels_[l].a, Residual<Matrix>{stages_.matrix(levels_[l].a), b, s.x, r});
    return r;
  }
  /// The solution of a level that gets a right-hand side begins at zero. `smooths`: it is smoothed next, so that the
  /// first step may be made where that right-hand side is.
  void begin(std::size_t l, bool smooths) {
    State& s = states_[l];
    const CycleSmoother& smoother = levels_[l].before;
    const bool solved = is_coarsest(l) && inverse_ != nullptr;
    s.x = levels_[l].x[0];
    s.other = levels_[l].x[1];
    s.begun = smooths && !solved && !smoother.steps.empty() && !levels_[l].applies_apart(smoother);
    s.zero = !s.begun;
    s.first = s.begun;
  }
  void restrict_from(std::size_t l, const double* r, bool smooths) {
    begin(l + 1, smooths);
    const State& coarse = states_[l + 1];
    const bool gathers = gathers_below(l);
    double* const b = gathers ? levels_[l].restricted : coarse.own_b;
    Restriction<Matrix> stage{stages_.matrix(levels_[l].restriction), r, b, {}, nullptr};
    if (coarse.begun && !gathers) begin_in(l + 1, &stage);
    stages_.run(levels_[l].restriction, stage);
    if constexpr (Stages::on_ranks) {
      if (gathers) gather_from(l);
    }
  }
  /// Lets a stage that gives a level its right-hand side make the first step there.
  template <class Stage>
  void begin_in(std::size_t l, Stage* stage) const {
    stage->step = step_of(levels_[l].before, 0);
    stage->x = states_[l].x;
  }
  void gather_from(std::size_t l) {
    const Level& level = levels_[l];
    const State& coarse = states_[l + 1];
    Gather stage = stages_.gather(level.gathered);
    stage.own = level.restricted;
    stage.first = level.first_restricted;
    stage.end = level.first_restricted + level.restriction.count();
    stage.rows = levels_[l + 1].rows();
    stage.b = coarse.own_b;
    if (coarse.begun) begin_in(l + 1, &stage);
    stages_.run(level.gathered, stage);
  }
  void interpolate_to(std::size_t l) {
    settle(l + 1);
    State& s = states_[l];
    stages_.run(levels_[l].interpolation,
                Interpolation<Matrix>{stages_.matrix(levels_[l].interpolation), states_[l + 1].x, s.x, s.zero});
    s.zero = false;
  }
  /// Writes a solution that is zero because nothing has been done for it.
  void settle(std::size_t l) {
    if (std::exchange(states_[l].zero, false)) stages_.run(levels_[l].a, Zero{states_[l].x});
  }

  const std::vector<Level>& levels_;
  const double* inverse_;
  const CycleOptions& options_;
  const Program::Small& small_;
  const Stages& stages_;
  std::vector<State> states_;
};

}  // namespace taskdag::cycles
