/// \file
/// What one rank cannot do is an error on all.
#pragma once

#include <exception>
#include <utility>
#include <vector>

#include "taskdag/rank_group.hpp"

namespace taskdag::ranks {

/// What each rank has to say, in the ranks' order. Collective.
template <class T>
std::vector<T> gather(const RankGroup& group, const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(group.count()));
  group.gather(&mine, sizeof(T), all.data());
  return all;
}

/// Collective: throws on all ranks where `mine` is an exception on any of them. A rank with one of its own rethrows
/// that; others get the first rank's in its words, as the same type of taskdag/error.hpp.
void share_exception(const RankGroup& group, const std::exception_ptr& mine);

/// Does what a rank may fail in. Collective.
template <class Work>
void agree(const RankGroup& group, Work&& work) {
  std::exception_ptr mine;
  try {
    std::forward<Work>(work)();
  } catch (...) {
    mine = std::current_exception();
  }
  share_exception(group, mine);
}

}  // namespace taskdag::ranks
