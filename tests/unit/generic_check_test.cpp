// What examples/engine/5_generic_test takes for a correct run: a run is made up here, then spoilt in one place.
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "5_generic_test/check.hpp"
#include "5_generic_test/description.hpp"

namespace generic {
namespace {

/// Two small trees, as a run with one worker would leave them: phase by phase.
class GenericCheck : public testing::Test {
 protected:
  GenericCheck() {
    input.tree = describe_tree("small", 100).tree;
    input.roots = {child_number(5, 0), child_number(5, 1)};
    nodes = walk(input.tree, input.roots, 1000);
    input.tasks = static_cast<std::uint32_t>(nodes.size());
    output.report.types.resize(kTypes);
    for (const std::uint64_t root : input.roots) output.records.push_back({root, 0, kNobody, 0, 0, 1, 0, 0, 1.0F});
    for (std::size_t i = 0; i < output.records.size(); ++i) {
      const Record parent = output.records[i];
      const auto first = static_cast<std::uint32_t>(output.records.size());
      each_child(input.tree.types[parent.type], parent.number, [&](std::uint64_t child, std::int32_t type) {
        output.records.push_back(
            {child, static_cast<std::uint32_t>(type), static_cast<std::uint32_t>(i), 0, 0, 1, 0, 0, 1.0F});
      });
      output.records[i].first_child = first;
      output.records[i].children = static_cast<std::uint32_t>(output.records.size()) - first;
      ++output.report.types[parent.type].executed;
    }
    for (std::uint32_t type = 0; type < kTypes; ++type) {
      for (Record& record : output.records) {
        if (record.type != type) continue;
        record.start = ++output.stamps;
        record.end = ++output.stamps;
      }
    }
    output.created = static_cast<std::uint32_t>(output.records.size());
  }

  /// What the check says of the run. "": nothing
  std::string verdict(Dependencies dependencies) {
    input.dependencies = dependencies;
    try {
      check(input, nodes, output);
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }
  /// Index of the first task of a type.
  std::size_t first_of(std::uint32_t type) const {
    std::size_t i = 0;
    while (output.records.at(i).type != type) ++i;
    return i;
  }
  void expect_both(const std::string& what) {
    EXPECT_NE(verdict(Dependencies::phases).find(what), std::string::npos) << verdict(Dependencies::phases);
    EXPECT_NE(verdict(Dependencies::individual).find(what), std::string::npos) << verdict(Dependencies::individual);
  }

  Input input;
  std::vector<Node> nodes;
  Output output;
};

TEST_F(GenericCheck, AcceptsACorrectRunAndCountsItsDependencies) {
  EXPECT_EQ(nodes.size(), 16U);  // per tree: 1, 3, 3 and 1
  EXPECT_EQ(verdict(Dependencies::phases), "");
  EXPECT_EQ(verdict(Dependencies::individual), "");
  input.dependencies = Dependencies::phases;
  EXPECT_EQ(check(input, nodes, output).dependencies, 14U);
  input.dependencies = Dependencies::individual;
  EXPECT_EQ(check(input, nodes, output).dependencies, 12U);
  EXPECT_EQ(check(input, nodes, output).children, 14U);
}

TEST_F(GenericCheck, FindsALostTask) {
  output.records[5].runs = 0;
  expect_both("task at index 5 was executed 0 times");
  --output.report.types[output.records[5].type].executed;
  expect_both("were executed, not");
}

TEST_F(GenericCheck, FindsATaskThatRanTwice) {
  output.records[7].runs = 2;
  expect_both("task at index 7 was executed 2 times");
}

TEST_F(GenericCheck, FindsAnotherTaskThanTheWalks) {
  output.records[3].number ^= 1U;
  expect_both("not those of the serial walk");
}

TEST_F(GenericCheck, FindsATaskOfAnotherType) {
  std::swap(output.records[first_of(1)].type, output.records[first_of(2)].type);
  expect_both("not those of the serial walk");
}

TEST_F(GenericCheck, FindsWorkThatWasNotDone) {
  output.records[2].work = 0.5F;
  expect_both("task at index 2 did not do its work");
}

TEST_F(GenericCheck, FindsTasksTooMany) {
  ++output.created;
  expect_both("17 tasks were created, not 16");
}

TEST_F(GenericCheck, FindsAStampTwice) {
  output.records[4].end = output.records[4].start;
  expect_both("a stamp that is not its own");
}

TEST_F(GenericCheck, FindsATaskThatEndsBeforeItStarts) {
  std::swap(output.records[4].start, output.records[4].end);
  expect_both("ends before it starts");
}

TEST_F(GenericCheck, FindsAChildThatStartsBeforeItsParent) {
  std::swap(output.records[0].start, output.records[first_of(1)].start);
  std::swap(output.records[0].end, output.records[first_of(1)].end);
  expect_both("has a child that started first");
}

TEST_F(GenericCheck, FindsATaskThatDidNotWaitForASibling) {
  // The last child (the first type of phase 2) starts while a sibling still runs.
  std::swap(output.records[first_of(4)].start, output.records[first_of(2)].end);
  EXPECT_NE(verdict(Dependencies::individual).find("has a last child that did not wait"), std::string::npos);
  EXPECT_NE(verdict(Dependencies::phases).find("started before the phase before ended"), std::string::npos);
}

TEST_F(GenericCheck, KnowsThatPhasesForbidWhatIndividualDependenciesAllow) {
  // One tree after the other, each in order.
  std::uint32_t stamp = 0;
  for (std::uint32_t root = 0; root < 2; ++root) {
    for (std::size_t i = 0; i < output.records.size(); ++i) {
      Record& record = output.records[i];
      if (i != root && record.parent != root) continue;
      record.start = ++stamp;
      record.end = ++stamp;
    }
  }
  EXPECT_EQ(verdict(Dependencies::individual), "");
  EXPECT_NE(verdict(Dependencies::phases).find("started before the phase before ended"), std::string::npos);
}

TEST(GenericTree, WalksAsManyTasksAsTheProbabilitiesSay) {
  const Description large = describe_tree("large", 1);
  std::vector<std::uint64_t> roots;
  for (std::uint32_t r = 0; r < 20000; ++r) roots.push_back(child_number(mix(9), r));
  std::array<double, kTypes> found{};
  for (const Node& node : walk(large.tree, roots, 10'000'000)) ++found[node.type];
  std::array<double, kTypes> expected{};
  expected[0] = 20000;
  for (std::size_t type = 0; type < kTypes; ++type) {
    const TaskType& t = large.tree.types[type];
    for (int i = 0; i < t.size; ++i) {
      const Transition& transition = t.transitions[i];
      expected[static_cast<std::size_t>(transition.to)] +=
          expected[type] * transition.count * transition.per_mille / 1000.0;
    }
    EXPECT_NEAR(found[type], expected[type], 0.02 * expected[type]) << type;
  }
}

TEST(GenericTree, IsTheSameForTheSameSeedOnly) {
  const Tree tree = describe_tree("large", 1).tree;
  const std::vector<std::uint64_t> roots = {child_number(mix(1), 0), child_number(mix(1), 1)};
  const std::vector<std::uint64_t> others = {child_number(mix(2), 0), child_number(mix(2), 1)};
  EXPECT_EQ(walk(tree, roots, 1000), walk(tree, roots, 1000));
  EXPECT_NE(walk(tree, roots, 1000), walk(tree, others, 1000));
  EXPECT_THROW(walk(tree, roots, 5), std::runtime_error);
}

}  // namespace
}  // namespace generic
