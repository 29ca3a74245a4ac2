#include <numeric>

#include "taskdag/engine/runner.hpp"
#include "workshop.hpp"

namespace workshop::with_grouped_dependencies {

namespace engine = taskdag::engine;

struct Workshop {
  int tables;
  int* parts;
  int* parts_found;
  engine::Dependency* parts_missing;        // by table
  engine::DependencyGroup* tables_missing;  // by set
  int* tables_found;                        // by chair

  /// Tables first_table(set) to first_table(set + 1) - 1 belong to a set.
  [[nodiscard]] TASKDAG_TASK int first_table(int set) const {
    return set * kTablesPerSet < tables ? set * kTablesPerSet : tables;
  }
};

// [snippet chair]
/// A chair is made to fit the tables of its set.
struct FitChair {
  using Item = int;  // number of the chair
  static constexpr auto name = "fit chair";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& chair) {
    const Workshop& workshop = context.data();
    const int set = chair / kChairsPerSet;
    for (int table = workshop.first_table(set); table < workshop.first_table(set + 1); ++table) {
      if (workshop.parts_found[table] == kParts) ++workshop.tables_found[chair];
    }
  }
};

struct AssembleTable {
  using Item = int;
  static constexpr auto name = "assemble table";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& table) {
    const Workshop& workshop = context.data();
    for (int p = 0; p < kParts; ++p) workshop.parts_found[table] += workshop.parts[kParts * table + p];
    context.template reduce_group<FitChair>(workshop.tables_missing[table / kTablesPerSet]);
  }
};
// [snippet end]

struct Part {
  int table;
  int number;
};

struct CreatePart {
  using Item = Part;
  static constexpr auto name = "create part";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Part& part) {
    const Workshop& workshop = context.data();
    workshop.parts[kParts * part.table + part.number] = 1;
    context.template reduce<AssembleTable>(workshop.parts_missing[part.table]);
  }
};

// [snippet order]
struct OrderSet {
  using Item = int;
  static constexpr auto name = "order set";
  static constexpr int max_children = kTablesPerSet * (kParts + 1) + kChairsPerSet;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& set) {
    const Workshop& workshop = context.data();
    const int first = workshop.first_table(set);
    const int end = workshop.first_table(set + 1);
    engine::DependencyGroup& chairs = workshop.tables_missing[set];
    context.template open_group<FitChair>(chairs, end - first);
    for (int table = first; table < end; ++table) {
      for (int part = 0; part < kParts; ++part) context.template enqueue<CreatePart>({table, part});
      context.template enqueue_dependent<AssembleTable>(table, workshop.parts_missing[table], kParts);
    }
    for (int chair = 0; chair < kChairsPerSet; ++chair) {
      context.template enqueue_in_group<FitChair>(set * kChairsPerSet + chair, chairs);
    }
  }
};
// [snippet end]

using Phases = engine::PhaseQueue<engine::Phaseless<FitChair, AssembleTable, CreatePart, OrderSet>>;
using Program = engine::Program<Workshop, Phases>;

}  // namespace workshop::with_grouped_dependencies

workshop::Made workshop::make_with_grouped_dependencies(const taskdag::Context& context,
                                                        const example::EngineOptions& options, int tables) {
  using namespace with_grouped_dependencies;
  const auto size = static_cast<std::size_t>(tables);
  const std::size_t sets = (size + kTablesPerSet - 1) / kTablesPerSet;
  const engine::Array<int> parts(context, size * kParts);
  const engine::Array<int> parts_found(context, size);
  const engine::Array<engine::Dependency> parts_missing(context, size);
  const engine::Array<engine::DependencyGroup> tables_missing(context, sets);
  const engine::Array<int> tables_found(context, sets * kChairsPerSet);

  engine::Runner<Program> runner(context, options.runner);
  std::vector<int> orders(sets);
  std::iota(orders.begin(), orders.end(), 0);
  runner.enqueue<OrderSet>(orders);
  const engine::Report report = runner.run(
      {tables, parts.data(), parts_found.data(), parts_missing.data(), tables_missing.data(), tables_found.data()},
      options.run);
  return {report, parts_found.download(), tables_found.download()};
}
