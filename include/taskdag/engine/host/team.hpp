/// \file
/// A team of the host: one thread.
#pragma once

#include "taskdag/engine/scratch.hpp"
#include "taskdag/engine/team.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

class HostTeam {
 public:
  static constexpr int size = 1;
  static constexpr bool hands_over = true;
  template <class T>
  static constexpr int lanes_of() {
    return 1;
  }

  HostTeam(std::uint32_t thread, std::byte* scratch) : thread_(thread), number_(thread), scratch_(scratch) {}

  /// The same thread under another number.
  [[nodiscard]] HostTeam as(std::uint32_t number) const {
    HostTeam team = *this;
    team.number_ = number;
    return team;
  }

  static constexpr int rank() { return 0; }
  static constexpr bool leads() { return true; }
  [[nodiscard]] std::uint32_t thread() const { return thread_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  static Turn broadcast(const Turn& turn) { return turn; }
  template <int Lanes>
  static void split(bool wants, int& wanting, int& rank) {
    wanting = wants ? 1 : 0;
    rank = 0;
  }
  static bool any(bool value) { return value; }
  static int sum(int value) { return value; }
  static int count(bool value) { return value ? 1 : 0; }
  static void sync() {}
  /// The worker keeps `first`; there is no worker for a second child.
  template <int Lanes, class HeldItem>
  static HeldItem hand_over(const HeldItem& first, const HeldItem& second, bool& left_over) {
    left_over = second.there;
    return first;
  }
  // Each thread watches for itself.
  static bool watches() { return true; }
  static bool sleep() { return false; }
  static void wake() {}
  static void end() {}
  // A thread is a party of its own.
  static bool leads_party() { return true; }
  static std::uint64_t begin_phase(std::uint64_t word) { return word; }
  static void sync_party() {}
  static bool goes_on(bool more) { return more; }
  template <class T>
  static HostGroup group() {
    return {};
  }
  template <class T>
  [[nodiscard]] std::byte* shared() const {
    return scratch_;
  }
  template <class T>
  [[nodiscard]] typename T::Item* items() const {
    return reinterpret_cast<typename T::Item*>(scratch_ + Scratch<T>::items_at);
  }

 private:
  std::uint32_t thread_;
  std::uint32_t number_;
  std::byte* scratch_;
};

}  // namespace detail

TASKDAG_ENGINE_END
