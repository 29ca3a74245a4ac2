/// \file
/// Warnings to the user of a program, where an error would be too much.
#pragma once

#include <string>

namespace taskdag {

/// Says `what` on the standard error, once a process.
void warn_once(const std::string& what);

}  // namespace taskdag
