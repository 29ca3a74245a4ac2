/// \file
/// Rows of measurements, and what they come to per data set.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"

namespace taskdag::benchmark {

struct Row {
  std::string set;
  std::string matrix;
  Index rows = 0;
  Offset entries = 0;
  const char* variant = "";
  Measurement measured;
  double serial_ms = 0.0;  ///< per solve; 0 where nothing was solved
};

/// Solves from which on the schedule has paid for itself; infinite where a solve is not faster than a serial one.
/// Nothing where it is not known how long making the schedule took.
std::optional<double> amortisation(const Row& row);

/// The names of the columns of comma separated values.
void write_names(std::FILE* file);

/// What stands in each row of a run.
struct Origin {
  std::string commit;
  std::string machine;
  int cores = 1;
};

/// A line of values. What was not measured stays empty.
void write_row(std::FILE* file, const Origin& origin, const Row& row);

/// Markdown tables, a column per data set: geometric means of the speed-up and of wavefronts / supersteps, and the
/// quartiles of the amortisation threshold. Sources of the figures: Böhnlein et al. 2025, tables 7.1, 7.3 and 7.7.
void print_tables(const std::vector<Row>& rows);

}  // namespace taskdag::benchmark
