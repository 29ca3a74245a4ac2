/// \file
/// Writes a trace as JSON for Perfetto.
#include <nlohmann/json.hpp>

#include "engine/trace_file.hpp"
#include "engine/trace_tracks.hpp"
#include "taskdag/engine/trace.hpp"

namespace taskdag::engine {

namespace {

constexpr int kProcess = 1;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_metadata(TraceFile& file, std::string_view what, std::size_t track, const std::string& value) {
  file << R"({"ph":"M","name":")" << what << R"(","pid":)" << kProcess << R"(,"tid":)" << track << R"(,"args":{)"
       << value << "}}";
}

}  // namespace

void write_chrome_trace(const Report& report, Backend backend, const std::string& path) {
  const Tracks tracks = tracks_of(report, backend);
  std::vector<std::string> types;
  types.reserve(report.types.size());
  for (const TypeReport& type : report.types) types.push_back(quoted(type.name));

  TraceFile file(path);
  file << R"({"displayTimeUnit":"ns","otherData":{"events":)" << report.events.size() << R"(,"dropped_events":)"
       << report.dropped_events << "},\n\"traceEvents\":[\n";
  write_metadata(file, "process_name", 0, "\"name\":" + quoted(backend == Backend::host ? "host" : "GPU"));
  for (std::size_t t = 0; t < tracks.tracks.size(); ++t) {
    file << ",\n";
    write_metadata(file, "thread_name", t, "\"name\":" + quoted(tracks.tracks[t].name));
    file << ",\n";
    write_metadata(file, "thread_sort_index", t, "\"sort_index\":" + std::to_string(t));
  }
  const auto since_first = [&](std::uint64_t ns) { return static_cast<std::int64_t>(ns - tracks.first); };
  for (const std::uint32_t index : tracks.order) {
    const TraceEvent& event = report.events[index];
    file << ",\n{\"ph\":\"X\",\"name\":" << types[event.type] << ",\"cat\":" << types[event.type] << ",\"ts\":";
    file.thousandths(since_first(event.start)) << ",\"dur\":";
    file.thousandths(event.end > event.start ? static_cast<std::int64_t>(event.end - event.start) : 0)
        << ",\"pid\":" << kProcess << ",\"tid\":" << tracks.track_of[index]
        << ",\"args\":{\"latency_ns\":" << (event.start > event.created ? event.start - event.created : 0)
        << ",\"created_us\":";
    file.thousandths(since_first(event.created)) << ",\"team\":" << event.worker << "}}";
  }
  file << "\n]}\n";
  file.close();
}

}  // namespace taskdag::engine
