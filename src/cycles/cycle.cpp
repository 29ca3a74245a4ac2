// Cycles of multigrid as stages. Compiled as a CUDA source where CUDA is.
#include "taskdag/cycle.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "backends/ranks/agree.hpp"
#include "cycles/application.hpp"
#include "cycles/exchanges.hpp"
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

void check(const std::vector<CycleLevel>& levels, const CycleOptions& options, std::size_t dealt_out) {
  if (levels.empty()) throw InvalidInput("a cycle has at least one level");
  if (options.cycles < 1) throw InvalidInput("an application has at least one cycle");
  if (options.cycles > 1 && options.form != CycleForm::cycle)
    throw InvalidInput("only the form `cycle` is repeated in an application");
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const CsrPattern& a = levels[l].a.pattern;
    const std::string name = "level " + std::to_string(l) + " of a cycle, counted from the finest one, ";
    if (a.rows < (l < dealt_out ? 0 : 1) || a.rows != a.cols) throw InvalidInput(name + "has no rows or is not square");
    if (levels[l].visits < 1) throw InvalidInput(name + "does not visit the next one");
    if (l + 1 == levels.size()) continue;
    const CsrPattern& p = levels[l].interpolation.pattern;
    const CsrPattern& r = levels[l].restriction.pattern;
    const Index coarse = levels[l + 1].a.pattern.rows;
    if (p.rows != a.rows || p.cols != coarse) throw InvalidInput(name + "has an interpolation of another size");
    const bool makes_a_part = l + 1 == dealt_out;
    if ((r.rows != coarse && !makes_a_part) || r.cols != a.rows)
      throw InvalidInput(name + "has a restriction of another size");
  }
}

}  // namespace
}  // namespace cycles

class Cycle::Impl {
 public:
  Impl(const Context& context, const std::vector<CycleLevel>& levels, const double* inverse,
       const CycleOptions& options)
      : context_(context), program_{std::vector<cycles::Level>(levels.size()), inverse, options} {
    for (const CycleLevel& level : levels) all_rows_.push_back(level.a.pattern.rows);
    fill(levels, nullptr);
    finish();
  }
  Impl(const Context& context, const std::vector<CycleLevel>& levels, const double* inverse,
       const CycleOptions& options, const CycleRanks& ranks)
      : context_(context), program_{std::vector<cycles::Level>(levels.size()), inverse, options} {
    if (ranks.group == nullptr) throw InvalidInput("a cycle on several ranks needs their group");
    agree_on(*ranks.group, levels.size());
    agree_on(*ranks.group, ranks.levels.size());
    count_all_rows(levels, ranks);
    ranks::agree(*ranks.group, [&] { fill(levels, &ranks); });
    agree_on_null_spaces(*ranks.group);
    exchanges_.emplace(ranks);
    const std::vector<Numbers> numbers = plan_exchanges(levels, ranks);
    ranks::agree(*ranks.group, [&] { finish(); });
    agree_on(*ranks.group, slots_);
    exchanges_->open(context_, slots_, removes() ? krylov::NullSpaceDots::sums : 1U);
    for (std::size_t l = 0; l < numbers.size(); ++l) take_halos(numbers[l], program_.levels[l]);
    info_.bytes += static_cast<std::int64_t>(2 * slots_ * sizeof(double));
  }

  void apply(const double* b, double* y, Stream stream) const {
#if defined(__CUDACC__)
    if (context_.backend() == Backend::cuda) {
      const engine::detail::CurrentDevice current(context_.device());
      return run(cycles::CudaStages{stream, {tiles_.data(), arrivals_.data(), nullptr}}, b, y);
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
  [[nodiscard]] bool has_lost_rank() const { return exchanges_ && exchanges_->memory().has_lost(); }
  void lose() const noexcept {
    if (exchanges_) exchanges_->memory().lose();
  }

 private:
  /// Of what is exchanged for a level that is dealt out.
  struct Numbers {
    cycles::Exchanges::Number a = 0;
    cycles::Exchanges::Number restriction = 0;
    cycles::Exchanges::Number below = 0;  ///< interpolation, or gathering the next level
  };

  void fill(const std::vector<CycleLevel>& levels, const CycleRanks* ranks) {
    const std::size_t dealt_out = ranks != nullptr ? ranks->levels.size() : 0;
    if (ranks != nullptr && (dealt_out < 1 || dealt_out >= levels.size()))
      throw InvalidInput("of a cycle on several ranks the finest level is dealt out, and the coarsest is not");
    cycles::check(levels, program_.options, dealt_out);
    for (std::size_t l = 0; l < levels.size(); ++l) {
      program_.levels[l].dealt_out = l < dealt_out;
      if (l < dealt_out) {
        fill_dealt_out(levels[l], ranks->levels[l], l + 1 == dealt_out, program_.levels[l]);
      } else {
        fill_whole(levels[l], l + 1 == levels.size(), ranks == nullptr, program_.levels[l]);
      }
      fill_rest(levels[l], l);
    }
    info_.dealt_out = static_cast<int>(dealt_out);
  }
  void fill_whole(const CycleLevel& from, bool coarsest, bool one_rank, cycles::Level& to) const {
    const auto rows_of = [&](const CsrView& matrix) {
      cycles::SharedRows rows(context_, matrix);
      if (one_rank) rows.group_rows(context_, matrix.pattern);
      return rows;
    };
    if (coarsest && program_.inverse != nullptr) {
      to.a = cycles::SharedRows::of_inverse(context_, from.a.pattern.rows);
    } else {
      to.a = rows_of(from.a);
    }
    if (coarsest) return;
    to.interpolation = rows_of(from.interpolation);
    to.restriction = rows_of(from.restriction);
  }
  void fill_dealt_out(const CycleLevel& from, const CycleRankLevel& outer, bool last, cycles::Level& to) const {
    to.a = cycles::SharedRows(context_, from.a, outer.a.entries);
    to.restriction = cycles::SharedRows(context_, from.restriction, outer.restriction.entries);
    to.interpolation = last ? cycles::SharedRows(context_, from.interpolation)
                            : cycles::SharedRows(context_, from.interpolation, outer.interpolation.entries);
    to.gathers = last;
  }
  void fill_rest(const CycleLevel& from, std::size_t l) {
    cycles::Level& to = program_.levels[l];
    info_.bytes += to.a.bytes();
    to.before = from.before;
    to.after = from.after;
    to.visits = from.visits;
    take_null_spaces(from, all_rows_[l], to);
    for (const CycleSmoother& one : {to.before, to.after}) {
      if (one.preconditioner != nullptr && !one.preconditioner->may_be_captured()) info_.may_be_captured = false;
    }
  }
  void take_null_spaces(const CycleLevel& from, std::int64_t all_rows, cycles::Level& to) {
    const auto vectors_of = [&](const CycleNullSpace& space) {
      return krylov::NullSpaceVectors(context_, space.constant, space.vectors, all_rows);
    };
    to.null_space = vectors_of(from.null_space);
    to.left_null_space = vectors_of(from.left_null_space);
#if defined(__CUDACC__)
    if (context_.backend() == Backend::host || !to.removes() || tiles_.size() > 0) return;
    tiles_ = engine::Array<double>(context_, std::size_t{krylov::NullSpaceDots::sums} * engine::LoopShape::most_tiles);
    arrivals_ = engine::Array<std::uint32_t>(context_, 1);
#endif
  }
  /// Collective.
  void count_all_rows(const std::vector<CycleLevel>& levels, const CycleRanks& ranks) {
    for (std::size_t l = 0; l < levels.size(); ++l) {
      std::vector<Index> rows{levels[l].a.pattern.rows};
      if (l < ranks.levels.size()) rows = ranks::gather(*ranks.group, rows.front());
      all_rows_.push_back(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}));
    }
  }
  /// Ranks that remove other numbers of vectors would wait for each other's sums. Collective.
  void agree_on_null_spaces(const RankGroup& group) const {
    for (const cycles::Level& level : program_.levels) {
      agree_on(group, level.null_space.space().count);
      agree_on(group, level.left_null_space.space().count);
    }
  }
  /// On levels that are dealt out to ranks.
  [[nodiscard]] bool removes() const {
    return std::ranges::any_of(program_.levels, [](const cycles::Level& l) { return l.dealt_out && l.removes(); });
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
  /// Collective.
  std::vector<Numbers> plan_exchanges(const std::vector<CycleLevel>& levels, const CycleRanks& ranks) {
    std::vector<Numbers> numbers(ranks.levels.size());
    for (std::size_t l = 0; l < numbers.size(); ++l) {
      const CycleRankLevel& outer = ranks.levels[l];
      cycles::Level& level = program_.levels[l];
      const Index own = levels[l].a.pattern.rows;
      numbers[l].a = exchanges_->add_product(outer.a.ghosts, own);
      numbers[l].restriction = exchanges_->add_product(outer.restriction.ghosts, own);
      level.a.set_slots(exchanges_->slots_of(numbers[l].a));
      level.restriction.set_slots(exchanges_->slots_of(numbers[l].restriction));
      if (l + 1 < numbers.size()) {
        numbers[l].below = exchanges_->add_product(outer.interpolation.ghosts, levels[l + 1].a.pattern.rows);
        level.interpolation.set_slots(exchanges_->slots_of(numbers[l].below));
      } else {
        numbers[l].below = plan_gather(levels[l], levels[l + 1], ranks, level);
      }
    }
    return numbers;
  }
  cycles::Exchanges::Number plan_gather(const CycleLevel& from, const CycleLevel& whole, const CycleRanks& ranks,
                                        cycles::Level& level) {
    const cycles::Exchanges::Gathered gathered = exchanges_->add_gather(from.restriction.pattern.rows);
    const std::uint32_t slots = exchanges_->slots_of(gathered.number);
    ranks::agree(*ranks.group, [&] {
      if (slots != static_cast<std::uint32_t>(whole.a.pattern.rows + ranks.group->count()))
        throw InvalidInput("the ranks do not make all rows of the first level that each has as a whole");
      level.gathered = cycles::SharedRows::of_tasks(context_, slots);
      level.gathered.set_slots(slots);
      level.first_restricted = gathered.first;
      arrivals_ = engine::Array<std::uint32_t>(context_, 1);
    });
    return gathered.number;
  }
  void take_halos(const Numbers& numbers, cycles::Level& level) const {
    level.a.set_halo(context_, exchanges_->halo(numbers.a));
    level.restriction.set_halo(context_, exchanges_->halo(numbers.restriction));
    cycles::SharedRows& below = level.gathered.count() > 0 ? level.gathered : level.interpolation;
    below.set_halo(context_, exchanges_->halo(numbers.below));
  }
  /// Ranks whose applications differ would wait for each other. Collective.
  static void agree_on(const RankGroup& group, std::size_t number) {
    const auto all = ranks::gather(group, number);
    if (std::ranges::any_of(all, [&](std::size_t one) { return one != number; }))
      throw InvalidInput("the ranks do not have the same cycle");
  }
  void finish() {
    const std::size_t small = first_small();
    for (std::size_t l = 0; l < small; ++l) make_vectors(l, l + 1, 1);
    if (small < program_.levels.size()) take_small(small);
    count();
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
    const cycles::CountedStages stages{context_.backend() == Backend::cuda, info_, slots_};
    begins_in_y_ = cycles::Application(program_, stages, nullptr, &y, true).run() == &y;
  }
  template <class Stages>
  void run(const Stages& stages, const double* b, double* y) const {
    if (!exchanges_) {
      cycles::Application(program_, stages, b, y, begins_in_y_).run();
      return;
    }
    cycles::Turn turn;
    const cycles::OnRanks<Stages> on_ranks(stages, turn);
    cycles::Application(program_, on_ranks, b, y, begins_in_y_).run();
  }

  Context context_;
  std::vector<std::int64_t> all_rows_;  ///< of each level, on all ranks
  cycles::Program program_;
  std::vector<engine::Array<double>> vectors_;
#if defined(__CUDACC__)
  std::optional<cycles::DenseOfStages> small_;
#endif
  std::optional<cycles::Exchanges> exchanges_;  ///< on several ranks
  std::size_t slots_ = 0;                       ///< of what ranks send each other in an application
  engine::Array<double> tiles_;                 ///< CUDA: of LoopScratch, where null spaces are removed
  engine::Array<std::uint32_t> arrivals_;       ///< the same, and where levels are dealt out
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
Cycle::Cycle(const Context& context, const std::vector<CycleLevel>& levels, const double* inverse,
             const CycleOptions& options, const CycleRanks& ranks)
    : impl_(std::make_unique<Impl>(context, levels, inverse, options, ranks)) {}
Cycle::~Cycle() = default;
void Cycle::apply(const double* x, double* y, Stream stream) { impl_->apply(x, y, stream); }
void Cycle::take_values(Stream stream) { impl_->take_values(stream); }
bool Cycle::may_be_captured() const { return impl_->info().may_be_captured; }
bool Cycle::has_lost_rank() const { return impl_->has_lost_rank(); }
void Cycle::lose() noexcept { impl_->lose(); }
CycleInfo Cycle::info() const { return impl_->info(); }

}  // namespace taskdag
