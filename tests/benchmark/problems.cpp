#include "problems.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <set>
#include <utility>

#include "matrix_files.hpp"
#include "taskdag/error.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag::benchmark {
namespace {

/// L + Lᵀ with a dominant diagonal: a matrix whose ILU(0) has the random triangle's dependencies and stays tame.
CsrMatrix symmetrised(const CsrMatrix& lower) {
  CsrMatrix full;
  const auto n = static_cast<std::size_t>(lower.rows);
  full.rows = full.cols = lower.rows;
  std::vector<Offset> length(n + 1, 0);
  const auto each = [&](const auto& visit) {
    for (std::size_t i = 0; i < n; ++i) {
      for (auto e = static_cast<std::size_t>(lower.row_offsets[i]);
           e < static_cast<std::size_t>(lower.row_offsets[i + 1]); ++e) {
        visit(i, static_cast<std::size_t>(lower.col_indices[e]), lower.values[e]);
      }
    }
  };
  each([&](std::size_t i, std::size_t j, double) {
    ++length[i];
    if (i != j) ++length[j];
  });
  full.row_offsets.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) full.row_offsets[i + 1] = full.row_offsets[i] + length[i];
  full.col_indices.resize(static_cast<std::size_t>(full.row_offsets[n]));
  full.values.resize(full.col_indices.size());
  std::vector<Offset> next(full.row_offsets.begin(), full.row_offsets.end() - 1);
  std::vector<double> sum(n, 0.0);
  const auto put = [&](std::size_t i, std::size_t j, double value) {
    const auto at = static_cast<std::size_t>(next[i]++);
    full.col_indices[at] = static_cast<Index>(j);
    full.values[at] = value;
    if (i != j) sum[i] += std::abs(value);
  };
  // Rows ascend, so row i gets its lower entries first, then the mirrored ones of later rows.
  each([&](std::size_t i, std::size_t j, double value) {
    put(i, j, value);
    if (i != j) put(j, i, value);
  });
  for (std::size_t i = 0; i < n; ++i) {
    for (auto e = static_cast<std::size_t>(full.row_offsets[i]); e < static_cast<std::size_t>(full.row_offsets[i + 1]);
         ++e) {
      if (static_cast<std::size_t>(full.col_indices[e]) == i) full.values[e] = sum[i] + 1.0;
    }
  }
  return full;
}

CsrMatrix with_full_diagonal(CsrMatrix a, bool& repaired) {
  repaired = false;
  CsrMatrix result;
  result.rows = a.rows;
  result.cols = a.cols;
  result.row_offsets = {0};
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    double sum = 1.0;
    bool placed = false;
    const auto row = static_cast<Index>(i);
    const auto begin = static_cast<std::size_t>(a.row_offsets[i]);
    const auto end = static_cast<std::size_t>(a.row_offsets[i + 1]);
    for (std::size_t e = begin; e < end; ++e) sum += std::abs(a.values[e]);
    const auto put = [&](Index j, double value) {
      result.col_indices.push_back(j);
      result.values.push_back(value);
    };
    for (std::size_t e = begin; e < end; ++e) {
      if (!placed && a.col_indices[e] > row) {
        put(row, sum);
        placed = repaired = true;
      }
      if (a.col_indices[e] == row) {
        placed = true;
        if (a.values[e] == 0.0) repaired = true;
        put(row, a.values[e] == 0.0 ? sum : a.values[e]);
      } else {
        put(a.col_indices[e], a.values[e]);
      }
    }
    if (!placed) {
      put(row, sum);
      repaired = true;
    }
    result.row_offsets.push_back(static_cast<Offset>(result.col_indices.size()));
  }
  return result;
}

/// Whether ILU(0) meets neither a zero pivot nor anything that is not finite.
bool has_factor(const CsrMatrix& a) {
  FactorOptions options;
  options.zero_pivot = 0.0;
  Factorization factorization(Context::create({Backend::host, 1, -1}), a.pattern(), MemorySpace::host, options);
  return factorization.factor(a.values.data(), MemorySpace::host).outcome == FactorOutcome::success;
}

void make_dominant(CsrMatrix& a) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    double sum = 1.0;
    std::size_t diagonal = 0;
    for (auto e = static_cast<std::size_t>(a.row_offsets[i]); e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e) {
      sum += std::abs(a.values[e]);
      if (static_cast<std::size_t>(a.col_indices[e]) == i) diagonal = e;
    }
    a.values[diagonal] = sum;
  }
}

/// Symmetric, strictly diagonally dominant, with so many entries at random off the diagonal, as MHive's A3 to A6: the
/// same matrix on every machine.
CsrMatrix random_dominant(Index rows, Offset entries, std::uint64_t seed) {
  std::mt19937_64 random(seed);  // and no distribution of the library's: those differ
  std::set<std::pair<Index, Index>> below;
  while (static_cast<Offset>(2 * below.size()) < entries - rows) {
    const auto i = static_cast<Index>(random() % static_cast<std::uint64_t>(rows));
    const auto j = static_cast<Index>(random() % static_cast<std::uint64_t>(rows));
    if (i != j) below.emplace(std::max(i, j), std::min(i, j));
  }
  CsrMatrix lower{rows, rows, {0}, {}, {}};
  auto next = below.begin();
  for (Index i = 0; i < rows; ++i) {
    for (; next != below.end() && next->first == i; ++next) {
      lower.col_indices.push_back(next->second);
      lower.values.push_back(static_cast<double>(random() >> 11U) / static_cast<double>(1ULL << 52U) - 1.0);
    }
    lower.col_indices.push_back(i);
    lower.values.push_back(1.0);
    lower.row_offsets.push_back(static_cast<Offset>(lower.col_indices.size()));
  }
  return symmetrised(lower);
}

/// A tridiagonal matrix with one row of 100,000 entries.
CsrMatrix heavy_row() {
  constexpr Index kRows = 200000;
  constexpr Index kHeavy = 1000;
  CsrMatrix a{kRows, kRows, {0}, {}, {}};
  for (Index i = 0; i < kRows; ++i) {
    const Index first = i == kHeavy ? 0 : std::max(i - 1, 0);
    const Index last = i == kHeavy ? 99999 : std::min(i + 1, kRows - 1);
    for (Index j = first; j <= last; ++j) {
      a.col_indices.push_back(j);
      a.values.push_back(i != j ? -1.0 : i == kHeavy ? 100000.0 : 4.0);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

// The smoke test's problems.
constexpr const char* kSmall[] = {"5-point 40^2", "27-point 2 unknowns 8^3"};

// Files above this size belong to the set that the targets are stated on.
constexpr Index kSharedRows = 20000;

struct Generated {
  std::string name;
  ProblemSet set;
  std::function<CsrMatrix()> make;
};

std::vector<Generated> generated() {
  using enum Stencil;
  const auto stencil = [](StencilSpec spec) { return [spec] { return make_stencil(spec); }; };
  const ProblemSet table = ProblemSet::table;
  const ProblemSet other = ProblemSet::other;
  const ProblemSet large = ProblemSet::large;
  const ProblemSet shapes = ProblemSet::shapes;
  const ProblemSet random = ProblemSet::random;
  return {
      {"5-point 250^2", table, stencil({five_point, 250, 250, 1, 1, 0.0})},
      {"5-point 1000^2", table, stencil({five_point, 1000, 1000, 1, 1, 0.0})},
      {"7-point 100^3", table, stencil({seven_point, 100, 100, 100, 1, 0.0})},
      {"27-point 80^3", table, stencil({twenty_seven_point, 80, 80, 80, 1, 0.0})},
      {"27-point 3 unknowns 36^3", table, stencil({twenty_seven_point, 36, 36, 36, 3, 0.0})},
      {"Erdos-Renyi 100k 1M", table, [] { return symmetrised(make_erdos_renyi_lower(100000, 2e-4, 1)); }},
      {"Erdos-Renyi 100k 5M", table, [] { return symmetrised(make_erdos_renyi_lower(100000, 1e-3, 2)); }},
      {"narrow band p.14 b10", table, [] { return symmetrised(make_narrow_band_lower(100000, 0.14, 10, 3)); }},
      {"7-point 100^3 wind", other, stencil({seven_point, 100, 100, 100, 1, 0.5})},
      {"bidiagonal 100k", other, stencil({five_point, 100000, 1, 1, 1, 0.0})},  // a chain: one row a level
      {"5-point 440^2", other, stencil({five_point, 440, 440, 1, 1, 0.0})},
      {"7-point 50^3", other, stencil({seven_point, 50, 50, 50, 1, 0.0})},
      {"heavy row 200k", other, heavy_row},
      {"R-MAT 2^15", other, [] { return make_rmat({.scale = 15}); }},
      {"7-point 160^3", large, stencil({seven_point, 160, 160, 160, 1, 0.0})},
      {"7-point 200^3", large, stencil({seven_point, 200, 200, 200, 1, 0.0})},
      {"27-point 120^3", large, stencil({twenty_seven_point, 120, 120, 120, 1, 0.0})},
      {"5-point 2000^2", large, stencil({five_point, 2000, 2000, 1, 1, 0.0})},
      {"5-point 3000^2", large, stencil({five_point, 3000, 3000, 1, 1, 0.0})},
      {"7-point 30^3", shapes, stencil({seven_point, 30, 30, 30, 1, 0.0})},
      {"7-point 60^3", shapes, stencil({seven_point, 60, 60, 60, 1, 0.0})},
      {"7-point 80^3", shapes, stencil({seven_point, 80, 80, 80, 1, 0.0})},
      {"7-point 100 x 100 x 30", shapes, stencil({seven_point, 100, 100, 30, 1, 0.0})},
      {"7-point 200 x 200 x 10", shapes, stencil({seven_point, 200, 200, 10, 1, 0.0})},
      {"7-point 2 unknowns 60^3", shapes, stencil({seven_point, 60, 60, 60, 2, 0.0})},
      {"27-point 30^3", shapes, stencil({twenty_seven_point, 30, 30, 30, 1, 0.0})},
      {"27-point 60^3", shapes, stencil({twenty_seven_point, 60, 60, 60, 1, 0.0})},
      {"27-point 3 unknowns 20^3", shapes, stencil({twenty_seven_point, 20, 20, 20, 3, 0.0})},
      {"27-point 3 unknowns 60^3", shapes, stencil({twenty_seven_point, 60, 60, 60, 3, 0.0})},
      {"27-point 20 x 100 x 100", shapes, stencil({twenty_seven_point, 20, 100, 100, 1, 0.0})},
      {"Erdos-Renyi 20k 200k", shapes, [] { return symmetrised(make_erdos_renyi_lower(20000, 1e-3, 6)); }},
      {"Erdos-Renyi 200k 1M", shapes, [] { return symmetrised(make_erdos_renyi_lower(200000, 5e-5, 4)); }},
      {"Erdos-Renyi 400k 800k", shapes, [] { return symmetrised(make_erdos_renyi_lower(400000, 1e-5, 5)); }},
      {"wide band p.0015 b3000", shapes, [] { return symmetrised(make_narrow_band_lower(300000, 0.0015, 3000, 7)); }},
      {"dominant 10k 110k", random, [] { return random_dominant(10000, 109976, 3); }},
      {"dominant 10k 210k", random, [] { return random_dominant(10000, 209876, 4); }},
      {"dominant 32k 432k", random, [] { return random_dominant(32000, 431942, 6); }},
      {"dominant 20k 540k", random, [] { return random_dominant(20000, 539824, 5); }},
      {kSmall[0], ProblemSet::smoke, stencil({five_point, 40, 40, 1, 1, 0.0})},
      {kSmall[1], ProblemSet::smoke, stencil({twenty_seven_point, 8, 8, 8, 2, 0.0})},
  };
}

// Wide, L-shape, parallel, in turns, the quick ones first: a run that ends early has some of each.
constexpr const char* kByClass[] = {"7-point 50^3",
                                    "5-point 250^2",
                                    "7-point 30^3",
                                    "7-point 60^3",
                                    "finan512_lapI",
                                    "Erdos-Renyi 20k 200k",
                                    "7-point 100 x 100 x 30",
                                    "luxembourg_osm",
                                    "ca-CondMat",
                                    "7-point 200 x 200 x 10",
                                    "delaunay_n16",
                                    "cage11",
                                    "7-point 2 unknowns 60^3",
                                    "narrow band p.14 b10",
                                    "Andrews",
                                    "7-point 80^3",
                                    "5-point 440^2",
                                    "Erdos-Renyi 100k 1M",
                                    "7-point 100^3",
                                    "R-MAT 2^15",
                                    "Erdos-Renyi 200k 1M",
                                    "27-point 60^3",
                                    "wide band p.0015 b3000",
                                    "Erdos-Renyi 400k 800k",
                                    "27-point 20 x 100 x 100",
                                    "parabolic_fem_rebuilt",
                                    "27-point 3 unknowns 36^3",
                                    "Erdos-Renyi 100k 5M"};

constexpr const char* kStudied[] = {"7-point 100^3",       "7-point 200 x 200 x 10",   "5-point 250^2",
                                    "5-point 1000^2",      "27-point 3 unknowns 36^3", "Erdos-Renyi 100k 5M",
                                    "Erdos-Renyi 100k 1M", "Erdos-Renyi 400k 800k"};

bool is_table_file(const std::string& stem) { return stem == "G3_circuit" || stem == "Andrews"; }

std::filesystem::path file_of(const std::string& stem) {
  if (const auto path = find_matrix_file(stem)) return *path;
  throw InvalidInput(stem + " is no generated problem, and TASKDAG_MATRIX_DIR has no " + stem + ".mtx[.xz|.gz]");
}

}  // namespace

const char* to_string(ProblemSet set) {
  switch (set) {
    case ProblemSet::table:
      return "table";
    case ProblemSet::shared:
      return "shared";
    case ProblemSet::other:
      return "other";
    case ProblemSet::large:
      return "large";
    case ProblemSet::shapes:
      return "shapes";
    case ProblemSet::random:
      return "random";
    case ProblemSet::smoke:
      return "smoke";
  }
  throw InvalidInput("unknown set of problems");
}

std::vector<std::string> list_problems(bool table_only) {
  std::vector<std::string> names;
  for (const auto& g : generated()) {
    if (g.set == ProblemSet::table || (!table_only && g.set == ProblemSet::other)) names.push_back(g.name);
  }
  if (const char* directory = std::getenv("TASKDAG_MATRIX_DIR")) {
    std::vector<std::string> stems;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const std::string file = entry.path().filename().string();
      const auto at = file.find(".mtx");
      if (at == std::string::npos) continue;
      const std::string stem = file.substr(0, at);
      if (!table_only || is_table_file(stem)) stems.push_back(stem);
    }
    std::sort(stems.begin(), stems.end());
    stems.erase(std::unique(stems.begin(), stems.end()), stems.end());
    names.insert(names.end(), stems.begin(), stems.end());
  }
  return names;
}

std::vector<std::string> list_smoke_problems() { return {std::begin(kSmall), std::end(kSmall)}; }

std::vector<std::string> list_class_problems() {
  const std::vector<Generated> made = generated();
  std::vector<std::string> names;
  for (const std::string name : kByClass) {
    const bool is_made = std::any_of(made.begin(), made.end(), [&](const Generated& g) { return g.name == name; });
    if (is_made || find_matrix_file(name).has_value()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> list_study_problems() { return {std::begin(kStudied), std::end(kStudied)}; }

ProblemSet set_of(const std::string& name, Index rows) {
  for (const auto& g : generated()) {
    if (g.name == name) return g.set;
  }
  if (is_table_file(name)) return ProblemSet::table;
  return rows > kSharedRows ? ProblemSet::shared : ProblemSet::other;
}

CsrMatrix make_problem(const std::string& name, bool& repaired) {
  for (const auto& g : generated()) {
    if (g.name == name) return with_full_diagonal(g.make(), repaired);
  }
  CsrMatrix a = with_full_diagonal(read_matrix_market(file_of(name).string()), repaired);
  if (a.rows == a.cols && !has_factor(a)) {
    make_dominant(a);
    repaired = true;
  }
  return a;
}

}  // namespace taskdag::benchmark
