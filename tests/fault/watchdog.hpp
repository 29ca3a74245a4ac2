/// \file
/// Ends a program that hangs, with the name of what it was doing.
#pragma once

#include <string>

namespace taskdag::test {

/// From now on the program does `what`: where it has not said anything else after some time, it says so and exits with
/// status 124. Empty: nothing that could hang.
void watch(const std::string& what);

}  // namespace taskdag::test
