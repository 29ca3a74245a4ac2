#include "taskdag/engine/queue/ring.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "taskdag/engine/probe.hpp"
#include "together.hpp"

namespace taskdag::test {
namespace {

using engine::NoProbe;
using Ring = engine::Ring<int, NoProbe>;
using Slot = Ring::SlotType;

/// Slots as they are when all tickets below `ticket` have been written and read.
std::vector<Slot> slots_at(std::uint32_t size, std::uint32_t ticket) {
  std::vector<Slot> slots(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::uint32_t mine = ticket + ((i - ticket) & (size - 1U));  // the next ticket that belongs to slot i
    slots[i].state = mine / size * 2U;
  }
  return slots;
}

TEST(Ring, IsTheLeastPowerOfTwoWithRoom) {
  EXPECT_EQ(Ring::size_for(0), 1U);
  EXPECT_EQ(Ring::size_for(1), 1U);
  EXPECT_EQ(Ring::size_for(2), 2U);
  EXPECT_EQ(Ring::size_for(3), 4U);
  EXPECT_EQ(Ring::size_for(1024), 1024U);
  EXPECT_EQ(Ring::size_for(1025), 2048U);
}

TEST(Ring, GivesBackItsItemsInOrderAlsoWhereTicketsWrap) {
  NoProbe probe({}, 0);
  for (const std::uint32_t size : {1U, 2U, 8U}) {
    for (const std::uint32_t start : {0U, 5U, 0x7FFFFFFAU, 0xFFFFFFF0U, 0xFFFFFFFFU}) {
      std::vector<Slot> slots = slots_at(size, start);
      const Ring ring(slots.data(), size);
      std::uint32_t in = start;
      std::uint32_t out = start;
      for (int turn = 0; turn < 40; ++turn) {
        for (std::uint32_t i = 0; i < size; ++i, ++in) ring.write(in, static_cast<int>(in % 1000U), {}, probe);
        for (std::uint32_t i = 0; i < size; ++i, ++out) {
          NoProbe::Stamp stamp;
          EXPECT_EQ(ring.read(out, stamp, probe), static_cast<int>(out % 1000U)) << "ticket " << out << " of " << size;
          ring.leave(out, probe);
        }
      }
    }
  }
}

TEST(Ring, WritersWaitForTheReadersOfTheRoundBefore) {
  constexpr std::uint32_t kSize = 4;
  constexpr std::uint32_t kItems = 20000;
  constexpr std::uint32_t kStart = 0xFFFFFFFFU - kItems / 2;  // tickets wrap in the middle
  std::vector<Slot> slots = slots_at(kSize, kStart);
  const Ring ring(slots.data(), kSize);
  std::vector<int> seen(kItems, 0);
  // Two writers and two readers, each with every other ticket.
  together(4, [&](int thread) {
    NoProbe probe({}, 0);
    for (std::uint32_t i = static_cast<std::uint32_t>(thread % 2); i < kItems; i += 2) {
      if (thread < 2) {
        ring.write(kStart + i, static_cast<int>(i), {}, probe);
      } else {
        NoProbe::Stamp stamp;
        const int item = ring.read(kStart + i, stamp, probe);
        ring.leave(kStart + i, probe);
        seen[i] = item + 1;
      }
    }
  });
  for (std::uint32_t i = 0; i < kItems; ++i) ASSERT_EQ(seen[i], static_cast<int>(i) + 1);
}

TEST(Ring, ASlotHasNoRoomForAnEmptyStamp) {
  struct Measured {
    struct Stamp {
      std::uint64_t ns;
    };
  };
  EXPECT_EQ(sizeof(Slot), 2 * sizeof(std::uint32_t));
  EXPECT_EQ(sizeof(engine::Slot<int, Measured>), 16U);
}

}  // namespace
}  // namespace taskdag::test
