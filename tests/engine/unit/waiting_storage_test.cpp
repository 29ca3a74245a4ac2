#include "taskdag/engine/waiting_storage.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <vector>

#include "bench.hpp"
#include "taskdag/engine/probe.hpp"
#include "together.hpp"

namespace taskdag::test {
namespace {

using engine::NoProbe;

/// An application's own policy: all begin at the same place.
struct AlwaysThere {
  static std::uint32_t start(std::uint32_t /*salt*/, std::uint32_t /*key*/, std::uint32_t size) { return size - 1; }
};

template <class Insert>
class Held {
 public:
  using Storage = engine::WaitingStorage<int, Insert, NoProbe>;
  explicit Held(std::uint32_t size) : memory_(Storage::bytes(size)), storage_(Storage::attach(memory_.data(), size)) {}

  std::uint32_t insert(int item, std::uint32_t salt) {
    NoProbe probe({}, 0);
    storage_.add_to_level(1, probe);
    return storage_.insert(item, salt, static_cast<std::uint32_t>(item), probe);
  }
  int take(std::uint32_t place) {
    NoProbe probe({}, 0);
    const int item = storage_.take(place, probe);
    storage_.add_to_level(-1, probe);
    return item;
  }
  [[nodiscard]] const Storage& storage() const { return storage_; }
  [[nodiscard]] std::byte* memory() const { return memory_.data(); }

 private:
  Bytes memory_;
  Storage storage_;
};

template <class Insert>
class AnyPolicy : public testing::Test {};
using Policies = testing::Types<engine::RandomStart, engine::HashStart, engine::KeyStart, AlwaysThere>;
TYPED_TEST_SUITE(AnyPolicy, Policies);

TYPED_TEST(AnyPolicy, HasAPlaceForEachItemUntilItIsFull) {
  for (const std::uint32_t size : {1U, 2U, 3U, 7U, 33U, 200U}) {
    Held<TypeParam> held(size);
    std::set<std::uint32_t> places;
    std::vector<std::uint32_t> place_of;
    for (std::uint32_t i = 0; i < size; ++i) {
      place_of.push_back(held.insert(static_cast<int>(i) * 3, i * 77));
      EXPECT_LT(place_of.back(), size);
      places.insert(place_of.back());
    }
    EXPECT_EQ(places.size(), size) << "no place twice";
    EXPECT_EQ(held.storage().level(), size);
    for (std::uint32_t i = 0; i < size; ++i) EXPECT_EQ(held.take(place_of[i]), static_cast<int>(i) * 3);
    EXPECT_EQ(held.storage().level(), 0U);
  }
}

TYPED_TEST(AnyPolicy, FindsTheOnePlaceThatIsLeft) {
  constexpr std::uint32_t kSize = 100;
  Held<TypeParam> held(kSize);
  std::vector<std::uint32_t> place_of(kSize);
  for (std::uint32_t i = 0; i < kSize; ++i) place_of[held.insert(static_cast<int>(i), i)] = i;
  for (std::uint32_t place = 0; place < kSize; ++place) {
    const int item = held.take(place);
    EXPECT_EQ(held.insert(item, place * 13), place);
  }
}

TYPED_TEST(AnyPolicy, FindsAPlaceWhileOthersComeAndGo) {
  // As many places as threads: a place is free for whoever looks, but another one at each moment.
  constexpr int kThreads = 4;
  Held<TypeParam> held(kThreads);
  std::atomic<int> wrong{0};
  together(kThreads, [&](int thread) {
    for (int i = 0; i < 5000; ++i) {
      const int item = thread * 100000 + i;
      const std::uint32_t place = held.insert(item, static_cast<std::uint32_t>(item));
      if (held.take(place) != item) wrong.fetch_add(1);
    }
  });
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(held.storage().level(), 0U);
}

TEST(WaitingStorage, ProbesTheNextPlacesInTurn) {
  Held<engine::KeyStart> held(8);
  EXPECT_EQ(held.insert(6, 0), 6U);
  EXPECT_EQ(held.insert(6, 0), 7U);
  EXPECT_EQ(held.insert(6, 0), 0U) << "goes on at the beginning";
  EXPECT_EQ(held.insert(0, 0), 1U);
}

TEST(WaitingStorage, PoliciesStartWhereTheySay) {
  EXPECT_EQ(engine::KeyStart::start(5, 11, 8), 3U);
  EXPECT_EQ(engine::HashStart::start(1, 11, 8), engine::HashStart::start(2, 11, 8)) << "of the key alone";
  EXPECT_EQ(engine::RandomStart::start(1, 11, 8), engine::RandomStart::start(1, 12, 8)) << "of the salt alone";
  std::set<std::uint32_t> random;
  std::set<std::uint32_t> hashed;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    random.insert(engine::RandomStart::start(i, 0, 97));
    hashed.insert(engine::HashStart::start(0, i, 97));
  }
  EXPECT_EQ(random.size(), 97U) << "every place comes up";
  EXPECT_EQ(hashed.size(), 97U);
}

TEST(WaitingStorage, KeepsItsPlacesWhenItGrows) {
  Held<engine::HashStart> small(4);
  std::vector<std::uint32_t> place_of;
  for (int i = 0; i < 4; ++i) place_of.push_back(small.insert(i + 50, 0));
  Held<engine::HashStart> large(64);
  using Storage = Held<engine::HashStart>::Storage;
  std::memcpy(large.memory(), small.memory(), Storage::bytes(4));
  EXPECT_EQ(large.storage().level(), 4U);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(large.take(place_of[static_cast<std::size_t>(i)]), i + 50);
}

/// Counts the looks at places.
struct LookCounter {
  struct Stamp {};
  std::uint64_t looks = 0;
  void load() { ++looks; }
  void store() {}
  void cas() {}
  void atomic() {}
};

TEST(WaitingStorage, FindsRoomSoonAfterItHasGrown) {
  // A full storage that grows is full in its first half. A probe that walks through all of that takes a quarter of the
  // storage per item on average; this one may not.
  constexpr std::uint32_t kOld = 1U << 16U;
  using Storage = engine::WaitingStorage<int, engine::HashStart, LookCounter>;
  const Bytes memory(Storage::bytes(2 * kOld));
  const Storage storage = Storage::attach(memory.data(), 2 * kOld);
  LookCounter counter;
  const Storage first_half = Storage::attach(memory.data(), kOld);
  for (std::uint32_t i = 0; i < kOld; ++i) {
    first_half.add_to_level(1, counter);
    first_half.insert(static_cast<int>(i), 0, i, counter);
  }
  counter.looks = 0;
  for (std::uint32_t i = kOld; i < kOld + kOld / 2; ++i) {
    storage.add_to_level(1, counter);
    storage.insert(static_cast<int>(i), 0, i, counter);
  }
  EXPECT_LT(counter.looks / (kOld / 2), 200U) << "looks per item";
}

}  // namespace
}  // namespace taskdag::test
