// A libtaskdag_papers that is not of the same build is refused, and the error says which build it is of.
#include <gtest/gtest.h>

#include <string>

#include "kernels/papers/papers.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

TEST(PapersOfAnotherBuild, AreRefusedInWords) {
  EXPECT_FALSE(kernels::has_papers());
  try {
    kernels::papers("the schedule hdagg");
    FAIL() << "it was taken";
  } catch (const Unsupported& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("it is of version 0.0.0, another build, and this is version "), std::string::npos) << said;
    EXPECT_NE(said.find(", interfaces "), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace taskdag
