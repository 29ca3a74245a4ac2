// The plugin's tables of options and types, and its names for PETSc's memory. PETSc is not started here.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <sstream>

#include "compat.hpp"
#include "options.hpp"
#include "pc/types.hpp"
#include "petsc/interface_table.hpp"

namespace taskdag::petsc {
namespace {

// A kernel of CUDA must not get what lies on GPUs of other makers.
TEST(Memory, OfCudaIsThatOfNoOtherDevice) {
  for (const PetscMemType type : {PETSC_MEMTYPE_HOST, PETSC_MEMTYPE_HIP, PETSC_MEMTYPE_SYCL})
    EXPECT_FALSE(in_cuda_memory(type)) << static_cast<int>(type);
  for (const PetscMemType type : {PETSC_MEMTYPE_CUDA, PETSC_MEMTYPE_DEVICE, PETSC_MEMTYPE_NVSHMEM})
    EXPECT_EQ(in_cuda_memory(type), petsc_has_cuda()) << static_cast<int>(type);
}

constexpr std::array tiers{Tier::user, Tier::expert, Tier::study};

TEST(Options, MarkdownTablesHaveOneLineEach) {
  std::ostringstream text;
  for (const Tier tier : tiers) write_option_table(text, tier);
  std::istringstream lines(text.str());
  std::string line;
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(line.front(), '|');
    EXPECT_EQ(line.back(), '|');
    ++count;
  }
  EXPECT_EQ(count, option_table().size() + tiers.size() * 2);
}

TEST(Options, NamesDifferAndNoTextIsMissing) {
  std::set<std::string> names;
  for (const Option& option : option_table()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_EQ(option.name[0], '-') << option.name;
    if (option.petsc_name) {
      EXPECT_TRUE(names.insert(option.petsc_name).second) << option.petsc_name;
    }
    EXPECT_FALSE(option.range.empty() || std::string(option.sentence).empty()) << option.name;
    EXPECT_NE(option.readers, 0U) << option.name;
  }
}

TEST(Options, OfUsersAreFewAndComeFirst) {
  const auto& table = option_table();
  EXPECT_TRUE(std::ranges::is_sorted(table, {}, &Option::tier));
  EXPECT_LE(std::ranges::count(table, Tier::user, &Option::tier), 9);
}

TEST(Options, OfOurOwnHaveSettersAndGetters) {
  std::set<std::string> with_functions;
  for (const test::InterfaceRow& row : test::interface_table()) with_functions.insert(row.option);
  std::set<std::string> own;
  for (const Option& option : option_table()) {
    if (std::string(option.name).starts_with("-pc_taskdag_")) own.insert(option.name);
  }
  EXPECT_EQ(with_functions, own);
}

TEST(Types, HaveTheirNamesInTheInterface) {
  for (const PcType& type : pc_types) EXPECT_STREQ(PCTaskDAGTypes[type.type], type.name);
  EXPECT_STREQ(PCTaskDAGTypes[pc_types.size()], "PCTaskDAGType");
}

TEST(Types, AreFoundByNumberAndTheRestIsNot) {
  for (const PcType& type : pc_types) EXPECT_EQ(find_type(type.type), &type) << type.name;
  EXPECT_EQ(find_type(std::bit_cast<PCTaskDAGType>(static_cast<int>(pc_types.size()))), nullptr);
  EXPECT_EQ(find_type(std::bit_cast<PCTaskDAGType>(-1)), nullptr);
}

TEST(Types, AreInTheOptionTable) {
  const Option* const option = find_option("-pc_taskdag_type");
  ASSERT_NE(option, nullptr);
  for (const PcType& type : pc_types) EXPECT_NE(option->range.find(type.name), std::string::npos) << type.name;
}

TEST(Types, AreMadeFromTheSettings) {
  const Settings settings;
  for (const PcType& type : pc_types) {
    EXPECT_TRUE(type.make(settings)) << type.name;
  }
}

}  // namespace
}  // namespace taskdag::petsc
