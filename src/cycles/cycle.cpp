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
      : context_(context), program_{std::vector<cycles::Level>(levels.size()), inverse, options} {
    cycles::check(levels, options);
    for (std::size_t l = 0; l < levels.size(); ++l) fill(levels[l], l);
    const std::size_t small = first_small();
    for (std::size_t l = 0; l < small; ++l) make_vectors(l, l + 1, 1);
    if (small < levels.size()) take_small(small);
    count();
  }

  void apply(const double* b, double* y, Stream stream) const {
#if defined(__CUDACC__)
    if (context_.backend() == Backend::cuda) {
      const engine::detail::CurrentDevice current(context_.device());
      return run(cycles::CudaStages{stream, {tiles_.data(), arrivals_.data()}}, b, y);
    }
#endif
    static_cast<void>(stream);
    run(cycles::HostStages{}, b, y);
  }
  void take_values(Stream stream) const {
#if defined(__CUDACC__)
    if (!small_) return;
    const engine::detail::CurrentDevice current(context_.device());
    small_->make(static_cast<cudaStream_t>(stream.handle));
#else
    static_cast<void>(stream);
#endif
  }
  [[nodiscard]] const CycleInfo& info() const { return info_; }

 private:
  void fill(const CycleLevel& from, std::size_t l) {
    cycles::Level& to = program_.levels[l];
    const bool coarsest = l + 1 == program_.levels.size();
    if (coarsest && program_.inverse != nullptr) {
      to.a = cycles::SharedRows::of_inverse(context_, from.a.pattern.rows);
    } else {
      to.a = cycles::SharedRows(context_, from.a);
    }
    if (!coarsest) {
      to.interpolation = cycles::SharedRows(context_, from.interpolation);
      to.restriction = cycles::SharedRows(context_, from.restriction);
    }
    info_.bytes += to.a.bytes();
    to.before = from.before;
    to.after = from.after;
    to.visits = from.visits;
    take_null_spaces(from, to);
    for (const CycleSmoother& one : {to.before, to.after}) {
      if (one.preconditioner != nullptr && !one.preconditioner->may_be_captured()) info_.may_be_captured = false;
    }
  }
  void take_null_spaces(const CycleLevel& from, cycles::Level& to) {
    if (!from.null_space.is_empty()) to.null_space = cycles::Removed(context_, from.null_space, to.rows());
    if (!from.left_null_space.is_empty())
      to.left_null_space = cycles::Removed(context_, from.left_null_space, to.rows());
#if defined(__CUDACC__)
    if (context_.backend() == Backend::host || !to.removes() || tiles_.size() > 0) return;
    tiles_ = engine::Array<double>(context_, std::size_t{krylov::NullSpaceDots::sums} * engine::LoopShape::most_tiles);
    arrivals_ = engine::Array<std::uint32_t>(context_, 1);
#endif
  }
  /// Of the levels from one to another, as many times as asked for; the first ones are the levels'. Returns from how
  /// many numbers on the next ones begin.
  std::size_t make_vectors(std::size_t from, std::size_t to, std::size_t times) {
    std::size_t room = 0;
    for (std::size_t l = from; l < to; ++l) room += program_.levels[l].room(l == 0);
    vectors_.emplace_back(context_, room * times);
    info_.bytes += static_cast<std::int64_t>(room * times * sizeof(double));
    double* at = vectors_.back().data();
    for (std::size_t l = from; l < to; ++l) {
      program_.levels[l].put_vectors_to(at, l == 0);
      at += program_.levels[l].room(l == 0);
    }
    return room;
  }
  /// From where on all levels are small, below the finest; as many as there are, where that are not at least two.
  [[nodiscard]] std::size_t first_small() const {
    const std::vector<cycles::Level>& levels = program_.levels;
    if (context_.backend() == Backend::host || !program_.options.together) return levels.size();
    std::size_t first = levels.size();
    while (first > 1 && levels[first - 1].is_small() && (first == levels.size() || levels[first - 1].leads_to_small()))
      --first;
    return first + 2 <= levels.size() ? first : levels.size();
  }
  void take_small(std::size_t first) {
#if defined(__CUDACC__)
    using cycles::DenseOfStages;
    const engine::detail::CurrentDevice current(context_.device());
    const std::uint32_t rows = program_.levels[first].rows();
    const std::size_t stride = make_vectors(first, program_.levels.size(), DenseOfStages::blocks(rows));
    std::vector<cycles::SmallStage> stages;
    const cycles::WrittenStages written{stages};
    const double* const x = cycles::Application(program_, written, nullptr, nullptr, true).run_from(first);
    if (stages.size() > DenseOfStages::most_stages) return;
    small_.emplace(context_, stages, cycles::Columns{rows, stride, program_.levels[first].b, x, nullptr});
    program_.small = {first, cycles::SharedRows::of_inverse(context_, static_cast<Index>(rows)), small_->elements()};
    info_.bytes += std::int64_t{rows} * rows * static_cast<std::int64_t>(sizeof(double));
    take_values({});
    engine::detail::check(cudaStreamSynchronize(nullptr), "multiplying the small levels of a cycle out");
#else
    static_cast<void>(first);
#endif
  }
  /// Steps of smoothers take turns between two arrays. Finds the one to begin with, so that the last one ends in y.
  void count() {
    double y = 0.0;
    const cycles::CountedStages stages{context_.backend() == Backend::cuda, info_};
    begins_in_y_ = cycles::Application(program_, stages, nullptr, &y, true).run() == &y;
  }
  template <class Stages>
  void run(const Stages& stages, const double* b, double* y) const {
    cycles::Application(program_, stages, b, y, begins_in_y_).run();
  }

  Context context_;
  cycles::Program program_;
  std::vector<engine::Array<double>> vectors_;
#if defined(__CUDACC__)
  std::optional<cycles::DenseOfStages> small_;
#endif
  engine::Array<double> tiles_;            ///< CUDA: of LoopScratch, where null spaces are removed
  engine::Array<std::uint32_t> arrivals_;  ///< the same
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
  bounds.degree = count;
  if (count < 1) bounds.degree = 1;  // no step is asked for
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
void Cycle::take_values(Stream stream) { impl_->take_values(stream); }
bool Cycle::may_be_captured() const { return impl_->info().may_be_captured; }
CycleInfo Cycle::info() const { return impl_->info(); }

}  // namespace taskdag
