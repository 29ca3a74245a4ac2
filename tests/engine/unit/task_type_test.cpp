#include "taskdag/engine/task_type.hpp"

#include <gtest/gtest.h>

#include <string>

#include "taskdag/engine/scratch.hpp"

namespace taskdag::test {
namespace {

struct Plain {
  using Item = int;
};
struct Full {
  using Item = double;
  static constexpr auto name = "full";
  static constexpr engine::WorkerSize worker = engine::block_worker(256);
  static constexpr int fetch = 5;
  static constexpr std::size_t shared_bytes = 20;
  static constexpr int max_children = 0;
  static constexpr bool continues = false;
  static constexpr bool waits = false;
  static constexpr bool batched = true;
  using Insert = engine::KeyStart;
};

TEST(TaskTraits, SayWhatADocumentedTypeWithoutPropertiesHas) {
  using Traits = engine::TaskTraits<Plain>;
  EXPECT_EQ(std::string(Traits::name()), "task");
  EXPECT_EQ(Traits::lanes(), 1);
  EXPECT_EQ(Traits::fetch(), 1);
  EXPECT_EQ(Traits::shared_bytes(), 0U);
  EXPECT_EQ(Traits::max_children(), 4);
  EXPECT_TRUE(Traits::continues());
  EXPECT_TRUE(Traits::waits());
  EXPECT_FALSE(Traits::batched());
  EXPECT_TRUE((std::is_same_v<engine::InsertPolicy<Plain>, engine::RandomStart>));
}

TEST(TaskTraits, TakeWhatTheTypeSays) {
  using Traits = engine::TaskTraits<Full>;
  EXPECT_EQ(std::string(Traits::name()), "full");
  EXPECT_EQ(Traits::lanes(), 256);
  EXPECT_EQ(Traits::fetch(), 5);
  EXPECT_EQ(Traits::shared_bytes(), 20U);
  EXPECT_EQ(Traits::max_children(), 0);
  EXPECT_FALSE(Traits::continues());
  EXPECT_FALSE(Traits::waits());
  EXPECT_TRUE(Traits::batched());
  EXPECT_TRUE((std::is_same_v<engine::InsertPolicy<Full>, engine::KeyStart>));
}

TEST(TaskTraits, WorkersNamedBySizeHaveThatManyLanes) {
  EXPECT_EQ(engine::thread_worker.lanes, 1);
  EXPECT_EQ(engine::sub_warp_worker(8).lanes, 8);
  EXPECT_EQ(engine::warp_worker.lanes, 32);
  EXPECT_EQ(engine::block_worker(128).lanes, 128);
}

TEST(TaskTraits, ScratchHoldsTheSharedBytesAndABatchBehindThem) {
  EXPECT_EQ(engine::detail::Scratch<Plain>::value, 0U);
  EXPECT_EQ(engine::detail::Scratch<Full>::items_at, 32U);     // 20 bytes, to the next multiple of 16
  EXPECT_EQ(engine::detail::Scratch<Full>::value, 32U + 48U);  // 5 doubles, to the next multiple of 16
  EXPECT_EQ((engine::detail::LargestScratch<engine::Types<Plain, Full>>::value), 80U);
}

TEST(TaskTraits, AWorkerOfTheHostIsAGroupOfOne) {
  const engine::HostGroup group;
  EXPECT_EQ(group.rank(), 0);
  EXPECT_EQ(group.size(), 1);
  EXPECT_EQ(group.sum(7), 7);
  EXPECT_EQ(group.broadcast(8), 8);
  EXPECT_TRUE(group.any(true));
  EXPECT_FALSE(group.any(false));
  group.sync();
}

TEST(TaskTraits, ItemsOfABatchAreARange) {
  const int numbers[] = {3, 1, 4};
  const engine::Items<int> items(numbers, 3);
  EXPECT_EQ(items.size(), 3);
  EXPECT_EQ(items[2], 4);
  int sum = 0;
  for (const int item : items) sum += item;
  EXPECT_EQ(sum, 8);
}

}  // namespace
}  // namespace taskdag::test
