#include "check.hpp"

#include <stdexcept>
#include <string>

#include "common/options.hpp"

namespace wavefront {

namespace {

constexpr std::uint32_t kCountBits = 4;

[[noreturn]] void wrong(const char* what, std::uint64_t row, std::uint64_t column, const std::string& found,
                        const std::string& expected) {
  throw std::runtime_error(std::string(what) + " (" + std::to_string(row) + ", " + std::to_string(column) + ") is " +
                           found + " instead of " + expected);
}

}  // namespace

void check(const Settings& settings, const taskdag::engine::Report& report, std::span<const std::uint32_t> state,
           std::span<const float> values) {
  example::require_finished(report);
  if (report.executed() != settings.tasks()) {
    throw std::runtime_error(std::to_string(report.executed()) + " tasks were executed instead of " +
                             std::to_string(settings.tasks()));
  }
  const std::uint32_t rows = settings.tile_rows();
  const std::uint32_t columns = settings.tile_columns();
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t column = 0; column < columns; ++column) {
      const std::uint32_t needs = (row > 0 ? 1U : 0U) + (column > 0 ? 1U : 0U);
      const std::uint32_t expected = needs == 0 ? 0 : ((needs * (row + column - 1U)) << kCountBits) + needs;
      const std::size_t place =
          settings.by_diagonals ? std::size_t{row + column} * rows + row : std::size_t{row} * columns + column;
      if (state[place] != expected) {
        wrong("the word of task", row, column, std::to_string(state[place]), std::to_string(expected));
      }
    }
  }
  if (values.empty()) return;
  for (std::uint32_t row = 0; row < settings.rows; ++row) {
    for (std::uint32_t column = 0; column < settings.columns; ++column) {
      const auto expected = static_cast<float>(row + column);
      const float found = values[std::size_t{row} * settings.columns + column];
      if (found != expected) wrong("cell", row, column, std::to_string(found), std::to_string(expected));
    }
  }
}

}  // namespace wavefront
