#include "engine/trace_tracks.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

#include "taskdag/engine/trace.hpp"
#include "taskdag/error.hpp"

namespace taskdag::engine {

namespace {

/// More teams than any multiprocessor holds at a time: they belong to kernels that came one after the other.
constexpr std::size_t kMostTeams = 64;

/// Distributes events, sorted by start, over as few tracks as hold them without overlap. `name` is called with the
/// number of each new track, from 0.
template <class Name>
void spread(const Report& report, std::span<const std::uint32_t> events, Tracks& tracks, Name&& name) {
  using Free = std::pair<std::uint64_t, std::uint32_t>;  // since when, track
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  for (const std::uint32_t event : events) {
    const TraceEvent& e = report.events[event];
    auto track = static_cast<std::uint32_t>(tracks.tracks.size());
    if (!free.empty() && free.top().first <= e.start) {
      track = free.top().second;
      free.pop();
    } else {
      tracks.tracks.push_back({name(free.size()), e.processor});
    }
    free.emplace(std::max(e.start, e.end), track);
    tracks.track_of[event] = track;
  }
}

/// Splits events, sorted by `key`, into runs of the same key.
template <class Key, class Use>
void each_run(std::span<const std::uint32_t> events, Key&& key, Use&& use) {
  for (std::size_t begin = 0; begin < events.size();) {
    std::size_t end = begin + 1;
    while (end < events.size() && key(events[end]) == key(events[begin])) ++end;
    use(events.subspan(begin, end - begin));
    begin = end;
  }
}

void add_processor(const Report& report, Backend backend, std::span<std::uint32_t> events, Tracks& tracks) {
  const auto team = [&](std::uint32_t e) { return report.events[e].worker; };
  const std::uint32_t processor = report.events[events.front()].processor;
  const std::string name = processor_name(backend, processor);
  std::size_t teams = 0;
  each_run(events, team, [&](auto) { ++teams; });
  if (teams > kMostTeams) {
    std::sort(events.begin(), events.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(report.events[a].start, a) < std::pair(report.events[b].start, b);
    });
    spread(report, events, tracks, [&](std::size_t slot) { return name + " slot " + std::to_string(slot); });
    return;
  }
  each_run(events, team, [&](std::span<const std::uint32_t> of_team) {
    const bool alone = backend == Backend::host || processor == all_multiprocessors;
    const std::string team_name = alone ? name : name + " team " + std::to_string(team(of_team.front()));
    spread(report, of_team, tracks, [&](std::size_t worker) {
      return worker == 0 ? team_name : team_name + " worker " + std::to_string(worker);
    });
  });
}

}  // namespace

std::string processor_name(Backend backend, std::uint32_t processor) {
  if (backend == Backend::cuda && processor == all_multiprocessors) return "all SMs";
  return (backend == Backend::host ? "host thread " : "SM ") + std::to_string(processor);
}

void check_types(const Report& report) {
  for (const TraceEvent& event : report.events) {
    if (event.type >= report.types.size()) {
      throw InvalidInput("an event's type is " + std::to_string(event.type) + ", the report has " +
                         std::to_string(report.types.size()) + " types");
    }
  }
}

Tracks tracks_of(const Report& report, Backend backend) {
  if (backend == Backend::automatic) throw InvalidInput("a trace is of one backend, cuda or host");
  check_types(report);
  const std::vector<TraceEvent>& events = report.events;
  Tracks tracks;
  tracks.track_of.resize(events.size());
  tracks.order.resize(events.size());
  if (events.empty()) return tracks;
  std::iota(tracks.order.begin(), tracks.order.end(), 0U);
  std::sort(tracks.order.begin(), tracks.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const TraceEvent& x = events[a];
    const TraceEvent& y = events[b];
    return std::tie(x.processor, x.worker, x.start, a) < std::tie(y.processor, y.worker, y.start, b);
  });
  for (std::size_t begin = 0; begin < events.size();) {
    std::size_t end = begin;
    while (end < events.size() && events[tracks.order[end]].processor == events[tracks.order[begin]].processor) {
      ++end;
    }
    add_processor(report, backend, std::span(tracks.order).subspan(begin, end - begin), tracks);
    begin = end;
  }
  std::sort(tracks.order.begin(), tracks.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(events[a].start, tracks.track_of[a], a) < std::tie(events[b].start, tracks.track_of[b], b);
  });
  tracks.first = events[tracks.order.front()].start;
  for (const TraceEvent& event : events) tracks.last = std::max({tracks.last, event.start, event.end});
  return tracks;
}

}  // namespace taskdag::engine
