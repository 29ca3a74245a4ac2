/// \file
/// Processes that solve a system together, as the library sees them.
#pragma once

#include <cstddef>

#include "taskdag/export.hpp"

namespace taskdag {

/// Ranks 0, 1, … count() − 1, one of which is the caller: processes of an MPI communicator, say.
class TASKDAG_API RankGroup {
 public:
  RankGroup() = default;
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;
  virtual ~RankGroup();

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int count() const = 0;
  /// Called by all ranks with the same `bytes`. `all` gets those of each rank, in the ranks' order. Waits for all.
  /// Throws on all ranks or on none.
  virtual void gather(const void* mine, std::size_t bytes, void* all) const = 0;
};

}  // namespace taskdag
