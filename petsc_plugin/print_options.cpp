/// \file
/// Prints the plugin's options as the Markdown tables that docs/options.md holds, those for users first.
#include <iostream>

#include "options.hpp"

int main() {
  using taskdag::petsc::Tier;
  std::cout << "## For users\n\n";
  write_option_table(std::cout, Tier::user);
  std::cout << "\n## For experts\n\n";
  write_option_table(std::cout, Tier::expert);
  std::cout << "\n## For studies\n\n";
  write_option_table(std::cout, Tier::study);
  return std::cout.good() ? 0 : 1;
}
