#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/effort.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::test {
namespace {

using engine::Array;
using engine::Memory;

class Arrays : public testing::Test {
 protected:
  Context context_ = Context::create({.backend = Backend::host, .threads = 1});
};

TEST_F(Arrays, BeginAsZeros) { EXPECT_EQ(Array<int>(context_, 5).download(), std::vector<int>(5, 0)); }

TEST_F(Arrays, KeepWhatIsUploaded) {
  const std::vector<double> values = {1.5, -2, 3e300};
  Array<double> array(context_, values);
  EXPECT_EQ(array.size(), 3U);
  EXPECT_EQ(array.download(), values);
  array.upload(std::vector<double>{7});
  EXPECT_EQ(array.download(), (std::vector<double>{7, -2, 3e300})) << "fewer values change the first elements";
  array.clear();
  EXPECT_EQ(array.download(), std::vector<double>(3, 0));
}

TEST_F(Arrays, AreCopiesOfTheirValues) {
  std::vector<int> values = {1, 2, 3};
  const Array<int> array(context_, values);
  values[0] = 9;
  EXPECT_EQ(array.download()[0], 1);
}

TEST_F(Arrays, MayBeEmpty) {
  Array<int> array(context_, 0);
  EXPECT_EQ(array.size(), 0U);
  EXPECT_EQ(array.data(), nullptr);
  EXPECT_TRUE(array.download().empty());
  array.clear();
  array.upload(std::vector<int>{});
  EXPECT_TRUE(Array<int>().download().empty());
}

TEST_F(Arrays, RefuseMoreValuesThanElements) {
  Array<int> array(context_, 2);
  EXPECT_THROW(array.upload(std::vector<int>{1, 2, 3}), InvalidInput);
  EXPECT_EQ(array.download(), std::vector<int>(2, 0)) << "and stay as they are";
}

TEST_F(Arrays, MoveTheirMemory) {
  Array<int> from(context_, std::vector<int>{4, 5});
  const int* const data = from.data();
  const Array<int> to = std::move(from);
  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(to.download(), (std::vector<int>{4, 5}));
}

TEST_F(Arrays, AreAlignedForAtomicsAndCacheLines) {
  const Array<char> array(context_, 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 128, 0U);
}

TEST_F(Arrays, CopiesPastTheEndAreRefused) {
  Memory memory(context_, 8);
  Memory small(context_, 4);
  char bytes[16] = {};
  EXPECT_THROW(memory.copy_in(1, bytes, 8), InvalidInput);
  EXPECT_THROW(memory.copy_in(9, bytes, 0), InvalidInput);
  EXPECT_THROW(memory.copy_out(0, bytes, 9), InvalidInput);
  EXPECT_THROW(memory.copy_out(static_cast<std::size_t>(-1), bytes, 2), InvalidInput) << "offsets do not wrap";
  EXPECT_THROW(memory.copy_from(small, 5), InvalidInput);
  EXPECT_THROW(small.copy_from(memory, 5), InvalidInput);
  memory.copy_from(small, 4);
}

TEST_F(Arrays, MoreThanThereIsIsOutOfMemory) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer ends the program where memory is refused";
  EXPECT_THROW(Memory(context_, std::size_t{1} << 62U), OutOfMemory);
}

}  // namespace
}  // namespace taskdag::test
