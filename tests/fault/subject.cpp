#include "fault/subject.hpp"

#include <utility>

#include "backend/measure.hpp"
#include "backend/problems.hpp"
#include "fault/calls.hpp"

namespace taskdag::test {
namespace {

class TriangleSolver final : public Solver {
 public:
  TriangleSolver(const Context& context, SolveSchedule schedule, const CsrMatrix& a, Stream stream)
      : a_(a), solver_(context, a.view(), MemorySpace::host, options_for(schedule), stream) {}

  void solve(const double* b, double* x, MemorySpace space, Stream stream) override {
    solver_.solve(b, x, space, stream);
  }
  void load(const double* values, MemorySpace space, Stream stream) override {
    solver_.update_values(values, space, stream);
  }
  SolveOutcome outcome() override { return solver_.outcome(); }
  SolveOutcome outcome(Stream stream) override { return solver_.outcome(stream); }
  [[nodiscard]] SolveSchedule schedule() const override { return solver_.info().schedule; }
  [[nodiscard]] std::vector<double> reference(const std::vector<double>& values,
                                              const std::vector<double>& b) const override {
    CsrMatrix a = a_;
    a.values = values;
    return reference_solve(a, {}, b);
  }

 private:
  static TriangularOptions options_for(SolveSchedule schedule) {
    TriangularOptions options;
    options.schedule = schedule;
    return options;
  }
  CsrMatrix a_;
  TriangularSolver solver_;
};

/// The matrix in the order in which it is factored: `blocks` renumbers it.
struct Ordered {
  Ordered(const CsrMatrix& matrix, SolveSchedule schedule) : a(matrix) {
    options.schedule = schedule;
    if (schedule != SolveSchedule::blocks) return;
    BlockOrdering ordering = block_multicolour(Context::create({.backend = Backend::host, .threads = 1}), a.pattern(),
                                               MemorySpace::host, {.block_size = 16});
    order = std::move(ordering.order);
    options.blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
  }
  CsrMatrix a;
  std::vector<Index> order;
  FactorOptions options;
};

class FactorSolver final : public Solver {
 public:
  FactorSolver(const Context& context, SolveSchedule schedule, const CsrMatrix& a, Stream stream)
      : ordered_(a, schedule),
        factorization_(context, a.pattern(), MemorySpace::host, ordered_.options, ordered_.order, ordered_.order,
                       stream) {
    load(a.values.data(), MemorySpace::host, stream);
  }

  void solve(const double* b, double* x, MemorySpace space, Stream stream) override {
    factorization_.apply(Apply::full, b, x, space, stream);
  }
  void load(const double* values, MemorySpace space, Stream stream) override {
    static_cast<void>(factorization_.factor(values, space, stream));
  }
  SolveOutcome outcome() override { return factorization_.outcome(); }
  SolveOutcome outcome(Stream stream) override { return factorization_.outcome(stream); }
  [[nodiscard]] SolveSchedule schedule() const override { return factorization_.info().upper_schedule; }
  [[nodiscard]] std::vector<double> reference(const std::vector<double>& values,
                                              const std::vector<double>& b) const override {
    CsrMatrix a = ordered_.a;
    a.values = values;
    const std::vector<Index>& order = ordered_.order;
    if (!order.empty()) a = permuted(a, order, order);
    std::vector<double> right(b);
    for (std::size_t i = 0; i < order.size(); ++i) right[i] = b[static_cast<std::size_t>(order[i])];
    FactorStatus status;
    const std::vector<double> y = reference_apply(reference_factor(a, {}, 0.0, status), FactorKind::ilu, false, right);
    std::vector<double> x(y);
    for (std::size_t i = 0; i < order.size(); ++i) x[static_cast<std::size_t>(order[i])] = y[i];
    return x;
  }

 private:
  Ordered ordered_;
  Factorization factorization_;
};

}  // namespace

std::string Subject::name() const { return std::string(to_string(schedule)) + (factor ? ", factor" : ", triangle"); }

std::vector<Subject> subjects(Backend backend) {
  std::vector<Subject> result;
  for (const SolveSchedule schedule : solve_schedules(backend)) result.push_back({schedule, false});
  for (const SolveSchedule schedule : test::factor_schedules(backend)) result.push_back({schedule, true});
  if (backend == Backend::cuda && !device_has_cells()) {
    std::erase_if(result, [](const Subject& subject) { return subject.schedule == SolveSchedule::cells; });
  }
  return result;
}

std::unique_ptr<Solver> make_solver(const Context& context, const Subject& subject, const CsrMatrix& a, Stream stream) {
  if (subject.factor) return std::make_unique<FactorSolver>(context, subject.schedule, a, stream);
  return std::make_unique<TriangleSolver>(context, subject.schedule, a, stream);
}

CsrMatrix grid_matrix(Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n, .wind = 0.5}); }

CsrMatrix solid_matrix() {
  return make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 10, .ny = 11, .nz = 12, .wind = 0.5});
}

CsrMatrix random_matrix() { return mirrored(make_erdos_renyi_lower(300, 0.02, 5), 0.75); }

std::vector<double> numbered_side(Index rows, int number) {
  std::vector<double> b = right_hand_side(rows);
  for (double& value : b) value *= 1.0 + 0.125 * number;
  return b;
}

}  // namespace taskdag::test
