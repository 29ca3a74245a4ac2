/// \file
/// Random choices that depend on the seed alone, whatever the standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace taskdag::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// SplitMix64.
  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// In [0, 1).
  double unit() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
  /// In [-1, 1).
  double symmetric() { return 2.0 * unit() - 1.0; }
  /// From `least` to `most`, both included.
  template <class Least, class Most>
  int whole(Least least, Most most) {
    const auto first = static_cast<int>(least);
    return first + static_cast<int>(bits() % static_cast<std::uint64_t>(static_cast<int>(most) - first + 1));
  }
  bool chance(double probability) { return unit() < probability; }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[static_cast<std::size_t>(whole(0, static_cast<int>(list.size()) - 1))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace taskdag::test
