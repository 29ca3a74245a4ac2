#include "rcm_patterns.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

#include "base/index.hpp"
#include "csv_text.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::benchmark {
namespace {

constexpr Index kCells = 48;

/// `place`: of a row in the order to be drawn.
void write(std::FILE* file, const std::string& name, const CsrMatrix& a, const char* order,
           const std::vector<Index>& place) {
  const auto cell_of = [&](Index row) {
    return static_cast<std::size_t>(std::int64_t{place[at(row)]} * kCells / a.rows);
  };
  std::vector<std::int64_t> entries(at(kCells) * at(kCells));
  for (Index i = 0; i < a.rows; ++i) {
    for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e)
      ++entries[cell_of(i) * at(kCells) + cell_of(a.col_indices[e])];
  }
  for (std::size_t cell = 0; cell < entries.size(); ++cell) {
    if (entries[cell] == 0) continue;
    std::fprintf(file, "%s\n",
                 csv_line({name, std::to_string(a.rows), std::to_string(a.entries()), order, std::to_string(kCells),
                           std::to_string(cell / at(kCells)), std::to_string(cell % at(kCells)),
                           std::to_string(entries[cell]), commit_name()})
                     .c_str());
  }
}

}  // namespace

void write_pattern_head(std::FILE* file) {
  std::fprintf(file, "problem,rows,entries,order,cells,row_cell,column_cell,entries_in_cell,commit\n");
}

void write_patterns(std::FILE* file, const std::string& name, const CsrMatrix& a) {
  std::vector<Index> natural(at(a.rows));
  std::iota(natural.begin(), natural.end(), Index{0});
  write(file, name, a, "natural", natural);
  write(file, name, a, "reverse Cuthill-McKee", invert_permutation(reverse_cuthill_mckee(a.pattern())));
}

}  // namespace taskdag::benchmark
