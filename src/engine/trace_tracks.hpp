/// \file
/// A trace's tracks: events of one track never overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/engine/report.hpp"

namespace taskdag::engine {

struct Track {
  std::string name;
  std::uint32_t processor;
};

struct Tracks {
  std::vector<Track> tracks;            ///< by processor, then team, then worker
  std::vector<std::uint32_t> track_of;  ///< by event
  std::vector<std::uint32_t> order;     ///< events by start, then track
  std::uint64_t first = 0;              ///< the first start, 0 without events
  std::uint64_t last = 0;               ///< the last end
};

/// @throws InvalidInput for Backend::automatic and for an event whose type the report does not have
Tracks tracks_of(const Report& report, Backend backend);
/// "SM 5", "all SMs", "host thread 5".
std::string processor_name(Backend backend, std::uint32_t processor);
/// @throws InvalidInput for an event whose type the report does not have
void check_types(const Report& report);

}  // namespace taskdag::engine
