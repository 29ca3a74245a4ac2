/// \file
/// Keeps spans of loops, and makes a report of them.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "taskdag/engine/loop/trace.hpp"
#include "taskdag/engine/platform.hpp"

namespace taskdag::engine {

namespace {

/// From the first start to the last end.
double seconds_of(const std::vector<TraceEvent>& spans) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = 0;
  for (const TraceEvent& span : spans) {
    first = std::min(first, span.start);
    last = std::max(last, span.end);
  }
  return last > first ? 1e-9 * static_cast<double>(last - first) : 0.0;
}

}  // namespace

std::uint16_t SpanKinds::number_of(std::string_view name, std::uint32_t tasks) {
  const auto at = std::ranges::find_if(kinds_, [&](const Kind& k) { return k.name == name && k.tasks == tasks; });
  const auto number = static_cast<std::uint16_t>(at - kinds_.begin());
  if (at == kinds_.end()) kinds_.push_back({std::string(name), tasks});
  return number;
}

/// Names that several kinds have are told apart by their tasks.
Report SpanKinds::report(std::vector<TraceEvent> spans, std::uint64_t dropped) const {
  Report report;
  report.types.resize(kinds_.size());
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    const Kind& kind = kinds_[k];
    const bool alone = std::ranges::count(kinds_, kind.name, &Kind::name) == 1;
    report.types[k].name = alone ? kind.name : kind.name + ", " + std::to_string(kind.tasks) + " tasks";
  }
  for (const TraceEvent& span : spans) {
    if (span.worker == 0) report.types[span.type].executed += kinds_[span.type].tasks;
  }
  report.seconds = seconds_of(spans);
  report.dropped_events = dropped;
  report.events = std::move(spans);
  explain(report, 0, 0);
  return report;
}

HostTrace::Ready HostTrace::ready(std::string_view name, std::uint32_t tasks) {
  for (Spans& one : threads_) {
    if (one.events.size() == one.events.capacity()) one.events.reserve(2 * one.events.size() + 64);
  }
  const std::uint16_t kind = kinds_.number_of(name, tasks);
  return {clock_ns(), kind};
}

void HostTrace::add(int thread, const Ready& what, std::uint64_t start, std::uint64_t end) noexcept {
  const auto worker = static_cast<std::uint32_t>(thread);
  threads_[worker].events.push_back({what.since, start, end, worker, static_cast<std::uint16_t>(worker), what.kind});
}

Report HostTrace::report() const {
  std::vector<TraceEvent> all;
  for (const Spans& one : threads_) all.insert(all.end(), one.events.begin(), one.events.end());
  return kinds_.report(std::move(all));
}

}  // namespace taskdag::engine
