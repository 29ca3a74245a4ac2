#include "cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "large_cases.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag::benchmark {

bool is_extra(const std::string& set) { return set == "large" || set == "erdos-renyi-dense"; }

std::vector<Case> list_cases(int first_seed, int last_seed, Index rows) {
  std::vector<Case> cases;
  if (const char* folder = std::getenv("TASKDAG_MATRIX_DIR"); folder != nullptr && *folder != '\0') {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string file = entry.path().filename().string();
      const std::size_t end = file.find(".mtx");
      if (end == std::string::npos) continue;
      cases.push_back(
          {"real", file.substr(0, end), [path = entry.path().string()] { return read_matrix_market(path); }});
    }
    std::ranges::sort(cases, {}, &Case::name);
    const std::vector<Case> files = cases;
    for (const Case& file : files) cases.push_back({"large", file.name, file.make});
  }
  for (Case& c : list_large_cases()) cases.push_back(std::move(c));
  using enum Stencil;
  const auto stencil = [&](const char* name, const StencilSpec& spec) {
    cases.push_back({"stencil", name, [spec] { return make_stencil(spec); }});
  };
  stencil("5-point 1000^2", {.stencil = five_point, .nx = 1000, .ny = 1000});
  stencil("7-point 100^3", {.stencil = seven_point, .nx = 100, .ny = 100, .nz = 100});
  stencil("27-point 80^3", {.stencil = twenty_seven_point, .nx = 80, .ny = 80, .nz = 80});
  stencil("27-point 3 unknowns 36^3",
          {.stencil = twenty_seven_point, .nx = 36, .ny = 36, .nz = 36, .unknowns_per_node = 3});
  for (int seed = first_seed; seed <= last_seed; ++seed) {
    const auto s = static_cast<std::uint64_t>(seed);
    const std::string suffix = " seed " + std::to_string(seed);
    struct Uniform {
      const char* set;
      const char* name;
      double p;
    };
    constexpr std::array<Uniform, 6> kUniform{{{"erdos-renyi", "1e-4", 1e-4},
                                               {"erdos-renyi", "5e-4", 5e-4},
                                               {"erdos-renyi", "2e-3", 2e-3},
                                               {"erdos-renyi-dense", "2e-4", 2e-4},
                                               {"erdos-renyi-dense", "1e-3", 1e-3},
                                               {"erdos-renyi-dense", "4e-3", 4e-3}}};
    for (const auto& [set, name, p] : kUniform) {
      cases.push_back(
          {set, std::string("p ") + name + suffix, [rows, p = p, s] { return make_erdos_renyi_lower(rows, p, s); }});
    }
    struct Band {
      const char* name;
      double p;
      double b;
    };
    constexpr std::array<Band, 3> kBands{
        {{"p 0.14 b 10", 0.14, 10}, {"p 0.05 b 20", 0.05, 20}, {"p 0.03 b 42", 0.03, 42}}};
    for (const Band& band : kBands) {
      cases.push_back({"narrow-band", band.name + suffix,
                       [rows, band, s] { return make_narrow_band_lower(rows, band.p, band.b, s); }});
    }
  }
  return cases;
}

CsrMatrix take_lower(const CsrMatrix& a) {
  CsrMatrix lower{a.rows, a.rows, {0}, {}, {}};
  for (Index i = 0; i < a.rows; ++i) {
    const auto begin = a.col_indices.begin() + a.row_offsets[static_cast<std::size_t>(i)];
    const auto end = a.col_indices.begin() + a.row_offsets[static_cast<std::size_t>(i) + 1];
    const auto diagonal = std::lower_bound(begin, end, i);
    const double scale = 1.0 / static_cast<double>(diagonal - begin + 1);
    for (auto column = begin; column != diagonal; ++column) {
      lower.col_indices.push_back(*column);
      lower.values.push_back(scale * std::cos(static_cast<double>(lower.values.size())));
    }
    lower.col_indices.push_back(i);
    lower.values.push_back(1.0);
    lower.row_offsets.push_back(static_cast<Offset>(lower.col_indices.size()));
  }
  return lower;
}

}  // namespace taskdag::benchmark
