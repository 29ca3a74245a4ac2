// Solvers with schedules: triangles, factors and SOR.
#include "backend/measure.hpp"
#include "backend/problems.hpp"
#include "fault/subject_solvers.hpp"
#include "reference/point_block.hpp"
#include "reference/point_block_sor.hpp"
#include "reference/sor.hpp"

namespace taskdag::test {

Ordered::Ordered(CsrMatrix matrix, SolveSchedule schedule) : a_(std::move(matrix)) {
  if (schedule != SolveSchedule::blocks) return;
  BlockOrdering ordering = block_multicolour(Context::create({.backend = Backend::host, .threads = 1}), a_.pattern(),
                                             MemorySpace::host, {.block_size = 16});
  order_ = std::move(ordering.order);
  blocks_ = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
}

CsrMatrix Ordered::permuted_with(const std::vector<double>& values) const {
  CsrMatrix a = a_;
  a.values = values;
  return order_.empty() ? a : permuted(a, order_, order_);
}

std::vector<double> Ordered::forth(const std::vector<double>& b) const {
  std::vector<double> right(b);
  for (std::size_t i = 0; i < order_.size(); ++i) right[i] = b[static_cast<std::size_t>(order_[i])];
  return right;
}

std::vector<double> Ordered::back(const std::vector<double>& y) const {
  std::vector<double> x(y);
  for (std::size_t i = 0; i < order_.size(); ++i) x[static_cast<std::size_t>(order_[i])] = y[i];
  return x;
}

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

class FactorSolver final : public Solver {
 public:
  FactorSolver(const Context& context, SolveSchedule schedule, Index block_size, const CsrMatrix& a, Stream stream)
      : ordered_(a, schedule),
        block_size_(block_size),
        factorization_(context, a.pattern(), MemorySpace::host, options_for(schedule), ordered_.order(),
                       ordered_.order(), stream) {
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
    return ordered_.solved(values, b, [this](const CsrMatrix& a, const std::vector<double>& right) {
      if (block_size_ > 1) {
        const CsrMatrix factor = kernels::point_block::reference_factor(a.view(), FactorKind::ilu, block_size_);
        return kernels::point_block::reference_apply(factor, block_size_, false, right);
      }
      FactorStatus status;
      return reference_apply(reference_factor(a, {}, 0.0, status), FactorKind::ilu, false, right);
    });
  }

 private:
  [[nodiscard]] FactorOptions options_for(SolveSchedule schedule) const {
    FactorOptions options;
    options.schedule = schedule;
    options.block_size = block_size_;
    options.blocks = ordered_.blocks();
    return options;
  }
  Ordered ordered_;
  Index block_size_;
  Factorization factorization_;
};

class SorSolver final : public Solver {
 public:
  SorSolver(const Context& context, SolveSchedule schedule, Index block_size, const CsrMatrix& a, Stream stream)
      : ordered_(a, schedule),
        options_{.omega = 1.2, .schedule = schedule, .blocks = ordered_.blocks(), .block_size = block_size},
        sor_(context, a.pattern(), MemorySpace::host, options_, ordered_.order(), stream) {
    load(a.values.data(), MemorySpace::host, stream);
  }

  void solve(const double* b, double* x, MemorySpace space, Stream stream) override {
    sor_.iterate(SorSweep::symmetric, kIterations, SorStart::zero, b, x, space, stream);
  }
  void load(const double* values, MemorySpace space, Stream stream) override {
    static_cast<void>(sor_.update_values(values, space, stream));
  }
  SolveOutcome outcome() override { return sor_.outcome(); }
  SolveOutcome outcome(Stream /*stream*/) override { return sor_.outcome(); }
  [[nodiscard]] SolveSchedule schedule() const override { return sor_.info().upper_schedule; }
  [[nodiscard]] std::vector<double> reference(const std::vector<double>& values,
                                              const std::vector<double>& b) const override {
    return ordered_.solved(values, b, [this](const CsrMatrix& a, const std::vector<double>& right) {
      const CsrMatrix lower = only(a, options_.block_size, [](Index row, Index column) { return column <= row; });
      const std::vector<double> zero(right.size(), 0.0);
      const std::vector<double> forth = iterated(lower, SorSweep::forward, 1, right, zero);
      const std::vector<double> back = iterated(a, SorSweep::backward, 1, right, forth);
      return iterated(a, SorSweep::symmetric, kIterations - 1, right, back);
    });
  }

 private:
  [[nodiscard]] std::vector<double> iterated(const CsrMatrix& a, SorSweep sweep, int iterations,
                                             const std::vector<double>& b, const std::vector<double>& x) const {
    return options_.block_size > 1 ? kernels::point_block::reference_sor(a.view(), options_, sweep, iterations, b, x)
                                   : kernels::reference_sor(a.view(), options_, sweep, iterations, b, x);
  }
  static constexpr int kIterations = 2;
  Ordered ordered_;
  SorOptions options_;
  Sor sor_;
};

}  // namespace

std::unique_ptr<Solver> make_triangle(const Context& context, SolveSchedule schedule, const CsrMatrix& a,
                                      Stream stream) {
  return std::make_unique<TriangleSolver>(context, schedule, a, stream);
}
std::unique_ptr<Solver> make_factor(const Context& context, SolveSchedule schedule, Index block_size,
                                    const CsrMatrix& a, Stream stream) {
  return std::make_unique<FactorSolver>(context, schedule, block_size, a, stream);
}
std::unique_ptr<Solver> make_sor(const Context& context, SolveSchedule schedule, Index block_size, const CsrMatrix& a,
                                 Stream stream) {
  return std::make_unique<SorSolver>(context, schedule, block_size, a, stream);
}

}  // namespace taskdag::test
