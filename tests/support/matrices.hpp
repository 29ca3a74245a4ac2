/// \file
/// Matrices for tests: those of tests/data, always there, and those of the folder that TASKDAG_MATRIX_DIR names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::test {

/// Names of the matrices in tests/data, ascending.
std::vector<std::string> bundled_matrices();
/// Reads one of them. @throws InvalidInput for an unknown name.
CsrMatrix load_bundled(const std::string& name);

/// The folder that TASKDAG_MATRIX_DIR names; empty where the variable is not set or empty.
std::filesystem::path matrix_dir();
/// Names of the matrices in that folder (NAME.mtx, NAME.mtx.xz and so on), ascending; empty where it is not set.
/// @throws InvalidInput if the variable names no folder: a spelling mistake must not look like a skipped test.
std::vector<std::string> listed_matrices();
/// Reads one of them. @throws InvalidInput where the folder has no such matrix.
CsrMatrix load_listed(const std::string& name);

/// The names in `folder`, ascending: what listed_matrices() and bundled_matrices() are made of.
std::vector<std::string> matrices_in(const std::filesystem::path& folder);
/// Reads NAME.mtx, compressed or not, from `folder`. @throws InvalidInput where there is none.
CsrMatrix load_from(const std::filesystem::path& folder, const std::string& name);

}  // namespace taskdag::test

/// Skips the test, saying why, where no folder of matrices is given.
#define TASKDAG_SKIP_WITHOUT_MATRICES() \
  if (taskdag::test::matrix_dir().empty()) GTEST_SKIP() << "TASKDAG_MATRIX_DIR is not set: no matrices to test with"
