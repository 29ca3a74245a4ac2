// Cycles of multigrid on both backends, against the textbook's on the host, alone and as a preconditioner of CG.
#include "taskdag/cycle.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <set>
#include <string>

#include "krylov_fixture.hpp"
#include "measure.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

using Vector = std::vector<double>;

constexpr std::array kForms{CycleForm::cycle, CycleForm::additive, CycleForm::full, CycleForm::kaskade};

Vector product(const CsrMatrix& a, const Vector& x) {
  Vector y(static_cast<std::size_t>(a.rows));
  multiply(a.view(), x, y);
  return y;
}
void add(Vector& x, double factor, const Vector& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += factor * y[i];
}

/// A matrix of few rows with all its entries.
using Dense = std::vector<Vector>;
Dense dense_of(const CsrMatrix& a) {
  Dense d(static_cast<std::size_t>(a.rows), Vector(static_cast<std::size_t>(a.cols), 0.0));
  for (std::size_t i = 0; i < d.size(); ++i) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[i]); e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e)
      d[i][static_cast<std::size_t>(a.col_indices[e])] += a.values[e];
  }
  return d;
}
CsrMatrix sparse_of(const Dense& d, Index cols) {
  CsrMatrix a;
  a.rows = static_cast<Index>(d.size());
  a.cols = cols;
  for (const Vector& row : d) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row[j] == 0.0) continue;
      a.col_indices.push_back(static_cast<Index>(j));
      a.values.push_back(row[j]);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  return a;
}
Dense transposed(const Dense& d) {
  Dense t(d.front().size(), Vector(d.size()));
  for (std::size_t i = 0; i < d.size(); ++i) {
    for (std::size_t j = 0; j < t.size(); ++j) t[j][i] = d[i][j];
  }
  return t;
}
Dense times(const Dense& a, const Dense& b) {
  Dense c(a.size(), Vector(b.front().size(), 0.0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (a[i][k] != 0.0) add(c[i], a[i][k], b[k]);
    }
  }
  return c;
}
/// By Gauss and Jordan, without pivoting.
Dense inverse_of(Dense a) {
  Dense inverse(a.size(), Vector(a.size(), 0.0));
  for (std::size_t k = 0; k < a.size(); ++k) inverse[k][k] = 1.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double pivot = 1.0 / a[k][k];
    for (double& one : a[k]) one *= pivot;
    for (double& one : inverse[k]) one *= pivot;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (i == k) continue;
      const double factor = a[i][k];
      add(a[i], -factor, a[k]);
      add(inverse[i], -factor, inverse[k]);
    }
  }
  return inverse;
}

/// Piecewise linear interpolation of one dimension, from every other point.
Dense linear_interpolation(std::size_t fine) {
  const std::size_t coarse = (fine + 1) / 2;
  Dense p(fine, Vector(coarse, 0.0));
  for (std::size_t i = 0; i < fine; ++i) {
    p[i][i / 2] = i % 2 == 0 ? 1.0 : 0.5;
    if (i % 2 == 1 && i / 2 + 1 < coarse) p[i][i / 2 + 1] = 0.5;
  }
  return p;
}
/// Of a square grid.
Dense grid_interpolation(std::size_t side) {
  const Dense line = linear_interpolation(side);
  const std::size_t coarse = line.front().size();
  Dense p(side * side, Vector(coarse * coarse, 0.0));
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t j = 0; j < coarse * coarse; ++j) p[i][j] = line[i / side][j / coarse] * line[i % side][j % coarse];
  }
  return p;
}

struct HostLevel {
  CsrMatrix a;
  CsrMatrix interpolation;
  CsrMatrix restriction;
};
/// A 5-point grid with wind, so that transposed operators would be noticed, and coarser ones after Galerkin.
std::vector<HostLevel> grids(std::size_t side, std::size_t levels) {
  std::vector<HostLevel> result(levels);
  result[0].a = make_stencil(
      {.stencil = Stencil::five_point, .nx = static_cast<Index>(side), .ny = static_cast<Index>(side), .wind = 0.3});
  for (std::size_t l = 0; l + 1 < levels; ++l, side = (side + 1) / 2) {
    const Dense p = grid_interpolation(side);
    const Dense r = transposed(p);
    result[l].interpolation = sparse_of(p, static_cast<Index>(p.front().size()));
    result[l].restriction = sparse_of(r, static_cast<Index>(p.size()));
    const Dense coarse = times(r, times(dense_of(result[l].a), p));
    result[l + 1].a = sparse_of(coarse, static_cast<Index>(coarse.size()));
  }
  return result;
}

using Map = std::function<Vector(const Vector&)>;
struct HostSmoother {
  std::vector<SmootherStep> steps;
  Map m;
  std::vector<Vector> null_space = {};       ///< of A
  std::vector<Vector> left_null_space = {};  ///< of Aᵀ
};
/// x without these vectors, which are orthonormal.
Vector without(Vector x, const std::vector<Vector>& vectors) {
  for (const Vector& one : vectors) add(x, -test::dot(one, x), one);
  return x;
}
/// Waves on a line, which are orthonormal, from the constant one on.
std::vector<Vector> waves(std::size_t rows, int count) {
  std::vector<Vector> result;
  for (int k = 0; k < count; ++k) {
    Vector wave(rows);
    for (std::size_t i = 0; i < rows; ++i)
      wave[i] = std::sqrt((k == 0 ? 1.0 : 2.0) / static_cast<double>(rows)) *
                std::cos(k * std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(rows));
    result.push_back(wave);
  }
  return result;
}

/// The textbook's cycles.
struct Textbook {
  const std::vector<HostLevel>& levels;
  const std::vector<HostSmoother>& before;
  const std::vector<HostSmoother>& after;
  const Dense* inverse;
  int visits;

  static void smooth(const CsrMatrix& a, const HostSmoother& smoother, const Vector& b, Vector& x) {
    Vector d(b.size(), 0.0);
    bool first = true;
    const Vector rest = without(b, smoother.left_null_space);
    for (const SmootherStep& step : smoother.steps) {
      const Vector z = without(smoother.m(test::residual(a, rest, x)), smoother.null_space);
      for (std::size_t i = 0; i < d.size(); ++i) d[i] = step.step * z[i] + (first ? 0.0 : step.momentum * d[i]);
      add(x, 1.0, d);
      first = false;
    }
  }
  void coarsest(const Vector& b, Vector& x) const {
    if (inverse == nullptr) {
      x.assign(b.size(), 0.0);
      return smooth(levels.back().a, before.back(), b, x);
    }
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = test::dot((*inverse)[i], b);
  }
  [[nodiscard]] Vector zero(std::size_t l) const { return Vector(static_cast<std::size_t>(levels[l].a.rows), 0.0); }
  void cycle(std::size_t l, const Vector& b, Vector& x) const {
    if (l + 1 == levels.size()) return coarsest(b, x);
    smooth(levels[l].a, before[l], b, x);
    const Vector coarse = product(levels[l].restriction, test::residual(levels[l].a, b, x));
    Vector correction = zero(l + 1);
    const int count = l + 2 == levels.size() ? 1 : visits;
    for (int v = 0; v < count; ++v) cycle(l + 1, coarse, correction);
    add(x, 1.0, product(levels[l].interpolation, correction));
    smooth(levels[l].a, after[l], b, x);
  }
  [[nodiscard]] Vector apply(CycleForm form, int cycles, const Vector& b) const {
    std::vector<Vector> right{b};
    for (std::size_t l = 0; l + 1 < levels.size(); ++l) right.push_back(product(levels[l].restriction, right.back()));
    Vector x = zero(0);
    if (form == CycleForm::cycle) {
      for (int c = 0; c < cycles; ++c) cycle(0, b, x);
      return x;
    }
    for (std::size_t l = levels.size(); l-- > 0;) {
      Vector mine = zero(l);
      const bool from_coarser = l + 1 < levels.size();
      const Vector correction = from_coarser ? product(levels[l].interpolation, x) : mine;
      if (form != CycleForm::additive) mine = correction;
      const bool cycles_here = form == CycleForm::full || !from_coarser;
      cycles_here ? cycle(l, right[l], mine) : smooth(levels[l].a, before[l], right[l], mine);
      if (form == CycleForm::additive) add(mine, 1.0, correction);
      x = mine;
    }
    return x;
  }
};

enum class By { richardson, chebyshev, chebyshev_fourth, chebyshev_optimised, plain, factor };
constexpr std::array kSmoothers{By::richardson,          By::chebyshev, By::chebyshev_fourth,
                                By::chebyshev_optimised, By::plain,     By::factor};
std::string name_of(By by) {
  constexpr std::array names{"richardson",        "chebyshev", "fourth kind", "optimised fourth kind",
                             "no preconditioner", "factor"};
  return names.at(static_cast<std::size_t>(by));
}
std::vector<SmootherStep> steps_of(By by, int count) {
  switch (by) {
    case By::richardson:
      return richardson_steps(count, 0.8);
    case By::plain:
      return richardson_steps(count, 0.2);
    case By::chebyshev_fourth:
      return chebyshev_steps(count, KrylovChebyshev::fourth, 0.0, 2.1);
    case By::chebyshev_optimised:
      return chebyshev_steps(count, KrylovChebyshev::optimised_fourth, 0.0, 2.1);
    default:
      return chebyshev_steps(count, KrylovChebyshev::first, 0.2, 2.1);
  }
}

class CycleTest : public test::KrylovFixture {
 protected:
  /// A hierarchy where the backend has it, and the same on the host.
  class Hierarchy {
   public:
    Hierarchy(const CycleTest& test, std::vector<HostLevel> host, By by, int before, int after, bool has_inverse)
        : host_(std::move(host)) {
      for (const HostLevel& level : host_) {
        const bool coarsest = &level == &host_.back();
        systems_.push_back(test.system(level.a, with(by), FactorKind::ilu));
        if (!coarsest) {
          interpolations_.push_back(test.place(level.interpolation));
          restrictions_.push_back(test.place(level.restriction));
        }
        const Map m = test.preconditioner(*systems_.back(), with(by));
        before_.push_back({steps_of(by, before), m});
        after_.push_back({steps_of(by, after), m});
      }
      if (!has_inverse) return;
      dense_ = inverse_of(dense_of(host_.back().a));
      Vector rows;
      for (const Vector& row : dense_) rows.insert(rows.end(), row.begin(), row.end());
      inverse_.emplace(test.place(rows));
    }
    /// Gives each level but the coarsest so many vectors, on the left others than on the right; with the constant one
    /// there or not.
    void give_null_spaces(const CycleTest& test, int right, int left, bool constant) {
      for (std::size_t l = 0; l + 1 < host_.size(); ++l) {
        std::vector<Vector> all = waves(static_cast<std::size_t>(host_[l].a.rows), right + left + 1);
        if (!constant) all.erase(all.begin());
        const auto end = all.begin() + right;
        for (HostSmoother* one : {&before_[l], &after_[l]}) {
          one->null_space = {all.begin(), end};
          one->left_null_space = {end, end + left};
        }
        null_spaces_.push_back({constant && right > 0, {}});
        left_null_spaces_.emplace_back();
        for (std::size_t k = 0; k < static_cast<std::size_t>(right + left); ++k) {
          const bool on_left = k >= static_cast<std::size_t>(right);
          if (k == 0 && null_spaces_[l].constant) continue;
          vectors_.push_back(std::make_unique<test::Array<double>>(test.place(all[k])));
          (on_left ? left_null_spaces_ : null_spaces_)[l].vectors.push_back(vectors_.back()->data());
        }
      }
    }
    std::vector<CycleLevel> levels(int visits) {
      std::vector<CycleLevel> result;
      for (std::size_t l = 0; l < host_.size(); ++l) {
        LinearMap* const m = systems_[l]->map.get();
        CycleLevel level;
        level.a = systems_[l]->matrix.view();
        level.before = {before_[l].steps, m};
        level.after = {after_[l].steps, m};
        level.visits = visits;
        if (l < null_spaces_.size()) {
          level.null_space = null_spaces_[l];
          level.left_null_space = left_null_spaces_[l];
        }
        if (l + 1 < host_.size()) {
          level.interpolation = interpolations_[l].view();
          level.restriction = restrictions_[l].view();
        }
        result.push_back(level);
      }
      return result;
    }
    const double* inverse() { return inverse_ ? inverse_->data() : nullptr; }
    /// In place: a step from zero is the product of a number with what it is given, here as many numbers as the finest
    /// level has rows.
    void scale_inverse(const CycleTest& test, double factor) {
      ASSERT_EQ(systems_[0]->a.rows, static_cast<Index>(dense_.size() * dense_.size()));
      CycleLevel level;
      level.a = systems_[0]->matrix.view();
      level.before = {richardson_steps(1, factor), nullptr};
      Cycle product(test.context(), {level}, nullptr);
      product.apply(inverse_->data(), inverse_->data(), test.stream());
      for (Vector& row : dense_) {
        for (double& one : row) one *= factor;
      }
    }
    [[nodiscard]] Textbook textbook(int visits) const {
      return {host_, before_, after_, inverse_ ? &dense_ : nullptr, visits};
    }

   private:
    static test::With with(By by) {
      return by == By::plain ? test::With::nothing : by == By::factor ? test::With::factor : test::With::diagonal;
    }
    std::vector<HostLevel> host_;
    std::vector<std::unique_ptr<System>> systems_;
    std::vector<test::MatrixArrays> interpolations_;
    std::vector<test::MatrixArrays> restrictions_;
    std::vector<HostSmoother> before_;
    std::vector<HostSmoother> after_;
    std::vector<CycleNullSpace> null_spaces_;
    std::vector<CycleNullSpace> left_null_spaces_;
    std::vector<std::unique_ptr<test::Array<double>>> vectors_;
    Dense dense_;
    std::optional<test::Array<double>> inverse_;
  };

  Vector apply(LinearMap& map, const Vector& b) const {
    test::Array<double> rhs = place(b);
    test::Array<double> y = place(Vector(b.size(), std::nan("")));
    map.apply(rhs.data(), y.data(), stream());
    return y.read();
  }
  void expect_as_in_the_textbook(Hierarchy& hierarchy, const CycleOptions& options, int visits,
                                 std::size_t rows) const {
    Cycle cycle(context(), hierarchy.levels(visits), hierarchy.inverse(), options);
    const Vector b = test::right_hand_side(static_cast<Index>(rows));
    const Vector expected = hierarchy.textbook(visits).apply(options.form, options.cycles, b);
    const Vector found = apply(cycle, b);
    EXPECT_LT(test::difference(found, expected), 1e-12);
    EXPECT_EQ(apply(cycle, b), found) << "the bits of another application";
    CycleOptions apart = options;
    apart.together = false;
    Cycle by_stages(context(), hierarchy.levels(visits), hierarchy.inverse(), apart);
    EXPECT_LT(test::difference(apply(by_stages, b), found), 1e-12) << "a launch for each stage";
  }
};
INSTANTIATE_TEST_SUITE_P(On, CycleTest, testing::ValuesIn(test::krylov_places()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(CycleTest, IsTheTextbooksInEachFormWithEachSmoother) {
  for (const By by : kSmoothers) {
    Hierarchy hierarchy(*this, grids(13, 3), by, 2, 2, true);
    for (const CycleForm form : kForms) {
      for (const int visits : {1, 2}) {
        SCOPED_TRACE(name_of(by) + ", " + to_string(form) + ", visits " + std::to_string(visits));
        expect_as_in_the_textbook(hierarchy, {.form = form}, visits, 169);
      }
    }
  }
}

/// Nine are more than one pass takes.
TEST_P(CycleTest, RemovesNullSpaces) {
  struct Counts {
    int right;
    int left;
    bool constant;
  };
  for (const By by : {By::chebyshev, By::plain, By::factor}) {
    for (const Counts& counts : {Counts{1, 0, true}, {2, 1, true}, {2, 0, false}, {0, 1, true}, {9, 1, true}}) {
      Hierarchy hierarchy(*this, grids(13, 3), by, 2, 2, true);
      hierarchy.give_null_spaces(*this, counts.right, counts.left, counts.constant);
      for (const CycleForm form : kForms) {
        SCOPED_TRACE(name_of(by) + ", " + to_string(form) + ", vectors " + std::to_string(counts.right) + " and " +
                     std::to_string(counts.left));
        expect_as_in_the_textbook(hierarchy, {.form = form}, 2, 169);
      }
    }
  }
}

TEST_P(CycleTest, HasAnyNumberOfSteps) {
  for (const int before : {0, 1, 2, 3}) {
    for (const int after : {0, 1, 2}) {
      SCOPED_TRACE("steps " + std::to_string(before) + " and " + std::to_string(after));
      Hierarchy hierarchy(*this, grids(9, 3), By::chebyshev, before, after, true);
      for (const CycleForm form : kForms) expect_as_in_the_textbook(hierarchy, {.form = form}, 2, 81);
    }
  }
}

TEST_P(CycleTest, IsRepeatedInAnApplication) {
  for (const By by : {By::chebyshev, By::factor}) {
    Hierarchy hierarchy(*this, grids(9, 3), by, 1, 2, true);
    for (const int cycles : {2, 3}) expect_as_in_the_textbook(hierarchy, {.cycles = cycles}, 1, 81);
  }
}

TEST_P(CycleTest, SmoothsTheCoarsestLevelWhereItHasNoInverse) {
  for (const By by : {By::chebyshev, By::factor}) {
    Hierarchy hierarchy(*this, grids(9, 2), by, 3, 1, false);
    for (const CycleForm form : kForms) expect_as_in_the_textbook(hierarchy, {.form = form}, 1, 81);
  }
}

TEST_P(CycleTest, OfOneLevelIsWhatIsDoneOnTheCoarsest) {
  Hierarchy solved(*this, grids(5, 1), By::richardson, 2, 2, true);
  Hierarchy smoothed(*this, grids(5, 1), By::richardson, 2, 2, false);
  for (const CycleForm form : kForms) {
    expect_as_in_the_textbook(solved, {.form = form}, 1, 25);
    expect_as_in_the_textbook(smoothed, {.form = form}, 1, 25);
  }
}

/// A stage goes through its rows in several turns then, and the next one in the opposite order.
TEST_P(CycleTest, HasMoreRowsThanADeviceAtATime) {
  constexpr Index side = 600;
  constexpr Index together = 1000;
  std::vector<HostLevel> levels(2);
  levels[0].a = make_stencil({.stencil = Stencil::five_point, .nx = side, .ny = side, .wind = 0.3});
  levels[1].a =
      make_stencil({.stencil = Stencil::five_point, .nx = side * side / together / 20, .ny = 20, .wind = 0.3});
  CsrMatrix& p = levels[0].interpolation;
  CsrMatrix& r = levels[0].restriction;
  p.rows = r.cols = side * side;
  p.cols = r.rows = side * side / together;
  for (Index i = 0; i < p.rows; ++i) {
    p.col_indices.push_back(i / together);
    r.col_indices.push_back(i);
    p.row_offsets.push_back(i + 1);
    if ((i + 1) % together == 0) r.row_offsets.push_back(i + 1);
  }
  p.values = r.values = Vector(static_cast<std::size_t>(p.rows), 0.05);
  Hierarchy hierarchy(*this, levels, By::chebyshev, 3, 2, false);
  expect_as_in_the_textbook(hierarchy, {}, 1, static_cast<std::size_t>(p.rows));
}

/// Nodes of three unknowns: operator, interpolation and restriction have rows in threes with the same columns.
TEST_P(CycleTest, TakesRowsWithTheSameColumnsTogether) {
  constexpr Index side = 17;
  constexpr Index unknowns = 3;
  constexpr Index coarse_nodes = 500;
  constexpr Index nodes_of_row = 24;
  std::vector<HostLevel> levels(2);
  levels[0].a = test::cube_of_nodes(side, unknowns);
  levels[1].a = make_stencil(
      {.stencil = Stencil::twenty_seven_point, .nx = 5, .ny = 10, .nz = 10, .unknowns_per_node = unknowns});
  CsrMatrix& p = levels[0].interpolation;
  p.rows = levels[0].a.rows;
  p.cols = levels[1].a.rows;
  for (Index i = 0; i < p.rows; ++i) {
    const Index first = (i / unknowns * 7) % (coarse_nodes - nodes_of_row);
    for (Index j = first * unknowns; j < (first + nodes_of_row) * unknowns; ++j) {
      p.col_indices.push_back(j);
      p.values.push_back(0.01 + 0.001 * static_cast<double>((i + j) % 7));
    }
    p.row_offsets.push_back(static_cast<Offset>(p.values.size()));
  }
  ASSERT_GT(p.values.size(), 1000000U);
  levels[0].restriction = test::transposed(p);
  Hierarchy hierarchy(*this, levels, By::chebyshev, 3, 2, false);
  expect_as_in_the_textbook(hierarchy, {}, 1, static_cast<std::size_t>(p.rows));
  HostLevel& finest = levels[0];
  for (CsrMatrix* const one : {&finest.a, &finest.interpolation, &finest.restriction})
    *one = test::with_a_row_of_its_own(*one);
  Hierarchy by_rows(*this, levels, By::chebyshev, 3, 2, false);
  expect_as_in_the_textbook(by_rows, {}, 1, static_cast<std::size_t>(p.rows));
  const auto bytes = [&](Hierarchy& of) {
    return Cycle(context(), of.levels(1), of.inverse(), {}).info().bytes_of_cycle;
  };
  EXPECT_LT(bytes(hierarchy) + 1e6, bytes(by_rows));
}

TEST_P(CycleTest, PreconditionsAMethodAndBeatsItsSmoother) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 33, .ny = 33});
  std::vector<HostLevel> levels = grids(33, 4);
  levels[0].a = a;
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    const Dense p = dense_of(levels[l].interpolation);
    const Dense coarse = times(transposed(p), times(dense_of(levels[l].a), p));
    levels[l + 1].a = sparse_of(coarse, static_cast<Index>(coarse.size()));
  }
  Hierarchy hierarchy(*this, levels, By::chebyshev, 2, 2, true);
  Cycle cycle(context(), hierarchy.levels(1), hierarchy.inverse());
  const auto system = this->system(a, test::With::diagonal);
  Krylov alone = krylov(*system, {});
  Krylov with(context(), system->matrix.view(), &cycle, {}, stream());
  const Vector b = test::right_hand_side(1089);
  const KrylovTolerances tolerances{.relative = 1e-9};
  const Solved by_smoother = solve(alone, b, tolerances);
  const Solved by_cycle = solve(with, b, tolerances);
  EXPECT_TRUE(by_cycle.outcome.converged());
  EXPECT_LT(test::relative_residual(a, b, by_cycle.x), 1e-7);
  EXPECT_LT(4 * by_cycle.outcome.iterations, by_smoother.outcome.iterations);
  EXPECT_EQ(solve(with, b, tolerances).x, by_cycle.x);
}

TEST_P(CycleTest, HasTheSpansOfItsStagesInATrace) {
  Hierarchy hierarchy(*this, grids(33, 4), By::chebyshev, 2, 2, true);
  Cycle cycle(context(), hierarchy.levels(1), hierarchy.inverse());
  Krylov k(context(), hierarchy.levels(1).front().a, &cycle, {.method = KrylovMethod::gmres}, stream());
  const Vector b = test::right_hand_side(1089);
  const Solved untraced = solve(k, b, {});
  test::Array<double> rhs = place(b);
  test::Array<double> x = place(Vector(b.size(), 0.0));
  engine::Report report;
  k.begin(rhs.data(), x.data(), false, {}, stream());
  k.trace_iteration(report, stream());
  k.go_on(KrylovTolerances{}.iterations, stream());
  k.end(stream());
  EXPECT_EQ(x.read(), untraced.x);
  std::set<std::string> names;
  for (const auto& type : report.types) names.insert(type.name);
  EXPECT_TRUE(names.contains("gmres product"));
  // Levels that are small are one stage on a GPU.
  EXPECT_EQ(names.contains("residual"), GetParam().backend == Backend::cuda);
  for (const char* const rows : {"1089", "289", "81"})
    EXPECT_EQ(names.contains("residual, " + std::string(rows) + " tasks"), GetParam().backend == Backend::host);
}

TEST_P(CycleTest, GoesByTheValuesOfNow) {
  Hierarchy hierarchy(*this, grids(9, 2), By::plain, 1, 1, true);
  Cycle cycle(context(), hierarchy.levels(1), hierarchy.inverse());
  const Vector b = test::right_hand_side(81);
  Vector twice = b;
  add(twice, 1.0, b);
  Vector expected = apply(cycle, b);
  for (double& one : expected) one *= 2.0;
  EXPECT_LT(test::difference(apply(cycle, twice), expected), 1e-13);
  const Vector bad(81, std::nan(""));
  EXPECT_TRUE(std::isnan(apply(cycle, bad)[40]));
}

TEST_P(CycleTest, TakesOtherValuesWhenTold) {
  for (const int visits : {1, 2}) {
    Hierarchy hierarchy(*this, grids(9, 3), By::chebyshev, 2, 2, true);
    Cycle cycle(context(), hierarchy.levels(visits), hierarchy.inverse());
    const Vector b = test::right_hand_side(81);
    const Vector before = apply(cycle, b);
    hierarchy.scale_inverse(*this, 0.5);
    cycle.take_values(stream());
    const Vector found = apply(cycle, b);
    EXPECT_LT(test::difference(found, hierarchy.textbook(visits).apply(CycleForm::cycle, 1, b)), 1e-12);
    EXPECT_GT(test::difference(found, before), 1e-3);
  }
}

TEST_P(CycleTest, SaysWhatItIsMadeOf) {
  Hierarchy hierarchy(*this, grids(9, 3), By::chebyshev, 2, 2, true);
  const Cycle cycle(context(), hierarchy.levels(1), hierarchy.inverse(), {.together = false});
  // Of each level but the coarsest two steps, the residual, the restriction, the interpolation and two steps; the
  // coarsest solve. Below the finest level the first step is part of the restriction; on CUDA the finest level's first
  // two are one stage.
  const bool cuda = GetParam().backend == Backend::cuda;
  EXPECT_EQ(cycle.info().stages, (cuda ? 0 : 1) + 2 * 6 + 1);
  EXPECT_EQ(cycle.info().calls, 0);
  EXPECT_TRUE(cycle.info().may_be_captured);
  EXPECT_GT(cycle.info().bytes_of_cycle, 8.0 * 5 * 81 * 5);
  // On CUDA all of the middle level and the coarsest solve are one product.
  const Cycle together(context(), hierarchy.levels(1), hierarchy.inverse());
  EXPECT_EQ(together.info().stages, cuda ? 6 + 1 : 1 + 2 * 6 + 1);
  Hierarchy by_factor(*this, grids(9, 3), By::factor, 1, 1, true);
  EXPECT_EQ(Cycle(context(), by_factor.levels(1), by_factor.inverse()).info().calls, 4);
}

TEST_P(CycleTest, RefusesSizesThatDoNotFit) {
  Hierarchy hierarchy(*this, grids(9, 3), By::richardson, 1, 1, true);
  const auto refused = [&](const auto& spoil, CycleOptions options = {}) {
    std::vector<CycleLevel> levels = hierarchy.levels(1);
    spoil(levels);
    EXPECT_THROW(Cycle(context(), levels, hierarchy.inverse(), options), InvalidInput);
  };
  refused([](auto& levels) { levels.clear(); });
  refused([](auto& levels) { levels[0].interpolation = levels[1].interpolation; });
  refused([](auto& levels) { std::swap(levels[0].interpolation, levels[0].restriction); });
  refused([](auto& levels) { levels[1].visits = 0; });
  refused([](auto& levels) { levels[1].a = levels[0].interpolation; });
  refused([](auto&) {}, {.cycles = 0});
  refused([](auto&) {}, {.form = CycleForm::full, .cycles = 2});
  EXPECT_THROW(chebyshev_steps(2, KrylovChebyshev::first, 0.0, 1.0), InvalidInput);
  EXPECT_THROW(chebyshev_steps(2, KrylovChebyshev::fourth, 0.0, 0.0), InvalidInput);
  EXPECT_THROW(chebyshev_steps(17, KrylovChebyshev::optimised_fourth, 0.0, 1.0), InvalidInput);
}

/// What steps from zero leave of an eigenvector with this eigenvalue.
double left_by(const std::vector<SmootherStep>& steps, double eigenvalue) {
  double left = 1.0;
  double change = 0.0;
  for (const SmootherStep& step : steps) {
    change = step.step * eigenvalue * left + step.momentum * change;
    left -= change;
  }
  return left;
}

/// Lottes' form: the changes of the fourth kind with weights. He gives these for degrees up to 16.
TEST(OptimisedPolynomial, IsLottes) {
  const std::vector<std::vector<double>> all_weights = {
      {1.125}, {1.02387287570313, 1.26408905371085}, {1.00842544782028, 1.08867839208730, 1.33753125909618}};
  for (const std::vector<double>& weights : all_weights) {
    const auto degree = static_cast<int>(weights.size());
    const auto optimised = chebyshev_steps(degree, KrylovChebyshev::optimised_fourth, 0.0, 2.0);
    const auto fourth = chebyshev_steps(degree, KrylovChebyshev::fourth, 0.0, 2.0);
    for (int i = 0; i <= 50; ++i) {
      const double eigenvalue = 0.04 * i;
      double expected = 1.0;
      for (std::size_t k = 0; k < weights.size(); ++k) {
        const auto begin = fourth.begin();
        const auto end = begin + static_cast<std::ptrdiff_t>(k);
        expected -= weights[k] * (left_by({begin, end}, eigenvalue) - left_by({begin, end + 1}, eigenvalue));
      }
      EXPECT_NEAR(left_by(optimised, eigenvalue), expected, 1e-13) << degree << ", " << eigenvalue;
    }
  }
}

/// λ p(λ)² / (1 − p(λ)²), which a V-cycle's bound grows with, is as large at each of its maxima as where λ = 0; that of
/// the fourth kind is larger.
TEST(OptimisedPolynomial, HasTheLeastBound) {
  const auto largest_of = [](const std::vector<SmootherStep>& steps) {
    double largest = 0.0;
    for (int i = 1; i <= 20000; ++i) {
      const double eigenvalue = i / 20000.0;
      const double p = left_by(steps, eigenvalue);
      largest = std::max(largest, eigenvalue * p * p / (1.0 - p * p));
    }
    return largest;
  };
  for (int degree = 1; degree <= 16; ++degree) {
    const auto steps = chebyshev_steps(degree, KrylovChebyshev::optimised_fourth, 0.0, 1.0);
    double slope = 0.0;
    for (const SmootherStep& step : steps) slope += step.step;
    const double at_zero = 0.5 / slope;
    EXPECT_NEAR(largest_of(steps), at_zero, 1e-6 * at_zero) << degree;
    EXPECT_GT(largest_of(chebyshev_steps(degree, KrylovChebyshev::fourth, 0.0, 1.0)), 1.1 * at_zero) << degree;
  }
}

}  // namespace
}  // namespace taskdag
