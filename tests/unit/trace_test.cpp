#include "taskdag/engine/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <set>
#include <sstream>

#include "taskdag/error.hpp"
#include "unit/scratch_file.hpp"

namespace taskdag::engine {
namespace {

using nlohmann::json;
using test::ScratchFile;

constexpr std::uint64_t kStart = 1'700'000'000'000'000'123;  // as large as a clock's values are

Report with_types(const std::vector<std::string>& names) {
  Report report;
  for (const std::string& name : names) report.types.emplace_back().name = name;
  return report;
}

TraceEvent event(std::uint64_t created, std::uint64_t start, std::uint64_t end, std::uint32_t worker,
                 std::uint16_t processor, std::uint16_t type) {
  return {kStart + created, kStart + start, kStart + end, worker, processor, type};
}

json chrome(const Report& report, Backend backend) {
  const ScratchFile file("trace.json");
  write_chrome_trace(report, backend, file.path());
  return json::parse(file.content());
}

std::vector<json> of_kind(const json& trace, const std::string& ph) {
  std::vector<json> events;
  for (const json& e : trace.at("traceEvents")) {
    if (e.at("ph") == ph) events.push_back(e);
  }
  return events;
}

std::map<int, std::string> track_names(const json& trace) {
  std::map<int, std::string> names;
  for (const json& e : of_kind(trace, "M")) {
    if (e.at("name") == "thread_name") {
      EXPECT_TRUE(names.emplace(e.at("tid").get<int>(), e.at("args").at("name").get<std::string>()).second);
    }
  }
  return names;
}

std::set<std::string> set_of_names(const json& trace) {
  std::set<std::string> names;
  for (const auto& [tid, name] : track_names(trace)) names.insert(name);
  return names;
}

/// Viewers want events of one track that do not overlap.
void expect_no_overlap(const json& trace) {
  std::map<int, double> end;
  for (const json& e : of_kind(trace, "X")) {
    const int tid = e.at("tid").get<int>();
    const double ts = e.at("ts").get<double>();
    if (end.contains(tid)) {
      EXPECT_GE(ts, end[tid] - 1e-6);
    }
    end[tid] = ts + e.at("dur").get<double>();
  }
}

TEST(ChromeTrace, HasEveryEventWithItsTimesInMicrosecondsFromTheFirstStart) {
  Report report = with_types({"cut leg", "assemble"});
  report.events = {event(2500, 3000, 4500, 1, 1, 1), event(0, 1000, 2001, 0, 0, 0)};
  const json trace = chrome(report, Backend::host);
  const std::vector<json> events = of_kind(trace, "X");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0], json::parse(R"({"ph": "X", "name": "cut leg", "cat": "cut leg", "ts": 0.0, "dur": 1.001,
    "pid": 1, "tid": 0, "args": {"latency_ns": 1000, "created_us": -1.0, "team": 0}})"));
  EXPECT_EQ(events[1], json::parse(R"({"ph": "X", "name": "assemble", "cat": "assemble", "ts": 2.0, "dur": 1.5,
    "pid": 1, "tid": 1, "args": {"latency_ns": 500, "created_us": 1.5, "team": 1}})"));
  EXPECT_EQ(trace.at("otherData").at("events"), 2);
}

TEST(ChromeTrace, NamesHostThreads) {
  Report report = with_types({"a"});
  report.events = {event(0, 1, 2, 3, 3, 0), event(0, 1, 2, 1, 1, 0), event(2, 2, 3, 3, 3, 0)};
  const json trace = chrome(report, Backend::host);
  EXPECT_EQ(track_names(trace), (std::map<int, std::string>{{0, "host thread 1"}, {1, "host thread 3"}}));
  EXPECT_EQ(of_kind(trace, "M").front().at("args").at("name"), "host");
}

TEST(ChromeTrace, NamesTeamsOfTheGpuAndKeepsTheirWorkersApart) {
  Report report = with_types({"a"});
  // Team 12 of SM 5: two workers at once, then one more task.
  report.events = {event(0, 10, 20, 12, 5, 0), event(0, 10, 25, 12, 5, 0), event(0, 20, 30, 12, 5, 0),
                   event(0, 10, 20, 3, 0, 0)};
  const json trace = chrome(report, Backend::cuda);
  EXPECT_EQ(track_names(trace),
            (std::map<int, std::string>{{0, "SM 0 team 3"}, {1, "SM 5 team 12"}, {2, "SM 5 team 12 worker 1"}}));
  EXPECT_EQ(of_kind(trace, "M").front().at("args").at("name"), "GPU");
  expect_no_overlap(trace);
}

TEST(ChromeTrace, PutsTeamsOfDiscreteKernelsIntoSlots) {
  Report report = with_types({"a"});
  for (std::uint32_t team = 0; team < 200; ++team) {  // two at a time
    report.events.push_back(event(0, 10 * (team / 2), 10 * (team / 2) + 10, team, 7, 0));
  }
  const json trace = chrome(report, Backend::cuda);
  EXPECT_EQ(set_of_names(trace), (std::set<std::string>{"SM 7 slot 0", "SM 7 slot 1"}));
  expect_no_overlap(trace);
  EXPECT_EQ(of_kind(trace, "X").size(), 200U);
}

TEST(ChromeTrace, NamesWhatAllMultiprocessorsHaveAPartIn) {
  Report report = with_types({"a"});
  const std::uint16_t all = all_multiprocessors;
  report.events = {event(0, 10, 20, 0, all, 0), event(20, 20, 30, 0, all, 0), event(0, 10, 20, 3, 0, 0)};
  EXPECT_EQ(track_names(chrome(report, Backend::cuda)),
            (std::map<int, std::string>{{0, "SM 0 team 3"}, {1, "all SMs"}}));
}

TEST(ChromeTrace, OrdersEventsByStartAndKeepsEachOfManyOnItsOwnTrack) {
  Report report = with_types({"a", "b", "c"});
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> free(40, 0);
  for (int i = 0; i < 20000; ++i) {
    const auto worker = static_cast<std::uint32_t>(random() % free.size());
    const std::uint64_t start = free[worker] + random() % 50;
    free[worker] = start + random() % 100;  // also without a duration
    report.events.push_back(event(start, start, free[worker], worker, static_cast<std::uint16_t>(worker / 4),
                                  static_cast<std::uint16_t>(random() % 3)));
  }
  std::shuffle(report.events.begin(), report.events.end(), random);
  const json trace = chrome(report, Backend::cuda);
  const std::vector<json> events = of_kind(trace, "X");
  ASSERT_EQ(events.size(), 20000U);
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(), [](const json& a, const json& b) {
    return a.at("ts").get<double>() < b.at("ts").get<double>();
  }));
  EXPECT_EQ(track_names(trace).size(), 40U);
  expect_no_overlap(trace);
  std::map<std::string, int> written;
  std::map<std::string, int> recorded;
  for (const json& e : events) ++written[e.at("name").get<std::string>()];
  for (const TraceEvent& e : report.events) ++recorded[report.types[e.type].name];
  EXPECT_EQ(written, recorded);
}

TEST(ChromeTrace, ClampsWhatTheClocksStepTurnsAround) {
  Report report = with_types({"a"});
  report.events = {event(132, 100, 68, 0, 0, 0)};
  const json e = of_kind(chrome(report, Backend::cuda), "X").at(0);
  EXPECT_EQ(e.at("args").at("latency_ns"), 0);
  EXPECT_EQ(e.at("dur"), 0.0);
  EXPECT_EQ(e.at("args").at("created_us"), 0.032);
}

TEST(ChromeTrace, EscapesNames) {
  const std::string name = "quote \" back\\slash \n tab\t µ \x01";
  Report report = with_types({name});
  report.events = {event(0, 1, 2, 0, 0, 0)};
  EXPECT_EQ(of_kind(chrome(report, Backend::host), "X").at(0).at("name"), name);
  report.types[0].name = "not UTF-8: \xFF";
  EXPECT_EQ(of_kind(chrome(report, Backend::host), "X").at(0).at("name"), "not UTF-8: \xEF\xBF\xBD");
}

TEST(ChromeTrace, IsValidWithoutEventsAndSaysHowManyWereDropped) {
  Report report = with_types({"a"});
  report.dropped_events = 7;
  const json trace = chrome(report, Backend::cuda);
  EXPECT_TRUE(of_kind(trace, "X").empty());
  EXPECT_EQ(trace.at("otherData").at("dropped_events"), 7);
}

/// An element of a document, and what stands in it as text.
struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;
};

/// Parses the XML that has neither comments nor CDATA; an error is a failed expectation.
std::vector<Element> parse_xml(const std::string& text) {
  std::vector<Element> all;
  std::vector<std::size_t> open;
  std::size_t at = 0;
  bool had_root = false;
  const auto fail = [&](const char* what) {
    ADD_FAILURE() << what << " at " << at << ": " << text.substr(at, 60);
    return all;
  };
  if (text.starts_with("<?xml")) at = text.find("?>") + 2;
  while (at < text.size()) {
    if (text[at] != '<') {
      if (text[at] == '&') {
        bool known = false;
        for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;"})
          known = known || text.compare(at, std::string(entity).size(), entity) == 0;
        if (!known) return fail("unknown entity");
      }
      if (open.empty() && text[at] != '\n') return fail("text outside the root");
      if (static_cast<unsigned char>(text[at]) < 0x20 && text[at] != '\n') return fail("control character");
      if (!open.empty()) all[open.back()].text += text[at];
      ++at;
      continue;
    }
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) return fail("unclosed tag");
    if (text[at + 1] == '/') {
      if (open.empty() || all[open.back()].name != text.substr(at + 2, end - at - 2)) return fail("wrong closing tag");
      open.pop_back();
      at = end + 1;
      continue;
    }
    if (open.empty() && had_root) return fail("second root");
    had_root = true;
    const bool empty = text[end - 1] == '/';
    const std::string tag = text.substr(at + 1, end - at - 1 - (empty ? 1 : 0));
    Element element;
    std::size_t in = tag.find(' ');
    element.name = tag.substr(0, in);
    while (in != std::string::npos && in < tag.size()) {
      const std::size_t equals = tag.find("=\"", in);
      if (tag[in] != ' ' || equals == std::string::npos) return fail("bad attribute");
      const std::size_t quote = tag.find('"', equals + 2);
      if (quote == std::string::npos) return fail("open attribute");
      const std::string value = tag.substr(equals + 2, quote - equals - 2);
      if (value.find('<') != std::string::npos) return fail("< in an attribute");
      if (!element.attributes.emplace(tag.substr(in + 1, equals - in - 1), value).second)
        return fail("attribute twice");
      in = quote + 1;
    }
    all.push_back(std::move(element));
    if (!empty) open.push_back(all.size() - 1);
    at = end + 1;
  }
  if (!open.empty()) return fail("unclosed element");
  return all;
}

struct DrawnBar {
  double x, y, width;
  bool operator<(const DrawnBar& other) const { return std::tie(y, x) < std::tie(other.y, other.x); }
};

struct Plot {
  std::size_t bytes = 0;
  std::map<std::string, std::vector<DrawnBar>> bars;  // by type
  std::vector<std::string> texts;
  [[nodiscard]] bool says(const std::string& what) const {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& t) { return t.find(what) != std::string::npos; });
  }
  [[nodiscard]] bool has(const std::string& what) const { return std::count(texts.begin(), texts.end(), what) == 1; }
};

Plot plot(const Report& report, Backend backend, const PlotOptions& options = {}) {
  const ScratchFile file("plot.svg");
  write_plot(report, backend, file.path(), options);
  const std::string content = file.content();
  Plot result;
  result.bytes = content.size();
  const std::vector<Element> elements = parse_xml(content);
  EXPECT_FALSE(elements.empty());
  if (elements.empty()) return result;
  EXPECT_EQ(elements.front().name, "svg");
  EXPECT_EQ(elements.front().attributes.at("xmlns"), "http://www.w3.org/2000/svg");
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].name == "text") result.texts.push_back(elements[i].text);
    if (elements[i].name != "path" || i + 1 == elements.size() || elements[i + 1].name != "title") continue;
    std::istringstream data(elements[i].attributes.at("d"));
    char letter = 0;
    while (data >> letter) {
      DrawnBar bar{};
      char h = 0;
      EXPECT_EQ(letter, 'M');
      EXPECT_TRUE(data >> bar.x >> bar.y >> h >> bar.width);
      EXPECT_EQ(h, 'h');
      EXPECT_GT(bar.width, 0.0);
      result.bars[elements[i + 1].text].push_back(bar);
    }
  }
  return result;
}

std::size_t bars_in(const Plot& plot) {
  return std::accumulate(plot.bars.begin(), plot.bars.end(), std::size_t{0},
                         [](std::size_t sum, const auto& type) { return sum + type.second.size(); });
}

TEST(SchedulingPlot, DrawsABarPerTaskWhereAndWhenItRan) {
  Report report = with_types({"cut leg", "unused", "assemble"});
  report.events = {event(0, 0, 2000, 0, 0, 0), event(0, 4000, 10000, 0, 0, 2), event(0, 5000, 7000, 1, 1, 0)};
  const Plot drawn = plot(report, Backend::host, {.title = "two threads", .width = 1000});
  ASSERT_EQ(drawn.bars.size(), 2U);
  const std::vector<DrawnBar>& legs = drawn.bars.at("cut leg");
  const std::vector<DrawnBar>& tables = drawn.bars.at("assemble");
  ASSERT_EQ(legs.size(), 2U);
  ASSERT_EQ(tables.size(), 1U);
  const double left = legs[0].x;
  EXPECT_DOUBLE_EQ(legs[0].width, 200);
  EXPECT_DOUBLE_EQ(tables[0].x - left, 400);
  EXPECT_DOUBLE_EQ(tables[0].width, 600);
  EXPECT_DOUBLE_EQ(legs[1].x - left, 500);
  EXPECT_DOUBLE_EQ(legs[1].width, 200);
  EXPECT_DOUBLE_EQ(tables[0].y, legs[0].y);
  EXPECT_GT(legs[1].y, legs[0].y);
  for (const char* text : {"two threads", "cut leg", "assemble", "host thread 0", "host thread 1", "time in \xC2\xB5s",
                           "0", "2", "4", "6", "8", "10"}) {
    EXPECT_TRUE(drawn.has(text)) << text;
  }
  EXPECT_FALSE(drawn.has("unused"));
  EXPECT_TRUE(drawn.says("3 tasks; a row is a worker"));
}

TEST(SchedulingPlot, JoinsNeighboursOfOneTypeOnly) {
  Report report = with_types({"a", "b"});
  report.events = {event(0, 0, 100, 0, 0, 0), event(0, 100, 200, 0, 0, 0), event(0, 200, 300, 0, 0, 1),
                   event(0, 300, 400, 0, 0, 0), event(0, 500, 1000, 0, 0, 0)};
  const Plot drawn = plot(report, Backend::host, {.title = {}, .width = 1000});
  ASSERT_EQ(drawn.bars.at("a").size(), 3U);
  EXPECT_DOUBLE_EQ(drawn.bars.at("a")[0].width, 200);
  ASSERT_EQ(drawn.bars.at("b").size(), 1U);
}

TEST(SchedulingPlot, ShowsTheMainTypeOfAPixelWhereTasksAreFiner) {
  Report report = with_types({"long", "short"});
  // A thousand times 7 ns of one type and 3 ns of the other, on ten pixels.
  for (std::uint64_t i = 0; i < 1000; ++i) {
    report.events.push_back(event(0, 10 * i, 10 * i + 7, 0, 0, 0));
    report.events.push_back(event(0, 10 * i + 7, 10 * i + 10, 0, 0, 1));
  }
  const Plot drawn = plot(report, Backend::host, {.title = {}, .width = 10});
  ASSERT_EQ(drawn.bars.size(), 1U);
  ASSERT_EQ(drawn.bars.at("long").size(), 1U);
  EXPECT_DOUBLE_EQ(drawn.bars.at("long")[0].width, 10);
  EXPECT_TRUE(drawn.says("the type that took most time is shown"));
}

TEST(SchedulingPlot, GroupsManyTeamsByProcessor) {
  Report report = with_types({"a"});
  for (std::uint32_t team = 0; team < 30; ++team) {
    report.events.push_back(event(0, team, 100, team, static_cast<std::uint16_t>(team / 10), 0));
  }
  const Plot drawn = plot(report, Backend::cuda, {.title = {}, .width = 100, .most_rows = 29});
  EXPECT_EQ(drawn.bars.at("a").size(), 3U);
  for (const char* text : {"SM 0", "SM 1", "SM 2"}) EXPECT_TRUE(drawn.has(text)) << text;
  EXPECT_TRUE(drawn.says("a row is a processor with up to 10 workers"));
  EXPECT_EQ(bars_in(plot(report, Backend::cuda, {.title = {}, .width = 100, .most_rows = 30})), 30U);
}

TEST(SchedulingPlot, StaysSmallWithManyEvents) {
  Report report = with_types({"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"});
  std::mt19937_64 random(2);
  for (std::uint32_t worker = 0; worker < 132U * 16U; ++worker) {
    std::uint64_t now = 0;
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t start = now + random() % 1000;
      now = start + 500 + random() % 4000;
      report.events.push_back(event(start, start, now, worker, static_cast<std::uint16_t>(worker / 16),
                                    static_cast<std::uint16_t>(random() % 11)));
    }
  }
  const Plot drawn = plot(report, Backend::cuda);
  EXPECT_GT(report.events.size(), 100000U);
  EXPECT_LE(bars_in(drawn), 132U * 1200U);
  EXPECT_LT(drawn.bytes, 3U << 20U);
}

TEST(SchedulingPlot, IsWellFormedWithoutEventsAndWithStrangeNames) {
  EXPECT_TRUE(plot(Report{}, Backend::host).says("0 tasks"));
  Report report = with_types({"a < b && \"c\" > \x02"});
  report.events = {event(0, 0, 0, 0, 0, 0)};  // no duration at all
  const Plot drawn = plot(report, Backend::host, {.title = "<title>"});
  EXPECT_EQ(bars_in(drawn), 1U);
  EXPECT_TRUE(drawn.has("&lt;title&gt;"));
}

TEST(Latencies, AreTheNearestRanksOfKnownData) {
  Report report = with_types({"a", "b", "none"});
  report.dropped_events = 5;
  for (std::uint64_t i = 1; i <= 200; ++i) report.events.push_back(event(1000, 1000 + i, 2000, 0, 0, 0));
  report.events.push_back(event(1000, 1400, 2000, 0, 0, 1));
  std::shuffle(report.events.begin(), report.events.end(), std::mt19937_64(3));
  const Latencies found = latencies(report);
  ASSERT_EQ(found.types.size(), 3U);
  const Latency& a = found.types[0];
  EXPECT_EQ(a.type, "a");
  EXPECT_EQ(a.events, 200U);
  EXPECT_EQ(a.median, 100U);
  EXPECT_EQ(a.p99, 198U);
  EXPECT_EQ(a.max, 200U);
  EXPECT_DOUBLE_EQ(a.mean, 100.5);
  EXPECT_EQ(a.clamped, 0U);
  const Latency& b = found.types[1];
  EXPECT_EQ(b.median, 400U);
  EXPECT_EQ(b.p99, 400U);
  EXPECT_EQ(b.max, 400U);
  EXPECT_DOUBLE_EQ(b.mean, 400);
  EXPECT_EQ(found.types[2].events, 0U);
  EXPECT_EQ(found.all.events, 201U);
  EXPECT_EQ(found.all.median, 101U);
  EXPECT_EQ(found.all.p99, 199U);
  EXPECT_EQ(found.all.max, 400U);
  EXPECT_EQ(found.dropped_events, 5U);
  const std::string text = describe(found);
  EXPECT_NE(text.find("5 events found no room"), std::string::npos);
  EXPECT_EQ(text.find("none"), std::string::npos);
}

TEST(Latencies, CountStartsBeforeCreationAsZeroAndSaySo) {
  Report report = with_types({"a"});
  report.events = {event(132, 100, 200, 0, 0, 0), event(100, 164, 200, 0, 0, 0)};
  const Latencies found = latencies(report);
  EXPECT_EQ(found.types[0].clamped, 1U);
  EXPECT_EQ(found.all.clamped, 1U);
  EXPECT_EQ(found.all.median, 0U);
  EXPECT_EQ(found.all.max, 64U);
  EXPECT_DOUBLE_EQ(found.all.mean, 32);
}

TEST(Latencies, AreZeroWithoutEvents) {
  const Latencies found = latencies(with_types({"a"}));
  for (const Latency& l : {found.all, found.types.at(0)}) {
    EXPECT_EQ(l.events, 0U);
    EXPECT_EQ(l.mean, 0.0);
    EXPECT_EQ(l.median + l.p99 + l.max + l.clamped, 0U);
  }
  EXPECT_EQ(describe(found).find("nan"), std::string::npos);
}

TEST(Trace, RefusesWhatItCannotWrite) {
  Report report = with_types({"a"});
  report.events = {event(0, 1, 2, 0, 0, 0)};
  const std::string nowhere = testing::TempDir() + "no such directory/file";
  for (const auto& write : {+[](const Report&r, Backend b, const std::string&p) { write_chrome_trace(r, b, p); },
                            +[](const Report&r, Backend b, const std::string&p) { write_plot(r, b, p); }}) {
    EXPECT_THROW(write(report, Backend::automatic, nowhere), InvalidInput);
    for (const std::string& path : {nowhere, std::string("/dev/full")}) {
      try {
        write(report, Backend::host, path);
        ADD_FAILURE() << path << " was written";
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find(path + ": cannot be written: "), 0U) << error.what();
      }
    }
    Report broken = report;
    broken.events[0].type = 1;
    EXPECT_THROW(write(broken, Backend::host, nowhere), InvalidInput);
    EXPECT_THROW(latencies(broken), InvalidInput);
  }
  EXPECT_THROW(write_plot(report, Backend::host, nowhere, {.title = {}, .width = 0}), InvalidInput);
}

}  // namespace
}  // namespace taskdag::engine
