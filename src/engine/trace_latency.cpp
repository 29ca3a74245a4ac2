/// \file
/// How long tasks lay in their queue and how long they ran, from a trace.
#include <algorithm>
#include <iomanip>
#include <sstream>

#include "engine/trace_tracks.hpp"
#include "taskdag/engine/trace.hpp"

namespace taskdag::engine {

namespace {

/// The smallest value that at least `percent` of the values do not exceed (nearest rank). @pre values is not empty
std::uint64_t percentile(std::vector<std::uint64_t>& values, std::size_t percent) {
  const std::size_t rank = (values.size() * percent + 99) / 100;
  const auto element = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), element, values.end());
  return *element;
}

/// Reorders the values.
void summarise(std::vector<std::uint64_t>& values, Latency& latency) {
  latency.events = values.size();
  if (values.empty()) return;
  double sum = 0;
  for (const std::uint64_t value : values) sum += static_cast<double>(value);
  latency.mean = sum / static_cast<double>(values.size());
  latency.median = percentile(values, 50);
  latency.p99 = percentile(values, 99);
  latency.max = *std::max_element(values.begin(), values.end());
}

}  // namespace

Latencies latencies(const Report& report) {
  check_types(report);
  Latencies result;
  result.dropped_events = report.dropped_events;
  result.all.type = "all";
  std::vector<std::vector<std::uint64_t>> by_type(report.types.size());
  std::vector<std::uint64_t> all;
  all.reserve(report.events.size());
  for (const TypeReport& type : report.types) result.types.emplace_back().type = type.name;
  for (const TraceEvent& event : report.events) {
    const bool clamped = event.start < event.created;
    const std::uint64_t ns = clamped ? 0 : event.start - event.created;
    if (clamped) {
      ++result.types[event.type].clamped;
      ++result.all.clamped;
    }
    by_type[event.type].push_back(ns);
    all.push_back(ns);
  }
  for (std::size_t t = 0; t < by_type.size(); ++t) summarise(by_type[t], result.types[t]);
  summarise(all, result.all);
  return result;
}

std::string describe(const Latencies& latencies) {
  constexpr int kWidth = 12;
  std::size_t longest = latencies.all.type.size();
  for (const Latency& type : latencies.types) longest = std::max(longest, type.type.size());
  std::ostringstream text;
  text << "latency in ns, from ready to start\n"
       << std::left << std::setw(static_cast<int>(longest)) << "type" << std::right;
  for (const char* head : {"events", "median", "p99", "mean", "max", "clamped"}) text << std::setw(kWidth) << head;
  text << "\n" << std::fixed << std::setprecision(1);
  const auto line = [&](const Latency& l) {
    text << std::left << std::setw(static_cast<int>(longest)) << l.type << std::right << std::setw(kWidth) << l.events
         << std::setw(kWidth) << l.median << std::setw(kWidth) << l.p99 << std::setw(kWidth) << l.mean
         << std::setw(kWidth) << l.max << std::setw(kWidth) << l.clamped << "\n";
  };
  for (const Latency& type : latencies.types) {
    if (type.events != 0) line(type);
  }
  line(latencies.all);
  if (latencies.dropped_events != 0) text << latencies.dropped_events << " events found no room in the trace\n";
  return text.str();
}

}  // namespace taskdag::engine
