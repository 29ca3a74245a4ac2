/// \file
/// Files of the folder that TASKDAG_MATRIX_DIR names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace taskdag::benchmark {

/// STEM.mtx, .mtx.xz or .mtx.gz; nothing where there is no such file, or no folder is named.
std::optional<std::filesystem::path> find_matrix_file(const std::string& stem);

}  // namespace taskdag::benchmark
