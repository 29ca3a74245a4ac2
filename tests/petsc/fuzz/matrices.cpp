#include "matrices.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace taskdag::test {
namespace {

enum class Values { dominant, indefinite, small_integers, spread, denormal, not_finite };

double value(Random& random, Values kind) {
  switch (kind) {
    case Values::dominant:
    case Values::indefinite:
      return random.symmetric();
    case Values::small_integers:
      return random.whole(-2, 2);
    case Values::spread:
      return std::copysign(std::pow(10.0, 300.0 * random.symmetric()), random.symmetric());
    case Values::denormal:
      return random.chance(0.5) ? random.symmetric() : random.whole(-9, 9) * std::numeric_limits<double>::denorm_min();
    case Values::not_finite:
      if (random.chance(0.03)) return std::numeric_limits<double>::quiet_NaN();
      return random.chance(0.03) ? std::numeric_limits<double>::infinity() : random.symmetric();
  }
  return 0.0;
}

Values random_kind(Random& random) {
  using enum Values;
  return random.one_of({dominant, dominant, dominant, dominant, indefinite, indefinite, small_integers, small_integers,
                        spread, denormal, not_finite});
}

using Places = std::vector<std::pair<PetscInt, PetscInt>>;

Places random_places(Random& random, PetscInt n) {
  Places places;
  const int form = random.whole(0, 3);
  const double density = random.one_of({0.02, 0.1, 0.3, 1.0});
  const int band = random.whole(1, 9);
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt j = 0; j < n; ++j) {
      if (i == j) continue;
      const PetscInt distance = std::abs(i - j);
      const bool inside = form == 0 || (form == 1 && distance <= band) ||
                          (form == 2 && (distance == 1 || distance == band)) || (form == 3 && distance % 2 == 1);
      if (inside && (form == 2 || random.chance(density))) places.emplace_back(i, j);
    }
  }
  if (n > 0 && random.chance(0.2)) {  // a dense row
    const PetscInt row = random.whole(0, n - 1);
    for (PetscInt j = 0; j < n; ++j) places.emplace_back(row, j);
  }
  if (n > 0 && random.chance(0.2)) {  // a dense column
    const PetscInt column = random.whole(0, n - 1);
    for (PetscInt i = 0; i < n; ++i) places.emplace_back(i, column);
  }
  return places;
}

void set_values(Random& random, RandomMatrix& matrix) {
  const Values kind = random_kind(random);
  matrix.extreme = kind == Values::spread || kind == Values::denormal || kind == Values::not_finite;
  for (auto& [i, j, v] : matrix.entries) v = value(random, kind);
  if (kind == Values::dominant) {
    std::vector<double> sums(static_cast<std::size_t>(matrix.rows), 1.0);
    for (const auto& [i, j, v] : matrix.entries) {
      sums[static_cast<std::size_t>(i)] += std::abs(v);
      sums[static_cast<std::size_t>(j)] += std::abs(v);
    }
    for (auto& [i, j, v] : matrix.entries)
      if (i == j) v = sums[static_cast<std::size_t>(i)];
  }
  if (!matrix.symmetric) return;
  // The same number at both places: entries stand in pairs, or on the diagonal.
  for (std::size_t k = 1; k < matrix.entries.size(); ++k) {
    const auto& [i, j, v] = matrix.entries[k - 1];
    auto& [p, q, w] = matrix.entries[k];
    if (i == q && j == p && i != j && k % 2 == 1) w = v;
  }
}

}  // namespace

void must(PetscErrorCode code) {
  if (static_cast<int>(code) != 0) throw std::runtime_error("PETSc's error " + std::to_string(static_cast<int>(code)));
}

PetscInt random_rows(Random& random) { return random.chance(0.5) ? random.whole(0, 12) : random.whole(0, 60); }

RandomMatrix random_matrix(Random& random, PetscInt rows) {
  RandomMatrix matrix;
  matrix.rows = rows;
  matrix.symmetric = random.chance(0.4);
  const PetscInt n = matrix.rows;
  std::vector<PetscInt> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  if (random.chance(0.3)) {
    for (PetscInt i = n - 1; i > 0; --i)
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.whole(0, i))]);
  }
  const PetscInt empty = n > 0 && random.chance(0.05) ? random.whole(0, n - 1) : -1;
  const auto add = [&](PetscInt i, PetscInt j) {
    if (i == empty || (matrix.symmetric && j == empty)) return;
    matrix.entries.emplace_back(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)], 0.0);
  };
  for (const auto& [i, j] : random_places(random, n)) {
    if (matrix.symmetric && i >= j) continue;
    add(i, j);
    if (matrix.symmetric) add(j, i);
  }
  if (!matrix.symmetric && random.chance(0.2)) {  // places that are named twice
    const std::size_t count = matrix.entries.size();
    for (std::size_t k = 0; k < count; k += 3) matrix.entries.push_back(matrix.entries[k]);
  }
  const double missing = random.chance(0.1) ? 0.1 : 0.0;
  for (PetscInt i = 0; i < n; ++i)
    if (!random.chance(missing)) add(i, i);
  set_values(random, matrix);
  return matrix;
}

void renew_values(Random& random, RandomMatrix& matrix) { set_values(random, matrix); }

bool lacks_dominance(const RandomMatrix& matrix) {
  std::map<std::pair<PetscInt, PetscInt>, double> entries;
  for (const auto& [i, j, v] : matrix.entries) entries[{i, j}] += v;
  std::vector<double> sums(static_cast<std::size_t>(matrix.rows), 0.0);
  for (const auto& [place, v] : entries)
    sums[static_cast<std::size_t>(place.first)] += place.first == place.second ? -v : std::abs(v);
  return std::any_of(sums.begin(), sums.end(), [](double sum) { return sum > 0.0; });
}

OwnedMat to_petsc(const RandomMatrix& matrix, double wobble) {
  OwnedMat a;
  Random random(17);
  must(MatCreateSeqAIJ(PETSC_COMM_SELF, matrix.rows, matrix.rows, 0, nullptr, a.out()));
  // As MatSetValues() has it, without its need to know how many come.
  std::vector<PetscInt> rows;
  std::vector<PetscInt> columns;
  std::vector<double> values;
  for (const auto& [i, j, v] : matrix.entries) {
    rows.push_back(i);
    columns.push_back(j);
    values.push_back(v * (1.0 + wobble * std::numeric_limits<double>::epsilon() * random.symmetric()));
  }
  must(MatSetPreallocationCOO(a, static_cast<PetscCount>(rows.size()), rows.data(), columns.data()));
  must(MatSetValuesCOO(a, values.data(), INSERT_VALUES));
  if (matrix.symmetric && wobble == 0.0) must(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
  return a;
}

void complete_blocks(RandomMatrix& matrix, PetscInt block) {
  std::set<std::pair<PetscInt, PetscInt>> there;
  std::set<std::pair<PetscInt, PetscInt>> blocks;
  for (const auto& [i, j, v] : matrix.entries) {
    there.emplace(i, j);
    blocks.emplace(i / block, j / block);
  }
  for (const auto& [first, second] : blocks) {
    for (PetscInt i = first * block; i < (first + 1) * block; ++i) {
      for (PetscInt j = second * block; j < (second + 1) * block; ++j) {
        if (!there.contains({i, j})) matrix.entries.emplace_back(i, j, 0.0);
      }
    }
  }
}

}  // namespace taskdag::test
