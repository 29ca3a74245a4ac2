#include "papers/pichler/plot/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/trace_file.hpp"
#include "engine/trace_tracks.hpp"

namespace taskdag::engine {

namespace {

// Pixels around the bars.
constexpr int kLeft = 190;
constexpr int kRight = 30;
constexpr int kLine = 20;  ///< of text

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20U ? ' ' : c;
    }
  }
  return result;
}

/// Neighbouring types get distant hues (the golden angle), and three lightnesses in turn.
std::string colour(std::size_t type) {
  const double hue = std::fmod(210.0 + 137.508 * static_cast<double>(type), 360.0);
  const double lightness = std::array{0.50, 0.38, 0.64}[type % 3];
  const double chroma = 0.65 * (1.0 - std::abs(2.0 * lightness - 1.0));
  std::string text = "#";
  for (const double shift : {0.0, 8.0, 4.0}) {  // red, green, blue: the usual formula for HSL
    const double k = std::fmod(shift + hue / 30.0, 12.0);
    const double value = lightness - chroma / 2.0 * std::max(-1.0, std::min({k - 3.0, 9.0 - k, 1.0}));
    const auto byte = static_cast<unsigned>(std::lround(value * 255.0));
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

/// Microseconds without superfluous zeros.
std::string microseconds(std::uint64_t ns) {
  std::string text = std::to_string(ns / 1000);
  if (ns % 1000 != 0) {
    std::string rest = std::to_string(1000 + ns % 1000);
    rest[0] = '.';
    while (rest.back() == '0') rest.pop_back();
    text += rest;
  }
  return text;
}

/// 1, 2 or 5 times a power of ten, so that there are about eight steps.
std::uint64_t tick_step(std::uint64_t span) {
  for (std::uint64_t power = 1;; power *= 10) {
    for (const std::uint64_t factor : {1U, 2U, 5U}) {
      if (factor * power * 8 >= span || power >= std::uint64_t{1000000000000000000U}) return factor * power;
    }
  }
}

/// From x to x + width, in tenths of a pixel.
struct Bar {
  std::size_t row;
  std::int64_t begin;
  std::int64_t end;
};

struct Row {
  std::string name;
  std::vector<std::uint32_t> events;  ///< by start
  int tracks = 0;
};

/// Turns rows of events into bars by type.
class Painter {
 public:
  Painter(const Report& report, const Tracks& tracks, int width)
      : bars(report.types.size()),
        report_(report),
        first_(tracks.first),
        span_(std::max<std::uint64_t>(tracks.last - tracks.first, 1)),
        cells_(static_cast<std::size_t>(width)) {}

  /// @returns whether each task is shown by itself, or only the main type of each pixel is shown
  bool paint(const Row& row, std::size_t number) {
    const bool exact = row.tracks <= 1 && row.events.size() <= cells_;
    if (exact) {
      each_task(row, number);
    } else {
      main_types(row, number);
    }
    return exact;
  }
  [[nodiscard]] double pixel(std::uint64_t since_first) const {
    return static_cast<double>(since_first) * static_cast<double>(cells_) / static_cast<double>(span_);
  }
  [[nodiscard]] std::uint64_t span() const { return span_; }

  std::vector<std::vector<Bar>> bars;

 private:
  void each_task(const Row& row, std::size_t number) {
    constexpr std::int64_t kThinnest = 3;
    constexpr std::int64_t kJoined = 2;
    std::size_t last_type = bars.size();
    for (const std::uint32_t index : row.events) {
      const TraceEvent& event = report_.events[index];
      const std::int64_t begin = std::lround(10.0 * pixel(event.start - first_));
      const std::int64_t end = std::max<std::int64_t>(
          std::lround(10.0 * pixel(std::max(event.start, event.end) - first_)), begin + kThinnest);
      std::vector<Bar>& of_type = bars[event.type];
      if (last_type == event.type && begin - of_type.back().end <= kJoined) {
        of_type.back().end = std::max(of_type.back().end, end);
      } else {
        of_type.push_back({number, begin, end});
      }
      last_type = event.type;
    }
  }

  void main_types(const Row& row, std::size_t number) {
    const std::size_t types = bars.size();
    busy_.assign(cells_ * types, 0.0);
    for (const std::uint32_t index : row.events) {
      const TraceEvent& event = report_.events[index];
      const double begin = std::min(pixel(event.start - first_), static_cast<double>(cells_) - 0.001);
      // At least a nanosecond: tasks below the clock's step are seen as well.
      const double end = pixel(std::max(event.start + 1, event.end) - first_);
      for (auto cell = static_cast<std::size_t>(begin); cell < cells_ && static_cast<double>(cell) < end; ++cell) {
        const auto left = static_cast<double>(cell);
        busy_[cell * types + event.type] += std::min(left + 1.0, end) - std::max(left, begin);
      }
    }
    std::size_t last_type = types;
    for (std::size_t cell = 0; cell < cells_; ++cell) {
      const auto at = busy_.begin() + static_cast<std::ptrdiff_t>(cell * types);
      const auto most = std::max_element(at, at + static_cast<std::ptrdiff_t>(types));
      const std::size_t type = *most > 0.0 ? static_cast<std::size_t>(most - at) : types;
      const auto x = static_cast<std::int64_t>(10 * cell);
      if (type != types && type == last_type) {
        bars[type].back().end = x + 10;
      } else if (type != types) {
        bars[type].push_back({number, x, x + 10});
      }
      last_type = type;
    }
  }

  const Report& report_;
  std::uint64_t first_;
  std::uint64_t span_;
  std::size_t cells_;
  std::vector<double> busy_;  ///< pixels of time by cell and type
};

std::vector<Row> rows_of(Backend backend, const Tracks& tracks, int most_rows) {
  const bool by_processor = tracks.tracks.size() > static_cast<std::size_t>(most_rows);
  std::vector<Row> rows;
  std::vector<std::size_t> row_of;
  for (std::size_t t = 0; t < tracks.tracks.size(); ++t) {
    const Track& track = tracks.tracks[t];
    if (!by_processor) {
      rows.push_back({track.name, {}, 0});
    } else if (t == 0 || tracks.tracks[t - 1].processor != track.processor) {
      rows.push_back({processor_name(backend, track.processor), {}, 0});
    }
    ++rows.back().tracks;
    row_of.push_back(rows.size() - 1);
  }
  for (const std::uint32_t index : tracks.order) rows[row_of[tracks.track_of[index]]].events.push_back(index);
  return rows;
}

void text(TraceFile& file, std::int64_t x, std::int64_t y, const char* anchor, const std::string& content) {
  file << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\">" << escaped(content)
       << "</text>\n";
}

/// Where each type that has events stands in the legend.
struct Entry {
  std::size_t type;
  int x;
  int y;
};
std::vector<Entry> legend(const Report& report, int width, int top) {
  constexpr int kGap = 36;
  constexpr int kLetter = 8;
  std::vector<bool> seen(report.types.size());
  for (const TraceEvent& event : report.events) seen[event.type] = true;
  std::vector<Entry> entries;
  int x = 0;
  for (std::size_t type = 0; type < seen.size(); ++type) {
    if (!seen[type]) continue;
    const int needed = kGap + kLetter * static_cast<int>(report.types[type].name.size());
    if (x != 0 && x + needed > width) {
      x = 0;
      top += kLine;
    }
    entries.push_back({type, kLeft + x, top});
    x += needed;
  }
  return entries;
}

std::string caption(const Report& report, const std::vector<Row>& rows, bool exact) {
  int most = 0;
  for (const Row& row : rows) most = std::max(most, row.tracks);
  std::string line = std::to_string(report.events.size()) + " tasks";
  if (report.dropped_events != 0) line += " (" + std::to_string(report.dropped_events) + " more were not recorded)";
  line += most > 1 ? "; a row is a processor with up to " + std::to_string(most) + " workers" : "; a row is a worker";
  if (!exact) line += "; where tasks are finer than pixels, the type that took most time is shown";
  return line;
}

}  // namespace

void draw_plot(const Report& report, Backend backend, const std::string& path, const PlotOptions& options) {
  if (options.width < 1 || options.most_rows < 1) throw InvalidInput("a plot has at least one pixel and one row");
  const Tracks tracks = tracks_of(report, backend);
  const std::vector<Row> rows = rows_of(backend, tracks, options.most_rows);
  Painter painter(report, tracks, options.width);
  bool exact = true;
  for (std::size_t r = 0; r < rows.size(); ++r) exact = painter.paint(rows[r], r) && exact;

  const int row_height = std::clamp(960 / std::max(static_cast<int>(rows.size()), 1), 3, 18);
  const std::vector<Entry> entries = legend(report, options.width, 2 * kLine);
  const int top = (entries.empty() ? 2 * kLine : entries.back().y) + kLine;
  const int bottom = top + row_height * static_cast<int>(rows.size());
  const int width = kLeft + options.width + kRight;
  const int height = bottom + 4 * kLine;

  TraceFile file(path);
  file << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width
       << "\" height=\"" << height << "\" viewBox=\"0 0 " << width << " " << height
       << "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  text(file, kLeft, kLine, "start", options.title.empty() ? "scheduling plot" : options.title);
  for (const Entry& entry : entries) {
    file << "<rect x=\"" << entry.x << "\" y=\"" << entry.y - 10 << "\" width=\"12\" height=\"12\" fill=\""
         << colour(entry.type) << "\"/>\n";
    text(file, entry.x + 17, entry.y, "start", report.types[entry.type].name);
  }

  // Labels: every row's, or as many as there is room for.
  const auto every = static_cast<std::size_t>((12 + row_height - 1) / row_height);
  for (std::size_t r = 0; r < rows.size(); r += every) {
    text(file, kLeft - 6, top + row_height * static_cast<int>(r) + row_height / 2 + 4, "end", rows[r].name);
  }

  // Bars: one path per type, each bar a piece of a thick line.
  const int thickness = row_height - (row_height > 5 ? 2 : 1);
  file << "<g fill=\"none\" stroke-width=\"" << thickness << "\">\n";
  for (const Entry& entry : entries) {
    file << "<path stroke=\"" << colour(entry.type) << "\" d=\"";
    for (const Bar& bar : painter.bars[entry.type]) {
      file << "M";
      file.tenths(std::int64_t{10} * kLeft + bar.begin) << " ";
      file.tenths(10 * (top + row_height * static_cast<std::int64_t>(bar.row)) + std::int64_t{5} * row_height) << "h";
      file.tenths(bar.end - bar.begin);
    }
    file << "\"><title>" << escaped(report.types[entry.type].name) << "</title></path>\n";
  }
  file << "</g>\n";

  // Axis.
  file << "<path fill=\"none\" stroke=\"black\" d=\"M" << kLeft << " " << top << "V" << bottom << "h" << options.width;
  const std::uint64_t step = tick_step(painter.span());
  for (std::uint64_t tick = 0; tick <= painter.span(); tick += step) {
    file << "M";
    file.tenths(std::int64_t{10} * kLeft + std::lround(10.0 * painter.pixel(tick))) << " " << bottom << "v6";
  }
  file << "\"/>\n";
  for (std::uint64_t tick = 0; tick <= painter.span(); tick += step) {
    text(file, kLeft + std::lround(painter.pixel(tick)), bottom + kLine, "middle", microseconds(tick));
  }
  text(file, kLeft + options.width / 2, bottom + 2 * kLine, "middle", "time in \xC2\xB5s");
  text(file, kLeft, bottom + 3 * kLine, "start", caption(report, rows, exact));
  file << "</svg>\n";
  file.close();
}

}  // namespace taskdag::engine
