/// \file
/// A sign of life of the other ranks.
#pragma once

#include <functional>
#include <thread>

#include "taskdag/rank_group.hpp"

namespace taskdag::ranks {

/// Calls a function, once, when the process of another rank ends while the object lives: from a thread of its own,
/// which sleeps until then. Where the system has no such sign, never.
class Watch {
 public:
  /// Collective.
  Watch(const RankGroup& group, std::function<void()> lost);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

 private:
  Watch() = default;  ///< the other one delegates to it: what it has begun ends where another rank cannot begin

  int end_[2] = {-1, -1};  ///< a pipe that ends the thread
  std::thread thread_;
};

}  // namespace taskdag::ranks
