/// \file
/// Lines of CSV files.
#pragma once

#include <string>
#include <vector>

namespace taskdag::benchmark {

/// One line of CSV. Strings are quoted where they need it, null is empty.
std::string csv_line(const std::vector<std::string>& fields);
/// The fields of such a line.
std::vector<std::string> csv_fields(const std::string& line);

}  // namespace taskdag::benchmark
