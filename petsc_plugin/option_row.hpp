/// \file
/// What is said of one option.
#pragma once

#include <string>

namespace taskdag::petsc {

/// One line of the option table.
struct OptionRow {
  const char* name;           ///< with the leading dash, without prefix
  std::string default_value;  ///< as a user would write it
  std::string range;          ///< the values that are accepted
  std::string help;
};

}  // namespace taskdag::petsc
