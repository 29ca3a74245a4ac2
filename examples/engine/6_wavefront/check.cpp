#include "check.hpp"

#include <stdexcept>
#include <string>

#include "common/options.hpp"

namespace wavefront {

namespace {

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
      const std::uint32_t bits = (row > 0 ? 1U : 0U) + (column > 0 ? 2U : 0U);
      const std::uint32_t expected = bits == 0 ? 0 : bits + (row + column - 1U) % 64U * 4U;
      const std::size_t place =
          settings.by_diagonals ? std::size_t{row + column} * rows + row : std::size_t{row} * columns + column;
      const std::uint32_t found = state[place / 4] >> place % 4 * 8 & 0xFFU;
      if (found != expected) {
        wrong("the byte of task", row, column, std::to_string(found), std::to_string(expected));
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
