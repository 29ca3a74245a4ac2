/// \file
/// Prints the plugin's options as the Markdown table that README.md holds.
#include <iostream>

#include "pc/pc_options.hpp"

int main() {
  taskdag::petsc::write_option_table(std::cout);
  return std::cout.good() ? 0 : 1;
}
