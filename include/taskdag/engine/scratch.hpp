/// \file
/// A worker's scratch memory: the type's shared_bytes, then the fetched items of a batched type.
#pragma once

#include "taskdag/engine/task_type.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

constexpr std::size_t aligned16(std::size_t bytes) { return (bytes + 15U) / 16U * 16U; }

constexpr std::size_t larger(std::size_t a, std::size_t b) { return a > b ? a : b; }

template <class T>
struct Scratch {
  using Traits = TaskTraits<T>;
  static constexpr std::size_t items_at = aligned16(Traits::shared_bytes());
  static constexpr std::size_t value =
      items_at +
      (Traits::batched() ? aligned16(sizeof(typename T::Item) * static_cast<std::size_t>(Traits::fetch())) : 0U);
};

/// The most that a worker of any of the types needs.
template <class List>
struct LargestScratch;
template <class... Ts>
struct LargestScratch<Types<Ts...>> {
  static constexpr std::size_t value = [] {
    std::size_t most = 16;
    ((most = larger(most, Scratch<Ts>::value)), ...);
    return most;
  }();
};

}  // namespace detail

TASKDAG_ENGINE_END
