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

/// What rows name as the commit that they were measured with: TASKDAG_COMMIT, else "unknown".
std::string commit_name();

}  // namespace taskdag::benchmark
