#include "check.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

namespace generic {

namespace {

[[noreturn]] void wrong(const std::string& what, std::size_t index) {
  throw std::runtime_error("task at index " + std::to_string(index) + " " + what);
}

void check_counts(const std::vector<Node>& nodes, const Output& output) {
  std::array<std::uint64_t, kTypes> expected{};
  for (const Node& node : nodes) ++expected[node.type];
  for (std::size_t type = 0; type < kTypes; ++type) {
    const std::uint64_t executed = output.report.types.at(type).executed;
    if (executed != expected[type]) {
      throw std::runtime_error(std::to_string(executed) + " tasks of type " + std::to_string(type) +
                               " were executed, not " + std::to_string(expected[type]));
    }
  }
  if (output.created != nodes.size() || output.records.size() != nodes.size()) {
    throw std::runtime_error(std::to_string(output.created) + " tasks were created, not " +
                             std::to_string(nodes.size()));
  }
}

void check_tasks(const std::vector<Node>& nodes, const std::vector<Record>& records) {
  std::vector<Node> executed;
  executed.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    if (record.runs != 1) wrong("was executed " + std::to_string(record.runs) + " times", i);
    if (record.work != 1.0F) wrong("did not do its work", i);
    executed.push_back({record.number, record.type});
  }
  std::sort(executed.begin(), executed.end());
  if (executed != nodes) throw std::runtime_error("the tasks are not those of the serial walk");
}

/// Every number from 1 on is a stamp of one task, and no task ends before it starts.
void check_stamps(const Output& output) {
  const std::vector<Record>& records = output.records;
  if (output.stamps != 2 * records.size()) throw std::runtime_error("there are not two stamps per task");
  std::vector<bool> seen(2 * records.size() + 1);
  for (std::size_t i = 0; i < records.size(); ++i) {
    for (const std::uint32_t stamp : {records[i].start, records[i].end}) {
      if (stamp == 0 || stamp >= seen.size() || seen[stamp]) wrong("has a stamp that is not its own", i);
      seen[stamp] = true;
    }
    if (records[i].start > records[i].end) wrong("ends before it starts", i);
  }
}

std::uint64_t check_children(const std::vector<Record>& records) {
  std::uint64_t children = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& parent = records[i];
    for (std::uint32_t c = 0; c < parent.children; ++c) {
      const Record& child = records.at(std::size_t{parent.first_child} + c);
      if (child.parent != i) wrong("is not the parent of its children", i);
      if (child.start < parent.start) wrong("has a child that started first", i);
      ++children;
    }
  }
  return children;
}

std::uint64_t check_siblings(const Tree& tree, const std::vector<Record>& records) {
  std::uint64_t dependencies = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& parent = records[i];
    if (parent.children < 2) continue;
    const TaskType& type = tree.types[parent.type];
    const Record& last = records[parent.first_child + parent.children - 1];
    if (static_cast<std::int32_t>(last.type) != type.transitions[type.size - 1].to) continue;
    for (std::uint32_t c = 0; c + 1 < parent.children; ++c) {
      if (records[parent.first_child + c].end > last.start) wrong("has a last child that did not wait", i);
      ++dependencies;
    }
  }
  return dependencies;
}

std::uint64_t check_phases(const std::vector<Record>& records) {
  struct Span {
    std::uint32_t start = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t end = 0;
    std::uint64_t tasks = 0;
  };
  std::array<Span, kPhases> spans;
  for (const Record& record : records) {
    std::size_t phase = 0;
    while (static_cast<int>(record.type) >= kFirstOfPhase[phase + 1]) ++phase;
    Span& span = spans[phase];
    span.start = std::min(span.start, record.start);
    span.end = std::max(span.end, record.end);
    ++span.tasks;
  }
  std::uint64_t dependencies = 0;
  Span before{0, 0, 0};
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    const Span& span = spans[phase];
    if (span.tasks == 0) continue;
    if (span.start < before.end) {
      throw std::runtime_error("a task of phase " + std::to_string(phase) + " started before the phase before ended");
    }
    if (before.tasks != 0) dependencies += span.tasks;
    before = span;
  }
  return dependencies;
}

}  // namespace

Checked check(const Input& input, const std::vector<Node>& nodes, const Output& output) {
  check_counts(nodes, output);
  check_tasks(nodes, output.records);
  Checked checked;
  if (!input.stamps) return checked;
  check_stamps(output);
  checked.children = check_children(output.records);
  checked.dependencies = input.dependencies == Dependencies::phases ? check_phases(output.records)
                                                                    : check_siblings(input.tree, output.records);
  return checked;
}

}  // namespace generic
