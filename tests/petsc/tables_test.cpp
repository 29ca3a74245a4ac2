// The plugin's tables of options, types and orderings, and its names for PETSc's memory. PETSc is not started here.
#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <sstream>

#include "compat.hpp"
#include "ordering/orderings.hpp"
#include "pc/pc_options.hpp"
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

TEST(Options, MarkdownTableHasOneLineEach) {
  std::ostringstream text;
  write_option_table(text);
  std::istringstream lines(text.str());
  std::string line;
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    EXPECT_EQ(line.front(), '|');
    EXPECT_EQ(line.back(), '|');
    ++count;
  }
  EXPECT_EQ(count, option_table().size() + 2);
}

TEST(Options, NamesDifferAndNoTextIsMissing) {
  std::set<std::string> names;
  for (const OptionRow& option : option_table()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_EQ(option.name[0], '-') << option.name;
    EXPECT_FALSE(option.default_value.empty() || option.range.empty() || option.help.empty()) << option.name;
  }
}

TEST(Options, OfOurOwnHaveSettersAndGetters) {
  std::set<std::string> with_functions;
  for (const test::InterfaceRow& row : test::interface_table()) with_functions.insert(row.option);
  std::set<std::string> own;
  for (const OptionRow& option : option_table()) {
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
  const OptionRow option = type_row();
  for (const PcType& type : pc_types) {
    EXPECT_NE(option.range.find(type.name), std::string::npos) << type.name;
    EXPECT_NE(option.help.find(type.title), std::string::npos) << type.name;
  }
}

TEST(Types, AreMadeFromTheSettings) {
  const Settings settings;
  for (const PcType& type : pc_types) {
    EXPECT_TRUE(type.make(settings)) << type.name;
  }
}

TEST(Orderings, AreInTheOptionTable) {
  const std::string names = ordering_names();
  for (const char* name : {MATORDERINGTASKDAGRCM, MATORDERINGTASKDAGCOLOR, MATORDERINGTASKDAGBMC})
    EXPECT_NE(names.find(name), std::string::npos) << name;
  std::ostringstream text;
  write_option_table(text);
  EXPECT_NE(text.str().find("any registered ordering, also " + names), std::string::npos);
}

}  // namespace
}  // namespace taskdag::petsc
