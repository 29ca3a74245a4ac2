// Cycles of multigrid as stages. Compiled as a CUDA source where CUDA is.
#include "taskdag/cycle.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cycles/application.hpp"
#include "cycles/levels.hpp"
#include "cycles/runners.hpp"
#include "krylov/chebyshev_rule.hpp"
#include "taskdag/error.hpp"
#if defined(__CUDACC__)
#include "taskdag/engine/cuda/owners.cuh"
#endif

namespace taskdag {
namespace cycles {
namespace {

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
    if (context_.backend() == Backend::cuda && options_.together) take_small_levels();
    count();
  }

  void apply(const double* b, double* y, Stream stream) const {
#if defined(__CUDACC__)
    if (context_.backend() == Backend::cuda) {
      const engine::detail::CurrentDevice current(context_.device());
      return run(cycles::CudaStages{stream, small()}, b, y);
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
    for (engine::Array<double>* vector : {&to.x[0], &to.x[1], &to.residual}) make(vector, to.rows());
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
  [[nodiscard]] const cycles::SmallLevels* small() const { return small_ ? &*small_ : nullptr; }
  /// Where there are at least two small levels below the finest, these are done by one launch.
  void take_small_levels() {
    std::size_t first = levels_.size();
    while (first > 1 && levels_[first - 1].is_small() &&
           (first == levels_.size() || levels_[first - 1].leads_to_small()))
      --first;
    if (first + 2 <= levels_.size()) write_down(first);
  }
  void write_down(std::size_t first) {
#if defined(__CUDACC__)
    const engine::detail::CurrentDevice current(context_.device());
    std::vector<cycles::SmallStage> stages;
    cycles::SmallLevels small;
    small.first = first;
    const cycles::CountedStages counted{true, small.info};
    cycles::Application(levels_, inverse_, options_, counted, nullptr, nullptr, true).run_from(first);
    const cycles::WrittenStages written{stages};
    small.solution = cycles::Application(levels_, inverse_, options_, written, nullptr, nullptr, true).run_from(first);
    if (stages.size() > cycles::Together::most_stages) return;
    small.program.emplace(context_, stages);
    small_ = std::move(small);
#else
    static_cast<void>(first);
#endif
  }
  /// Steps of smoothers take turns between two arrays. Finds the one to begin with, so that the last one ends in y.
  void count() {
    double* const y = levels_[0].x[1].data();
    const cycles::CountedStages stages{context_.backend() == Backend::cuda, info_, small()};
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
  std::optional<cycles::SmallLevels> small_;
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
