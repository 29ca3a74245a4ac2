/// \file
/// Memory that the ranks of a node share: each has a window, into which all may write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "taskdag/rank_group.hpp"

namespace taskdag::ranks {

class Window {
 public:
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  virtual ~Window() = default;

  /// That of a rank, as this process or its device sees it.
  [[nodiscard]] void* of(int rank) const { return bases_[static_cast<std::size_t>(rank)]; }
  /// Into this rank's own, before others use it.
  virtual void copy_in(std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// A number in the window of a rank, which others may look at meanwhile; one in this rank's own, which others may
  /// set.
  virtual void set_word(int rank, std::size_t offset, std::uint32_t word) = 0;
  [[nodiscard]] virtual std::uint32_t word(std::size_t offset) const = 0;

 protected:
  std::vector<void*> bases_;
};

/// In host memory, as much as each rank asks for, zeroed. Collective. @throws OutOfMemory, Unsupported where the ranks
/// have no common memory
std::unique_ptr<Window> open_host_window(const RankGroup& group, std::size_t bytes);

/// The device of a rank.
struct RankDevice {
  int number = 0;              ///< in its process
  std::string uuid;            ///< device_uuid()
  bool may_be_shared = false;  ///< with another process
};
/// In the memory of each rank's device. Ranks are processes. Collective.
/// @throws OutOfMemory, DeviceError, Unsupported where a device does not reach the memory of another
std::unique_ptr<Window> open_device_window(const RankGroup& group, std::size_t bytes, const RankDevice& device);

}  // namespace taskdag::ranks
