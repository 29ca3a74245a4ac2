/// \file
/// Cases in child processes: one that hangs or dies ends itself alone, and is named.
///
/// A child is this program again, as `PROGRAM --child KIND FIRST`. It goes through its numbered cases from FIRST on and
/// writes lines: `at N NAME` before each, and what fault/say.hpp has.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace taskdag::test {

/// In the parent: runs the cases of a kind. A child that says nothing for `quiet_seconds` is killed; after it, and
/// after one that ends badly, another one goes on with the next case. Adds a GoogleTest failure for each thing that is
/// wrong.
/// @returns how many cases were begun
int run_in_children(const std::string& kind, int quiet_seconds);

/// A case of a child.
struct ChildCase {
  std::string name;
  std::function<void()> run;
};
/// In the child: runs the cases from `first` on. After an exception the process may be of no use any more: the child
/// ends with it, and the parent goes on with the next case. @returns the exit status
int run_cases(const std::vector<ChildCase>& cases, int first);

/// The kind and the first case where this process is a child. @returns whether it is one
bool is_child(int count, char** words, std::string& kind, int& first);

}  // namespace taskdag::test
